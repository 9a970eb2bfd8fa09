//! Values: what makes them, what reads them, and what is stated about them.

use super::{finding, place};
use crate::base::sort::sort;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use weighbridge_core::format::onnx::{Link, Role, rules};
use weighbridge_core::{DimsAt, Finding};

/// The links of values.
#[derive(Debug, Default)]
pub(super) struct Values {
    rows: Vec<Row>,
    stated: Vec<Stated>,
}

/// What happens to the value of a name, in 32 bytes: there may be ten million.
#[derive(Clone, Copy, Debug)]
struct Row {
    hash: u64,
    /// The offset at which it happens, then the order of what happens there, in one byte.
    at: u64,
    /// The offset of the name, then the event, in one byte.
    name: u64,
    len: u32,
    graph: u32,
}

/// What happens to a value, in the order at one offset and depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Input,
    Constant,
    Made,
    Read,
    Result,
    Annotated,
    Scale,
    /// The graph ends.
    Gone,
}

impl Event {
    const ALL: [Event; 8] = [
        Event::Input,
        Event::Constant,
        Event::Made,
        Event::Read,
        Event::Result,
        Event::Annotated,
        Event::Scale,
        Event::Gone,
    ];

    /// Whether a value can be read from here on.
    fn begins(self) -> bool {
        self <= Event::Made
    }
}

/// The type that is stated for a value, or that an initialiser has.
#[derive(Clone, Copy, Debug)]
struct Stated {
    hash: u64,
    graph: u32,
    is_constant: bool,
    name: (u64, u32),
    elem: u32,
    dims: Option<DimsAt>,
}

/// The largest offset that is kept: 56 bits.
const LAST: u64 = u64::MAX >> 8;
/// Number of rows from which on they are dealt out before they are sorted.
const MANY: usize = 128;
/// More levels than messages nest.
const DEEP: u8 = 31;

impl Values {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len() + self.stated.len() * 2
    }

    /// Adds a link.
    pub(super) fn add(&mut self, link: &Link) {
        let event = match link.role {
            Role::Input => Some(Event::Input),
            Role::Initializer => Some(Event::Constant),
            Role::Made => Some(Event::Made),
            Role::Read => Some(Event::Read),
            Role::Result => Some(Event::Result),
            Role::Annotated => Some(Event::Annotated),
            Role::Scale => Some(Event::Scale),
            Role::Stated | Role::Function | Role::Call => None,
            Role::Attribute | Role::Declared | Role::Referred => None,
        };
        if let Some(event) = event {
            self.rows.push(Row::new(link, event, link.at));
            if event.begins() && link.until < LAST {
                self.rows.push(Row::new(link, Event::Gone, link.until));
            }
        }
        let is_constant = link.role == Role::Initializer;
        if link.elem != 0 {
            self.stated.push(Stated {
                hash: link.hash,
                graph: link.graph,
                is_constant,
                name: place(link.name),
                elem: link.elem,
                dims: link.dims,
            });
        }
    }

    /// Reports what is wrong. Values that are missing are reported if the names are `complete`;
    /// names at `known` offsets have been found to be given twice.
    pub(super) fn report(mut self, complete: bool, known: BTreeSet<u64>, found: &mut Vec<Finding>) {
        let before = found.len();
        sort_rows(&mut self.rows, 64);
        let mut present = Vec::new();
        for own in self.rows.chunk_by(|row, next| row.hash == next.hash) {
            let last = own.iter().rev().find(|row| row.event().begins()).map(|row| row.at);
            let mut value = Value { complete, known: &known, present, last, annotated: None };
            own.iter().for_each(|row| value.pass(row, found));
            present = value.present;
            present.clear();
        }
        self.compare(found);
        if let Some(found) = found.get_mut(before..) {
            found.sort_unstable_by_key(|finding| finding.offset);
        }
    }

    /// Drops most initialisers about which nothing is stated: of the names with a statement, a bit
    /// each is noted.
    fn drop_others(&mut self) {
        let count = self.stated.iter().filter(|it| !it.is_constant).count();
        let mut bits = alloc::vec![0_u64; (count / 8 + 1).next_power_of_two()];
        let words = bits.len() as u64;
        let place = |hash: u64| (((hash >> 8) & (words - 1)) as usize, 1 << (hash >> 1 & 63));
        for it in self.stated.iter().filter(|it| !it.is_constant) {
            let (word, bit) = place(it.hash);
            bits[word] |= bit;
        }
        self.stated.retain(|it| {
            let (word, bit) = place(it.hash);
            bits[word] & bit != 0
        });
    }

    /// Compares what is stated about initialisers with their own types.
    fn compare(&mut self, found: &mut Vec<Finding>) {
        self.drop_others();
        let stated = &self.stated;
        let mut order: Vec<u32> = (0..).take(stated.len()).collect();
        let row = |at: u32| {
            stated.get(at as usize).map(|it| (it.hash, it.graph, !it.is_constant, it.name))
        };
        sort(&mut order, &mut |a, b| row(a) < row(b));
        let mut constant: Option<&Stated> = None;
        for it in order.iter().filter_map(|at| stated.get(*at as usize)) {
            if it.is_constant {
                constant = Some(it);
                continue;
            }
            let own = constant.filter(|own| (own.hash, own.graph) == (it.hash, it.graph));
            let Some(own) = own else { continue };
            // The extents themselves: these are not places in the file.
            let differs = own.dims.zip(it.dims).is_some_and(|(own, stated)| own != stated);
            if differs || own.elem != it.elem {
                found.push(finding(rules::G_TYPE, it.name, own.name.0));
            }
        }
    }
}

/// Sorts rows whose hashes have the same bits from `bits` on, by hash, then by offset.
///
/// Not by position: most of the time of this check would be spent on rows that are far apart. While
/// there are many, they are dealt out by the next eight bits of their hashes, which differ evenly.
fn sort_rows(rows: &mut [Row], bits: u32) {
    let Some(bits) = bits.checked_sub(8).filter(|_| rows.len() > MANY) else {
        rows.sort_unstable_by_key(|row| (row.hash, row.at, row.name));
        return;
    };
    let digit = |row: &Row| (row.hash >> bits & 0xFF) as usize;
    let mut ends = [0; 256];
    rows.iter().for_each(|row| ends[digit(row)] += 1);
    let mut next = [0; 256];
    let mut before = 0;
    for (end, next) in ends.iter_mut().zip(&mut next) {
        *next = before;
        before += *end;
        *end = before;
    }
    for own in 0..256 {
        while next[own] < ends[own] {
            let at = next[own];
            let other = digit(&rows[at]);
            rows.swap(at, next[other]);
            next[other] += 1;
        }
    }
    let mut rest = rows;
    let mut begin = 0;
    for end in ends {
        let (part, others) = rest.split_at_mut(end - begin);
        sort_rows(part, bits);
        (rest, begin) = (others, end);
    }
}

impl Row {
    fn new(link: &Link, event: Event, at: u64) -> Row {
        // What is nested deeper ends earlier.
        let order = u64::from(DEEP.saturating_sub(link.depth)) << 3 | event as u64;
        Row {
            hash: link.hash,
            at: at.min(LAST) << 8 | order,
            name: link.name.offset.min(LAST) << 8 | event as u64,
            len: link.name.len,
            graph: link.graph,
        }
    }

    fn event(&self) -> Event {
        let number = (self.name & 0xFF) as usize;
        Event::ALL.get(number).copied().unwrap_or(Event::Gone)
    }

    fn place(&self) -> (u64, u32) {
        (self.name >> 8, self.len)
    }
}

/// The values of one name, as far as they have been followed.
struct Value<'r> {
    complete: bool,
    known: &'r BTreeSet<u64>,
    /// What can be read now: at most one for each graph around this place.
    present: Vec<&'r Row>,
    /// From where on the last of all values can be read.
    last: Option<u64>,
    /// The graph of the annotation before.
    annotated: Option<u32>,
}

impl<'r> Value<'r> {
    /// Follows one event.
    fn pass(&mut self, row: &'r Row, found: &mut Vec<Finding>) {
        let event = row.event();
        let is_missing = self.complete && self.present.is_empty();
        let mut report = |rule, expected| found.push(finding(rule, row.place(), expected));
        match event {
            Event::Gone => self.present.retain(|it| it.graph != row.graph),
            Event::Read if is_missing => match self.last {
                Some(last) if last > row.at => report(rules::N_ORDER, 0),
                _ => report(rules::N_INPUT, 0),
            },
            Event::Result if is_missing => report(rules::G_OUTPUT, 0),
            Event::Scale if is_missing => report(rules::G_QUANT_TENSOR, 0),
            Event::Annotated => {
                if is_missing {
                    report(rules::G_QUANT_VALUE, 0);
                }
                if self.annotated.replace(row.graph) == Some(row.graph) {
                    report(rules::G_QUANT_TWICE, 0);
                }
            }
            Event::Read | Event::Result | Event::Scale => {}
            Event::Input | Event::Constant | Event::Made => {
                let own = self.present.iter().find(|it| it.graph == row.graph).copied();
                match (event, own.map(Row::event)) {
                    (Event::Input, Some(_)) => report(rules::G_INPUT_TWICE, 0),
                    // A name within a nested graph may hide one outside only as an input or constant.
                    (Event::Made, _)
                        if !self.present.is_empty() && !self.known.contains(&row.place().0) =>
                    {
                        report(rules::N_MADE, 0);
                    }
                    // An initialiser is the default of an input.
                    _ => {}
                }
                if own.is_none() {
                    self.present.push(row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_however_many_have_one_hash() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 32
        };
        for (count, mask) in [(0, 0), (1, 0), (MANY, 0xFF), (5_000, 0), (5_000, 1 << 63 | 3)] {
            for spread in [mask, u64::MAX] {
                let mut rows: Vec<_> = (0..count)
                    .map(|_| Row {
                        hash: random() & spread,
                        at: random() & 7,
                        name: random(),
                        len: 0,
                        graph: 0,
                    })
                    .collect();
                let key = |row: &Row| (row.hash, row.at, row.name);
                let mut expected: Vec<_> = rows.iter().map(key).collect();
                expected.sort_unstable();
                sort_rows(&mut rows, 64);
                assert!(rows.iter().map(key).eq(expected));
            }
        }
    }
}
