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

use super::definition::{self, Definition};
use super::text::{leb64, string};
use super::{Header, field, rules};
use crate::cursor::Cursor;
use crate::dims::DimsAt;
use crate::division::div_rem;
use crate::finding::Kind;
use crate::limits;
use crate::name::NameAt;
use crate::read::{Halt, Reader};
use crate::source::{Span, widen};
use crate::tensor::{Chunks, Encoding, Layout, Status, Tensor};

/// An entry, judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: NameAt,
    pub(super) definition: Definition,
    pub(super) place: Place,
    /// One past its last byte.
    pub(super) end: u64,
    /// It, or what it points at, can be read.
    pub(super) sound: bool,
}

/// The fields behind the codec definition: where the column's tables are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) kind: u8,
    pub(super) rows_per_block: u64,
    rows_span: Span,
    /// The lookup table; empty if the column has no rows or the table is not
    /// in its place.
    pub(super) lookup: Span,
    /// Number of blocks.
    pub(super) blocks: u64,
    /// Offset of the metadata table of contents; 0 for none.
    pub(super) metadata: u64,
    /// The slot names; empty for none.
    pub(super) slots: Span,
    /// Number of slot names.
    pub(super) slot_count: u32,
    /// The blocks can be found.
    pub(super) sound: bool,
}

impl Place {
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn encoding(&self) -> Encoding {
        match self.kind {
            0 => Encoding::Raw,
            1 => Encoding::Deflate,
            2 => Encoding::Zlib,
            _ => Encoding::Unknown,
        }
    }
}

impl Header {
    pub(super) fn next_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        let at = if c.index == 0 { self.toc } else { c.at };
        let Some(column) = self.next_column(r, c)? else {
            return Ok(None);
        };
        let Column { definition, place, .. } = column;
        let status = if !column.sound {
            Status::Broken
        } else if self.is_old() || self.is_dead(&column) {
            Status::Unsupported
        } else {
            Status::Sound
        };
        let sound = column.sound && place.blocks > 0;
        let vector = definition.codec.vector;
        let per_row = vector.map_or(1, |vector| u64::from(vector.size.max(1)));
        Ok(Some(Tensor {
            index: c.index.saturating_sub(1),
            at,
            name: column.name,
            dtype: definition.codec.dtype(),
            status,
            layout: Layout::Blocks,
            encoding: place.encoding(),
            dims: DimsAt {
                lead: Some(self.rows),
                ..vector.map_or_else(DimsAt::default, |vector| vector.dims)
            },
            elements: self.rows.saturating_mul(per_row),
            chunks: if sound {
                let each = place.rows_per_block;
                Chunks::Table { at: place.lookup.at, count: place.blocks, each }
            } else {
                Chunks::None
            },
            extra: definition.span,
            ..Tensor::default()
        }))
    }

    /// Whether the data of a column that is sound so far cannot be read.
    pub(super) fn is_dead(&self, column: &Column) -> bool {
        !column.definition.codec.is_known() || column.place.encoding() == Encoding::Unknown
    }

    /// The next entry, judged; `None` behind the last one.
    pub(super) fn next_column(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Column>, Halt> {
        if c.index >= self.columns {
            c.finish();
            return Ok(None);
        }
        let at = if c.index == 0 { self.toc } else { c.at };
        if cfg!(feature = "windows") && !r.is_muted() {
            // The first time in silence: all bytes of it, or none.
            r.mute();
            let taken = self.column(r, at, c.index);
            r.unmute();
            if taken.is_err_and(Halt::is_absent) {
                return Err(Halt::ABSENT);
            }
        }
        match self.column(r, at, c.index) {
            Ok(column) => {
                self.compare(r, c, &column);
                c.advance(column.end);
                Ok(Some(column))
            }
            Err(halt) if halt.is_absent() => Err(halt),
            // Where the next entry begins, nothing tells.
            Err(halt) => {
                r.refuse(halt);
                c.finish();
                Ok(None)
            }
        }
    }

    /// Rows per block against those of the first column, which the cursor
    /// keeps.
    fn compare(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, column: &Column) {
        let rows = column.place.rows_per_block;
        if c.index == 0 {
            c.state = rows;
        } else if c.state != Cursor::UNKNOWN && c.state != rows {
            let Span { at, len } = column.place.rows_span;
            r.flag(rules::T_RPB_DIFFERS, at, len, c.state, rows);
        }
    }

    /// Takes and judges the entry at `at`.
    fn column(&self, r: &mut Reader<'_, '_>, at: u64, index: u32) -> Result<Column, Halt> {
        r.region(at, self.tail, rules::T_EOF);
        let left = u64::from(self.columns.saturating_sub(index)).saturating_mul(field::COLUMN);
        let ahead = left.clamp(limits::READ_AHEAD, limits::TABLE_AHEAD);
        r.read_ahead(at.saturating_add(ahead).min(self.end()));
        r.about(Kind::Tensor, index);
        let name = string(r, rules::T_NAME)?;
        let definition = definition::definition(r)?;
        let place = self.place(r)?;

        let span = name.span();
        let name_at = NameAt::plain(name.at, widen(name.bytes.len()));
        r.check(name.sound, rules::T_NAME, span, 0, 0);
        r.check(name.is_utf8(), rules::T_NAME_UTF8, name_at.span(), 0, 0);
        let column = Column {
            name: name_at,
            definition,
            place,
            end: r.at(),
            sound: name.sound && definition.sound && place.sound,
        };
        let dead = self.is_dead(&column);
        r.check(dead || !name.bytes.is_empty(), rules::T_NAME_EMPTY, span, 1, 0);
        if definition.sound {
            let Span { at, len } = definition.span;
            r.check(definition.codec.is_known(), rules::T_CODEC_UNKNOWN, Span::new(at, len), 0, 0);
        }
        Ok(column)
    }

    /// Takes and judges what follows the codec definition.
    pub(super) fn place(&self, r: &mut Reader<'_, '_>) -> Result<Place, Halt> {
        let kind_at = r.at();
        let kind = r.u8()?;
        let rows_at = r.at();
        let rows = r.parse(leb64)?;
        if !rows.whole {
            r.flag(rules::T_RPB, rows_at, rows.len, 0, rows.value);
            return Err(Halt::refused(rules::T_RPB));
        }
        let lookup_at = r.at();
        let lookup = r.u64()?;
        let mut place = Place {
            kind,
            rows_per_block: rows.value,
            rows_span: Span::new(rows_at, rows.len),
            sound: true,
            ..Place::default()
        };
        let last_at = r.at();
        let mut last = 0;
        let mut size = 0;
        let mut count = 0;
        if self.has_metadata() {
            last = r.u64()?;
        } else if self.has_slot_names() {
            last = r.u64()?;
            // The two fields are there only if the offset is positive.
            if i64::from_le_bytes(last.to_le_bytes()) > 0 {
                size = r.u64()?;
                count = r.u32()?;
            }
        }

        let kind_span = Span::new(kind_at, 1);
        let code = u64::from(kind);
        r.check(kind <= 2, rules::T_COMP_UNKNOWN, kind_span, 2, code);
        r.check(kind != 2, rules::T_COMP_ZLIB, kind_span, 1, code);
        if !rows.shortest {
            r.flag(rules::T_RPB, rows_at, rows.len, 0, rows.value);
            place.sound = false;
        }
        self.judge_blocks(r, &mut place, Span::new(lookup_at, 8), lookup);
        if self.has_metadata() {
            if last == 0 || self.is_inside(last, 0) {
                place.metadata = last;
            } else {
                r.flag(rules::T_MTOC_RANGE, last_at, 8, self.tail, last);
            }
        } else if last != 0 {
            let least = u64::from(count).saturating_mul(field::SLOT_NAME);
            if !self.is_inside(last, size) {
                r.flag(rules::T_SLOTS_RANGE, last_at, r.at().saturating_sub(last_at), size, last);
            } else if least > size {
                let at = last_at.saturating_add(16);
                r.flag(rules::T_SLOTS_COUNT, at, 4, size, u64::from(count));
            } else {
                place.slots = Span::new(last, size);
                place.slot_count = count;
            }
        }
        Ok(place)
    }

    /// Number of blocks, and whether their table fits.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn judge_blocks(
        &self,
        r: &mut Reader<'_, '_>,
        place: &mut Place,
        lookup_span: Span,
        lookup: u64,
    ) {
        let Place { rows_per_block: rows, rows_span, .. } = *place;
        if rows > u64::from(i32::MAX.unsigned_abs()) {
            r.check(false, rules::T_RPB_RANGE, rows_span, u64::from(i32::MAX.unsigned_abs()), rows);
            place.sound = false;
            return;
        }
        let Some(last) = self.rows.checked_sub(1) else {
            let inside = self.is_inside(lookup, 0);
            r.check(inside, rules::T_LOOKUP_UNUSED, lookup_span, self.tail, lookup);
            return;
        };
        let Some(blocks) = div_rem(last, rows).map(|(full, _)| full.saturating_add(1)) else {
            r.check(false, rules::T_RPB_ZERO, rows_span, 1, 0);
            place.sound = false;
            return;
        };
        let most = u64::from(i32::MAX.unsigned_abs());
        r.check(blocks <= most, rules::L_COUNT, rows_span, most, blocks);
        match blocks.checked_mul(field::LOOKUP).filter(|len| self.is_inside(lookup, *len)) {
            Some(len) => {
                place.blocks = blocks;
                place.lookup = Span::new(lookup, len);
            }
            None => {
                r.check(false, rules::T_LOOKUP_RANGE, lookup_span, blocks, lookup);
                place.sound = false;
            }
        }
    }
}
