//! What differs between two files, whatever their formats.

use super::{Digests, TensorDigest};
use crate::text::Text;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What became of a tensor from the first file to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Type, shape and elements are equal.
    Equal,
    /// The type, the shape or elements differ.
    Changed,
    /// The second file does not have it.
    Missing,
    /// Only the second file has it.
    Added,
    /// One of both has no digest.
    Unknown,
}

impl Change {
    /// All of them.
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

/// A tensor of two files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pair<'d> {
    /// The name.
    pub name: &'d Text,
    /// What became of it.
    pub change: Change,
    /// It in the first file.
    pub a: Option<&'d TensorDigest>,
    /// It in the second file.
    pub b: Option<&'d TensorDigest>,
}

/// What differs between two files.
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
    /// The tensors of both by name: those of the first file in its order, then those that only
    /// the second has.
    pub pairs: Vec<Pair<'d>>,
}

impl Comparison<'_> {
    /// How many tensors changed in this way.
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
}

impl Digests {
    /// What differs between this file and another. Of several tensors with one name, which is
    /// a fault, the first counts.
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
