//! Element types of all formats.

use crate::base::division::div_rem;

/// Whether any format of this build has elements in blocks.
pub(super) const BLOCKS: bool = cfg!(any(feature = "blocks", test));

/// Whether any format of this build has the rarer types.
const MORE: bool = cfg!(any(feature = "more-dtypes", test));

/// Whether any format of this build has complex numbers.
const COMPLEX: bool = cfg!(any(feature = "complex", test));

/// Whether any format of this build has the items of NumPy that are no numbers.
const ITEMS: bool = cfg!(any(feature = "items", test));

/// The type of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum DType {
    /// A type unknown to this build; the file's own number or spelling identifies it.
    #[default]
    Unknown,
    /// 8-bit two's complement integer.
    I8,
    /// 16-bit two's complement integer.
    I16,
    /// 32-bit two's complement integer.
    I32,
    /// 64-bit two's complement integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of an IEEE 754 binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// 8-bit float: 5 bits of exponent, 2 of mantissa, with infinities.
    F8E5M2,
    /// 8-bit float: 4 bits of exponent, 3 of mantissa, no infinities, one NaN
    /// of each sign (the variant called e4m3fn).
    F8E4M3,
    /// One byte, 0 or 1; one bit in the columns of a data view.
    Bool,
    /// 4-bit two's complement integer, packed from the least significant bit.
    I4,
    /// 2-bit two's complement integer, packed.
    I2,
    /// 1-bit two's complement integer, packed: 0 or -1.
    I1,
    /// 4-bit unsigned integer, packed.
    U4,
    /// 2-bit unsigned integer, packed.
    U2,
    /// 1-bit unsigned integer, packed.
    U1,
    /// Ternary value in two bits: 00 is 0, 01 is 1, 11 is -1.
    T2,
    /// One bit: 0 is -1, 1 is 1.
    T1,
    /// A string of bits.
    BitSet,
    /// Text of any length (data views).
    Text,
    /// A time span in ticks of 100 ns (data views).
    TimeSpan,
    /// A date and time in ticks of 100 ns since 0001-01-01 (data views).
    DateTime,
    /// A date-time with its offset in minutes (data views).
    DateTimeOffset,
    /// A 128-bit row identifier (data views).
    RowId,
    /// An 8-bit key: 0 means missing, and keys run from 1 to a count (data views).
    Key8,
    /// A 16-bit key.
    Key16,
    /// A 32-bit key.
    Key32,
    /// A 64-bit key.
    Key64,
    /// A complex number: two binary32, the real part first.
    C64,
    /// 4-bit float, packed: 2 bits of exponent, 1 of mantissa (OCP MX E2M1).
    F4,
    /// 6-bit float: 2 bits of exponent, 3 of mantissa (OCP MX E2M3).
    F6E2M3,
    /// 6-bit float: 3 bits of exponent, 2 of mantissa (OCP MX E3M2).
    F6E3M2,
    /// 8-bit power of two: only an exponent, of bias 127; 255 is NaN (OCP MX).
    F8E8M0,
    /// 8-bit float: 4 bits of exponent of bias 8, 3 of mantissa; the code of negative zero is the
    /// only NaN.
    F8E4M3Fnuz,
    /// 8-bit float: 5 bits of exponent of bias 16, 2 of mantissa; the code of negative zero is
    /// the only NaN.
    F8E5M2Fnuz,
    /// Blocks of 32 elements in 18 bytes: 4 bits and a scale (ggml).
    Q4_0,
    /// Blocks of 32 elements in 20 bytes: 4 bits, a scale and a minimum (ggml).
    Q4_1,
    /// Blocks of 32 elements in 22 bytes: 5 bits and a scale (ggml).
    Q5_0,
    /// Blocks of 32 elements in 24 bytes: 5 bits, a scale and a minimum (ggml).
    Q5_1,
    /// Blocks of 32 elements in 34 bytes: 8 bits and a scale (ggml).
    Q8_0,
    /// Blocks of 32 elements in 36 bytes: 8 bits, a scale and a sum (ggml).
    Q8_1,
    /// Blocks of 256 elements in 84 bytes: 2 bits, a scale and a minimum per 16 elements (ggml).
    Q2K,
    /// Blocks of 256 elements in 110 bytes: 3 bits, a scale per 16 elements (ggml).
    Q3K,
    /// Blocks of 256 elements in 144 bytes: 4 bits, a scale and a minimum per 32 elements (ggml).
    Q4K,
    /// Blocks of 256 elements in 176 bytes: 5 bits, a scale and a minimum per 32 elements (ggml).
    Q5K,
    /// Blocks of 256 elements in 210 bytes: 6 bits, a scale per 16 elements (ggml).
    Q6K,
    /// Blocks of 256 elements in 292 bytes: 8 bits, a scale, and a sum per 16 elements (ggml).
    Q8K,
    /// Blocks of 256 elements in 66 bytes: about 2.06 bits, from a codebook (ggml).
    Iq2Xxs,
    /// Blocks of 256 elements in 74 bytes: about 2.31 bits, from a codebook (ggml).
    Iq2Xs,
    /// Blocks of 256 elements in 98 bytes: about 3.06 bits, from a codebook (ggml).
    Iq3Xxs,
    /// Blocks of 256 elements in 50 bytes: about 1.56 bits, from a codebook (ggml).
    Iq1S,
    /// Blocks of 32 elements in 18 bytes: 4 bits that index 16 uneven steps, and a scale (ggml).
    Iq4Nl,
    /// Blocks of 256 elements in 110 bytes: about 3.44 bits, from a codebook (ggml).
    Iq3S,
    /// Blocks of 256 elements in 82 bytes: about 2.56 bits, from a codebook (ggml).
    Iq2S,
    /// Blocks of 256 elements in 136 bytes: 4 bits that index 16 uneven steps, a scale per 32
    /// elements (ggml).
    Iq4Xs,
    /// Blocks of 256 elements in 56 bytes: 1.75 bits, from a codebook (ggml).
    Iq1M,
    /// Blocks of 256 elements in 54 bytes: five ternary digits per byte, and a scale (ggml).
    TQ1_0,
    /// Blocks of 256 elements in 66 bytes: 2-bit ternary digits, and a scale (ggml).
    TQ2_0,
    /// Blocks of 32 elements in 17 bytes: 4-bit floats and a power-of-two scale (OCP MX, ggml).
    MxFp4,
    /// Blocks of 64 elements in 36 bytes: 4-bit floats, an 8-bit float scale per 16 elements
    /// (ggml).
    NvFp4,
    /// Blocks of 128 elements in 18 bytes: 1 bit and a scale (ggml).
    Q1_0,
    /// Blocks of 64 elements in 18 bytes: 2 bits, for -1 to 2, and a scale (ggml).
    Q2_0,
    /// A complex number: two binary64, the real part first.
    C128,
    /// Text of a fixed number of code points of 4 bytes each, padded with zeros (NumPy).
    Utf32,
    /// A fixed number of bytes, padded with zeros (NumPy).
    Bytes,
    /// A fixed number of bytes without a meaning (NumPy).
    Void,
    /// Fields of several types, one after the other (NumPy).
    Record,
    /// A date and time: an 8-byte count of a unit since 1970 (NumPy).
    DateTime64,
    /// A time span: an 8-byte count of a unit (NumPy).
    TimeDelta64,
    /// The long float of the writer's C compiler, in 12 or 16 bytes (NumPy).
    LongDouble,
    /// A complex number: two long floats, the real part first (NumPy).
    LongComplex,
}

impl DType {
    /// Every type of this build.
    pub const ALL: &'static [DType] = &[
        DType::Unknown,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E5M2,
        DType::F8E4M3,
        DType::Bool,
        DType::I4,
        DType::I2,
        DType::I1,
        DType::U4,
        DType::U2,
        DType::U1,
        DType::T2,
        DType::T1,
        DType::BitSet,
        DType::Text,
        DType::TimeSpan,
        DType::DateTime,
        DType::DateTimeOffset,
        DType::RowId,
        DType::Key8,
        DType::Key16,
        DType::Key32,
        DType::Key64,
        DType::C64,
        DType::F4,
        DType::F6E2M3,
        DType::F6E3M2,
        DType::F8E8M0,
        DType::F8E4M3Fnuz,
        DType::F8E5M2Fnuz,
        DType::Q4_0,
        DType::Q4_1,
        DType::Q5_0,
        DType::Q5_1,
        DType::Q8_0,
        DType::Q8_1,
        DType::Q2K,
        DType::Q3K,
        DType::Q4K,
        DType::Q5K,
        DType::Q6K,
        DType::Q8K,
        DType::Iq2Xxs,
        DType::Iq2Xs,
        DType::Iq3Xxs,
        DType::Iq1S,
        DType::Iq4Nl,
        DType::Iq3S,
        DType::Iq2S,
        DType::Iq4Xs,
        DType::Iq1M,
        DType::TQ1_0,
        DType::TQ2_0,
        DType::MxFp4,
        DType::NvFp4,
        DType::Q1_0,
        DType::Q2_0,
        DType::C128,
        DType::Utf32,
        DType::Bytes,
        DType::Void,
        DType::Record,
        DType::DateTime64,
        DType::TimeDelta64,
        DType::LongDouble,
        DType::LongComplex,
    ];

    /// The type with this name in reports.
    pub fn by_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// Width of an element in bits; 0 if it is variable or unknown.
    #[inline]
    #[allow(clippy::as_conversions, reason = "u8 to u32 in a const fn")]
    pub const fn bits(self) -> u32 {
        self.width() as u32
    }

    /// The same in one byte, which keeps the table short. Not inlined: inlining turns it into a
    /// table of words.
    const fn width(self) -> u8 {
        match self {
            DType::I1 | DType::U1 | DType::T1 => 1,
            DType::I2 | DType::U2 | DType::T2 => 2,
            DType::I4 | DType::U4 => 4,
            DType::I8 | DType::U8 | DType::F8E5M2 | DType::F8E4M3 | DType::Bool | DType::Key8 => 8,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 | DType::Key16 => 16,
            DType::I32 | DType::U32 | DType::F32 | DType::Key32 => 32,
            DType::I64 | DType::U64 | DType::F64 | DType::Key64 => 64,
            DType::TimeSpan | DType::DateTime => 64,
            DType::DateTimeOffset => 80,
            DType::RowId => 128,
            DType::C128 if COMPLEX => 128,
            DType::DateTime64 | DType::TimeDelta64 if ITEMS => 64,
            DType::C64 if COMPLEX => 64,
            DType::Unknown | DType::BitSet | DType::Text => 0,
            // Few formats have the following types; readers of other formats omit them from their
            // tables.
            _ if !MORE => 0,
            DType::F4 => 4,
            DType::F6E2M3 | DType::F6E3M2 => 6,
            DType::F8E8M0 | DType::F8E4M3Fnuz | DType::F8E5M2Fnuz => 8,
            DType::C64 => 64,
            // Elements of blocks have no width of their own.
            _ => 0,
        }
    }

    /// Elements and bytes per block, for types whose elements share a scale in blocks; `None` for
    /// others.
    pub const fn block(self) -> Option<(u32, u32)> {
        if !BLOCKS {
            return None;
        }
        Some(match self {
            DType::Q4_0 | DType::Iq4Nl => (32, 18),
            DType::Q4_1 => (32, 20),
            DType::Q5_0 => (32, 22),
            DType::Q5_1 => (32, 24),
            DType::Q8_0 => (32, 34),
            DType::Q8_1 => (32, 36),
            DType::Q2K => (256, 84),
            DType::Q3K | DType::Iq3S => (256, 110),
            DType::Q4K => (256, 144),
            DType::Q5K => (256, 176),
            DType::Q6K => (256, 210),
            DType::Q8K => (256, 292),
            DType::Iq2Xxs | DType::TQ2_0 => (256, 66),
            DType::Iq2Xs => (256, 74),
            DType::Iq3Xxs => (256, 98),
            DType::Iq1S => (256, 50),
            DType::Iq2S => (256, 82),
            DType::Iq4Xs => (256, 136),
            DType::Iq1M => (256, 56),
            DType::TQ1_0 => (256, 54),
            DType::MxFp4 => (32, 17),
            DType::NvFp4 => (64, 36),
            DType::Q1_0 => (128, 18),
            DType::Q2_0 => (64, 18),
            _ => return None,
        })
    }

    /// The smallest number of elements that fill whole bytes, and that number of bytes: the unit
    /// in which data can be split. `None` if the width is not fixed.
    pub const fn unit(self) -> Option<(u32, u32)> {
        match self.bits() {
            0 => self.block(),
            1 => Some((8, 1)),
            2 => Some((4, 1)),
            4 => Some((2, 1)),
            6 => Some((4, 3)),
            bits => Some((1, bits >> 3)),
        }
    }

    /// Whether several elements share a byte.
    pub const fn is_packed(self) -> bool {
        matches!(self.bits(), 1 | 2 | 4)
    }

    /// Bytes of `elements` packed elements: `ceil(elements × bits / 8)`. `None` if that
    /// exceeds `u64`, the width is not fixed, or the elements do not fill blocks.
    pub const fn bytes(self, elements: u64) -> Option<u64> {
        match self.bits() {
            0 => match self.block() {
                Some((count, bytes)) => match div_rem(elements, widen32(count)) {
                    Some((blocks, 0)) => blocks.checked_mul(widen32(bytes)),
                    _ => None,
                },
                None => None,
            },
            1 => Some((elements >> 3).wrapping_add(if elements & 7 == 0 { 0 } else { 1 })),
            2 => Some((elements >> 2).wrapping_add(if elements & 3 == 0 { 0 } else { 1 })),
            4 => Some((elements >> 1).wrapping_add(elements & 1)),
            6 if MORE => match elements.checked_mul(3) {
                Some(n) => Some((n >> 2).wrapping_add(if n & 3 == 0 { 0 } else { 1 })),
                None => None,
            },
            bits => elements.checked_mul(widen32(bits >> 3)),
        }
    }

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Unknown => "unknown",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F8E5M2 => "f8e5m2",
            DType::F8E4M3 => "f8e4m3",
            DType::Bool => "bool",
            DType::I4 => "i4",
            DType::I2 => "i2",
            DType::I1 => "i1",
            DType::U4 => "u4",
            DType::U2 => "u2",
            DType::U1 => "u1",
            DType::T2 => "t2",
            DType::T1 => "t1",
            DType::BitSet => "bitset",
            DType::Text => "text",
            DType::TimeSpan => "timespan",
            DType::DateTime => "datetime",
            DType::DateTimeOffset => "datetimeoffset",
            DType::RowId => "rowid",
            DType::Key8 => "key<u8>",
            DType::Key16 => "key<u16>",
            DType::Key32 => "key<u32>",
            DType::Key64 => "key<u64>",
            DType::C64 => "c64",
            DType::F4 => "f4e2m1",
            DType::F6E2M3 => "f6e2m3",
            DType::F6E3M2 => "f6e3m2",
            DType::F8E8M0 => "f8e8m0",
            DType::F8E4M3Fnuz => "f8e4m3fnuz",
            DType::F8E5M2Fnuz => "f8e5m2fnuz",
            DType::Q4_0 => "q4_0",
            DType::Q4_1 => "q4_1",
            DType::Q5_0 => "q5_0",
            DType::Q5_1 => "q5_1",
            DType::Q8_0 => "q8_0",
            DType::Q8_1 => "q8_1",
            DType::Q2K => "q2_k",
            DType::Q3K => "q3_k",
            DType::Q4K => "q4_k",
            DType::Q5K => "q5_k",
            DType::Q6K => "q6_k",
            DType::Q8K => "q8_k",
            DType::Iq2Xxs => "iq2_xxs",
            DType::Iq2Xs => "iq2_xs",
            DType::Iq3Xxs => "iq3_xxs",
            DType::Iq1S => "iq1_s",
            DType::Iq4Nl => "iq4_nl",
            DType::Iq3S => "iq3_s",
            DType::Iq2S => "iq2_s",
            DType::Iq4Xs => "iq4_xs",
            DType::Iq1M => "iq1_m",
            DType::TQ1_0 => "tq1_0",
            DType::TQ2_0 => "tq2_0",
            DType::MxFp4 => "mxfp4",
            DType::NvFp4 => "nvfp4",
            DType::Q1_0 => "q1_0",
            DType::Q2_0 => "q2_0",
            DType::C128 => "c128",
            DType::Utf32 => "utf32",
            DType::Bytes => "bytes",
            DType::Void => "void",
            DType::Record => "record",
            DType::DateTime64 => "datetime64",
            DType::TimeDelta64 => "timedelta64",
            DType::LongDouble => "longdouble",
            DType::LongComplex => "longcomplex",
        }
    }
}

#[allow(clippy::as_conversions, reason = "u32 to u64 in a const fn")]
pub(super) const fn widen32(n: u32) -> u64 {
    n as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtype_is_found_by_name() {
        for (i, dtype) in DType::ALL.iter().enumerate() {
            #[allow(clippy::as_conversions)]
            let code = *dtype as usize;
            assert_eq!(code, i, "{} is out of place", dtype.name());
            assert_eq!(DType::by_name(dtype.name()), Some(*dtype));
        }
        // A type in the enum but missing from the list fails here.
        assert_eq!(DType::ALL.last(), Some(&DType::LongComplex));
    }
}
