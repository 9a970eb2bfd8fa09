//! A file that may be only partially in memory.
//!
//! A [`Source`] is a file's length and its resident [`Window`]s. It never does I/O: a call that
//! needs other bytes returns [`Absent`], and the host fetches them and calls again.

#[cfg(feature = "beside")]
use super::beside::{Beside, Others};
use super::resident::Resident;
use crate::base::{Word, place, widen};

/// Bytes of a file that are in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window<'a> {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// The contiguous bytes.
    pub bytes: &'a [u8],
}

/// A file: its length and its resident windows.
///
/// Windows may touch, overlap and come in any order. A structure is parsed when one window
/// holds all of it, so a host may keep everything it fetched or reuse one small buffer.
/// Lookup is linear in the number of windows, so hosts should keep a few large ones.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    exact: bool,
    resident: Resident<'a>,
    #[cfg(feature = "beside")]
    others: Others<'a>,
}

impl<'a> Source<'a> {
    /// A file that is wholly in memory.
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Source::of(Resident::whole(bytes))
    }

    /// A file of `len` bytes with only `windows` in memory.
    #[cfg(feature = "windows")]
    pub const fn windows(len: u64, windows: &'a [Window<'a>]) -> Self {
        Source::of(Resident::windows(len, windows))
    }

    const fn of(resident: Resident<'a>) -> Self {
        Source {
            exact: true,
            resident,
            #[cfg(feature = "beside")]
            others: Others::NONE,
        }
    }

    /// The same source as a file of `own` bytes, followed by those of other files.
    ///
    /// `others` says which file is which, in ascending order of [`Beside::at`]. Formats whose
    /// entries refer to other files then read them; other formats would take them for a part
    /// of the file.
    #[cfg(feature = "beside")]
    pub const fn with_beside(mut self, own: u64, others: &'a [Beside]) -> Self {
        self.others = Others::new(own, others);
        self
    }

    /// Length of the file itself, without the others.
    #[cfg(feature = "beside")]
    pub(crate) fn own_len(&self) -> u64 {
        self.others.own(self.len())
    }

    /// Whether other files follow the file itself.
    #[cfg(feature = "beside")]
    pub const fn has_beside(&self) -> bool {
        !self.others.is_empty()
    }

    /// The other file that the text at `at` names.
    #[cfg(feature = "beside")]
    pub fn beside(&self, at: u64) -> Option<Beside> {
        self.others.find(at)
    }

    /// The same source as a region, such as a flash partition, that begins with a file and
    /// may be longer than it.
    ///
    /// Formats that record their length are then checked against that length, and the bytes
    /// after it are ignored. Other formats are not affected.
    pub const fn as_region(mut self) -> Self {
        self.exact = false;
        self
    }

    /// Length of the file in bytes (of the region, after [`as_region`](Self::as_region)).
    pub const fn len(&self) -> u64 {
        self.resident.len()
    }

    /// Whether the file has no bytes at all.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether [`len`](Self::len) is the exact length of the file.
    pub const fn is_exact(&self) -> bool {
        self.exact
    }

    /// The longest resident run of bytes that starts at `at`; empty if none.
    pub fn run(&self, at: u64) -> &'a [u8] {
        self.resident.run(at)
    }

    /// Whether the whole file is in one window.
    pub(crate) fn is_resident(&self) -> bool {
        widen(self.run(0).len()) == self.len()
    }

    /// The `len` bytes from `at`, if all are resident.
    pub(crate) fn piece(&self, at: Word, len: usize) -> Option<&'a [u8]> {
        self.resident.piece(at, len)
    }

    /// The `span` as one slice, if one window holds all of it.
    pub(crate) fn all(&self, span: Span) -> Option<&'a [u8]> {
        self.piece(place(span.offset), usize::try_from(span.len).ok()?)
    }

    /// The `span` as one slice.
    ///
    /// # Errors
    /// [`Absent`] when no single window holds all of it.
    pub fn get(&self, span: Span) -> Result<&'a [u8], Absent> {
        self.all(span).ok_or(Absent::all_of(span))
    }
}

/// A range of bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Span {
    /// Absolute offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Span {
    /// The `len` bytes from offset `at`.
    pub const fn new(at: u64, len: u64) -> Self {
        Span { offset: at, len }
    }

    /// The bytes from offset `at` to `end`; empty if `end` comes first.
    pub const fn between(at: u64, end: u64) -> Self {
        Span { offset: at, len: end.saturating_sub(at) }
    }

    /// Offset of the first byte after the span; `None` if it exceeds `u64`.
    pub const fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.len)
    }

    /// Whether the span holds no byte.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A request for bytes that are not resident.
///
/// The host makes at least `need` bytes from `offset` resident **in one window** and calls
/// again. It may fetch up to `want` bytes, which will probably be requested next, and may
/// round both outwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Absent {
    /// Absolute offset of the first byte that is needed.
    pub offset: u64,
    /// Number of bytes from `offset` that must lie in one window; the range is inside the file.
    pub need: u64,
    /// Number of bytes from `offset` that are worth fetching now; at least `need`, and never
    /// past the end of the file.
    pub want: u64,
}

impl Absent {
    /// All of `span`.
    pub(crate) const fn all_of(span: Span) -> Self {
        Absent { offset: span.offset, need: span.len, want: span.len }
    }
}
