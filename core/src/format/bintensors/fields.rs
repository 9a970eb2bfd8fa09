//! Reads the fields of the header.
//!
//! Reads are not checked one by one: a missing field reads as 0 or as an empty slice, and is
//! reported at the end of the entry.

use super::{field, low, rules};
use crate::base::{Word, division::div_rem, features::DETAILS, wide, widen, word};
use crate::input::Span;
use crate::model::dims::{bincode_uint, product};
use crate::parse::{Reader, reader::Overlong};
use crate::rule::{Halt, Rule};

/// An integer and its offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Int {
    pub(super) value: u64,
    pub(super) at: Word,
}

/// A tensor as stored in the list, with the offsets of its fields. For a metadata entry,
/// the name is its key and the rest is empty.
#[derive(Debug, Default)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a [u8],
    /// Its offset is the end of the name.
    pub(super) dtype: Int,
    pub(super) rank: Int,
    pub(super) dims_at: Word,
    /// The product of the dims, from the left.
    pub(super) elements: u64,
    /// Whether the product overflows.
    pub(super) overflows: bool,
    pub(super) start: Int,
    pub(super) end: Int,
}

impl Entry<'_> {
    /// Byte range of the name.
    pub(super) fn name_span(&self) -> Span {
        let len = word(widen(self.name.len()));
        Span::new(wide(self.dtype.at.wrapping_sub(len)), wide(len))
    }
}

/// Reports the field that begins at `at` and stops reading the entry.
#[cold]
fn refuse(r: &mut Reader<'_, '_>, rule: Rule, at: Word, expected: u64, found: u64) {
    // Nothing is reported about a missing field.
    if !r.is_halted() {
        let at = wide(at);
        r.flag(rule, at, r.end().saturating_sub(at), expected, found);
        r.halt(Halt::refused(rule));
    }
}

/// Reads an integer of up to 64 bits.
fn int(r: &mut Reader<'_, '_>, int: &mut Int) -> u64 {
    int.at = r.here();
    let first = r.resident().first().copied().unwrap_or(0);
    let wider = first.saturating_sub(field::ONE_BYTE);
    if first >= field::SIXTEEN_BYTES {
        let rule = if first == field::SIXTEEN_BYTES { rules::V2 } else { rules::V1 };
        refuse(r, rule, int.at, 0, 0);
    }
    // One byte, or a tag before two, four or eight bytes; a tag without enough bytes halts
    // the reader.
    let more: Word = 1;
    let bytes = r.bytes(more.wrapping_shl(wider.into()) | 1);
    let mut value = if wider == 0 { first.into() } else { 0 };
    for byte in bytes.iter().skip(1).rev() {
        value = value << 8 | u64::from(*byte);
    }
    if value < least(wider) && r.overlong.at == 0 {
        r.overlong.at = int.at;
    }
    int.value = value;
    value
}

/// The smallest value that needs this width.
fn least(wider: u8) -> u64 {
    match wider {
        0 => 0,
        1 => field::TWO_BYTES.into(),
        2 => 1 << 16,
        _ => 1 << 32,
    }
}

/// Reads a count of items of at least `least` bytes each. A count that exceeds the remaining
/// bytes breaks `rule`.
fn many(r: &mut Reader<'_, '_>, least: Word, rule: Rule, n: &mut Int) -> Word {
    let found = int(r, n);
    let left = r.left();
    // Each item takes at least a byte, so a count up to `left` fits a word.
    let most = wide(word(found)).saturating_mul(wide(least));
    if found > left || most > left {
        let most = if DETAILS { div_rem(left, wide(least)) } else { None };
        refuse(r, rule, n.at, most.map_or(0, |(most, _)| most), found);
        return 0;
    }
    word(found)
}

/// Reads a string.
pub(super) fn text<'a>(r: &mut Reader<'_, 'a>, rule: Rule) -> &'a [u8] {
    let len = many(r, 1, rule, &mut Int::default());
    r.bytes(len)
}

/// Skips a metadata entry, which need not be resident.
pub(super) fn pass_pair(r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    for _ in 0..2 {
        #[cfg(feature = "windows")]
        {
            let len = many(r, 1, rules::M2, &mut Int::default());
            r.settle()?;
            r.skip(len)?;
        }
        #[cfg(not(feature = "windows"))]
        text(r, rules::M2);
    }
    r.settle()
}

/// Reads the header length.
pub(super) fn fixed(r: &mut Reader<'_, '_>) -> u64 {
    r.bytes(word(field::LENGTH)).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reads a count of entries of at least `least` bytes each.
pub(super) fn count(r: &mut Reader<'_, '_>, least: Word, rule: Rule) -> u32 {
    r.overlong = Overlong::NONE;
    let count = many(r, least, rule, &mut Int::default());
    if !r.is_halted() {
        flag_overlong(r);
    }
    low(count)
}

/// Reads a metadata entry and returns its value; the caller calls `settle`.
pub(super) fn pair<'a>(r: &mut Reader<'_, 'a>, entry: &mut Entry<'a>) -> &'a [u8] {
    r.overlong = Overlong::NONE;
    entry.name = text(r, rules::M2);
    entry.dtype.at = r.here();
    text(r, rules::M2)
}

/// Reads a tensor entry.
pub(super) fn entry<'a>(r: &mut Reader<'_, 'a>, entry: &mut Entry<'a>) -> Result<(), Halt> {
    r.overlong = Overlong::NONE;
    entry.name = text(r, rules::T3);
    int(r, &mut entry.dtype);
    let rank = many(r, 1, rules::T5, &mut entry.rank);
    // A dim takes at least a byte, so all are requested together.
    #[cfg(feature = "windows")]
    if let Err(halt) = r.require(rank) {
        r.halt(halt);
    }
    entry.dims_at = r.here();
    (entry.elements, entry.overflows) = (1, false);
    for _ in 0..rank {
        if r.is_halted() {
            break;
        }
        let dim = int(r, &mut Int::default());
        match product(entry.elements, dim) {
            Some(elements) => entry.elements = elements,
            None => entry.overflows = true,
        }
    }
    int(r, &mut entry.start);
    int(r, &mut entry.end);
    r.settle()
}

/// Reports an overlong integer among the bytes just read, if there is one.
pub(super) fn flag_overlong(r: &mut Reader<'_, '_>) {
    let at = r.overlong.at;
    if at != 0 {
        let (mut len, mut value) = (0, 0);
        let run = r.source().run(wide(at));
        // Without details nothing is decoded: the decoder would stay in a reader that has no other
        // use for it.
        if DETAILS && let Ok((rest, number)) = bincode_uint(run) {
            len = widen(run.len().wrapping_sub(rest.len()));
            value = number;
        }
        r.flag(rules::V4, wide(at), len, 0, value);
    }
}
