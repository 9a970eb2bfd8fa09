//! Heads of CBOR data items (RFC 8949 §3).

/// Major types (RFC 8949 §3.1).
pub(crate) mod major {
    pub(crate) const UINT: u8 = 0;
    pub(crate) const NINT: u8 = 1;
    pub(crate) const BYTES: u8 = 2;
    pub(crate) const TEXT: u8 = 3;
    pub(crate) const ARRAY: u8 = 4;
    pub(crate) const MAP: u8 = 5;
    pub(crate) const TAG: u8 = 6;
    pub(crate) const OTHER: u8 = 7;
    /// Not a type: a break.
    pub(crate) const BREAK: u8 = 8;
}

/// A break, and the additional information for "indefinite length".
const BREAK: u8 = 0xFF;
const INDEFINITE: u8 = 31;
const NULL: u8 = 22;

/// The head of a data item: major type, additional information, argument.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) major: u8,
    pub(crate) info: u8,
    pub(crate) argument: u64,
}

impl Head {
    /// Reads the head at the start of `input`. Returns its length: 0 if it is
    /// reserved, and more than the length of `input` if bytes are missing.
    pub(crate) fn read(&mut self, input: &[u8]) -> usize {
        let Some((first, rest)) = input.split_first() else { return 1 };
        (self.major, self.info) = (first >> 5, first & 0x1F);
        let (more, short) = match self.info {
            info @ 0..=23 => (0, info),
            info @ 24..=27 => (1_usize << (info & 3), 0),
            INDEFINITE if !matches!(self.major, major::UINT | major::NINT | major::TAG) => (0, 0),
            _ => return 0,
        };
        if *first == BREAK {
            self.end();
        }
        let bytes = rest.get(..more).unwrap_or_default();
        self.argument = bytes.iter().fold(u64::from(short), |n, byte| n << 8 | u64::from(*byte));
        more.wrapping_add(1)
    }

    /// Reads the head at the start of `input` and returns the bytes after it; `None` if the head
    /// is reserved or incomplete.
    pub(crate) fn split<'a>(&mut self, input: &'a [u8]) -> Option<&'a [u8]> {
        match self.read(input) {
            0 => None,
            len => input.get(len..),
        }
    }

    pub(crate) fn is_break(&self) -> bool {
        self.major == major::BREAK
    }

    pub(crate) fn is_indefinite(&self) -> bool {
        self.info == INDEFINITE
    }

    pub(crate) fn is_null(&self) -> bool {
        self.major == major::OTHER && self.info == NULL
    }

    /// Whether it is the head of a text or byte string.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.major, major::BYTES | major::TEXT)
    }

    /// Turns it into the head of a break.
    pub(crate) fn end(&mut self) {
        self.major = major::BREAK;
    }

    pub(crate) fn is_container(&self) -> bool {
        matches!(self.major, major::ARRAY | major::MAP)
    }

    /// Length in bytes of the float in the argument, or 0 if there is none.
    pub(crate) fn float_width(&self) -> u8 {
        match self.info {
            25 if self.major == major::OTHER => 2,
            26 if self.major == major::OTHER => 4,
            27 if self.major == major::OTHER => 8,
            _ => 0,
        }
    }

    /// Whether the argument would fit a shorter head.
    pub(crate) fn is_wide(&self) -> bool {
        const MOST: [u32; 4] = [23, 0xFF, 0xFFFF, 0xFFFF_FFFF];
        let most = MOST.get(usize::from(self.info & 3)).copied().unwrap_or(0);
        matches!(self.info, 24..=27) && self.argument <= u64::from(most)
    }
}

/// Whether single-precision bits fit half precision: the low bits of the mantissa are zero,
/// and the exponent is in range. Subnormal halves are ignored.
pub(crate) fn single_is_half(bits: u64) -> bool {
    let bits = low(bits);
    bits & 0x1FFF == 0 && matches!((bits >> 23) & 0xFF, 0xFF | 113..=142) || bits & 0x7FFF_FFFF == 0
}

/// Whether double-precision bits fit single precision, in the same way.
pub(crate) fn double_is_single(bits: u64) -> bool {
    let (high, low) = (low(bits >> 32), low(bits));
    low & 0x1FFF_FFFF == 0 && matches!((high >> 20) & 0x7FF, 0x7FF | 897..=1150)
        || high & 0x7FFF_FFFF | low == 0
}

/// A canonical form of the float with this additional information and argument, in any of
/// the three widths: its bits in double precision, with unsigned zeros and NaNs (RFC 8949
/// §5.6.1).
pub(crate) fn float_value(info: u8, bits: u64) -> u64 {
    let double = match info {
        25 => double(low(bits << 16), 5),
        26 => double(low(bits), 8),
        _ => bits,
    };
    let magnitude = double << 1;
    if magnitude == 0 || magnitude > u64::from(mask(DOUBLE_EXPONENT)) << 53 {
        return magnitude >> 1;
    }
    double
}

const DOUBLE_EXPONENT: u32 = 11;

/// Converts a float with an exponent of `exponent_len` bits, in the high bits of `number`, to
/// double precision.
fn double(number: u32, exponent_len: u32) -> u64 {
    // The mantissa is aligned to the highest bit.
    let mut mantissa = number.wrapping_shl(exponent_len.wrapping_add(1));
    let mut exponent = (number << 1).wrapping_shr(32_u32.wrapping_sub(exponent_len));
    let most = mask(exponent_len);
    // Difference between the exponent biases of double precision and this one.
    let bias = (mask(DOUBLE_EXPONENT) >> 1).wrapping_sub(most >> 1);
    if exponent == most {
        exponent = mask(DOUBLE_EXPONENT);
    } else if exponent > 0 {
        exponent = exponent.wrapping_add(bias);
    } else if mantissa != 0 {
        // The highest set bit becomes the implicit one.
        let zeros = mantissa.leading_zeros();
        exponent = bias.wrapping_sub(zeros);
        mantissa = mantissa.wrapping_shl(zeros.wrapping_add(1));
    }
    let high = number & 1 << 31 | exponent << 20 | mantissa >> 12;
    u64::from(high) << 32 | u64::from(mantissa << 20)
}

/// The lowest `count` bits.
fn mask(count: u32) -> u32 {
    1_u32.wrapping_shl(count).wrapping_sub(1)
}

/// The low half of a number.
fn low(bits: u64) -> u32 {
    u32::try_from(bits & 0xFFFF_FFFF).unwrap_or(0)
}
