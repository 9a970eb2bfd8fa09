//! A file of which only parts may be in memory.
//!
//! A [`Source`] is the length of a file and the [`Window`]s of it that are resident. It
//! never does I/O: a call that needs other bytes returns [`Absent`], and the host fetches
//! them and calls again.

#[cfg(not(feature = "windows"))]
use crate::base::place;
use crate::base::widen;

/// Bytes of a file that are in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window<'a> {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// The contiguous bytes.
    pub bytes: &'a [u8],
}

impl<'a> Window<'a> {
    /// The bytes of this window from offset `at`; `None` if `at` is outside.
    fn from(&self, at: u64) -> Option<&'a [u8]> {
        let skip = usize::try_from(at.checked_sub(self.offset)?).ok()?;
        self.bytes.get(skip..)
    }
}

/// A file: its length and the windows of it that are resident.
///
/// Windows may touch, overlap and come in any order. A structure is parsed when one window
/// holds all of it, so a host may keep everything it fetched or reuse one small buffer.
/// Lookup is linear in the number of windows, so hosts should keep a few large ones.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    #[cfg(feature = "windows")]
    len: u64,
    exact: bool,
    first: Window<'a>,
    #[cfg(feature = "windows")]
    rest: &'a [Window<'a>],
}

impl<'a> Source<'a> {
    /// A file that is in memory as a whole.
    pub const fn whole(bytes: &'a [u8]) -> Self {
        let first = Window { offset: 0, bytes };
        Source {
            #[cfg(feature = "windows")]
            len: widen(bytes.len()),
            exact: true,
            first,
            #[cfg(feature = "windows")]
            rest: &[],
        }
    }

    /// A file of `len` bytes of which `windows` are in memory.
    #[cfg(feature = "windows")]
    pub const fn windows(len: u64, windows: &'a [Window<'a>]) -> Self {
        let first = Window { offset: 0, bytes: &[] };
        Source { len, exact: true, first, rest: windows }
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
        #[cfg(feature = "windows")]
        return self.len;
        #[cfg(not(feature = "windows"))]
        widen(self.first.bytes.len())
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
    #[cfg(feature = "windows")]
    pub fn run(&self, at: u64) -> &'a [u8] {
        let mut best = self.first.from(at).unwrap_or_default();
        for window in self.rest {
            if let Some(run) = window.from(at)
                && run.len() > best.len()
            {
                best = run;
            }
        }
        // A host may pass a window that extends past the end; those bytes do not belong to
        // the file.
        match usize::try_from(self.len.saturating_sub(at)) {
            Ok(left) => best.get(..left).unwrap_or(best),
            Err(_) => best,
        }
    }

    /// The resident bytes from `at` on; empty if there are none.
    #[cfg(not(feature = "windows"))]
    pub fn run(&self, at: u64) -> &'a [u8] {
        usize::try_from(at).ok().and_then(|at| self.first.bytes.get(at..)).unwrap_or_default()
    }

    /// The `len` bytes from `at`, if all are resident.
    #[cfg(feature = "windows")]
    pub(crate) fn piece(&self, at: u64, len: usize) -> Option<&'a [u8]> {
        self.run(at).get(..len)
    }

    /// The `len` bytes from `at`, if all of them exist.
    #[cfg(not(feature = "windows"))]
    pub(crate) fn piece(&self, at: usize, len: usize) -> Option<&'a [u8]> {
        self.first.bytes.get(at..)?.get(..len)
    }

    /// The `span` as one slice.
    ///
    /// # Errors
    /// [`Absent`] when no single window holds all of it.
    #[cfg(not(feature = "windows"))]
    pub fn get(&self, span: Span) -> Result<&'a [u8], Absent> {
        self.all(span).ok_or(Absent { offset: span.offset, need: span.len, want: span.len })
    }

    /// The `span` as one slice, if all of it exists.
    #[cfg(not(feature = "windows"))]
    pub(crate) fn all(&self, span: Span) -> Option<&'a [u8]> {
        self.piece(place(span.offset), place(span.len))
    }

    /// The `span` as one slice.
    ///
    /// # Errors
    /// [`Absent`] when no single window holds all of it.
    #[cfg(feature = "windows")]
    pub fn get(&self, span: Span) -> Result<&'a [u8], Absent> {
        usize::try_from(span.len)
            .ok()
            .and_then(|len| self.run(span.offset).get(..len))
            .ok_or(Absent { offset: span.offset, need: span.len, want: span.len })
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
