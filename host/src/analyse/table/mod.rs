//! Tables of tensors for viewers: sorted, filtered, and grouped by name.

mod groups;

pub use groups::{Group, Total};

use crate::base::sort::{sort, sorted};
use crate::base::text::natural;
use crate::list::index::Index;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, EntryKind, Finding};

/// Returns the positions of findings, sorted by offset.
///
/// ```
/// use weighbridge::{Goal, Options, Session};
///
/// # let mut bytes = weighbridge_tests::samples::safetensors();
/// # bytes.pop();
/// let mut session = Session::whole(&bytes, Options::new()); // a byte is missing at the end
/// session.advance(Goal::Structure);
/// assert_eq!(weighbridge::table::by_offset(session.findings()), [0]);
/// ```
pub fn by_offset(findings: &[Finding]) -> Vec<u32> {
    let key = |i: u32| {
        let finding = findings.get(i as usize);
        finding.map(|f| (f.offset, f.kind, f.entry, f.part))
    };
    sorted(findings.len(), &mut |a, b| key(a) < key(b))
}

/// The column to sort rows by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Position in the index.
    #[default]
    Index,
    /// Name, with numbers in it compared by value.
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
    /// The number passed to [`give`](Selection::give) for each tensor.
    Given,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column to sort by.
    pub key: Key,
    /// Whether the greatest come first.
    pub descending: bool,
}

/// The conditions for showing a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Part of the name, in lower case; empty for any.
    pub text: Vec<u8>,
    /// Start of the name.
    pub prefix: Vec<u8>,
    /// Types; `None` for any.
    pub dtypes: Option<Vec<DType>>,
    /// Least and most stored bytes.
    pub stored: Option<(u64, u64)>,
    /// Whether to show only tensors with findings.
    pub faulty: bool,
}

impl Filter {
    fn admits(&self, index: &Index, findings: &[u32], i: usize) -> bool {
        let typed = |dtypes: &Vec<DType>| {
            index.tensors().get(i).is_some_and(|tensor| dtypes.contains(&tensor.dtype))
        };
        (!self.faulty || findings.get(i).is_some_and(|n| *n > 0))
            && self.stored.is_none_or(|(least, most)| (least..=most).contains(&index.stored(i)))
            && self.dtypes.as_ref().is_none_or(typed)
            && index.name_bytes(i).starts_with(&self.prefix)
            && contains(index.name_bytes(i), &self.text)
    }
}

/// Whether `name` contains `text`, which is in lower case.
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

/// The rows of the last query, each the position of a tensor in an index. A selection serves
/// one index: orders and counts are kept for reuse while the numbers of tensors and findings
/// stay the same. After [`Index::note`] or a change of findings, call [`forget`](Self::forget).
///
/// ```
/// use weighbridge::table::{Filter, Key, Selection, Sort};
///
/// # let bytes = weighbridge_tests::samples::unsorted();
/// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // c, a, b
/// let mut selection = Selection::default();
/// let by_name = Sort { key: Key::Name, descending: false };
/// assert_eq!(selection.select(&index, by_name, Filter::default(), &[]), [1, 2, 0]);
/// let only_b = Filter { text: b"b".into(), ..Filter::default() };
/// assert_eq!(selection.select(&index, by_name, only_b, &[]), [2]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Selection {
    /// The key of each tensor for [`Key::Given`]; tensors without a key come last.
    given: Vec<Option<u64>>,
    /// Whether each tensor may be shown; empty for all.
    allowed: Vec<bool>,
    sort: Sort,
    filter: Filter,
    /// The numbers of tensors and findings for the last query.
    stamp: Option<(usize, usize)>,
    rows: Vec<u32>,
    /// The rank of each tensor among all names; computed when first needed.
    ranks: Vec<u32>,
    findings: Vec<u32>,
    /// The numbers for which `findings` was counted.
    counted: Option<(usize, usize)>,
}

impl Selection {
    /// Counts the findings of each tensor, unless their number is unchanged.
    ///
    /// ```
    /// use weighbridge::table::Selection;
    /// use weighbridge::{Goal, Model, Options, Session};
    ///
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let mut session = Session::whole(&bytes, Options::new()); // a byte is missing at the end
    /// session.advance(Goal::Structure);
    /// let mut selection = Selection::default();
    /// selection.count(&Model::from_bytes(&bytes)?.index()?, session.findings());
    /// assert_eq!(selection.findings(0), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn count(&mut self, index: &Index, findings: &[Finding]) {
        let stamp = Some((index.len(), findings.len()));
        if self.counted != stamp {
            self.findings = by_tensor(findings, index.len());
            self.counted = stamp;
        }
    }

    /// Discards the counts and rows, so that the next query computes them again. Required if
    /// findings or data offsets have changed.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # let index = weighbridge::Model::from_bytes(&bytes)?.index()?;
    /// # bytes.pop();
    /// # let mut session = weighbridge::Session::whole(&bytes, weighbridge::Options::new());
    /// # session.advance(weighbridge::Goal::Structure);
    /// let mut selection = weighbridge::table::Selection::default();
    /// selection.count(&index, session.findings()); // one, about the first tensor
    /// let mut others = session.findings().to_vec();
    /// others[0].entry = 7;
    /// selection.forget();
    /// selection.count(&index, &others);
    /// assert_eq!(selection.findings(0), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn forget(&mut self) {
        self.counted = None;
        self.stamp = None;
    }

    /// Sets a number for each tensor, used by [`Key::Given`]; NaNs come last.
    ///
    /// ```
    /// use weighbridge::table::{Filter, Key, Selection, Sort};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // three tensors
    /// let mut selection = Selection::default();
    /// selection.give(&[f64::NAN, 2.0, -1.0]);
    /// let given = Sort { key: Key::Given, descending: false };
    /// assert_eq!(selection.select(&index, given, Filter::default(), &[]), [2, 1, 0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn give(&mut self, numbers: &[f64]) {
        self.given = numbers.iter().map(|number| ordered(*number)).collect();
        self.stamp = None;
    }

    /// Restricts later queries to `rows`, out of `len` tensors; `None` for no restriction.
    ///
    /// ```
    /// use weighbridge::table::{Filter, Selection, Sort};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // three tensors
    /// let mut selection = Selection::default();
    /// selection.allow(Some(&[1]), index.len());
    /// assert_eq!(selection.select(&index, Sort::default(), Filter::default(), &[]), [1]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn allow(&mut self, rows: Option<&[u32]>, len: usize) {
        self.allowed = rows.map(|_| vec![false; len]).unwrap_or_default();
        for row in rows.unwrap_or_default() {
            if let Some(slot) = self.allowed.get_mut(*row as usize) {
                *slot = true;
            }
        }
        self.stamp = None;
    }

    /// Selects the rows that pass a filter, sorted.
    ///
    /// ```
    /// use weighbridge::table::{Filter, Key, Selection, Sort};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // c, a, b
    /// let mut selection = Selection::default();
    /// let sort = Sort { key: Key::Name, descending: true };
    /// assert_eq!(selection.select(&index, sort, Filter::default(), &[]), [0, 2, 1]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn select(
        &mut self,
        index: &Index,
        sort: Sort,
        filter: Filter,
        findings: &[Finding],
    ) -> &[u32] {
        self.count(index, findings);
        if self.stamp == self.counted && self.sort == sort && self.filter == filter {
            return &self.rows;
        }
        (self.sort, self.stamp) = (sort, self.counted);
        self.filter = filter;
        if sort.key == Key::Name && self.ranks.len() != index.len() {
            self.ranks = name_ranks(index);
        }
        let all = 0..u32::try_from(index.len()).unwrap_or(u32::MAX);
        let admitted = |i: &u32| {
            self.allowed.get(*i as usize).copied().unwrap_or(self.allowed.is_empty())
                && self.filter.admits(index, &self.findings, *i as usize)
        };
        self.rows.clear();
        self.rows.extend(all.filter(admitted));
        self.arrange(index, sort);
        &self.rows
    }

    /// The rows of the last query.
    ///
    /// ```
    /// assert!(weighbridge::table::Selection::default().rows().is_empty());
    /// ```
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The number of findings about a tensor, as of the last count.
    ///
    /// ```
    /// assert_eq!(weighbridge::table::Selection::default().findings(7), 0);
    /// ```
    pub fn findings(&self, i: u32) -> u32 {
        self.findings.get(i as usize).copied().unwrap_or(0)
    }

    fn arrange(&mut self, index: &Index, by: Sort) {
        if by.key == Key::Index {
            if by.descending {
                self.rows.reverse();
            }
            return;
        }
        let at = |column: &[u64], i: usize| column.get(i).copied().unwrap_or(0);
        let key = |i: usize| match by.key {
            Key::Index => 0,
            Key::Name => self.ranks.get(i).map_or(0, |rank| u64::from(*rank)),
            Key::DType => index.tensors().get(i).map_or(0, |tensor| packed(tensor.dtype.name())),
            Key::Elements => index.tensors().get(i).map_or(0, |tensor| tensor.elements),
            Key::Stored => index.stored(i),
            Key::Offset => index.offset(i).unwrap_or(u64::MAX),
            Key::Rank => index.shape(i).len() as u64,
            Key::Findings => self.findings.get(i).map_or(0, |n| u64::from(*n)),
            Key::Given => self.given.get(i).copied().flatten().unwrap_or(0),
        };
        let missing =
            |i: usize| by.key == Key::Given && self.given.get(i).is_none_or(Option::is_none);
        let keys: Vec<u64> = (0..index.len())
            .map(|i| match (missing(i), by.descending) {
                (true, _) => u64::MAX,
                (false, true) => !key(i),
                (false, false) => key(i),
            })
            .collect();
        // The sort is stable: equal keys stay in index order.
        sort(&mut self.rows, &mut |a, b| at(&keys, a as usize) < at(&keys, b as usize));
    }
}

/// Maps a number to bits with the same order; `None` for NaN.
fn ordered(number: f64) -> Option<u64> {
    let bits = number.to_bits();
    let sign = 1 << 63;
    (!number.is_nan()).then_some(if bits & sign == 0 { bits | sign } else { !bits })
}

/// The first eight bytes of a type name, packed into an integer with the same order.
fn packed(name: &str) -> u64 {
    let bytes = name.bytes().chain(core::iter::repeat(0));
    bytes.take(8).fold(0, |packed, byte| (packed << 8) | u64::from(byte))
}

fn name_ranks(index: &Index) -> Vec<u32> {
    let name = |i: u32| index.name_bytes(i as usize);
    let by_name = sorted(index.len(), &mut |a, b| natural(name(a), name(b)).is_lt());
    let mut ranks = vec![0; by_name.len()];
    for (rank, i) in by_name.into_iter().enumerate() {
        if let Some(slot) = ranks.get_mut(i as usize) {
            *slot = rank as u32;
        }
    }
    ranks
}

/// The number of findings about each of `tensors` tensors.
fn by_tensor(all: &[Finding], tensors: usize) -> Vec<u32> {
    let mut counts = vec![0; tensors];
    for finding in all {
        if matches!(finding.kind, EntryKind::Tensor | EntryKind::Attribute)
            && let Some(count) = counts.get_mut(finding.entry as usize)
        {
            *count += 1;
        }
    }
    counts
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
