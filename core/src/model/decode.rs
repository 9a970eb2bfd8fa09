//! Elements of any type as floats, whole slices at a time.
//!
//! Every loop does one thing to elements of one width, so that compilers vectorise it.
//! [`DType::element`] gives the same values one by one.

use crate::model::block;
use crate::model::{DType, Endianness};

impl DType {
    /// Decodes up to `out.len()` elements from the start of `bytes` to `f32`, and returns how
    /// many; `None` for types that are not numbers.
    ///
    /// Values that `f32` cannot represent, doubles and integers beyond 2^24, are rounded to the
    /// nearest.
    ///
    /// ```
    /// use weighbridge_core::{DType, Endianness};
    ///
    /// let mut out = [0.0; 3];
    /// let bytes = [0x80, 0x3F, 0x00, 0xC0];
    /// assert_eq!(DType::BF16.decode_f32(Endianness::Little, &bytes, &mut out), Some(2));
    /// assert_eq!(out, [1.0, -2.0, 0.0]);
    /// ```
    pub fn decode_f32(
        self,
        endianness: Endianness,
        bytes: &[u8],
        out: &mut [f32],
    ) -> Option<usize> {
        if self.block().is_some() {
            return block::decode(self, endianness, bytes, out);
        }
        decode(self, endianness, bytes, out)
    }

    /// Decodes up to `out.len()` elements of the blocks at the start of `bytes` without
    /// multiplying out their scales, and returns how many; `None` for types without blocks, or
    /// whose blocks are not decoded.
    ///
    /// ```
    /// # #[cfg(feature = "dequantise")] {
    /// use weighbridge_core::{DType, Endianness, Quant};
    ///
    /// let mut out = [Quant::default(); 32];
    /// let mut block = [0x91; 18]; // codes 1 and 9
    /// block[..2].copy_from_slice(&[0x00, 0x38]); // the scale, a binary16
    /// assert_eq!(DType::Q4_0.decode_quants(Endianness::Little, &block, &mut out), Some(32));
    /// assert_eq!((out[0].scale, out[0].quant, out[31].quant), (0.5, -7.0, 1.0));
    /// # }
    /// ```
    pub fn decode_quants(
        self,
        endianness: Endianness,
        bytes: &[u8],
        out: &mut [block::Quant],
    ) -> Option<usize> {
        self.block()?;
        block::decode(self, endianness, bytes, out)
    }

    /// As [`decode_f32`](Self::decode_f32), to `f64`, which holds all but integers beyond 2^53.
    pub fn decode_f64(
        self,
        endianness: Endianness,
        bytes: &[u8],
        out: &mut [f64],
    ) -> Option<usize> {
        if let Some((_, len)) = self.block() {
            let mut buffer = [0.0; block::MOST];
            let (mut done, mut bytes, mut out) = (0_usize, bytes, out);
            loop {
                let here = block::decode(self, endianness, bytes, &mut buffer)?;
                let len = usize::try_from(len).ok()?;
                let here = here.min(out.len());
                if here == 0 {
                    return Some(done);
                }
                out.iter_mut().zip(buffer).take(here).for_each(|(to, from)| *to = f64::from(from));
                done = done.saturating_add(here);
                let (_, rest) = out.split_at_mut_checked(here)?;
                out = rest;
                let (count, _) = self.block()?;
                let blocks = here.checked_div(usize::try_from(count).ok()?)?;
                bytes = bytes.get(blocks.saturating_mul(len)..)?;
            }
        }
        decode(self, endianness, bytes, out)
    }
}

/// A type that numbers are decoded to.
trait Float: Copy {
    fn single(value: f32) -> Self;
    fn double(value: f64) -> Self;
    fn signed(value: i64) -> Self;
    fn unsigned(value: u64) -> Self;
}

#[allow(clippy::as_conversions, reason = "rounding to the nearest is intended")]
impl Float for f32 {
    fn single(value: f32) -> f32 {
        value
    }

    fn double(value: f64) -> f32 {
        value as f32
    }

    fn signed(value: i64) -> f32 {
        value as f32
    }

    fn unsigned(value: u64) -> f32 {
        value as f32
    }
}

#[allow(clippy::as_conversions, reason = "rounding to the nearest is intended")]
impl Float for f64 {
    fn single(value: f32) -> f64 {
        value.into()
    }

    fn double(value: f64) -> f64 {
        value
    }

    fn signed(value: i64) -> f64 {
        value as f64
    }

    fn unsigned(value: u64) -> f64 {
        value as f64
    }
}

fn decode<T: Float>(
    dtype: DType,
    endianness: Endianness,
    bytes: &[u8],
    out: &mut [T],
) -> Option<usize> {
    let e = endianness;
    Some(match dtype {
        DType::F32 => each(e, bytes, out, |b| T::single(f32::from_le_bytes(b))),
        DType::F64 => each(e, bytes, out, |b| T::double(f64::from_le_bytes(b))),
        DType::BF16 => each(e, bytes, out, |b| T::single(bf16(u16::from_le_bytes(b)))),
        DType::F16 => each(e, bytes, out, |b| T::single(half(u16::from_le_bytes(b)))),
        DType::I8 => each(e, bytes, out, |b| T::signed(i8::from_le_bytes(b).into())),
        DType::I16 => each(e, bytes, out, |b| T::signed(i16::from_le_bytes(b).into())),
        DType::I32 => each(e, bytes, out, |b| T::signed(i32::from_le_bytes(b).into())),
        DType::I64 => each(e, bytes, out, |b| T::signed(i64::from_le_bytes(b))),
        DType::U8 | DType::Bool => each(e, bytes, out, |[b]: [u8; 1]| T::unsigned(b.into())),
        DType::U16 => each(e, bytes, out, |b| T::unsigned(u16::from_le_bytes(b).into())),
        DType::U32 => each(e, bytes, out, |b| T::unsigned(u32::from_le_bytes(b).into())),
        DType::U64 => each(e, bytes, out, |b| T::unsigned(u64::from_le_bytes(b))),
        _ => match dtype.bits() {
            8 => coded(dtype, bytes, out)?,
            4 => packed::<2, T>(dtype, bytes, out)?,
            2 => packed::<4, T>(dtype, bytes, out)?,
            1 => packed::<8, T>(dtype, bytes, out)?,
            _ => return None,
        },
    })
}

/// Decodes elements of `N` bytes, which `value` receives in little-endian order.
fn each<const N: usize, T>(
    endianness: Endianness,
    bytes: &[u8],
    out: &mut [T],
    value: impl Fn([u8; N]) -> T,
) -> usize {
    let (elements, _) = bytes.as_chunks::<N>();
    let pairs = out.iter_mut().zip(elements);
    let count = pairs.len();
    match endianness {
        Endianness::Little => pairs.for_each(|(to, from)| *to = value(*from)),
        Endianness::Big => pairs.for_each(|(to, from)| {
            let mut from = *from;
            from.reverse();
            *to = value(from);
        }),
    }
    count
}

/// The value of each code of at most 8 bits.
fn table<const CODES: usize, T: Float>(dtype: DType) -> Option<[T; CODES]> {
    dtype.element(&[0], 0, Endianness::Little)?;
    Some(core::array::from_fn(|code| {
        let [code, ..] = code.to_le_bytes();
        let element = dtype.element(&[code], 0, Endianness::Little);
        T::double(element.map_or(0.0, crate::model::Element::to_f64))
    }))
}

/// Decodes one-byte elements with a table.
fn coded<T: Float>(dtype: DType, bytes: &[u8], out: &mut [T]) -> Option<usize> {
    let table = table::<256, T>(dtype)?;
    let value = |code: u8| table.get(usize::from(code)).copied();
    let pairs = out.iter_mut().zip(bytes);
    let count = pairs.len();
    pairs.for_each(|(to, code)| *to = value(*code).unwrap_or(*to));
    Some(count)
}

/// Decodes `N` elements per byte, from the least significant bit, with a table of all bytes.
fn packed<const N: usize, T: Float>(dtype: DType, bytes: &[u8], out: &mut [T]) -> Option<usize> {
    let one = table::<16, T>(dtype)?;
    let start = *one.first()?;
    let table: [[T; N]; 256] = core::array::from_fn(|byte| {
        let mut group = [start; N];
        let mut codes = byte;
        for to in &mut group {
            *to = one.get(codes & 0xF).copied().unwrap_or(start);
            codes = codes.wrapping_shr(dtype.bits());
        }
        group
    });
    let unpack = |byte: u8| table.get(usize::from(byte)).copied().unwrap_or([start; N]);
    let fits = out.len();
    let (groups, rest) = out.as_chunks_mut::<N>();
    if let Some(last) = bytes.get(groups.len()) {
        rest.iter_mut().zip(unpack(*last)).for_each(|(to, from)| *to = from);
    }
    groups.iter_mut().zip(bytes).for_each(|(to, byte)| *to = unpack(*byte));
    Some(bytes.len().saturating_mul(N).min(fits))
}

/// A bfloat16: the upper half of an `f32`.
#[inline]
pub(crate) fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A binary16 as `f32`, exact and without a branch: the product with 2^112 rebiases the exponent,
/// also for subnormal numbers.
#[inline]
pub(crate) fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7FFF) << 13;
    let moved = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
    // Infinity or NaN.
    let special = magnitude >= 0x0F80_0000;
    f32::from_bits(sign | if special { magnitude | 0x7F80_0000 } else { moved.to_bits() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn binary16_matches_half_crate() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (half(bits), half::f16::from_bits(bits).to_f32());
            let same = ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan());
            assert!(same && ours.is_sign_negative() == theirs.is_sign_negative(), "{bits:#x}");
        }
    }

    /// Decoding a slice of any type gives the same values as decoding its elements one by one.
    #[test]
    fn decoded_slice_equals_elements() {
        let bytes: Vec<u8> =
            (0..4200_u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 23) as u8).collect();
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let mut numeric = 0;
        for dtype in DType::ALL.iter().copied() {
            for endianness in [Endianness::Little, Endianness::Big] {
                for len in [0, 1, 7, 300, 4200] {
                    let bytes = &bytes[..len];
                    let element = |i| dtype.element(bytes, i, endianness);
                    let expected: Vec<_> = (0..).map_while(element).map(|e| e.to_f64()).collect();
                    for room in [0, 1, 5, 250, 33_600] {
                        let (mut wide, mut narrow) = (std::vec![7.0; room], std::vec![7.0; room]);
                        let count = dtype.decode_f64(endianness, bytes, &mut wide);
                        assert_eq!(dtype.decode_f32(endianness, bytes, &mut narrow), count);
                        assert_eq!(count.is_some(), dtype.is_numeric(), "{}", dtype.name());
                        let Some(count) = count else { continue };
                        assert_eq!(count, expected.len().min(room), "{} in {len}", dtype.name());
                        for i in 0..room {
                            let value = if i < count { expected[i] } else { 7.0 };
                            assert!(same(wide[i], value), "{} element {i}", dtype.name());
                            // `narrow` rounds 64-bit integers once, where this rounds twice.
                            let wide = matches!(dtype, DType::I64 | DType::U64);
                            let value = value as f32;
                            assert!(wide || same(narrow[i].into(), value.into()), "{i}");
                        }
                        numeric += 1;
                    }
                }
            }
        }
        assert!(numeric > 1000);
    }
}
