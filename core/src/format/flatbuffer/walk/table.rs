//! One table: its vtable and the places of its fields.

use crate::base::{Word, wide, widen, word};
use crate::format::flatbuffer::{Extent, Fault, Rules};
use crate::parse::Reader;
use crate::rule::Halt;

/// Most fields of a table that are read. The largest table of the formats has 17.
const FIELDS: usize = 17;

/// A table whose vtable is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Table {
    /// Its position.
    pub(crate) at: Word,
    /// Position of its vtable.
    pub(crate) vtable: Word,
    /// Length of the vtable, at least 4.
    pub(crate) vtable_len: u16,
    /// Its own length, as the vtable says.
    pub(crate) len: u16,
    /// Offsets of the fields in the table; 0 for absent ones.
    fields: [u16; FIELDS],
}

impl Table {
    /// No table.
    pub(crate) const NONE: Table =
        Table { at: 0, vtable: 0, vtable_len: 0, len: 0, fields: [0; FIELDS] };

    /// Position of the vtable of the table at `at`, where four bytes are known to be inside;
    /// `None` after a fault.
    pub(crate) fn vtable_of(
        r: &mut Reader<'_, '_>,
        extent: Extent,
        at: Word,
        rules: Rules<'_>,
    ) -> Result<Option<Word>, Halt> {
        let back = extent.u32(r, at)?.cast_signed();
        let distance = word(back.unsigned_abs().into());
        let vtable = match back < 0 {
            true => at.checked_add(distance),
            false => at.checked_sub(distance),
        };
        let inside = |vtable: &Word| extent.holds(*vtable, 4) && extent.aligns(*vtable, 2);
        let vtable = vtable.filter(inside);
        if vtable.is_none() {
            let found = i64::from(back).cast_unsigned();
            r.flag(rules(Fault::Vtable), wide(at), 4, wide(extent.end), found);
        }
        Ok(vtable)
    }

    /// The table at `at` with this vtable; `None` after a fault that leaves no field readable.
    pub(crate) fn load(
        r: &mut Reader<'_, '_>,
        extent: Extent,
        at: Word,
        vtable: Word,
        rules: Rules<'_>,
    ) -> Result<Option<Table>, Halt> {
        let vtable_len = u16_in(extent.get(r, vtable, 4)?, 0);
        let (found, left) = (u64::from(vtable_len), extent.left(vtable));
        if vtable_len < 4 || vtable_len & 1 != 0 || !extent.holds(vtable, Word::from(vtable_len)) {
            r.flag(rules(Fault::VtableLength), wide(vtable), 2, wide(left), found);
            return Ok(None);
        }
        let known = usize::from(vtable_len).min(const { 4 + 2 * FIELDS });
        let bytes = extent.get(r, vtable, known)?;
        let len = u16_in(bytes, 2);
        if len < 4 || !extent.holds(at, Word::from(len)) {
            let (place, left) = (wide(vtable).wrapping_add(2), wide(extent.left(at)));
            r.flag(rules(Fault::TableLength), place, 2, left, len.into());
        }
        let mut fields = [0; FIELDS];
        let (offsets, _) = bytes.get(4..).unwrap_or_default().as_chunks::<2>();
        for (field, offset) in fields.iter_mut().zip(offsets) {
            *field = u16::from_le_bytes(*offset);
        }
        Ok(Some(Table { at, vtable, vtable_len, len, fields }))
    }

    /// Whether the field is stored.
    pub(crate) fn has(&self, index: u8) -> bool {
        self.fields.get(usize::from(index)).is_some_and(|offset| *offset != 0)
    }

    /// Position of a field of `width` bytes; `None` if it is absent, or after a fault.
    pub(crate) fn field(
        &self,
        r: &mut Reader<'_, '_>,
        extent: Extent,
        index: u8,
        width: u8,
        rules: Rules<'_>,
    ) -> Option<Word> {
        let offset = self.fields.get(usize::from(index)).copied().unwrap_or(0);
        if offset == 0 {
            return None;
        }
        let end = u64::from(offset).wrapping_add(width.into());
        // Saturates past the end.
        let at = self.at.saturating_add(Word::from(offset));
        let (fault, expected, found) = if offset < 4 {
            (Fault::FieldHead, 4, offset.into())
        } else if !extent.holds(at, Word::from(width)) {
            (Fault::FieldBounds, wide(extent.left(self.at)), end)
        } else if !extent.aligns(at, width) {
            (Fault::FieldUnaligned, width.into(), wide(at))
        } else if end > self.len.into()
            && self.len >= 4
            && extent.holds(self.at, Word::from(self.len))
        {
            // A wrong length of the table has been reported.
            (Fault::FieldTable, self.len.into(), end)
        } else {
            return Some(at);
        };
        let slot = widen(usize::from(index)).wrapping_mul(2).wrapping_add(4);
        r.flag(rules(fault), wide(self.vtable).wrapping_add(slot), 2, expected, found);
        (fault == Fault::FieldTable).then_some(at)
    }
}

/// The little-endian number at `at`; 0 if it is cut off.
fn u16_in(bytes: &[u8], at: usize) -> u16 {
    let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}
