//! Groups tensors by levels of their names, and sums them by type.

use super::Selection;
use crate::base::sort::sorted;
use crate::base::text::natural;
use crate::list::index::Index;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::DType;

/// A node in the tree of names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// Range of this node's segment in the name of `first`.
    pub segment: Range<usize>,
    /// The first tensor in the group.
    pub first: u32,
    /// Number of tensors.
    pub count: u32,
    /// Stored bytes.
    pub stored: u64,
    /// Number of elements of tensors with data.
    pub elements: u64,
    /// Number of findings.
    pub findings: u32,
    /// The type of all tensors, if they have the same.
    pub dtype: Option<DType>,
    /// Whether the node is a single tensor, whose name ends here.
    pub leaf: bool,
    /// Whether the dot at its end is in a key, and does not end one: see [`Index::is_in_key`].
    pub in_key: bool,
    /// Length of the prefix that all names in the group share.
    common: usize,
}

/// The totals of one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// The type.
    pub dtype: DType,
    /// Number of tensors.
    pub count: u64,
    /// Number of elements of tensors with data.
    pub elements: u64,
    /// Stored bytes.
    pub stored: u64,
    /// Number of tensors with elements but without data, such as activations.
    pub without_data: u64,
}

impl Group {
    /// Takes the parts that all names in the group share, up to the end of a key.
    fn take_rest_of_key(&mut self, index: &Index) {
        let first = self.first as usize;
        let name = index.name_bytes(first);
        let common = if self.count == 1 { name.len() } else { self.common };
        while self.in_key {
            let from = self.segment.end;
            let rest = name.get(from..common).unwrap_or_default();
            match rest.iter().position(is_divider) {
                Some(next) => {
                    self.segment.end = from + next + 1;
                    self.in_key = index.is_in_key(first, from + next);
                }
                None if self.count > 1 => return,
                None => {
                    (self.leaf, self.in_key, self.segment.end) = (true, false, name.len());
                }
            }
        }
    }
}

/// Whether a byte of a name ends a part of it.
fn is_divider(byte: &u8) -> bool {
    matches!(byte, b'.' | b'/')
}

/// The number of bytes that two names share, with the keys in them.
fn same(index: &Index, a: usize, b: usize) -> usize {
    let bytes = index.name_bytes(a).iter().zip(index.name_bytes(b)).enumerate();
    let is_same = |(at, (x, y)): &(usize, (&u8, &u8))| {
        x == y && (!is_divider(x) || index.is_in_key(a, *at) == index.is_in_key(b, *at))
    };
    bytes.take_while(is_same).count()
}

impl Selection {
    /// Groups the rows of the last query by their names after the first `prefix` bytes, up to
    /// and including the next separator (a dot or a slash), or a later one if all names in the
    /// group share it. A tensor alone in its group is shown by itself.
    ///
    /// If the keys of paths are known, only tensors count whose keys in this prefix are those of tensor
    /// `like`, and no node has parts of two keys.
    ///
    /// ```
    /// use weighbridge::table::{Filter, Selection, Sort};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // c, a, b
    /// let mut selection = Selection::default();
    /// selection.select(&index, Sort::default(), Filter::default(), &[]);
    /// let first: Vec<u32> = selection.groups(&index, 0, 0).iter().map(|group| group.first).collect();
    /// assert_eq!(first, [1, 2, 0]); // each for itself, by name
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn groups(&self, index: &Index, prefix: usize, like: u32) -> Vec<Group> {
        let segment = |group: &Group| {
            let name = index.name_bytes(group.first as usize);
            name.get(group.segment.clone()).unwrap_or_default()
        };
        let join = |groups: &mut Vec<Group>, next: Group| match groups.last_mut() {
            Some(group)
                if !next.leaf
                    && !group.leaf
                    && next.in_key == group.in_key
                    && segment(&next) == segment(group) =>
            {
                let same = same(index, group.first as usize, next.first as usize);
                group.common = group.common.min(next.common).min(same);
                group.count += next.count;
                group.stored = group.stored.saturating_add(next.stored);
                group.elements = group.elements.saturating_add(next.elements);
                group.findings = group.findings.saturating_add(next.findings);
                group.dtype = group.dtype.filter(|dtype| next.dtype == Some(*dtype));
            }
            _ => groups.push(next),
        };
        // Rows of a group are mostly adjacent, so that few runs remain to be sorted.
        let mut runs: Vec<Group> = Vec::new();
        for row in self.rows() {
            let i = *row as usize;
            let (name, tensor) = (index.name_bytes(i), index.tensors().get(i));
            if index.has_path(i) && prefix > 0 && same(index, i, like as usize) < prefix {
                continue;
            }
            let rest = name.get(prefix..).unwrap_or_default();
            let end = rest.iter().position(is_divider);
            let next = Group {
                segment: prefix..end.map_or(name.len(), |end| prefix + end + 1),
                first: *row,
                count: 1,
                stored: index.stored(i),
                elements: index.elements(i),
                findings: self.findings(*row),
                dtype: tensor.map(|tensor| tensor.dtype),
                leaf: end.is_none(),
                in_key: end.is_some_and(|end| index.is_in_key(i, prefix + end)),
                common: name.len(),
            };
            join(&mut runs, next);
        }
        let order = sorted(runs.len(), &mut |a, b| {
            let segment = |i: u32| runs.get(i as usize).map_or(&[][..], segment);
            let in_key = |i: u32| runs.get(i as usize).is_some_and(|run| run.in_key);
            natural(segment(a), segment(b)).then(in_key(a).cmp(&in_key(b))).is_lt()
        });
        let mut groups: Vec<Group> = Vec::new();
        for next in order.iter().filter_map(|i| runs.get(*i as usize)) {
            join(&mut groups, next.clone());
        }
        for group in &mut groups {
            let name = index.name_bytes(group.first as usize);
            if index.has_path(group.first as usize) {
                group.take_rest_of_key(index);
            } else if group.count == 1 {
                (group.leaf, group.segment.end) = (true, name.len());
            } else if !group.leaf {
                let common = name.get(..group.common).unwrap_or_default();
                let last = common.iter().rposition(is_divider);
                group.segment.end = group.segment.end.max(last.map_or(0, |last| last + 1));
            }
        }
        groups
    }

    /// The totals of the last query's rows by type, in descending order of stored bytes.
    ///
    /// ```
    /// use weighbridge::table::{Filter, Selection, Sort};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?; // three of type u8
    /// let mut selection = Selection::default();
    /// selection.select(&index, Sort::default(), Filter::default(), &[]);
    /// assert_eq!(selection.totals(&index)[0].count, 3);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn totals(&self, index: &Index) -> Vec<Total> {
        let mut totals: Vec<Total> = Vec::new();
        for i in self.rows().iter().map(|row| *row as usize) {
            let dtype = index.tensors().get(i).map(|tensor| tensor.dtype).unwrap_or_default();
            let (elements, stored) = (index.elements(i), index.stored(i));
            let without_data = u64::from(index.lacks_data(i));
            match totals.iter_mut().find(|total| total.dtype == dtype) {
                Some(total) => {
                    total.count += 1;
                    total.elements = total.elements.saturating_add(elements);
                    total.stored = total.stored.saturating_add(stored);
                    total.without_data += without_data;
                }
                None => totals.push(Total { dtype, count: 1, elements, stored, without_data }),
            }
        }
        // There are few types, so an insertion sort suffices.
        for end in 1..totals.len() {
            let mut at = end;
            while at > 0 && totals[at - 1].stored < totals[at].stored {
                totals.swap(at - 1, at);
                at -= 1;
            }
        }
        totals
    }
}
