//! Lookup tables: the locations of a column's blocks, and whether their lengths fit their
//! rows.
//!
//! | entry at | size | field |
//! |---|---|---|
//! | 0 | 8 | block offset, i64 |
//! | 8 | 4 | stored length, i32 |
//! | 12 | 4 | uncompressed length, i32 |

use super::codec::{Codec, Item};
use super::definition::{Definition, Head};
use super::leb128::LARGEST;
use super::toc::Column;
use super::{Cursor, Header, family, field, rules};
use crate::base::features::WINDOWS;
use crate::base::{Word, limits, place, wide, word};
use crate::input::Span;
use crate::model::{Chunk, Chunks, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, general::BYTES_CHANGED};

/// An entry of a lookup table, as stored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    offset: u64,
    stored: u32,
    decoded: u32,
}

impl Entry {
    /// The rule that the block's location breaks, and the offset of the faulty field.
    fn fault(&self, header: &Header) -> Option<(Rule, u8)> {
        if u64::from(self.stored) > LARGEST {
            Some((rules::L_COMPLEN, 8))
        } else if u64::from(self.decoded) > LARGEST {
            Some((rules::L_DECLEN, 12))
        } else if !header.is_inside(place(self.offset), word(self.stored.into())) {
            Some((rules::L_OFFSET, 0))
        } else {
            None
        }
    }

    /// Offset and length of the block; empty if its location is invalid.
    pub(super) fn block(&self, header: &Header) -> (Word, Word) {
        match self.fault(header) {
            None => (place(self.offset), word(u64::from(self.stored))),
            Some(_) => (0, 0),
        }
    }
}

/// The decoded length of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Measure {
    /// Bits per row; 0 if unknown.
    width: u8,
    /// Additional bits: fields shared by all rows, or less than one unit of padding.
    more: u8,
}

impl Measure {
    pub(super) const UNKNOWN: Measure = Measure { width: 0, more: 0 };
    /// Two bits per row; the last 32-bit word is padded.
    pub(super) const WORDS: Measure = Measure { width: 2, more: 31 };
    /// At least an entry count, an end position per row and the length of a string.
    pub(super) const TEXT: Measure = Measure { width: 32, more: 40 };
    /// At least a vector count, a size, a value count per row and an index count.
    pub(super) const VECTOR: Measure = Measure { width: 32, more: 96 };

    /// `width` bits per row; the last byte is padded.
    pub(super) const fn bits(width: u8) -> Measure {
        Measure { width, more: 7 }
    }

    /// Number of bits per value, if values have a fixed width and nothing else is stored.
    pub(super) fn scalar(self) -> Option<u8> {
        (self.width > 0 && self.more == 7).then_some(self.width)
    }

    pub(crate) fn of(codec: &Codec) -> Self {
        match (codec.vector, codec.item, codec.fixed_bits()) {
            (_, Item::Unknown, _) => Measure::UNKNOWN,
            (Some(_), ..) => Measure::VECTOR,
            (None, Item::TwoBits, _) => Measure::WORDS,
            (None, Item::Text, _) => Measure::TEXT,
            (None, _, Some(bits)) => Measure::bits(u8::try_from(bits).unwrap_or(0)),
            (None, _, None) => Measure::UNKNOWN,
        }
    }

    /// Returns the same before the codec's parameters are known.
    pub(super) fn of_definition(definition: &Definition) -> Self {
        match definition.vector && definition.is_known() {
            true => Measure::VECTOR,
            false => family::values(definition.item).1,
        }
    }

    /// Minimum length of `rows` rows in bytes; `None` if unknown.
    pub(crate) fn least(self, rows: u64) -> Option<u64> {
        if self == Measure::UNKNOWN {
            return None;
        }
        let bits = rows.saturating_mul(u64::from(self.width));
        let bytes = bits.saturating_add(u64::from(self.more)) >> 3;
        Some(if self == Measure::WORDS { bytes & !3 } else { bytes })
    }

    /// Whether the minimum length is the exact length.
    pub(crate) const fn is_exact(self) -> bool {
        self.more < 32
    }

    /// Validates the length `len` of a payload of `rows` rows.
    pub(super) fn validate(self, r: &mut Reader<'_, '_>, rows: u32, len: Word, span: Span) {
        let Some(takes) = self.least(u64::from(rows)) else { return };
        let found = wide(len);
        r.check(len >= place(takes), rules::B_SHORT, span, takes, found);
        let stray = self.is_exact() && len > place(takes);
        r.check(!stray, rules::B_STRAY, span, takes, found);
    }
}

/// The blocks of one column that remain to be validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blocks {
    /// Offset of the next entry.
    at: Word,
    pub(super) left: Word,
    /// Index of the next entry.
    number: Word,
    /// Offset of the column's entry.
    column: u64,
    rows_per_block: Word,
    /// Number of rows in the last block.
    last: Word,
    measure: Measure,
    raw: bool,
    dead: bool,
}

impl Blocks {
    /// No blocks.
    pub(super) const NONE: Blocks = Blocks {
        at: 0,
        left: 0,
        number: 0,
        column: 0,
        rows_per_block: 0,
        last: 0,
        measure: Measure::UNKNOWN,
        raw: false,
        dead: false,
    };

    pub(super) fn of(header: &Header, column: &Column) -> Self {
        let Head { at, definition, compression, .. } = &column.head;
        let dead = column.head.is_dead();
        let (left, rows_per_block) = (column.blocks(), word(column.rows_per_block));
        Blocks {
            at: column.lookup,
            left,
            number: 0,
            column: wide(*at),
            rows_per_block,
            last: last(header, left, rows_per_block),
            measure: if header.has_metadata() && !dead {
                Measure::of_definition(definition)
            } else {
                Measure::UNKNOWN
            },
            raw: *compression == 0,
            dead,
        }
    }
}

/// Number of rows in the last of `blocks` blocks: fewer than 2^31, so wrapping does not
/// matter.
fn last(header: &Header, blocks: Word, rows_per_block: Word) -> Word {
    let before = blocks.wrapping_sub(1).wrapping_mul(rows_per_block);
    word(header.rows).wrapping_sub(before)
}

impl Header {
    pub(super) fn block_at(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        chunk: u64,
    ) -> Result<Option<Chunk>, Halt> {
        let Chunks::Table { at, count, each } = tensor.chunks else {
            return Ok(None);
        };
        let at = at.saturating_add(chunk.saturating_mul(wide(field::ENTRY)));
        let left = count.saturating_sub(chunk);
        let column = (tensor.offset, tensor.index);
        let mut entry = Entry::default();
        self.lookup(r, word(at), word(left), column, &mut entry)?;
        Ok(entry.fault(self).is_none().then(|| {
            let row = each.saturating_mul(chunk);
            Chunk {
                stored: Span::new(entry.offset, u64::from(entry.stored)),
                decoded: Some(u64::from(entry.decoded)),
                encoding: tensor.encoding,
                row,
                elements: self.rows.saturating_sub(row).min(each),
                lead: 0,
            }
        }))
    }

    /// Reads the entry at `at`; `left` entries remain, including this one.
    pub(super) fn lookup(
        &self,
        r: &mut Reader<'_, '_>,
        at: Word,
        left: Word,
        column: (u64, u32),
        entry: &mut Entry,
    ) -> Result<(), Halt> {
        let at = wide(at);
        let table = at.saturating_add(wide(left).saturating_mul(wide(field::ENTRY)));
        r.region(at, at.wrapping_add(wide(field::ENTRY)), BYTES_CHANGED);
        r.read_ahead(table.min(at.saturating_add(limits::TABLE_AHEAD)));
        entry.offset = r.next_u64();
        entry.stored = r.next_u32();
        entry.decoded = r.next_u32();
        // The whole table is known to lie inside the file.
        if WINDOWS && let Err(halt) = r.settle() {
            self.widen(r, column);
            return Err(halt);
        }
        Ok(())
    }

    /// Validates one block, or reads one entry of the table of contents; validates all blocks
    /// if the file is fully in memory.
    pub(super) fn audit_blocks(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut column = Column::NONE;
        if r.is_partial() {
            return self.audit_step(r, c, &mut column);
        }
        loop {
            self.silently_next(r, c, &mut column)?;
            if c.done {
                break;
            }
            let mut blocks = Blocks::of(self, &column);
            while blocks.left > 0 {
                self.validate_block_at(r, c, &mut blocks)?;
            }
        }
        Ok(())
    }

    /// Reads the next entry of the table of contents, muted, because it was validated before.
    pub(super) fn silently_next(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        column: &mut Column,
    ) -> Result<(), Halt> {
        // Without windows, no audit is muted here.
        let muted = WINDOWS && r.is_muted();
        r.mute();
        let taken = self.next_column(r, c, column);
        if !muted {
            r.unmute();
        }
        if c.done && self.columns > 0 && c.index >= self.columns {
            // Checks that the table of contents is the last region.
            let (end, tail) = (c.at, wide(self.tail));
            let span = Span::new(end, tail.saturating_sub(end));
            r.about(EntryKind::File, 0);
            r.check(end == tail, rules::T_END, span, tail, end);
        }
        taken
    }

    /// Validates the next block of a column and advances.
    pub(super) fn validate_block_at(
        &self,
        r: &mut Reader<'_, '_>,
        c: &Cursor,
        blocks: &mut Blocks,
    ) -> Result<(), Halt> {
        let column = c.index.wrapping_sub(1);
        let mut entry = Entry::default();
        self.lookup(r, blocks.at, blocks.left, (blocks.column, column), &mut entry)?;
        r.about(EntryKind::Tensor, column);
        r.about_part(u32::try_from(blocks.number).unwrap_or(u32::MAX.saturating_sub(1)));
        self.validate_entry(r, &entry, blocks);
        blocks.at = blocks.at.wrapping_add(field::ENTRY);
        blocks.left = blocks.left.wrapping_sub(1);
        blocks.number = blocks.number.wrapping_add(1);
        Ok(())
    }

    fn validate_entry(&self, r: &mut Reader<'_, '_>, entry: &Entry, blocks: &Blocks) {
        let at = wide(blocks.at);
        let (stored, decoded) = (u64::from(entry.stored), u64::from(entry.decoded));
        let unlike = (blocks.raw && stored != decoded).then_some((rules::B_NONE_LEN, 12));
        let Some((rule, field)) = entry.fault(self).or(unlike) else {
            let rows = if blocks.left == 1 { blocks.last } else { blocks.rows_per_block };
            let rows = u32::try_from(rows).unwrap_or(u32::MAX);
            return blocks.measure.validate(
                r,
                rows,
                word(decoded),
                Span::new(at.wrapping_add(12), 4),
            );
        };
        let (len, expected, found) = match rule {
            rules::L_COMPLEN => (4, LARGEST, stored),
            rules::L_DECLEN => (4, LARGEST, decoded),
            rules::L_OFFSET => (8, wide(self.tail).saturating_sub(stored), entry.offset),
            _ => (4, stored, decoded),
        };
        let rule = if blocks.dead { rules::L_DEAD } else { rule };
        r.flag(rule, at.wrapping_add(u64::from(field)), len, expected, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;
    use std::vec::Vec;

    /// The rules that a payload of `len` bytes breaks.
    fn broken(measure: Measure, rows: u32, len: Word) -> Vec<&'static str> {
        let source = Source::whole(&[]);
        let mut ids = Vec::new();
        let mut sink = |finding: crate::Finding| ids.push(finding.rule.id());
        let mut r = Reader::new(&source, &mut sink);
        measure.validate(&mut r, rows, len, Span::default());
        ids
    }

    #[test]
    fn rows_take_whole_bytes_and_words() {
        assert!(broken(Measure::bits(1), 9, 2).is_empty());
        assert_eq!(broken(Measure::bits(1), 9, 1), ["B.short"]);
        assert_eq!(broken(Measure::bits(1), 8, 2), ["B.stray"]);
        assert!(broken(Measure::WORDS, 17, 8).is_empty());
        assert!(broken(Measure::bits(80), 3, 30).is_empty());
        assert!(broken(Measure::bits(64), 0, 0).is_empty());
        assert!(broken(Measure::TEXT, 3, 17).is_empty());
        assert_eq!(broken(Measure::TEXT, 3, 16), ["B.short"]);
        assert!(broken(Measure::VECTOR, 1, 1000).is_empty());
        assert!(broken(Measure::UNKNOWN, u32::MAX, 0).is_empty());
    }

    #[test]
    fn uncountable_rows_overflow() {
        assert_eq!(broken(Measure::bits(128), u32::MAX, 1 << 31), ["B.short"]);
        assert_eq!(broken(Measure::TEXT, u32::MAX, 1 << 31), ["B.short"]);
    }
}
