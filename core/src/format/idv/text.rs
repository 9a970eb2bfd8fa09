//! LEB128 numbers and strings.

use crate::leaf::{Parsed, incomplete};
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::Span;

/// An unsigned LEB128 number as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leb {
    pub(super) value: u64,
    /// How many bytes it takes, or as many as were looked at.
    pub(super) len: u64,
    /// It ends in time and fits its type.
    pub(super) whole: bool,
    /// It is the only form of its value that a writer makes.
    pub(super) shortest: bool,
}

/// A number of 64 bits: at most ten bytes, of which the last is 0 or 1.
pub(super) fn leb64(input: &[u8]) -> Parsed<'_, Leb> {
    leb(input, 10, u64::MAX)
}

/// The length of a string: at most five bytes, and no more than an i32 holds.
pub(super) fn leb32(input: &[u8]) -> Parsed<'_, Leb> {
    leb(input, 5, u64::from(i32::MAX.unsigned_abs()))
}

fn leb(input: &[u8], most: u8, largest: u64) -> Parsed<'_, Leb> {
    let mut value = 0_u64;
    let mut fits = true;
    let mut rest = input;
    let mut taken = 0_u8;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let group = u64::from(byte & 0x7F);
        let shift = u32::from(taken).wrapping_mul(7);
        let placed = group.checked_shl(shift).unwrap_or(0);
        fits &= placed.checked_shr(shift) == Some(group);
        value |= placed;
        taken = taken.wrapping_add(1);
        let last = byte & 0x80 == 0;
        if last || taken == most {
            let whole = last && fits && value <= largest;
            let shortest = *byte != 0 || taken == 1;
            return Ok((rest, Leb { value, len: u64::from(taken), whole, shortest }));
        }
    }
    incomplete(1)
}

/// A string as it is stored: a length and so many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// Offset of the length.
    pub(super) start: u64,
    /// Offset of the first byte.
    pub(super) at: u64,
    pub(super) bytes: &'a [u8],
    /// The length is in the form that writers store.
    pub(super) sound: bool,
}

impl Text<'_> {
    /// Length and bytes.
    pub(super) fn span(&self) -> Span {
        let head = self.at.wrapping_sub(self.start);
        Span::new(self.start, head.wrapping_add(crate::source::widen(self.bytes.len())))
    }

    pub(super) fn is_utf8(&self) -> bool {
        crate::utf8::is(self.bytes)
    }
}

/// Takes a string. A length that cannot be read breaks `rule`, and nothing
/// behind it can be found.
pub(super) fn string<'a>(r: &mut Reader<'_, 'a>, rule: Rule) -> Result<Text<'a>, Halt> {
    let start = r.at();
    let length = r.parse(leb32)?;
    if !length.whole {
        r.flag(rule, start, length.len, u64::from(i32::MAX.unsigned_abs()), length.value);
        return Err(Halt::refused(rule));
    }
    let at = r.at();
    let bytes = r.take(length.value)?;
    Ok(Text { start, at, bytes, sound: length.shortest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(bytes: &[u8]) -> Option<u64> {
        let (_, leb) = leb64(bytes).ok()?;
        (leb.whole && leb.shortest).then_some(leb.value)
    }

    #[test]
    fn numbers_of_64_bits() {
        assert_eq!(sound(&[0]), Some(0));
        assert_eq!(sound(&[0x7F]), Some(127));
        assert_eq!(sound(&[0x80, 1]), Some(128));
        assert_eq!(
            sound(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            Some(u64::MAX)
        );
        // Too large, too long, not the shortest.
        assert_eq!(sound(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]), None);
        assert_eq!(sound(&[0x80; 11]), None);
        assert_eq!(sound(&[0x80, 0]), None);
        assert!(leb64(&[0x80]).is_err());
    }

    #[test]
    fn lengths_are_not_negative() {
        let whole = |bytes: &[u8]| leb32(bytes).map(|(_, leb)| leb.whole);
        assert_eq!(whole(&[0xFF, 0xFF, 0xFF, 0xFF, 0x07]), Ok(true));
        assert_eq!(whole(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), Ok(false));
        assert_eq!(whole(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), Ok(false));
    }
}
