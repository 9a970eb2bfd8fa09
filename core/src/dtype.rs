//! Element types of all formats.

/// The type of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum DType {
    /// A type that this build does not know; the format's own spelling tells.
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
    /// A key of 8 bits: 0 is missing, then 1 to a count (data views).
    Key8,
    /// A key of 16 bits.
    Key16,
    /// A key of 32 bits.
    Key32,
    /// A key of 64 bits.
    Key64,
    /// A complex number: two binary32, the real part first.
    C64,
    /// 4-bit float, packed: 2 bits of exponent, 1 of mantissa (OCP MX E2M1).
    F4,
    /// 6-bit float: 2 bits of exponent, 3 of mantissa (OCP MX E2M3).
    F6E2M3,
    /// 6-bit float: 3 bits of exponent, 2 of mantissa (OCP MX E3M2).
    F6E3M2,
    /// 8-bit power of two: an exponent of bias 127 alone; 255 is NaN (OCP MX).
    F8E8M0,
    /// 8-bit float: 4 bits of exponent of bias 8, 3 of mantissa; the negative
    /// zero is the one NaN.
    F8E4M3Fnuz,
    /// 8-bit float: 5 bits of exponent of bias 16, 2 of mantissa; the negative
    /// zero is the one NaN.
    F8E5M2Fnuz,
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
    ];

    /// The type that reports call `name`.
    pub fn by_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// Width of an element in bits; 0 where it is not fixed or not known.
    pub const fn bits(self) -> u32 {
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
            DType::Unknown | DType::BitSet | DType::Text => 0,
            // Only safetensors has the following; readers of other formats go
            // without them in their tables.
            _ if cfg!(not(any(feature = "safetensors", test))) => 0,
            DType::F4 => 4,
            DType::F6E2M3 | DType::F6E3M2 => 6,
            DType::F8E8M0 | DType::F8E4M3Fnuz | DType::F8E5M2Fnuz => 8,
            DType::C64 => 64,
        }
    }

    /// Whether several elements share a byte.
    pub const fn is_packed(self) -> bool {
        matches!(self.bits(), 1 | 2 | 4)
    }

    /// Bytes that `elements` of this type take when they are stored one after
    /// the other: `ceil(elements × bits / 8)`. `None` if that exceeds `u64` or
    /// the width is not fixed.
    pub const fn bytes(self, elements: u64) -> Option<u64> {
        match self.bits() {
            0 => None,
            1 => Some((elements >> 3).saturating_add(if elements & 7 == 0 { 0 } else { 1 })),
            2 => Some((elements >> 2).saturating_add(if elements & 3 == 0 { 0 } else { 1 })),
            4 => Some((elements >> 1).saturating_add(elements & 1)),
            6 if cfg!(any(feature = "safetensors", test)) => match elements.checked_mul(3) {
                Some(n) => Some((n >> 2).saturating_add(if n & 3 == 0 { 0 } else { 1 })),
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
        }
    }
}

#[allow(clippy::as_conversions, reason = "u32 to u64 in a const fn")]
const fn widen32(n: u32) -> u64 {
    n as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_name() {
        for (i, dtype) in DType::ALL.iter().enumerate() {
            #[allow(clippy::as_conversions)]
            let code = *dtype as usize;
            assert_eq!(code, i, "{} is out of place", dtype.name());
            assert_eq!(DType::by_name(dtype.name()), Some(*dtype));
        }
        // A type that is added to the enum and not to the list is missed here.
        assert_eq!(DType::ALL.last(), Some(&DType::F8E5M2Fnuz));
    }
}
