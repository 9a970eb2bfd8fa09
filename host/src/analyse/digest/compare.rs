//! Compares the tensors of two files, whatever their formats.

use super::{Digests, TensorDigest};
use crate::base::text::Text;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use weighbridge_core::Span;

/// How a tensor differs between the first file and the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Type, shape and elements are equal.
    Equal,
    /// The type, the shape or the elements differ.
    Changed,
    /// Only the first file has it.
    Missing,
    /// Only the second file has it.
    Added,
    /// One of the two has no digest.
    Unknown,
}

impl Change {
    /// All variants.
    pub const ALL: [Change; 5] =
        [Change::Equal, Change::Changed, Change::Missing, Change::Added, Change::Unknown];

    /// Its name in the output of the command.
    ///
    /// ```
    /// use weighbridge::digest::Change;
    /// assert_eq!(Change::ALL.map(|it| it.name())[1], "changed");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Change::Equal => "equal",
            Change::Changed => "changed",
            Change::Missing => "missing",
            Change::Added => "added",
            Change::Unknown => "unknown",
        }
    }

    fn of(a: Option<&TensorDigest>, b: Option<&TensorDigest>) -> Self {
        match (a, b) {
            (None, _) => Change::Added,
            (_, None) => Change::Missing,
            (Some(a), Some(b)) if (&a.dtype, &a.shape) != (&b.dtype, &b.shape) => Change::Changed,
            (Some(a), Some(b)) => match (&a.sha256, &b.sha256) {
                (Ok(a), Ok(b)) if a == b => Change::Equal,
                (Ok(_), Ok(_)) => Change::Changed,
                _ => Change::Unknown,
            },
        }
    }
}

/// A tensor name and its tensors in two files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pair<'d> {
    /// The tensor's name.
    pub name: &'d Text,
    /// How the tensors differ.
    pub change: Change,
    /// The tensor in the first file.
    pub a: Option<&'d TensorDigest>,
    /// The tensor in the second file.
    pub b: Option<&'d TensorDigest>,
}

/// The differences between two files.
///
/// With the feature `serde` it serialises to the object that
/// `weighbridge digest --compare A B --json` prints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison<'d> {
    /// The first file.
    pub a: &'d Digests,
    /// The second file.
    pub b: &'d Digests,
    /// The tensors of both files by name: those of the first file in its order, then those only
    /// in the second.
    pub pairs: Vec<Pair<'d>>,
}

impl Comparison<'_> {
    /// The number of tensors with this change.
    ///
    /// ```
    /// use weighbridge::digest::{Change, Digests};
    /// use weighbridge::{FileInput, Options};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let digests = Digests::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// assert_eq!(digests.compare(&digests).count(Change::Equal), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn count(&self, change: Change) -> u64 {
        self.pairs.iter().filter(|pair| pair.change == change).count() as u64
    }

    /// The bytes of the second file that the first lacks: those of tensors that were changed or
    /// added, in ascending order and without gaps of 0 bytes. `None` if one of them does not lie
    /// in one piece.
    ///
    /// ```
    /// use weighbridge::digest::Digests;
    /// use weighbridge::{FileInput, Options};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let digests = Digests::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// assert_eq!(digests.compare(&digests).differing(), Some(vec![]));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn differing(&self) -> Option<Vec<Span>> {
        let differs = |pair: &&Pair<'_>| matches!(pair.change, Change::Changed | Change::Added);
        let pairs = self.pairs.iter().filter(differs);
        let mut spans = pairs.map(|pair| pair.b?.span).collect::<Option<Vec<_>>>()?;
        spans.retain(|span| span.len > 0);
        spans.sort_by_key(|span| (span.offset, span.len));
        let mut joined: Vec<Span> = Vec::new();
        for span in spans {
            let end = span.offset.saturating_add(span.len);
            match joined.last_mut() {
                Some(last) if span.offset <= last.offset.saturating_add(last.len) => {
                    last.len = last.len.max(end.saturating_sub(last.offset));
                }
                _ => joined.push(span),
            }
        }
        Some(joined)
    }
}

impl Digests {
    /// Compares this file with another. If several tensors have the same name, which is a
    /// fault, the first counts.
    ///
    /// ```
    /// use weighbridge::digest::{Change, Digests};
    /// use weighbridge::{FileInput, Options};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let digests = Digests::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// assert_eq!(digests.compare(&digests).pairs[0].change, Change::Equal);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn compare<'d>(&'d self, other: &'d Digests) -> Comparison<'d> {
        let by_name = |digests: &'d Digests| {
            let rows = digests.tensors.iter().rev();
            rows.map(|row| (&row.name, row)).collect::<BTreeMap<_, _>>()
        };
        let (first, second) = (by_name(self), by_name(other));
        let of_a = self.tensors.iter().map(|a| (&a.name, Some(a), second.get(&a.name).copied()));
        let only_b = other.tensors.iter().filter(|row| !first.contains_key(&row.name));
        let only_b = only_b.map(|b| (&b.name, None, Some(b)));
        let pair = |(name, a, b)| Pair { name, change: Change::of(a, b), a, b };
        Comparison { a: self, b: other, pairs: of_a.chain(only_b).map(pair).collect() }
    }
}
