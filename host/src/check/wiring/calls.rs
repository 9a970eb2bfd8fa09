//! Calls of the functions of a model.

use super::{finding, place};
use crate::base::sort::sort;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::Finding;
use weighbridge_core::format::onnx::{Link, Role, rules};

/// Functions, and their calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    functions: Vec<Function>,
    calls: Vec<Call>,
}

/// A node that may call a function.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Number of the function in which it is; 0 for a graph.
    from: u32,
    /// Hashes of what it calls, and of the domain of that.
    hash: u64,
    domain: u64,
    name: (u64, u32),
}

#[derive(Clone, Copy, Debug)]
struct Function {
    hash: u64,
    domain: u64,
    number: u32,
    name: (u64, u32),
}

impl Calls {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.functions.len() + self.calls.len() * 2
    }

    /// Adds a function or a call.
    pub(super) fn add(&mut self, link: &Link) {
        match link.role {
            Role::Function => self.functions.push(Function {
                hash: link.hash,
                domain: link.domain,
                number: link.function,
                name: place(link.name),
            }),
            _ => self.calls.push(Call {
                from: link.function,
                hash: link.hash,
                domain: link.domain,
                name: place(link.name),
            }),
        }
    }

    /// Reports functions with the id of another, one function of a circle of calls, and operators
    /// of a function's domain that no function defines.
    pub(super) fn report(&self, found: &mut Vec<Finding>) {
        let functions = &self.functions;
        let mut order: Vec<u32> = (0..).take(functions.len()).collect();
        let row = |at: u32| functions.get(at as usize).map(|it| (it.hash, it.number));
        sort(&mut order, &mut |a, b| row(a) < row(b));
        let sorted: Vec<&Function> =
            order.iter().filter_map(|at| functions.get(*at as usize)).collect();
        for [before, function] in sorted.array_windows() {
            if before.hash == function.hash {
                found.push(finding(rules::F_TWICE, function.name, before.name.0));
            }
        }
        let of = |hash: u64| sorted.binary_search_by_key(&hash, |it| it.hash).ok();
        let by_number = |number: u32| {
            let at = functions.binary_search_by_key(&number, |it| it.number).ok()?;
            of(functions.get(at)?.hash)
        };
        // Positions among the sorted: who calls whom. A function that calls itself is reported
        // where the file was opened.
        let calls: Vec<(usize, usize)> = self
            .calls
            .iter()
            .filter_map(|call| Some((by_number(call.from)?, of(call.hash)?)))
            .filter(|(from, to)| from != to)
            .collect();
        // The order of hashes is random, that of names in the file is not.
        let place = |at: usize| sorted.get(at).map(|it| it.name);
        if let Some(at) = circle(sorted.len(), &calls, &place)
            && let Some(function) = sorted.get(at)
        {
            found.push(finding(rules::F_CYCLE, function.name, 0));
        }
        // Opening reports domains without any function.
        let domains: BTreeSet<u64> = functions.iter().map(|it| it.domain).collect();
        let mut known = BTreeSet::new();
        for call in self.calls.iter().filter(|call| domains.contains(&call.domain)) {
            if of(call.hash).is_none() && known.insert(call.hash) {
                found.push(finding(rules::N_CUSTOM, call.name, 0));
            }
        }
    }
}

/// One of `count` functions that is in a circle of calls, if there is one: that which is reached from
/// the first by its place in the file.
fn circle<P: Ord>(
    count: usize,
    calls: &[(usize, usize)],
    place: &dyn Fn(usize) -> P,
) -> Option<usize> {
    // Functions that call nothing are taken away, again and again; a circle stays.
    let mut left = vec![0_usize; count];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in calls {
        *left.get_mut(*from)? += 1;
        callers.get_mut(*to)?.push(*from);
    }
    let mut free: Vec<usize> = (0..count).filter(|at| left.get(*at) == Some(&0)).collect();
    while let Some(gone) = free.pop() {
        for from in callers.get(gone)? {
            let calls = left.get_mut(*from)?;
            *calls -= 1;
            if *calls == 0 {
                free.push(*from);
            }
        }
    }
    // Who stays calls one who stays, so that following such calls ends in a circle.
    let stays = |at: usize| left.get(at).is_some_and(|calls| *calls > 0);
    let mut next = vec![None; count];
    for (from, to) in calls.iter().filter(|(from, to)| stays(*from) && stays(*to)) {
        *next.get_mut(*from)? = Some(*to);
    }
    let mut at = (0..count).filter(|at| stays(*at)).min_by_key(|at| place(*at))?;
    for _ in 0..count {
        at = (*next.get(at)?)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    fn circle(count: usize, calls: &[(usize, usize)]) -> Option<usize> {
        super::circle(count, calls, &|at| at)
    }

    #[test]
    fn circle_of_calls_is_found() {
        assert_eq!(circle(0, &[]), None);
        assert_eq!(circle(3, &[(0, 1), (0, 2), (1, 2), (1, 2)]), None);
        assert_eq!(circle(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]), None);
        // One that calls into the circle, and one that is called from it, are not in it.
        let found = circle(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]);
        assert!(matches!(found, Some(1 | 2)), "{found:?}");
        // Nor is one between two circles.
        let found = circle(5, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 3)]);
        assert!(matches!(found, Some(0 | 1 | 3 | 4)), "{found:?}");
    }
}
