//! What a reader reports: findings, and why it stopped.

use super::{Field, Reader};
use crate::base::features::DETAILS;
use crate::base::{Word, wide, word};
use crate::input::Span;
use crate::rule::Halt;
use crate::rule::{Finding, Rule, Severity, Subject};

impl Reader<'_, '_> {
    /// Stores the number of slots needed.
    #[cold]
    pub(crate) fn short_of(&mut self, slots: u32) -> Halt {
        self.room = slots;
        Halt::ROOM
    }

    /// Stores the size of the buffer needed.
    #[cold]
    pub(crate) fn short_of_buffer(&mut self, bytes: u64) -> Halt {
        self.needed = bytes;
        Halt::BUFFER
    }

    /// Reports that the `len` bytes at `at` break `rule`.
    #[inline(always)]
    pub(crate) fn flag(&mut self, rule: Rule, at: u64, len: u64, expected: u64, found: u64) {
        self.flag_at(rule, word(at), len, expected, found);
    }

    /// The same, even if the reader is muted.
    #[inline(always)]
    pub(crate) fn report(&mut self, rule: Rule, at: u64, len: u64, expected: u64, found: u64) {
        self.report_at(rule, word(at), len, expected, found);
    }

    // Not `cold` where size matters: that would move each call to the end of its function,
    // with a branch there and another back.
    #[cfg_attr(feature = "windows", cold)]
    fn flag_at(&mut self, rule: Rule, at: Word, len: u64, expected: u64, found: u64) {
        if !self.muted {
            self.report_at(rule, at, len, expected, found);
        }
    }

    #[cfg_attr(feature = "windows", cold)]
    fn report_at(&mut self, rule: Rule, at: Word, len: u64, expected: u64, found: u64) {
        let at = wide(at);
        self.fatal |= rule.severity() == Severity::Fatal;
        let Subject { kind, entry, part } = self.subject;
        let (len, expected, found) = if DETAILS {
            // The place may be from bytes that have changed since they were checked.
            let left = self.source().len().checked_sub(at).unwrap_or(len);
            (u32::try_from(len.min(left)).unwrap_or(u32::MAX), expected, found)
        } else {
            (0, 0, 0)
        };
        (self.sink)(Finding { offset: at, expected, found, len, entry, part, rule, kind });
    }

    /// Records that entries follow that cannot be reached, even if nothing fatal was reported
    /// about them.
    pub(crate) fn cut_short(&mut self) {
        self.fatal |= !self.muted;
    }

    /// Whether something fatal was reported since the last call.
    pub(crate) fn take_fatal(&mut self) -> bool {
        core::mem::take(&mut self.fatal)
    }

    /// Reports that `field` of the entry at the start of the region breaks `rule`.
    pub(crate) fn fault(&mut self, rule: Rule, field: Field, expected: u64, found: u64) {
        let Field { at, len } = field;
        let at = wide(self.mark).wrapping_add(u64::from(at));
        self.flag(rule, at, u64::from(len), expected, found);
    }

    /// The same, for a field without which nothing can be read.
    #[cold]
    pub(crate) fn reject(&mut self, rule: Rule, field: Field, expected: u64, found: u64) -> Halt {
        self.fault(rule, field, expected, found);
        Halt::refused(rule)
    }

    /// Reports `rule` unless `holds`.
    #[cfg_attr(not(feature = "windows"), inline(always))]
    pub(crate) fn check(&mut self, holds: bool, rule: Rule, span: Span, expected: u64, found: u64) {
        self.check_at(holds, rule, word(span.offset), span.len, expected, found);
    }

    fn check_at(&mut self, holds: bool, rule: Rule, at: Word, len: u64, expected: u64, found: u64) {
        if !holds {
            self.flag_at(rule, at, len, expected, found);
        }
    }

    /// Reports `rule` at the current position and stops.
    ///
    /// The finding covers the rest of the region. If the region was too short, `found` is
    /// the number of bytes left and `expected` the number needed.
    #[cold]
    pub(crate) fn refuse(&mut self, halt: Halt) -> Halt {
        if let Some(rule) = halt.unreported() {
            let left = self.left();
            self.flag(rule, self.at(), left, self.needed, left);
            return Halt::refused(rule);
        }
        halt
    }

    /// Mutes the reader: nothing is reported until [`unmute`](Self::unmute).
    pub(crate) fn mute(&mut self) {
        self.muted = true;
    }

    /// Reports again.
    pub(crate) fn unmute(&mut self) {
        self.muted = false;
    }

    /// Runs `call` without reporting anything.
    pub(crate) fn quietly<O>(&mut self, call: impl FnOnce(&mut Self) -> O) -> O {
        let muted = core::mem::replace(&mut self.muted, true);
        let result = call(self);
        self.muted = muted;
        result
    }

    /// Whether nothing is reported.
    pub(crate) fn is_muted(&self) -> bool {
        self.muted
    }

    /// Number of bytes that the last read needed when the region ended.
    pub(crate) fn needed(&self) -> u64 {
        self.needed
    }
}
