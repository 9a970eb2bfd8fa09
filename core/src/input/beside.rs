//! Bytes of other files that entries of a file refer to.

/// Where the bytes of another file begin that an entry refers to.
///
/// A host that opens the files beside a file appends their bytes to it, in its
/// [`Source`](super::Source): the first of them begins where the file itself ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Offset of the text that names the other file.
    pub at: u64,
    /// Offset of the first byte of the other file, as if it were part of this one.
    pub base: u64,
    /// Length of the other file in bytes.
    pub len: u64,
}

/// The other files of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others<'a> {
    /// Length of the file itself, unless there are no others.
    own: Option<u64>,
    /// In ascending order of the texts.
    all: &'a [Beside],
}

impl<'a> Others<'a> {
    /// No other file.
    pub(super) const NONE: Self = Others { own: None, all: &[] };

    /// These, after a file of `own` bytes.
    pub(super) const fn new(own: u64, all: &'a [Beside]) -> Self {
        Others { own: Some(own), all }
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Length of the file itself, if it is in a source of `len` bytes.
    pub(super) fn own(&self, len: u64) -> u64 {
        self.own.map_or(len, |own| own.min(len))
    }

    /// The file that the text at `at` names.
    pub(super) fn find(&self, at: u64) -> Option<Beside> {
        let place = self.all.binary_search_by_key(&at, |other| other.at).ok()?;
        self.all.get(place).copied()
    }
}
