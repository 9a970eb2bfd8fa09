//! Faults that do not stop the parser. They are kept until the whole entry is known to be
//! resident, so that each is reported once.

use super::{Json, rules};
use crate::base::features::{DETAILS, WINDOWS};
use crate::base::{limits::JSON_DEPTH, wide, widen};
use crate::parse::Reader;
use crate::rule::{Halt, Rule, Severity};

/// A fault that does not stop the parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    rule: Rule,
    at: usize,
    /// Length, expected value and found value; empty in builds that do not report them.
    details: [(usize, u64, u64); if DETAILS { 1 } else { 0 }],
}

/// Number of notes kept per entry: the seven rules that a valid member can break, and one
/// fatal rule.
const NOTES: usize = 8;

/// The notes of one entry.
pub(super) type Notes = [Option<Note>; NOTES];

/// No notes.
pub(super) const NONE: Notes = [None; NOTES];

impl Json<'_> {
    /// Notes a fault, once per rule. If there is no room, a fatal fault replaces the last
    /// note, so other faults may be lost, but never a fatal one.
    pub(in crate::format) fn note(&mut self, rule: Rule, at: usize, expected: u64, found: u64) {
        self.note_span(rule, at, self.at.wrapping_sub(at).max(1), expected, found);
    }

    /// Notes a fault in the `len` bytes at `at`.
    pub(in crate::format) fn note_span(
        &mut self,
        rule: Rule,
        at: usize,
        len: usize,
        expected: u64,
        found: u64,
    ) {
        if self.failed {
            return;
        }
        let details = [(len, expected, found); _];
        let mut left = NOTES;
        for slot in &mut self.notes {
            left = left.wrapping_sub(1);
            match slot {
                Some(note) if note.rule == rule => return,
                Some(_) if left > 0 || rule.severity() != Severity::Fatal => {}
                _ => {
                    *slot = Some(Note { rule, at, details });
                    return;
                }
            }
        }
    }

    /// Reports the notes, and the reason if reading failed; returns whether any is fatal.
    ///
    /// # Errors
    /// The next bytes of the file are not resident. In that case nothing is reported.
    pub(in crate::format) fn conclude(&self, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        self.conclude_as(r, core::convert::identity)
    }

    /// Like [`conclude`](Self::conclude), with the rules of another JSON format.
    pub(in crate::format) fn conclude_as(
        &self,
        r: &mut Reader<'_, '_>,
        own: fn(Rule) -> Rule,
    ) -> Result<bool, Halt> {
        self.resident(r)?;
        let mut fatal = self.failed;
        for note in self.notes.iter().flatten() {
            let rule = own(note.rule);
            fatal |= rule.severity() == Severity::Fatal;
            let (len, expected, found) = note.details.first().copied().unwrap_or_default();
            r.flag(rule, wide(self.place(note.at)), widen(len), expected, found);
        }
        if self.failed {
            let rule = own(self.broken.unwrap_or(rules::JSON_TRUNCATED));
            let len = u64::from(self.broken.is_some());
            r.flag(rule, wide(self.place(self.at)), len, u64::from(JSON_DEPTH), 0);
        }
        Ok(fatal)
    }

    /// Succeeds unless bytes were missing.
    ///
    /// # Errors
    /// Reading failed because bytes of the file are not resident.
    pub(in crate::format) fn resident(&self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        if WINDOWS && self.failed && self.broken.is_none() {
            let halt = r.lacks(1);
            if halt.is_absent() {
                return Err(halt);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;

    /// A fatal finding is kept, whatever was noted before.
    #[test]
    fn fatal_note_is_never_dropped() {
        let bearable = rules::RULES.iter().filter(|rule| rule.severity != Severity::Fatal);
        let bearable = bearable.count();
        assert!(bearable > NOTES);
        let all = (0..rules::RULES.len()).filter_map(|number| {
            let info = rules::RULES.get(number)?;
            let number = u16::try_from(number).ok()?;
            Some(Rule::new(crate::format::Format::Safetensors.code(), info.severity, number))
        });
        for before in 0..=bearable {
            let source = Source::whole(b"");
            let mut sink = |_| {};
            let mut r = Reader::new(&source, &mut sink);
            let mut json = Json::of(&mut r, 0, 0, rules::JSON_TRUNCATED);
            for rule in all.clone().filter(|rule| rule.severity() != Severity::Fatal).take(before) {
                json.note(rule, 0, 0, 0);
            }
            json.note(rules::OFFSET_BOUNDS, 0, 0, 0);
            json.note(rules::HOLE, 0, 0, 0);
            let kept = json.notes.iter().flatten();
            assert!(kept.clone().any(|note| note.rule == rules::OFFSET_BOUNDS), "after {before}");
            assert!(kept.count() >= before.min(NOTES));
        }
    }
}
