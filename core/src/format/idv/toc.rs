//! Entries of the column table of contents.
//!
//! | field | type | versions |
//! |---|---|---|
//! | name | string | all |
//! | codec definition | see `codec` | all |
//! | compression kind | u8 | all |
//! | rows per block | LEB128 | all |
//! | lookup table offset | i64 | all |
//! | slot names offset, 0 for none | i64 | 1.1.1.3 |
//! | slot names byte size, if there are any | i64 | 1.1.1.3 |
//! | slot names count, if there are any | i32 | 1.1.1.3 |
//! | metadata table of contents offset, 0 for none | i64 | 1.1.1.4 and later |

use super::definition::Head;
use super::leb128::{LARGEST, NUMBER};
use super::{Cursor, Header, encoding, family, field, is_positive, rules};
use crate::base::features::WINDOWS;
use crate::base::{Word, division::quotient, limits, place, wide};
use crate::input::Span;
use crate::model::{Chunks, DimsAt, Layout, Status, Tensor};
use crate::parse::{Reader, reader::Overlong};
use crate::rule::{EntryKind, Halt};

/// A validated entry. It is large, so it is filled in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) head: Head,
    /// End of the entry.
    end: Word,
    pub(super) rows_per_block: u64,
    /// Offset and number of entries of the lookup table; 0 if the column has no rows or the
    /// table's location is invalid.
    pub(super) lookup: Word,
    blocks: Word,
    /// Offset of the metadata table of contents; 0 for none.
    pub(super) metadata: Word,
    /// Offset and length of the slot names; 0 for none.
    pub(super) slots: Word,
    pub(super) slots_len: Word,
    /// Number of slot names.
    pub(super) slot_count: Word,
    /// Whether the entry, its column and its slot names can be read.
    pub(super) sound: bool,
}

impl Column {
    /// An entry before anything has been read.
    pub(super) const NONE: Column = Column {
        head: Head::NONE,
        end: 0,
        rows_per_block: 0,
        lookup: 0,
        blocks: 0,
        metadata: 0,
        slots: 0,
        slots_len: 0,
        slot_count: 0,
        sound: false,
    };

    /// Number of blocks that can be located.
    pub(super) fn blocks(&self) -> Word {
        if self.sound { self.blocks } else { 0 }
    }

    /// Length of the lookup table in bytes.
    pub(super) fn table_len(&self) -> Word {
        self.blocks.wrapping_mul(field::ENTRY)
    }

    /// Byte range of the slot names.
    pub(super) fn slots(&self) -> Span {
        Span::new(wide(self.slots), wide(self.slots_len))
    }
}

impl Header {
    pub(super) fn next_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        let mut column = Column::NONE;
        self.next_column(r, c, &mut column)?;
        if c.done {
            return Ok(None);
        }
        let Head { at, name, definition, compression } = &column.head;
        let status = if !column.sound {
            Status::Broken
        } else if !self.has_metadata() || column.head.is_dead() {
            Status::Unsupported
        } else {
            Status::Sound
        };
        let count = wide(column.blocks());
        Ok(Some(Tensor {
            index: c.index.wrapping_sub(1),
            offset: wide(*at),
            name: name.name(),
            dtype: family::values(definition.item).0,
            status,
            layout: Layout::Blocks,
            encoding: encoding(*compression),
            dims: DimsAt { lead: Some(self.rows), ..definition.dims() },
            elements: self.rows.saturating_mul(u64::from(definition.size.max(1))),
            chunks: if count > 0 {
                Chunks::Table { at: wide(column.lookup), count, each: column.rows_per_block }
            } else {
                Chunks::None
            },
            extra: definition.span(),
            ..Tensor::default()
        }))
    }

    /// Reads and validates the next entry; finishes the cursor after the last one.
    pub(super) fn next_column(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        column: &mut Column,
    ) -> Result<(), Halt> {
        if c.index >= self.columns {
            c.finish();
            return Ok(());
        }
        if WINDOWS && !r.is_muted() {
            // Reads it muted first, because all of its bytes must be resident.
            r.mute();
            let taken = self.column(r, c, column);
            r.unmute();
            if taken.is_err_and(Halt::is_absent) {
                return Err(Halt::ABSENT);
            }
        }
        match self.column(r, c, column) {
            Ok(()) => {
                c.advance(wide(column.end));
                Ok(())
            }
            Err(halt) if halt.is_absent() => Err(halt),
            // The start of the next entry is unknown.
            Err(halt) => {
                r.refuse(halt);
                c.finish();
                Ok(())
            }
        }
    }

    /// Offset of the entry at the cursor.
    pub(super) fn entry_at(&self, c: &Cursor) -> u64 {
        if c.index == 0 { wide(self.toc) } else { c.at }
    }

    /// Reads and validates an entry.
    fn column(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        column: &mut Column,
    ) -> Result<(), Halt> {
        let at = self.entry_at(c);
        r.region(at, wide(self.tail), rules::T_EOF);
        let left = u64::from(self.columns.wrapping_sub(c.index)).saturating_mul(field::COLUMN);
        let ahead = left.clamp(limits::READ_AHEAD, limits::TABLE_AHEAD);
        r.read_ahead(at.saturating_add(ahead).min(wide(self.end())));
        r.about(EntryKind::Tensor, c.index);
        *column = Column::NONE;
        r.overlong = Overlong::NONE;
        column.head.take(r, rules::T_NAME);
        column.rows_per_block = r.leb(rules::T_RPB, NUMBER, 0);
        let lookup_at = r.here();
        let lookup = r.next_word();
        let (mut last, mut size, mut count) = (0, 0, 0);
        if self.has_metadata() {
            last = r.next_word();
        } else if self.has_slot_names() {
            let stored = r.next_u64();
            last = place(stored);
            // The two fields exist only if the offset is positive.
            if last != 0 && is_positive(stored) {
                size = r.next_word();
                count = place(r.next_u32().into());
            }
        }
        r.settle()?;

        column.end = r.here();
        r.flag_overlong();
        let Head { name, definition, compression, .. } = &column.head;
        column.sound = definition.sound;
        r.check(name.utf8, rules::T_NAME_UTF8, name.name().span(), 0, 0);
        let nameless = name.is_empty() && !column.head.is_dead();
        r.check(!nameless, rules::T_NAME_EMPTY, name.span(), 1, 0);
        let unknown = definition.sound && !definition.is_known();
        r.check(!unknown, rules::T_CODEC_UNKNOWN, definition.span(), 0, 0);
        let compression_at = column.head.compression_at();
        let kind_span = Span::new(wide(compression_at), 1);
        let code = u64::from(*compression);
        r.check(*compression <= 2, rules::T_COMP_UNKNOWN, kind_span, 2, code);
        r.check(*compression != 2, rules::T_COMP_ZLIB, kind_span, 1, code);
        let rows_at = compression_at.wrapping_add(1);
        let rows_span = Span::new(wide(rows_at), wide(lookup_at.wrapping_sub(rows_at)));
        self.compare(r, c, column.rows_per_block, rows_span);
        self.validate_blocks(r, column, [rows_at, lookup_at], lookup);
        self.validate_last(r, column, lookup_at.wrapping_add(8), [last, size, count]);
        Ok(())
    }

    /// Compares rows per block with those of the first column, which the cursor keeps.
    fn compare(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, rows: u64, span: Span) {
        if c.index == 0 {
            c.state.rows_per_block = rows;
        } else if c.state.rows_per_block != Cursor::UNKNOWN {
            let first = c.state.rows_per_block;
            r.check(first == rows, rules::T_RPB_DIFFERS, span, first, rows);
        }
    }

    /// Validates the last fields of an entry: the location of the metadata table of contents
    /// or of the slot names.
    fn validate_last(
        &self,
        r: &mut Reader<'_, '_>,
        column: &mut Column,
        at: Word,
        [last, size, count]: [Word; 3],
    ) {
        if last == 0 {
            return;
        }
        let inside = self.is_inside(last, size);
        let (at, at_count) = (wide(at), wide(at.wrapping_add(16)));
        if self.has_metadata() {
            column.metadata = if inside { last } else { 0 };
            r.check(inside, rules::T_MTOC_RANGE, Span::new(at, 8), wide(self.tail), wide(last));
        } else if !inside {
            let len = wide(column.end).wrapping_sub(at);
            r.flag(rules::T_SLOTS_RANGE, at, len, wide(size), wide(last));
        } else if count.saturating_mul(field::SLOT_NAME) > size {
            r.flag(rules::T_SLOTS_COUNT, at_count, 4, wide(size), wide(count));
        } else {
            (column.slots, column.slots_len, column.slot_count) = (last, size, count);
        }
    }

    /// Validates the number of blocks, and that their lookup table fits.
    fn validate_blocks(
        &self,
        r: &mut Reader<'_, '_>,
        column: &mut Column,
        [rows_at, lookup_at]: [Word; 2],
        lookup: Word,
    ) {
        let each = column.rows_per_block;
        let rows_span = Span::new(wide(rows_at), wide(lookup_at.wrapping_sub(rows_at)));
        let lookup_span = Span::new(wide(lookup_at), 8);
        let Some(short) = u32::try_from(each).ok().filter(|_| each <= LARGEST) else {
            r.flag(rules::T_RPB_RANGE, rows_span.offset, rows_span.len, LARGEST, each);
            column.sound = false;
            return;
        };
        let Some(last) = self.rows.checked_sub(1) else {
            let inside = self.is_inside(lookup, 0);
            r.check(inside, rules::T_LOOKUP_UNUSED, lookup_span, wide(self.tail), wide(lookup));
            return;
        };
        let Some(full) = quotient(last, short) else {
            r.flag(rules::T_RPB_ZERO, rows_span.offset, rows_span.len, 1, 0);
            column.sound = false;
            return;
        };
        // Rows are below 2^63.
        let blocks = full.wrapping_add(1);
        r.check(blocks <= LARGEST, rules::L_COUNT, rows_span, LARGEST, blocks);
        if self.is_inside(lookup, place(blocks).saturating_mul(field::ENTRY)) {
            (column.lookup, column.blocks) = (lookup, place(blocks));
        } else {
            r.flag(
                rules::T_LOOKUP_RANGE,
                lookup_span.offset,
                lookup_span.len,
                blocks,
                wide(lookup),
            );
            column.sound = false;
        }
    }
}
