//! Lookup tables: where the blocks of a column lie, and whether their lengths
//! suit their rows.
//!
//! | entry at | size | field |
//! |---|---|---|
//! | 0 | 8 | block offset, i64 |
//! | 8 | 4 | stored length, i32 |
//! | 12 | 4 | uncompressed length, i32 |

use super::codec::{Codec, Item};
use super::toc::Column;
use super::{Header, field, rules};
use crate::cursor::Cursor;
use crate::division::div_rem;
use crate::finding::Kind;
use crate::limits;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::Span;
use crate::tensor::{Chunk, Chunks, Encoding, Tensor};

/// An entry of a lookup table, as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    at: u64,
    offset: u64,
    stored: u32,
    decoded: u32,
}

impl Entry {
    /// The block, if it lies where blocks may lie.
    pub(super) fn block(&self, header: &Header) -> Option<Span> {
        let sound = i32::try_from(self.stored).is_ok() && i32::try_from(self.decoded).is_ok();
        let span = Span::new(self.offset, u64::from(self.stored));
        (sound && header.is_inside(span.at, span.len)).then_some(span)
    }
}

/// How many bytes rows take once they are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Nothing tells.
    Unknown,
    /// So many bits a row, and the last byte filled up.
    Bits(u8),
    /// Two bits a row, and the last word of 32 filled up.
    Words,
    /// At least an entry count, an end position a row and the length of a
    /// string.
    Text,
    /// At least a vector count, a size, a value count a row and an index
    /// count.
    Vector,
}

impl Measure {
    pub(crate) fn of(codec: &Codec) -> Self {
        match (codec.vector, codec.item, codec.fixed_bits()) {
            (_, Item::Unknown, _) => Measure::Unknown,
            (Some(_), ..) => Measure::Vector,
            (None, Item::TwoBits, _) => Measure::Words,
            (None, Item::Text, _) => Measure::Text,
            (None, _, Some(bits)) => Measure::Bits(u8::try_from(bits).unwrap_or(0)),
            (None, _, None) => Measure::Unknown,
        }
    }

    /// How many bytes `rows` rows take at least; `None` if nothing tells.
    pub(crate) fn least(self, rows: u64) -> Option<u64> {
        let words = |more: u64| rows.saturating_mul(4).saturating_add(more);
        Some(match self {
            Measure::Unknown => return None,
            Measure::Bits(bits) => {
                let bits = rows.saturating_mul(u64::from(bits));
                bits.saturating_add(7) >> 3
            }
            Measure::Words => (rows.saturating_add(15) >> 4).saturating_mul(4),
            Measure::Text => words(5),
            Measure::Vector => words(12),
        })
    }

    /// Whether they take no more than that.
    pub(crate) const fn is_exact(self) -> bool {
        matches!(self, Measure::Bits(_) | Measure::Words)
    }

    /// Judges a payload of `len` bytes that holds `rows` rows.
    pub(super) fn judge(self, r: &mut Reader<'_, '_>, rows: u64, len: u64, span: Span) {
        let Some(takes) = self.least(rows) else { return };
        r.check(len >= takes, rules::B_SHORT, span, takes, len);
        r.check(!self.is_exact() || len <= takes, rules::B_STRAY, span, takes, len);
    }

    fn pack(self) -> u64 {
        match self {
            Measure::Unknown => 0,
            Measure::Words => 1,
            Measure::Text => 2,
            Measure::Vector => 3,
            Measure::Bits(bits) => u64::from(bits).saturating_add(4),
        }
    }

    fn unpack(code: u64) -> Self {
        match code {
            0 => Measure::Unknown,
            1 => Measure::Words,
            2 => Measure::Text,
            3 => Measure::Vector,
            bits => Measure::Bits(u8::try_from(bits.saturating_sub(4)).unwrap_or(0)),
        }
    }
}

/// The blocks of one column that are still to be judged; a cursor keeps it.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    /// Offset of the next entry.
    at: u64,
    left: u64,
    /// Offset of the column's entry.
    column: u64,
    rows_per_block: u64,
    measure: Measure,
    raw: bool,
    dead: bool,
}

impl Blocks {
    fn of(header: &Header, column: &Column, entry: u64) -> Self {
        let dead = header.is_dead(column);
        let measure = if dead || header.is_old() {
            Measure::Unknown
        } else {
            Measure::of(&column.definition.codec)
        };
        Blocks {
            at: column.place.lookup.at,
            left: if column.sound { column.place.blocks } else { 0 },
            column: entry,
            rows_per_block: column.place.rows_per_block,
            measure,
            raw: column.place.encoding() == Encoding::Raw,
            dead,
        }
    }

    /// Rows per block are below 2^31 where a column has blocks.
    fn pack(&self) -> [u64; 4] {
        let flags = u64::from(self.raw) | (u64::from(self.dead) << 1);
        let packed = self.rows_per_block | (self.measure.pack() << 32) | (flags << 48);
        [self.at, self.left, self.column, packed]
    }

    fn unpack(inner: [u64; 4]) -> Self {
        let [at, left, column, packed] = inner;
        Blocks {
            at,
            left,
            column,
            rows_per_block: packed & 0xFFFF_FFFF,
            measure: Measure::unpack((packed >> 32) & 0xFFFF),
            raw: packed & (1 << 48) != 0,
            dead: packed & (1 << 49) != 0,
        }
    }
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
        let at = at.saturating_add(chunk.saturating_mul(field::LOOKUP));
        let left = count.saturating_sub(chunk);
        let column = Cursor::before(tensor.at, tensor.index);
        let entry = self.lookup(r, at, left, column)?;
        Ok(entry.block(self).map(|stored| {
            let row = each.saturating_mul(chunk);
            Chunk {
                stored,
                decoded: Some(u64::from(entry.decoded)),
                encoding: tensor.encoding,
                row,
                elements: self.rows.saturating_sub(row).min(each),
            }
        }))
    }

    /// Takes the entry at `at`, behind which `left` follow, itself included.
    pub(super) fn lookup(
        &self,
        r: &mut Reader<'_, '_>,
        at: u64,
        left: u64,
        column: Cursor,
    ) -> Result<Entry, Halt> {
        let table = at.saturating_add(left.saturating_mul(field::LOOKUP));
        r.region(at, at.saturating_add(field::LOOKUP), BYTES_CHANGED);
        r.read_ahead(table.min(at.saturating_add(limits::TABLE_AHEAD)));
        let taken = r.u64().and_then(|offset| {
            let stored = r.u32()?;
            Ok(Entry { at, offset, stored, decoded: r.u32()? })
        });
        if taken.is_err() {
            self.widen(r, column);
        }
        taken
    }

    /// One block, or one entry of the table of contents.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn audit_blocks(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut blocks = Blocks::unpack(c.inner);
        if blocks.left == 0 {
            let at = if c.index == 0 { self.toc } else { c.at };
            let muted = r.is_muted();
            r.mute();
            let column = self.next_column(r, c);
            if !muted {
                r.unmute();
            }
            match column? {
                Some(column) => {
                    let blocks = Blocks::of(self, &column, at);
                    r.charge(blocks.left.saturating_mul(field::LOOKUP));
                    c.inner = blocks.pack();
                }
                None => self.judge_end(r, c),
            }
            return Ok(());
        }
        let column = c.index.wrapping_sub(1);
        let from = Cursor::before(blocks.column, column);
        let entry = self.lookup(r, blocks.at, blocks.left, from)?;
        r.about(Kind::Tensor, column);
        self.judge(r, &entry, &blocks);
        blocks.at = blocks.at.wrapping_add(field::LOOKUP);
        blocks.left = blocks.left.wrapping_sub(1);
        c.inner = blocks.pack();
        Ok(())
    }

    /// Whether the table of contents is the last region.
    fn judge_end(&self, r: &mut Reader<'_, '_>, c: &Cursor) {
        if self.columns > 0 && c.index >= self.columns && c.at != self.tail {
            r.about(Kind::File, 0);
            r.flag(rules::T_END, c.at, self.tail.saturating_sub(c.at), self.tail, c.at);
        }
    }

    fn judge(&self, r: &mut Reader<'_, '_>, entry: &Entry, blocks: &Blocks) {
        let last =
            div_rem(self.rows.saturating_sub(1), blocks.rows_per_block).map_or(0, |(last, _)| last);
        let number = last.wrapping_add(1).wrapping_sub(blocks.left);
        r.about_part(u32::try_from(number).unwrap_or(u32::MAX.saturating_sub(1)));
        let field_at = |offset: u64, len| Span::new(entry.at.wrapping_add(offset), len);
        let (stored, decoded) = (u64::from(entry.stored), u64::from(entry.decoded));
        let broken = |rule: Rule| if blocks.dead { rules::L_DEAD } else { rule };
        let most = u64::from(i32::MAX.unsigned_abs());
        if stored > most {
            r.check(false, broken(rules::L_COMPLEN), field_at(8, 4), most, stored);
        } else if decoded > most {
            r.check(false, broken(rules::L_DECLEN), field_at(12, 4), most, decoded);
        } else if !self.is_inside(entry.offset, stored) {
            let end = self.tail.saturating_sub(stored);
            r.check(false, broken(rules::L_OFFSET), field_at(0, 8), end, entry.offset);
        } else if blocks.raw && stored != decoded {
            let rule = broken(rules::B_NONE_LEN);
            r.check(false, rule, field_at(12, 4), stored, decoded);
        } else {
            let row = number.saturating_mul(blocks.rows_per_block);
            let rows = self.rows.saturating_sub(row).min(blocks.rows_per_block);
            blocks.measure.judge(r, rows, decoded, field_at(12, 4));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use std::vec::Vec;

    /// The rules that a payload of `len` bytes breaks.
    fn broken(measure: Measure, rows: u64, len: u64) -> Vec<&'static str> {
        let source = Source::whole(&[]);
        let mut ids = Vec::new();
        let mut sink = |finding: crate::Finding| ids.push(finding.rule.id());
        let mut r = Reader::new(&source, &mut sink);
        measure.judge(&mut r, rows, len, Span::default());
        ids
    }

    #[test]
    fn rows_take_whole_bytes_and_words() {
        assert!(broken(Measure::Bits(1), 9, 2).is_empty());
        assert_eq!(broken(Measure::Bits(1), 9, 1), ["B.short"]);
        assert_eq!(broken(Measure::Bits(1), 8, 2), ["B.stray"]);
        assert!(broken(Measure::Words, 17, 8).is_empty());
        assert!(broken(Measure::Bits(80), 3, 30).is_empty());
        assert!(broken(Measure::Bits(64), 0, 0).is_empty());
        assert!(broken(Measure::Text, 3, 17).is_empty());
        assert_eq!(broken(Measure::Text, 3, 16), ["B.short"]);
        assert!(broken(Measure::Vector, 1, 1000).is_empty());
        assert!(broken(Measure::Unknown, u64::MAX, 0).is_empty());
    }

    #[test]
    fn what_cannot_be_counted_is_too_much() {
        assert_eq!(broken(Measure::Bits(128), u64::MAX, 1 << 31), ["B.short"]);
        assert_eq!(broken(Measure::Text, u64::MAX, 1 << 31), ["B.short"]);
    }

    #[test]
    fn a_cursor_keeps_what_is_left() {
        let blocks = Blocks {
            at: u64::MAX,
            left: 1 << 40,
            column: 300,
            rows_per_block: 0x7FFF_FFFF,
            measure: Measure::Bits(128),
            raw: true,
            dead: false,
        };
        let kept = Blocks::unpack(blocks.pack());
        assert_eq!(kept.pack(), blocks.pack());
        assert_eq!((kept.rows_per_block, kept.measure), (0x7FFF_FFFF, Measure::Bits(128)));
        assert!(kept.raw && !kept.dead);
        for measure in [Measure::Unknown, Measure::Words, Measure::Text, Measure::Vector] {
            assert_eq!(Measure::unpack(measure.pack()), measure);
        }
    }
}
