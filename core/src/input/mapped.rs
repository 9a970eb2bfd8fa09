//! The bytes of a file that is wholly in memory.

use crate::base::{Word, widen};

/// All bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident<'a>(&'a [u8]);

impl<'a> Resident<'a> {
    /// All of a file.
    pub(super) const fn whole(bytes: &'a [u8]) -> Self {
        Resident(bytes)
    }

    /// Length of the file in bytes.
    pub(super) const fn len(&self) -> u64 {
        widen(self.0.len())
    }

    /// The bytes from `at` to the end; empty if there are none.
    pub(super) fn run(&self, at: u64) -> &'a [u8] {
        usize::try_from(at).ok().and_then(|at| self.0.get(at..)).unwrap_or_default()
    }

    /// The `len` bytes from `at`, if all of them exist.
    pub(super) fn piece(&self, at: Word, len: usize) -> Option<&'a [u8]> {
        self.0.get(at..)?.get(..len)
    }
}
