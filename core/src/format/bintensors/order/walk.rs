//! The order checks for partially resident files, entry by entry.

use super::super::fields::{self, Entry};
use super::super::{Cursor, Header, rules};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, general::BYTES_CHANGED};

/// Phases of the cursor.
mod phase {
    pub(super) const METADATA: u8 = 0;
    pub(super) const TENSORS: u8 = 1;
    /// The list is known to be out of order, and only its end is still needed.
    pub(super) const REST: u8 = 2;
    pub(super) const PADDING: u8 = 3;
}

/// A list that should be in order.
#[derive(Clone, Copy)]
struct List {
    at: u64,
    count: u32,
    rule: Rule,
    kind: EntryKind,
}

/// The sort key of an entry: descending element type, then ascending name. Metadata entries
/// have no type.
struct Place<'a> {
    dtype: u64,
    name: &'a [u8],
    name_at: Span,
    /// End of the data, which the sweep needs.
    end: u64,
}

impl<'a> Place<'a> {
    fn read(r: &mut Reader<'_, 'a>, kind: EntryKind) -> Result<Self, Halt> {
        let mut entry = Entry::default();
        match kind {
            EntryKind::Metadata => {
                fields::pair(r, &mut entry);
                r.settle()
            }
            _ => fields::entry(r, &mut entry),
        }?;
        Ok(Place {
            dtype: entry.dtype.value,
            name: entry.name,
            name_at: entry.name_span(),
            end: entry.end.value,
        })
    }

    fn comes_before(&self, other: &Place<'_>) -> bool {
        self.dtype > other.dtype || (self.dtype == other.dtype && self.name < other.name)
    }
}

impl Header {
    /// Takes as many steps as the resident bytes allow.
    pub(in super::super) fn audit_order(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<(), Halt> {
        match c.phase {
            phase::METADATA => {
                let (at, count) = (self.meta_at.into(), self.meta_count);
                self.ascends(r, c, List { at, count, rule: rules::M5, kind: EntryKind::Metadata })
            }
            phase::TENSORS | phase::REST => {
                if let Some(end) = self.order_listed(r, c) {
                    self.next_list(r, c, end);
                    return Ok(());
                }
                if self.sweep_in_order(r, c, c.phase != phase::REST) {
                    return Ok(());
                }
                let (at, count) = (self.list_at.into(), self.count);
                self.ascends(r, c, List { at, count, rule: rules::C1, kind: EntryKind::Tensor })
            }
            _ => self.padding(r, c),
        }
    }

    /// Compares entries until the list ends, bytes are absent, or an entry is out
    /// of order.
    fn ascends(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, list: List) -> Result<(), Halt> {
        let mut last = None;
        loop {
            let at = c.at.max(list.at);
            if c.index >= list.count {
                self.next_list(r, c, at);
                return Ok(());
            }
            let compares = c.phase != phase::REST;
            let began = last.is_some();
            // A previous entry from an earlier step is read again, so both must be resident.
            let again = compares && !began && c.index > 0;
            r.region(if again { c.state.before.offset } else { at }, self.data_at(), BYTES_CHANGED);
            r.mute();
            let before = if again { Place::read(r, list.kind).map(Some) } else { Ok(last.take()) };
            let both = before.and_then(|before| Ok((before, Place::read(r, list.kind)?)));
            r.unmute();
            let (before, place) = match both {
                Ok(both) => both,
                // Entries already passed must not be checked twice.
                Err(halt) if halt.is_absent() && began => return Ok(()),
                Err(halt) if halt.is_absent() => return Err(halt),
                // A broken list was reported when its entries were validated.
                Err(_) => {
                    c.finish();
                    return Ok(());
                }
            };
            let index = c.index;
            c.advance(r.at());
            c.state.before.offset = at;
            c.state.stated = place.end;
            if compares && before.is_some_and(|before| place.comes_before(&before)) {
                let name = place.name_at;
                r.about(list.kind, index);
                r.flag(list.rule, name.offset, name.len, 0, 0);
                if list.kind == EntryKind::Metadata {
                    self.next_list(r, c, at);
                } else {
                    c.phase = phase::REST;
                }
                return Ok(());
            }
            last = Some(place);
        }
    }

    /// Continues with the next list or, after the tensors, with the padding at `end`.
    fn next_list(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, end: u64) {
        if c.phase == phase::METADATA {
            let listed = c.state.listed;
            c.next_phase();
            c.state.listed = listed;
            return;
        }
        *c = Cursor { at: end, phase: phase::PADDING, ..Cursor::START };
        self.pad(r, end);
    }

    /// Checks resident padding.
    fn padding(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        r.region(c.at, self.data_at(), BYTES_CHANGED);
        r.about(EntryKind::File, 0);
        if r.left() == 0 || !self.blank(r) {
            c.finish();
            return Ok(());
        }
        r.some()?;
        c.at = r.at();
        Ok(())
    }
}
