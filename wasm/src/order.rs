//! Which tensors a table shows, and in which order.

use crate::findings::by_tensor;
use crate::sort;
use crate::table::Table;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge::text::natural;
use weighbridge_core::Finding;

/// The column that rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Position in the index.
    #[default]
    Index,
    /// Name, numbers in it by value.
    Name,
    /// Name of the type.
    DType,
    /// Number of elements.
    Elements,
    /// Stored bytes.
    Stored,
    /// Offset of the data.
    Offset,
    /// Number of extents.
    Rank,
    /// Number of findings.
    Findings,
    /// What the host has given for each tensor.
    Given,
}

/// How rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column to sort by.
    pub key: Key,
    /// Greatest first.
    pub descending: bool,
}

/// Which rows are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Part of the name in lower case; empty for any.
    pub text: Vec<u8>,
    /// Start of the name.
    pub prefix: Vec<u8>,
    /// Codes of types; empty for any.
    pub dtypes: Vec<u16>,
    /// Types were asked for.
    pub typed: bool,
    /// Least and most stored bytes.
    pub stored: Option<(u64, u64)>,
    /// Only those that findings are about.
    pub faulty: bool,
}

impl Filter {
    fn admits(&self, table: &Table, findings: &[u32], i: usize) -> bool {
        let stored = table.stored.get(i).copied().unwrap_or(0);
        (!self.faulty || findings.get(i).is_some_and(|n| *n > 0))
            && self.stored.is_none_or(|(least, most)| (least..=most).contains(&stored))
            && (!self.typed || table.dtypes.get(i).is_some_and(|code| self.dtypes.contains(code)))
            && table.name_bytes(i).starts_with(&self.prefix)
            && contains(table.name_bytes(i), &self.text)
    }
}

/// Whether `name` holds `text`, which is in lower case.
fn contains(name: &[u8], text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return true };
    let Some(last) = name.len().checked_sub(text.len()) else { return false };
    let upper = first.to_ascii_uppercase();
    let starts = name.get(..=last).unwrap_or_default();
    starts.iter().enumerate().any(|(at, byte)| {
        (byte == first || *byte == upper)
            && name.get(at + 1..at + text.len()).is_some_and(|tail| tail.eq_ignore_ascii_case(rest))
    })
}

/// The order of rows that was asked for last.
#[derive(Debug, Default)]
pub struct Order {
    /// The key of each tensor for [`Key::Given`]; those without come last.
    given: Vec<Option<u64>>,
    /// Whether each tensor may be shown at all; empty for all.
    allowed: Vec<bool>,
    sort: Sort,
    filter: Filter,
    /// How many tensors and findings there were.
    stamp: Option<(usize, usize)>,
    rows: Vec<u32>,
    /// The rank of each tensor among all names; made when first needed.
    ranks: Vec<u32>,
    findings: Vec<u32>,
    /// The stamp that `findings` were counted at.
    counted: Option<(usize, usize)>,
}

impl Order {
    /// Counts the findings of each tensor, unless that was done.
    pub fn count(&mut self, table: &Table, findings: &[Finding]) {
        let stamp = Some((table.len(), findings.len()));
        if self.counted != stamp {
            self.findings = by_tensor(findings, table.len());
            self.counted = stamp;
        }
    }

    /// Counts anew when it is next asked: there are other findings.
    #[cfg(feature = "full")]
    pub fn forget(&mut self) {
        self.counted = None;
        self.stamp = None;
    }

    /// Takes a number for each tensor to sort by; those that are none come last.
    pub fn give(&mut self, numbers: &[f64]) {
        self.given = numbers.iter().map(|number| ordered(*number)).collect();
        self.stamp = None;
    }

    /// Admits only these of `len` tensors from now on; `None` for all.
    pub fn allow(&mut self, rows: Option<&[u32]>, len: usize) {
        self.allowed = rows.map(|_| vec![false; len]).unwrap_or_default();
        for row in rows.unwrap_or_default() {
            if let Some(slot) = self.allowed.get_mut(*row as usize) {
                *slot = true;
            }
        }
        self.stamp = None;
    }

    /// Chooses the rows that pass, in order.
    pub fn select(
        &mut self,
        table: &Table,
        sort: Sort,
        filter: Filter,
        findings: &[Finding],
    ) -> &[u32] {
        self.count(table, findings);
        if self.stamp == self.counted && self.sort == sort && self.filter == filter {
            return &self.rows;
        }
        (self.sort, self.stamp) = (sort, self.counted);
        self.filter = filter;
        if sort.key == Key::Name && self.ranks.len() != table.len() {
            self.ranks = name_ranks(table);
        }
        let all = 0..u32::try_from(table.len()).unwrap_or(u32::MAX);
        let admitted = |i: &u32| {
            self.allowed.get(*i as usize).copied().unwrap_or(self.allowed.is_empty())
                && self.filter.admits(table, &self.findings, *i as usize)
        };
        self.rows.clear();
        self.rows.extend(all.filter(admitted));
        self.arrange(table, sort);
        &self.rows
    }

    /// The rows that were chosen last.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// How many findings are about a tensor, as of the last count.
    pub fn findings(&self, i: u32) -> u32 {
        self.findings.get(i as usize).copied().unwrap_or(0)
    }

    fn arrange(&mut self, table: &Table, sort: Sort) {
        if sort.key == Key::Index {
            if sort.descending {
                self.rows.reverse();
            }
            return;
        }
        let at = |column: &[u64], i: usize| column.get(i).copied().unwrap_or(0);
        let key = |i: usize| match sort.key {
            Key::Index => 0,
            Key::Name => self.ranks.get(i).map_or(0, |rank| u64::from(*rank)),
            Key::DType => table.tensors.get(i).map_or(0, |tensor| packed(tensor.dtype.name())),
            Key::Elements => table.tensors.get(i).map_or(0, |tensor| tensor.elements),
            Key::Stored => at(&table.stored, i),
            Key::Offset => at(&table.offsets, i),
            Key::Rank => table.dims(i).len() as u64,
            Key::Findings => self.findings.get(i).map_or(0, |n| u64::from(*n)),
            Key::Given => self.given.get(i).copied().flatten().unwrap_or(0),
        };
        let missing =
            |i: usize| sort.key == Key::Given && self.given.get(i).is_none_or(Option::is_none);
        let keys: Vec<u64> = (0..table.len())
            .map(|i| match (missing(i), sort.descending) {
                (true, _) => u64::MAX,
                (false, true) => !key(i),
                (false, false) => key(i),
            })
            .collect();
        // Equal keys keep the order of the index.
        sort::sort(&mut self.rows, &mut |a, b| at(&keys, a as usize) < at(&keys, b as usize));
    }
}

/// Bits that are ordered as the numbers are; none for what is no number.
fn ordered(number: f64) -> Option<u64> {
    let bits = number.to_bits();
    let sign = 1 << 63;
    (!number.is_nan()).then_some(if bits & sign == 0 { bits | sign } else { !bits })
}

/// The first eight bytes, which order names of types.
fn packed(name: &str) -> u64 {
    let bytes = name.bytes().chain(core::iter::repeat(0));
    bytes.take(8).fold(0, |packed, byte| (packed << 8) | u64::from(byte))
}

fn name_ranks(table: &Table) -> Vec<u32> {
    let name = |i: u32| table.name_bytes(i as usize);
    let by_name = sort::sorted(table.len(), &mut |a, b| natural(name(a), name(b)).is_lt());
    let mut ranks = vec![0; by_name.len()];
    for (rank, i) in by_name.into_iter().enumerate() {
        if let Some(slot) = ranks.get_mut(i as usize) {
            *slot = rank as u32;
        }
    }
    ranks
}

/// A level of the tree of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Range of the segment in the name of `first`.
    pub segment: (usize, usize),
    /// The first tensor below.
    pub first: u32,
    /// Tensors below.
    pub count: u32,
    /// Stored bytes below.
    pub stored: u64,
    /// Elements below.
    pub elements: u64,
    /// Findings below.
    pub findings: u32,
    /// The code of the type of all below, if it is one.
    pub dtype: Option<u16>,
    /// Whether the name of `first` ends here.
    pub leaf: bool,
    /// How many bytes the names of all below have in common.
    common: usize,
}

/// Groups `rows` by what follows `prefix` in their names, up to and with the next
/// separator (a dot or a slash); or a later one, where all below share it. What is alone
/// in its group stands for itself.
pub fn groups(
    table: &Table,
    rows: &[u32],
    prefix: usize,
    findings: &dyn Fn(u32) -> u32,
) -> Vec<Group> {
    let segment = |group: &Group| {
        let name = table.name_bytes(group.first as usize);
        name.get(group.segment.0..group.segment.1).unwrap_or_default()
    };
    let join = |groups: &mut Vec<Group>, next: Group| match groups.last_mut() {
        Some(group) if !next.leaf && !group.leaf && segment(&next) == segment(group) => {
            let name = |group: &Group| table.name_bytes(group.first as usize).iter();
            let same = name(group).zip(name(&next)).take_while(|(a, b)| a == b).count();
            group.common = group.common.min(next.common).min(same);
            group.count += next.count;
            group.stored = group.stored.saturating_add(next.stored);
            group.elements = group.elements.saturating_add(next.elements);
            group.findings = group.findings.saturating_add(next.findings);
            group.dtype = group.dtype.filter(|dtype| next.dtype == Some(*dtype));
        }
        _ => groups.push(next),
    };
    // Those of a group mostly follow each other, so that few remain to be sorted.
    let mut runs: Vec<Group> = Vec::new();
    for row in rows {
        let i = *row as usize;
        let name = table.name_bytes(i);
        let rest = name.get(prefix..).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b'.' | b'/'));
        let next = Group {
            segment: (prefix, end.map_or(name.len(), |end| prefix + end + 1)),
            first: *row,
            count: 1,
            stored: table.stored.get(i).copied().unwrap_or(0),
            elements: table.tensor(*row).elements,
            findings: findings(*row),
            dtype: table.dtypes.get(i).copied(),
            leaf: end.is_none(),
            common: name.len(),
        };
        join(&mut runs, next);
    }
    let order = sort::sorted(runs.len(), &mut |a, b| {
        let segment = |i: u32| runs.get(i as usize).map_or(&[][..], segment);
        natural(segment(a), segment(b)).is_lt()
    });
    let mut groups: Vec<Group> = Vec::new();
    for next in order.iter().filter_map(|i| runs.get(*i as usize)) {
        join(&mut groups, next.clone());
    }
    for group in &mut groups {
        let name = table.name_bytes(group.first as usize);
        if group.count == 1 {
            (group.leaf, group.segment.1) = (true, name.len());
        } else if !group.leaf {
            let common = name.get(..group.common).unwrap_or_default();
            let last = common.iter().rposition(|byte| matches!(byte, b'.' | b'/'));
            group.segment.1 = group.segment.1.max(last.map_or(0, |last| last + 1));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_numbers_are_ordered_as_numbers() {
        let numbers = [f64::NEG_INFINITY, -2.0, -0.5, 0.0, 0.5, 2.0, f64::INFINITY];
        let keys: Vec<_> = numbers.into_iter().map(ordered).collect();
        assert!(keys.is_sorted() && keys.iter().all(Option::is_some));
        assert_eq!(ordered(f64::NAN), None);
    }

    #[test]
    fn search_ignores_case() {
        assert!(contains(b"Model.Layers.0", b"layers"));
        assert!(contains(b"aab", b"ab"));
        assert!(contains(b"x", b""));
        assert!(!contains(b"lay", b"layers"));
        assert!(!contains(b"", b"a"));
    }
}
