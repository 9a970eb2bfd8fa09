//! A reader of files that are wholly in memory.

use super::Reader;
use crate::base::features::DETAILS;
use crate::base::{Word, wide, widen};
use crate::input::{Absent, Source};
use crate::parse::Stop;
use crate::rule::{Halt, general::BYTES_CHANGED};

/// Empty: the region ends where the bytes do, and no bytes are requested.
pub(super) struct Reach;

impl Reach {
    /// A region that is the whole file.
    pub(super) fn of(_: &Source<'_>) -> Self {
        Reach
    }

    /// Records that the whole file is in memory.
    pub(super) fn nothing_is_absent(&mut self) {}

    /// Whether bytes may be absent.
    #[inline(always)]
    pub(super) fn is_partial(&self) -> bool {
        false
    }

    /// Sets how far the host may read ahead.
    pub(super) fn read_ahead(&mut self, _: u64) {}

    /// Number of bytes that entries have referred to, which is not counted here.
    #[inline(always)]
    pub(super) fn shared(&self) -> u64 {
        0
    }

    /// Sets that number.
    #[inline(always)]
    pub(super) fn set_shared(&mut self, _: u64) {}
}

impl Reader<'_, '_> {
    /// Moves to `at`, in a region up to `end`.
    #[inline(always)]
    pub(super) fn enter(&mut self, at: Word, end: Word) {
        let run = self.source.run(wide(at));
        let left = end.saturating_sub(at);
        self.run = run.get(..left).unwrap_or(run);
        self.at = at;
    }

    /// Offset of the first byte after the region.
    pub(crate) fn end(&self) -> u64 {
        self.at().wrapping_add(self.left())
    }

    /// Number of bytes left in the region.
    pub(crate) fn left(&self) -> u64 {
        widen(self.run.len())
    }

    /// Breaks the rule: fewer than `len` bytes follow.
    #[cold]
    pub(super) fn short(&mut self, len: u64) -> Halt {
        if DETAILS {
            self.needed = len;
        }
        Halt::broken(self.overrun)
    }

    /// Skips `len` bytes.
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Halt> {
        self.take(len).map(|_| ())
    }

    /// Missing bytes mean that the file has changed.
    #[cold]
    pub(crate) fn lack(&mut self, _: Absent) -> Halt {
        Halt::broken(BYTES_CHANGED)
    }

    /// The missing range, which is always empty.
    pub(crate) fn absent(&self) -> Absent {
        Absent::default()
    }

    /// The public form of a halt; a broken rule is reported first.
    #[cold]
    #[inline(always)]
    pub(crate) fn stop(&mut self, halt: Halt) -> Stop {
        match self.refuse(halt).rule() {
            Some(rule) => Stop::Invalid(rule),
            None => Stop::NeedSlots { needed: self.room },
        }
    }
}
