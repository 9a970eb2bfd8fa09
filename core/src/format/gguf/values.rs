//! The audit of values: strings are UTF-8, Booleans are 0 or 1.

use super::head::{self, Content, Entry};
use super::{Cursor, Header, fast, field, rules};
use crate::base::{utf8, wide, widen};
use crate::input::{Absent, Span};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Phases of the audit's cursor.
mod phase {
    pub(super) const BETWEEN: u8 = 0;
    pub(super) const TEXT: u8 = 1;
    pub(super) const BOOLEANS: u8 = 2;
}

impl Header {
    /// Checks values as far as they are resident.
    pub(super) fn audit_resident(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<(), Halt> {
        let mut went = false;
        while !c.done {
            if c.phase == phase::BETWEEN {
                went |= fast::texts(r, c, self.big, c.state.faulty);
            }
            match self.audit_step(r, c) {
                Ok(()) => went = true,
                // Progress is kept only by a step that succeeds.
                Err(halt) if halt.is_absent() && went => return Ok(()),
                Err(halt) if halt.is_absent() => return Err(halt),
                // The fault was reported when the entry was listed.
                Err(_) => c.finish(),
            }
        }
        Ok(())
    }

    /// Checks the next value or item.
    pub(super) fn audit_values(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if r.is_partial() {
            return self.audit_resident(r, c);
        }
        r.mute();
        let mut content = Content::default();
        let stepped = self.next_content(r, c, &mut content);
        r.unmute();
        // The fault was reported when the entry was listed.
        if stepped.is_err() || content.holds == Content::OVER {
            c.finish();
            return Ok(());
        }
        let bytes = r.get(Span::new(c.at, wide(content.len)))?;
        let (fault, rule) = match content.holds {
            field::STRING => (utf8::fault(bytes).map(|(at, _)| at), rules::TEXT_UTF8),
            field::BOOL => (bytes.iter().position(|byte| *byte > 1), rules::VALUE_BOOL),
            _ => (None, rules::VALUE_BOOL),
        };
        // One finding per entry is enough.
        if let Some(at) = fault
            && !c.state.faulty
        {
            let byte = bytes.get(at).copied().unwrap_or(0);
            r.about(EntryKind::Metadata, c.index.wrapping_sub(1));
            r.flag(rule, c.at.wrapping_add(widen(at)), 1, 0, byte.into());
            c.state.faulty = true;
        }
        c.at = c.at.wrapping_add(wide(content.len));
        Ok(())
    }

    pub(super) fn audit_step(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if c.phase != phase::BETWEEN {
            r.about(EntryKind::Metadata, c.index.wrapping_sub(1));
            return look(r, c);
        }
        r.mute();
        let mut content = Content::default();
        let stepped = self.next_content(r, c, &mut content);
        r.unmute();
        stepped?;
        let end = c.at.wrapping_add(wide(content.len));
        match content.holds {
            Content::OVER => c.finish(),
            // One finding per entry is enough.
            _ if c.state.faulty => c.at = end,
            field::STRING => (c.phase, c.state.end) = (phase::TEXT, end),
            field::BOOL => (c.phase, c.state.end) = (phase::BOOLEANS, end),
            _ => c.at = end,
        }
        Ok(())
    }

    /// Moves to the next value or item, after its head.
    fn next_content(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        content: &mut Content,
    ) -> Result<(), Halt> {
        head::item(r, c, self.big, content)?;
        if content.holds != Content::OVER || c.index >= self.metas {
            return Ok(());
        }
        c.step(|c| {
            c.at = c.at.max(field::HEADER);
            let mut entry = Entry::default();
            head::entry(r, c, self.big, &mut entry)?;
            *content = entry.content;
            c.advance(c.at.wrapping_sub(wide(content.len)));
            c.state.faulty = false;
            Ok(())
        })
    }
}

/// Checks the resident bytes of a string or of Booleans.
fn look(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let left = c.state.end.wrapping_sub(c.at);
    if left == 0 {
        c.phase = phase::BETWEEN;
        return Ok(());
    }
    let run = r.source().run(c.at);
    let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
    let (sound, bad) = if c.phase == phase::TEXT {
        match utf8::fault(run) {
            None => (run.len(), false),
            // A window may end inside a character.
            Some((at, cut)) => (at, !cut || widen(run.len()) == left),
        }
    } else {
        match run.iter().position(|byte| *byte > 1) {
            Some(at) => (at, true),
            None => (run.len(), false),
        }
    };
    let at = c.at.wrapping_add(widen(sound));
    if bad {
        let rule = if c.phase == phase::TEXT { rules::TEXT_UTF8 } else { rules::VALUE_BOOL };
        let byte = run.get(sound).copied().unwrap_or(0);
        r.flag(rule, at, 1, 0, byte.into());
        (c.at, c.phase, c.state.faulty) = (c.state.end, phase::BETWEEN, true);
        return Ok(());
    }
    if sound == 0 {
        // No character is longer than four bytes.
        let need = if run.is_empty() { 1 } else { left.min(4) };
        return Err(r.lack(Absent { offset: c.at, need, want: left }));
    }
    c.at = at;
    Ok(())
}
