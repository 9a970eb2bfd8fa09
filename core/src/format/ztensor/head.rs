//! Heads of CBOR data items (RFC 8949 §3).

use super::rules;
use crate::base::Word;
use crate::input::leaf::{Parsed, byte, incomplete};

/// Major types (RFC 8949 §3.1).
pub(super) mod major {
    pub(in super::super) const UINT: u8 = 0;
    pub(in super::super) const NINT: u8 = 1;
    pub(in super::super) const BYTES: u8 = 2;
    pub(in super::super) const TEXT: u8 = 3;
    pub(in super::super) const ARRAY: u8 = 4;
    pub(in super::super) const MAP: u8 = 5;
    pub(in super::super) const TAG: u8 = 6;
    pub(in super::super) const OTHER: u8 = 7;
}

/// Additional information of "indefinite length" and of a break.
const INDEFINITE: u8 = 31;
const NULL: u8 = 22;

/// The head of a data item: major type, additional information, argument.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    /// Offset of the item, tags included.
    pub(super) start: Word,
    /// Offset of the head.
    pub(super) at: Word,
    pub(super) major: u8,
    pub(super) info: u8,
    pub(super) argument: u64,
}

impl Head {
    pub(super) fn is_break(&self) -> bool {
        self.major == major::OTHER && self.info == INDEFINITE
    }

    pub(super) fn is_indefinite(&self) -> bool {
        self.info == INDEFINITE
    }

    pub(super) fn is_null(&self) -> bool {
        self.major == major::OTHER && self.info == NULL
    }

    /// Whether it is the head of a text or byte string.
    pub(super) fn is_string(&self) -> bool {
        matches!(self.major, major::BYTES | major::TEXT)
    }

    /// The head of a break.
    pub(super) fn of_break() -> Self {
        Head { major: major::OTHER, info: INDEFINITE, ..Head::default() }
    }

    /// Turns it into the head of a break.
    pub(super) fn end(&mut self) {
        (self.major, self.info) = (major::OTHER, INDEFINITE);
    }

    pub(super) fn is_container(&self) -> bool {
        matches!(self.major, major::ARRAY | major::MAP)
    }

    /// Length in bytes of the float in the argument; 0 if there is none.
    pub(super) fn float_width(&self) -> u8 {
        match self.info {
            25 if self.major == major::OTHER => 2,
            26 if self.major == major::OTHER => 4,
            27 if self.major == major::OTHER => 8,
            _ => 0,
        }
    }

    /// Whether the argument would fit a shorter head.
    pub(super) fn is_wide(&self) -> bool {
        const MOST: [u32; 4] = [23, 0xFF, 0xFFFF, 0xFFFF_FFFF];
        let most = MOST.get(usize::from(self.info & 3)).copied().unwrap_or(0);
        matches!(self.info, 24..=27) && self.argument <= u64::from(most)
    }
}

/// Leaf parser of a head; the caller sets its offsets.
#[inline(always)]
pub(super) fn head(input: &[u8]) -> Parsed<'_, Head> {
    let (rest, first) = byte(input)?;
    let (major, info) = (first >> 5, first & 0x1F);
    let (more, short) = match info {
        0..=23 => (0, info),
        24..=27 => (1_usize << (info & 3), 0),
        INDEFINITE if !matches!(major, major::UINT | major::NINT | major::TAG) => (0, 0),
        _ => return Err(nom::Err::Error(rules::CBOR_RESERVED)),
    };
    let Some((bytes, rest)) = rest.split_at_checked(more) else {
        return incomplete(more.wrapping_sub(rest.len()));
    };
    let argument = bytes.iter().fold(u64::from(short), |n, byte| n << 8 | u64::from(*byte));
    Ok((rest, Head { start: 0, at: 0, major, info, argument }))
}

/// Whether single-precision bits fit half precision: the low bits of the mantissa are zero,
/// and the exponent is in range. Subnormal halves are ignored.
pub(super) fn single_is_half(bits: u64) -> bool {
    let bits = low(bits);
    bits & 0x1FFF == 0 && matches!((bits >> 23) & 0xFF, 0xFF | 113..=142) || bits & 0x7FFF_FFFF == 0
}

/// Whether double-precision bits fit single precision, in the same way.
pub(super) fn double_is_single(bits: u64) -> bool {
    let (high, low) = (low(bits >> 32), low(bits));
    low & 0x1FFF_FFFF == 0 && matches!((high >> 20) & 0x7FF, 0x7FF | 897..=1150)
        || high & 0x7FFF_FFFF | low == 0
}

/// A canonical form of the float with this additional information and argument, in any of
/// the three widths: its bits in double precision, with unsigned zeros and NaNs (RFC 8949
/// §5.6.1).
pub(super) fn float_value(info: u8, bits: u64) -> u64 {
    // Widths of exponent and mantissa in bits.
    let (exponent_len, mantissa_len) = match info {
        25 => (5, 10),
        26 => (8, 23),
        _ => (11, DOUBLE_MANTISSA),
    };
    let most = mask(exponent_len);
    let mantissa = bits & mask(mantissa_len);
    let exponent = bits.wrapping_shr(mantissa_len) & most;
    let sign = bits.wrapping_shr(mantissa_len.wrapping_add(exponent_len)) & 1;
    let widened = DOUBLE_MANTISSA.wrapping_sub(mantissa_len);
    // Difference of the exponent bias to double precision.
    let bias = (mask(DOUBLE_EXPONENT) >> 1).wrapping_sub(most >> 1);
    let (exponent, mantissa) = match (exponent, mantissa) {
        (0, 0) => return 0,
        (0, _) if bias > 0 => {
            // The highest set bit becomes the implicit one.
            let shift = mantissa.leading_zeros().wrapping_sub(63_u32.wrapping_sub(mantissa_len));
            let exponent = bias.wrapping_add(1).wrapping_sub(shift.into());
            (exponent, mantissa.wrapping_shl(shift) & mask(mantissa_len))
        }
        (0, _) => (0, mantissa),
        (_, 0) if exponent == most => (mask(DOUBLE_EXPONENT), 0),
        _ if exponent == most => {
            let whole = mask(DOUBLE_EXPONENT).wrapping_shl(DOUBLE_MANTISSA);
            return whole | mantissa.wrapping_shl(widened);
        }
        _ => (exponent.wrapping_add(bias), mantissa),
    };
    sign.wrapping_shl(63) | exponent.wrapping_shl(DOUBLE_MANTISSA) | mantissa.wrapping_shl(widened)
}

const DOUBLE_EXPONENT: u32 = 11;
const DOUBLE_MANTISSA: u32 = 52;

/// The lowest `count` bits.
fn mask(len: u32) -> u64 {
    1_u64.wrapping_shl(len).wrapping_sub(1)
}

/// The low half of a number.
fn low(bits: u64) -> u32 {
    u32::try_from(bits & 0xFFFF_FFFF).unwrap_or(0)
}
