//! Checks shared by both audits: overlapping parts of the file, and the bytes between parts.

use crate::base::{Word, division::padding, wide, widen, word};
use crate::file::{File, Slot};
use crate::format::Fault;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// How far the parts of a file, in ascending order, cover it.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Cover {
    /// End of the covered bytes.
    pub(crate) end: Word,
    /// The part that reaches furthest, to recognise an equal one.
    widest: Slot,
}

impl Cover {
    /// Adds a part, and reports it if it overlaps earlier parts.
    pub(crate) fn place(&mut self, file: &File, r: &mut Reader<'_, '_>, part: &Slot) {
        if part.key < self.end {
            let same = (part.key, part.at) == (self.widest.key, self.widest.at);
            let (alias, overlap) = (file.rule(Fault::Alias), file.rule(Fault::Overlap));
            if let Some(rule) = if same { alias } else { overlap } {
                let (entry, kind) = part.unpack();
                r.about(EntryKind::of(kind), entry);
                let len = self.end.wrapping_sub(part.key).min(part.at);
                r.report(rule, wide(part.key), wide(len), wide(self.end), wide(part.key));
            }
        }
        if part.end() > self.end && part.at != 0 {
            self.end = part.end();
            self.widest = *part;
        }
    }

    /// Validates the uncovered bytes before `at`: up to the next multiple of the alignment they
    /// are padding, whatever follows; bytes beyond that are a `fault`.
    pub(crate) fn gap(
        &self,
        file: &File,
        r: &mut Reader<'_, '_>,
        at: Word,
        fault: Fault,
    ) -> Result<(), Halt> {
        if at <= self.end {
            return Ok(());
        }
        let gap = at.wrapping_sub(self.end);
        let padded = word(padding(wide(self.end), file.alignment())).min(gap);
        let padded_end = self.end.wrapping_add(padded);
        if let Some(rule) = file.rule(Fault::Padding) {
            let mut bytes = r.piece(self.end, padded)?;
            while let Some((0, rest)) = bytes.split_first() {
                bytes = rest;
            }
            if let Some(byte) = bytes.first() {
                let len = widen(bytes.len());
                r.about(EntryKind::File, 0);
                r.report(rule, wide(padded_end).wrapping_sub(len), len, 0, u64::from(*byte));
            }
        }
        if let Some(rule) = file.rule(fault)
            && padded_end < at
        {
            let len = wide(at.wrapping_sub(padded_end));
            r.about(EntryKind::File, 0);
            r.report(rule, wide(padded_end), len, 0, len);
        }
        Ok(())
    }
}
