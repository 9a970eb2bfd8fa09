//! One element of any fixed-width type, as a number.

use crate::model::decode::bf16;
use crate::model::dtype::BLOCKS;
use crate::model::{DType, Endianness};

/// Most bytes needed to read one element: those of a block that is decoded, if any format has
/// elements in blocks.
pub(crate) const WIDEST: usize = if BLOCKS { 256 } else { 8 };

/// `Q6_K` has the longest block that is decoded; `Q8_K` is longer, but is not decoded.
#[allow(clippy::as_conversions, clippy::disallowed_macros, reason = "a constant")]
const _: () =
    assert!(!BLOCKS || matches!(DType::Q6K.block(), Some((_, len)) if len as usize <= WIDEST));

/// The value of an element, lossless.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Element {
    /// A signed integer, or a ternary value.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float of at most 32 bits. A NaN keeps its sign and payload only where
    /// the stored type is `f32`.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A Boolean byte of 0 or 1. Any other byte is returned as [`Element::Uint`], because
    /// readers differ on its meaning.
    Bool(bool),
}

impl Element {
    /// The value as a double: exact except for 64-bit integers beyond 2^53.
    #[allow(clippy::as_conversions, reason = "rounding to the nearest double is intended")]
    pub fn to_f64(self) -> f64 {
        match self {
            Element::Int(value) => value as f64,
            Element::Uint(value) => value as f64,
            Element::F32(value) => f64::from(value),
            Element::F64(value) => value,
            Element::Bool(value) => f64::from(u8::from(value)),
        }
    }
}

impl DType {
    /// Element number `index` of `bytes`, which hold consecutive elements of this type; packed
    /// elements start at the least significant bit.
    ///
    /// `None` after the last element, and for types that are not numbers.
    pub fn element(self, bytes: &[u8], index: u64, endianness: Endianness) -> Option<Element> {
        match self.bits() {
            bits @ (1 | 2 | 4) => {
                let bit = index.checked_mul(u64::from(bits))?;
                let byte = *bytes.get(usize::try_from(bit >> 3).ok()?)?;
                let shift = u32::try_from(bit & 7).ok()?;
                self.packed(byte.checked_shr(shift)?)
            }
            8 => self.wide([*bytes.get(usize::try_from(index).ok()?)?], endianness),
            16 => {
                self.wide(*bytes.as_chunks::<2>().0.get(usize::try_from(index).ok()?)?, endianness)
            }
            32 => {
                self.wide(*bytes.as_chunks::<4>().0.get(usize::try_from(index).ok()?)?, endianness)
            }
            64 => {
                self.wide(*bytes.as_chunks::<8>().0.get(usize::try_from(index).ok()?)?, endianness)
            }
            0 => {
                let (count, len) = self.block()?;
                let block = index.checked_div(count.into())?;
                let at = usize::try_from(block.checked_mul(len.into())?).ok()?;
                let block = bytes.get(at..)?.get(..usize::try_from(len).ok()?)?;
                let i = usize::try_from(index.checked_rem(count.into())?).ok()?;
                let mut out = [0.0; crate::model::block::MOST];
                crate::model::block::decode(self, endianness, block, &mut out)?;
                out.get(i).copied().map(Element::F32)
            }
            _ => None,
        }
    }

    /// Whether [`element`](Self::element) returns numbers for this type.
    pub fn is_numeric(self) -> bool {
        self.element(&[0; WIDEST], 0, Endianness::Little).is_some()
    }

    /// The packed element in the low bits of `bits`.
    fn packed(self, bits: u8) -> Option<Element> {
        Some(match self {
            DType::U4 => Element::Uint(u64::from(bits & 0xF)),
            DType::U2 => Element::Uint(u64::from(bits & 3)),
            DType::U1 => Element::Uint(u64::from(bits & 1)),
            DType::I4 => Element::Int(sign_extend(bits, 4)),
            // The code 10 is not a ternary value; readers read it as -2.
            DType::I2 | DType::T2 => Element::Int(sign_extend(bits, 2)),
            DType::I1 => Element::Int(sign_extend(bits, 1)),
            DType::F4 => Element::F32(f4(bits)),
            DType::T1 => Element::Int(if bits & 1 == 0 { -1 } else { 1 }),
            _ => return None,
        })
    }

    /// The element stored in `N` whole bytes.
    fn wide<const N: usize>(self, stored: [u8; N], endianness: Endianness) -> Option<Element> {
        let mut raw = 0_u64;
        let step = |raw: u64, byte: &u8| (raw << 8) | u64::from(*byte);
        raw = match endianness {
            Endianness::Little => stored.iter().rev().fold(raw, step),
            Endianness::Big => stored.iter().fold(raw, step),
        };
        let [b0, b1, b2, b3, b4, b5, b6, b7] = raw.to_le_bytes();
        Some(match self {
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Element::Uint(raw),
            DType::I8 => Element::Int(i64::from(i8::from_le_bytes([b0]))),
            DType::I16 => Element::Int(i64::from(i16::from_le_bytes([b0, b1]))),
            DType::I32 => Element::Int(i64::from(i32::from_le_bytes([b0, b1, b2, b3]))),
            DType::I64 => Element::Int(i64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7])),
            DType::Bool if raw > 1 => Element::Uint(raw),
            DType::Bool => Element::Bool(raw == 1),
            DType::F16 => Element::F32(half::f16::from_le_bytes([b0, b1]).to_f32()),
            DType::BF16 => Element::F32(bf16(u16::from_le_bytes([b0, b1]))),
            DType::F32 => Element::F32(f32::from_le_bytes([b0, b1, b2, b3])),
            DType::F64 => Element::F64(f64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7])),
            // The upper half of a binary16, by definition.
            DType::F8E5M2 => Element::F32(half::f16::from_le_bytes([0, b0]).to_f32()),
            DType::F8E4M3 => Element::F32(f8e4m3(b0)),
            // 2^-127 is a subnormal binary32.
            DType::F8E8M0 => Element::F32(match b0 {
                0 => f32::from_bits(0x0040_0000),
                0xFF => f32::NAN,
                _ => f32::from_bits(u32::from(b0) << 23),
            }),
            DType::F8E4M3Fnuz => Element::F32(fnuz(b0, 3)),
            DType::F8E5M2Fnuz => Element::F32(fnuz(b0, 2)),
            _ => return None,
        })
    }
}

/// The low `width` bits (at most 8) as a two's complement number.
fn sign_extend(bits: u8, width: u32) -> i64 {
    let shift = 8_u32.saturating_sub(width);
    let top = i8::from_le_bytes([bits.wrapping_shl(shift)]);
    i64::from(top.wrapping_shr(shift))
}

/// An 8-bit float of the variant e4m3fn: bias 7, no infinities, NaN where all
/// seven bits below the sign are set.
fn f8e4m3(bits: u8) -> f32 {
    let magnitude = u32::from(bits & 0x7F);
    let sign = u32::from(bits & 0x80) << 24;
    let value = match magnitude {
        0x7F => f32::NAN,
        // Subnormal: eighths of 2^-6. The product is exact.
        0..=7 => f32::from(bits & 7) * f32::from_bits(0x3B00_0000),
        // Rebias the exponent from 7 to 127, and widen the mantissa from 3 bits.
        _ => f32::from_bits((magnitude << 20).wrapping_add(120 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

/// An 8-bit float without infinities or negative zero (whose code is NaN), with this many
/// mantissa bits. The bias is half the exponent's range, one more than in IEEE 754.
fn fnuz(bits: u8, mantissa: u32) -> f32 {
    if bits == 0x80 {
        return f32::NAN;
    }
    let magnitude = u32::from(bits & 0x7F);
    let sign = u32::from(bits & 0x80) << 24;
    // As a binary32 with the same digits, subnormal if the original is. Multiplying by a
    // power of two rebiases it exactly.
    let shift = 23_u32.saturating_sub(mantissa);
    let bias = 64_u32.wrapping_shr(mantissa);
    let digits = f32::from_bits(magnitude.wrapping_shl(shift) | sign);
    let rebias = 254_u32.saturating_sub(bias);
    digits * f32::from_bits(rebias << 23)
}

/// The 4-bit float E2M1 in the low bits of `bits`.
fn f4(bits: u8) -> f32 {
    let magnitude = match bits & 7 {
        0 => 0.0,
        1 => 0.5,
        2 => 1.0,
        3 => 1.5,
        4 => 2.0,
        5 => 3.0,
        6 => 4.0,
        _ => 6.0,
    };
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(dtype: DType, bytes: &[u8]) -> std::vec::Vec<f64> {
        (0..)
            .map_while(|i| dtype.element(bytes, i, Endianness::Little))
            .map(Element::to_f64)
            .collect()
    }

    #[test]
    fn packed_element_is_read() {
        assert_eq!(all(DType::U4, &[0x21, 0xF3]), [1.0, 2.0, 3.0, 15.0]);
        assert_eq!(all(DType::I4, &[0x87]), [7.0, -8.0]);
        assert_eq!(all(DType::I2, &[0b11_10_01_00]), [0.0, 1.0, -2.0, -1.0]);
        assert_eq!(all(DType::T2, &[0b00_11_01_00]), [0.0, 1.0, -1.0, 0.0]);
        assert_eq!(all(DType::I1, &[0b10]), [0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(all(DType::T1, &[0b10]), [-1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
        assert_eq!(all(DType::U2, &[0b11_10_01_00]), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn f8e4m3_has_the_known_values() {
        let known = [
            (0x00, 0.0),
            (0x01, 1.0 / 512.0),
            (0x07, 7.0 / 512.0),
            (0x08, 1.0 / 64.0),
            (0x38, 1.0),
            (0x7E, 448.0),
            (0xBC, -1.5),
            (0xFE, -448.0),
        ];
        for (bits, value) in known {
            assert_eq!(f8e4m3(bits), value, "{bits:#x}");
        }
        assert!(f8e4m3(0x7F).is_nan() && f8e4m3(0xFF).is_nan());
        assert!(f8e4m3(0xFF).is_sign_negative() && f8e4m3(0x80).is_sign_negative());
    }

    #[test]
    fn small_floats_have_the_known_values() {
        let known =
            [(0x01, 1.0 / 1024.0), (0x08, 1.0 / 128.0), (0x40, 1.0), (0x7F, 240.0), (0xC4, -1.5)];
        for (bits, value) in known {
            assert_eq!(fnuz(bits, 3), value, "e4m3fnuz {bits:#x}");
        }
        let known = [(0x01, 1.0 / 131_072.0), (0x40, 1.0), (0x7F, 57344.0), (0xC2, -1.5)];
        for (bits, value) in known {
            assert_eq!(fnuz(bits, 2), value, "e5m2fnuz {bits:#x}");
        }
        assert!(fnuz(0x80, 3).is_nan());
        assert_eq!(all(DType::F4, &[0x21, 0xF7]), [0.5, 1.0, 6.0, -6.0]);
        assert_eq!(all(DType::F8E8M0, &[0, 127, 254])[1], 1.0);
        assert_eq!(all(DType::F8E8M0, &[0])[0], f64::powi(2.0, -127));
    }

    #[test]
    fn bool_byte_is_read() {
        assert_eq!(
            DType::Bool.element(&[0, 1, 2], 1, Endianness::Little),
            Some(Element::Bool(true))
        );
        assert_eq!(DType::Bool.element(&[0, 1, 2], 2, Endianness::Little), Some(Element::Uint(2)));
    }

    #[test]
    fn element_honours_byte_order_and_width() {
        let bytes = [0x01, 0x02, 0x03, 0x84, 0x05];
        let at = |dtype: DType, i, e| dtype.element(&bytes, i, e);
        assert_eq!(at(DType::U16, 0, Endianness::Little), Some(Element::Uint(0x0201)));
        assert_eq!(at(DType::U16, 0, Endianness::Big), Some(Element::Uint(0x0102)));
        assert_eq!(
            at(DType::I16, 1, Endianness::Little),
            Some(Element::Int(0x8403_u16 as i16 as i64))
        );
        assert_eq!(at(DType::U16, 2, Endianness::Little), None);
        assert_eq!(at(DType::U32, 0, Endianness::Big), Some(Element::Uint(0x0102_0384)));
        assert_eq!(at(DType::Text, 0, Endianness::Little), None);
        assert_eq!(
            at(DType::BF16, 0, Endianness::Little),
            Some(Element::F32(f32::from_bits(0x0201_0000)))
        );
    }
}
