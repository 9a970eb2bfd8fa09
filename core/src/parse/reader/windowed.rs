//! A reader of partially resident files.

use super::{Reader, more_of};
use crate::base::Word;
use crate::input::{Absent, Source};
use crate::parse::Stop;
use crate::rule::{Halt, general::BYTES_CHANGED};

/// Where the region ends, and which bytes are requested.
pub(super) struct Reach {
    /// Offset of the first byte after the region.
    end: u64,
    /// Whether the whole file is in memory.
    whole: bool,
    /// How far the host may read ahead.
    ahead: u64,
    /// The missing range, as last stored.
    absent: Absent,
    /// Number of bytes that entries have referred to in this stage of the audit.
    shared: u64,
}

impl Reach {
    /// A region that is the whole file.
    pub(super) fn of(source: &Source<'_>) -> Self {
        let absent = Absent { offset: 0, need: 0, want: 0 };
        Reach { end: source.len(), whole: false, ahead: 0, absent, shared: 0 }
    }

    /// Records that the whole file is in memory.
    pub(super) fn nothing_is_absent(&mut self) {
        self.whole = true;
    }

    /// Whether bytes may be absent.
    #[inline(always)]
    pub(super) fn is_partial(&self) -> bool {
        !self.whole
    }

    /// Sets how far the host may read ahead.
    pub(super) fn read_ahead(&mut self, end: u64) {
        self.ahead = end;
    }

    /// Number of bytes that entries have referred to.
    #[inline(always)]
    pub(super) fn shared(&self) -> u64 {
        self.shared
    }

    /// Sets that number.
    #[inline(always)]
    pub(super) fn set_shared(&mut self, shared: u64) {
        self.shared = shared;
    }
}

impl Reader<'_, '_> {
    /// Moves to `at`, in a region up to `end`.
    pub(super) fn enter(&mut self, at: Word, end: Word) {
        let run = self.source.run(at);
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        self.run = run.get(..left).unwrap_or(run);
        self.at = at;
        self.reach.end = end.min(self.source.len());
    }

    /// Offset of the first byte after the region.
    pub(crate) fn end(&self) -> u64 {
        self.reach.end
    }

    /// Number of bytes left in the region.
    pub(crate) fn left(&self) -> u64 {
        self.reach.end.saturating_sub(self.at)
    }

    /// Requests `len` bytes from here on, which are not all resident, or breaks the rule.
    #[cold]
    pub(super) fn short(&mut self, len: u64) -> Halt {
        if len > self.left() {
            self.needed = len;
            return Halt::broken(self.overrun);
        }
        let passed = self.at.saturating_sub(self.mark);
        let more = more_of(passed).min(self.left().saturating_sub(len));
        let need = passed.saturating_add(len).saturating_add(more);
        let want = self.reach.ahead.saturating_sub(self.mark).max(need);
        self.reach.absent = Absent { offset: self.mark, need, want };
        Halt::ABSENT
    }

    /// Skips `len` bytes, which need not be resident.
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Halt> {
        if len > self.left() {
            return Err(self.short(len));
        }
        match usize::try_from(len).ok().and_then(|n| self.run.get(n..)) {
            Some(rest) => {
                self.run = rest;
                self.at = self.at.saturating_add(len);
            }
            None => self.enter(self.at.saturating_add(len), self.reach.end),
        }
        Ok(())
    }

    /// Stores the missing range.
    #[cold]
    pub(crate) fn lack(&mut self, absent: Absent) -> Halt {
        if absent.offset.checked_add(absent.need).is_some_and(|end| end <= self.source.len()) {
            self.reach.absent = absent;
            return Halt::ABSENT;
        }
        Halt::broken(BYTES_CHANGED)
    }

    /// The missing range, as last stored.
    pub(crate) fn absent(&self) -> Absent {
        self.reach.absent
    }

    /// Extends the range that is worth fetching up to `end`.
    pub(crate) fn want_until(&mut self, end: u64) {
        let absent = &mut self.reach.absent;
        let want = end.min(self.source.len()).saturating_sub(absent.offset);
        absent.want = absent.want.max(want);
    }

    /// The public form of a halt; a broken rule is reported first.
    #[cold]
    pub(crate) fn stop(&mut self, halt: Halt) -> Stop {
        match self.refuse(halt).rule() {
            Some(rule) => Stop::Invalid(rule),
            None if halt == Halt::ROOM => Stop::NeedSlots { needed: self.room },
            None if halt == Halt::BUFFER => Stop::NeedBuffer { needed: self.needed },
            None => Stop::NeedBytes(self.absent()),
        }
    }
}
