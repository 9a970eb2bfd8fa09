//! A single sort function for all tables.
//!
//! The standard library's sorts are instantiated for every type, at 3 to 5 KB each. Tables only
//! ever sort positions.

use alloc::vec::Vec;

/// Sorts positions in place by `less`. The sort is stable. `less` must be a strict weak order
/// for the result to make sense.
pub(crate) fn sort(rows: &mut [u32], less: &mut dyn FnMut(u32, u32) -> bool) {
    // Most tables are already sorted.
    if rows.array_windows().all(|[before, row]| !less(*row, *before)) {
        return;
    }
    let mut from = rows.to_vec();
    let mut into = from.clone();
    let mut width = 1;
    while width < from.len() {
        let runs = from.chunks(width * 2).zip(into.chunks_mut(width * 2));
        for (run, out) in runs {
            let (mut a, mut b) = run.split_at(width.min(run.len()));
            for slot in out {
                let take_b = match (a.first(), b.first()) {
                    (Some(first), Some(second)) => less(*second, *first),
                    (first, _) => first.is_none(),
                };
                let side = if take_b { &mut b } else { &mut a };
                if let Some((first, rest)) = side.split_first() {
                    *slot = *first;
                    *side = rest;
                }
            }
        }
        core::mem::swap(&mut from, &mut into);
        width *= 2;
    }
    rows.copy_from_slice(&from);
}

/// Returns the positions `0..len`, sorted.
pub(crate) fn sorted(len: usize, less: &mut dyn FnMut(u32, u32) -> bool) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..u32::try_from(len).unwrap_or(u32::MAX)).collect();
    sort(&mut rows, less);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut state = 1_u64;
        for len in 0..300_u32 {
            let keys: Vec<u64> = (0..len)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    state >> 59
                })
                .collect();
            let mut expected: Vec<u32> = (0..len).collect();
            expected.sort_by_key(|i| keys[*i as usize]);
            let found = sorted(keys.len(), &mut |a, b| keys[a as usize] < keys[b as usize]);
            assert_eq!(found, expected);
            // Sorted except for the last.
            let of = |i: u32| if i + 1 == len { 0 } else { i / 3 };
            expected = (0..len).collect();
            expected.sort_by_key(|i| of(*i));
            assert_eq!(sorted(keys.len(), &mut |a, b| of(a) < of(b)), expected);
        }
    }
}
