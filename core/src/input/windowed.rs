//! The bytes of a partially resident file.

use super::Window;
use crate::base::{Word, widen};

impl<'a> Window<'a> {
    /// The window's bytes from offset `at`; `None` if `at` is outside.
    fn from(&self, at: u64) -> Option<&'a [u8]> {
        let skip = usize::try_from(at.checked_sub(self.offset)?).ok()?;
        self.bytes.get(skip..)
    }
}

/// The resident windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident<'a> {
    /// Length of the file.
    len: u64,
    first: Window<'a>,
    rest: &'a [Window<'a>],
}

impl<'a> Resident<'a> {
    /// All of a file.
    pub(super) const fn whole(bytes: &'a [u8]) -> Self {
        let first = Window { offset: 0, bytes };
        Resident { len: widen(bytes.len()), first, rest: &[] }
    }

    /// The `windows` of a file of `len` bytes.
    pub(super) const fn windows(len: u64, windows: &'a [Window<'a>]) -> Self {
        Resident { len, first: Window { offset: 0, bytes: &[] }, rest: windows }
    }

    /// Length of the file in bytes.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// The longest run of bytes that starts at `at`; empty if none.
    pub(super) fn run(&self, at: u64) -> &'a [u8] {
        let mut best = self.first.from(at).unwrap_or_default();
        for window in self.rest {
            if let Some(run) = window.from(at)
                && run.len() > best.len()
            {
                best = run;
            }
        }
        // A host may pass a window that extends past the end; those bytes do not belong to
        // the file. One that begins there is an index, which the host has made.
        if at >= self.len && self.len > 0 {
            return self.index(at);
        }
        match usize::try_from(self.len.saturating_sub(at)) {
            Ok(left) => best.get(..left).unwrap_or(best),
            Err(_) => best,
        }
    }

    /// The run at `at` of a window that begins past the end of the file.
    #[cold]
    fn index(&self, at: u64) -> &'a [u8] {
        let past = self.rest.iter().filter(|window| window.offset >= self.len);
        past.filter_map(|window| window.from(at)).next().unwrap_or_default()
    }

    /// The `len` bytes from `at`, if one window holds all of them.
    pub(super) fn piece(&self, at: Word, len: usize) -> Option<&'a [u8]> {
        self.run(at).get(..len)
    }
}
