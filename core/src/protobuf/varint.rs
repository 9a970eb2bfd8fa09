//! Varints: integers in groups of seven bits, the lowest first.

use crate::input::leaf::{Parsed, byte};
use crate::rule::Rule;
use nom::Err;

/// Most bytes of a varint.
pub(crate) const LONGEST: u8 = 10;

/// A varint as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Varint {
    /// Its lower 64 bits.
    pub(crate) value: u64,
    /// Number of bytes that it takes.
    pub(crate) len: u8,
    /// Fewer bytes would do.
    pub(crate) overlong: bool,
    /// It has more than 64 bits.
    pub(crate) bits: bool,
}

/// Reads a varint; one of more than ten bytes breaks `rule`.
#[inline]
pub(crate) fn varint(input: &[u8], rule: Rule) -> Parsed<'_, Varint> {
    let (mut rest, first) = byte(input)?;
    let mut found = Varint { value: u64::from(first & 0x7F), len: 1, ..Varint::default() };
    let (mut last, mut shift) = (first, 0_u32);
    while last >= 0x80 {
        if found.len >= LONGEST {
            return Err(Err::Failure(rule));
        }
        (rest, last) = byte(rest)?;
        shift = shift.saturating_add(7);
        let bits = u64::from(last & 0x7F);
        // Of the tenth byte, one bit is left.
        found.bits = shift == 63 && bits > 1;
        found.value |= bits.checked_shl(shift).unwrap_or(0);
        found.len = found.len.saturating_add(1);
    }
    found.overlong = found.len > 1 && last == 0;
    Ok((rest, found))
}
