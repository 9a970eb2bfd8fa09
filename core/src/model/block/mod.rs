//! Elements in blocks that share a scale, as ggml stores them.
//!
//! Each element is computed operation by operation as in ggml's reference, so the result is the
//! same to the last bit. A block is decoded as a whole, in loops of fixed length, which compilers
//! vectorise.

use crate::model::decode::half;
use crate::model::{DType, Endianness};
use k_quants::{pairs, q2_k, q3_k, q4_k, q5_k, q6_k};

mod codebook;
mod grids;
mod k_quants;

/// Whether elements of blocks are decoded.
const DEQUANTISE: bool = cfg!(any(feature = "dequantise", test));

/// Whether types whose codes index tables are decoded.
const CODEBOOKS: bool = cfg!(any(feature = "codebooks", test));

/// Most elements of a block.
pub(crate) const MOST: usize = 256;

/// The steps that 4-bit codes stand for in `iq4_nl` and `iq4_xs`.
const UNEVEN: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// The values of 4-bit floats, doubled.
const FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// An element of a block as stored: its value is `scale * quant + min`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quant {
    /// The scale of the part of the block that the element belongs to.
    pub scale: f32,
    /// The value of its code: an integer, plus or minus an eighth in `iq1_s` and `iq1_m`.
    pub quant: f32,
    /// The value of a `quant` of 0; zero for types without a minimum.
    pub min: f32,
}

/// A form that elements are decoded to.
pub(crate) trait Decoded: Copy + Default {
    /// Converts an element that is `scale * quant + min`. The minimum is -0 for types without
    /// one, because adding that changes no value.
    fn of(scale: f32, quant: f32, min: f32) -> Self;
}

impl Decoded for f32 {
    #[inline(always)]
    fn of(scale: f32, quant: f32, min: f32) -> f32 {
        scale * quant + min
    }
}

impl Decoded for Quant {
    // Not inlined: loops that are not vectorised take less code.
    #[inline(never)]
    fn of(scale: f32, quant: f32, min: f32) -> Quant {
        Quant { scale, quant, min }
    }
}

/// The minimum of types without one.
const NONE: f32 = -0.0;

/// Decodes as many elements of blocks as `bytes` and `out` both hold, and returns how many;
/// `None` for types whose blocks are not decoded.
pub(crate) fn decode<T: Decoded>(
    dtype: DType,
    endianness: Endianness,
    bytes: &[u8],
    out: &mut [T],
) -> Option<usize> {
    if !DEQUANTISE {
        return None;
    }
    let e = endianness;
    Some(match dtype {
        DType::Q4_0 => each::<18, 32, T>(bytes, out, |b, out| q4_0(&mut Fields(b, e), out)),
        DType::Q4_1 => each::<20, 32, T>(bytes, out, |b, out| q4_1(&mut Fields(b, e), out)),
        DType::Q5_0 => each::<22, 32, T>(bytes, out, |b, out| q5_0(&mut Fields(b, e), out)),
        DType::Q5_1 => each::<24, 32, T>(bytes, out, |b, out| q5_1(&mut Fields(b, e), out)),
        DType::Q8_0 => each::<34, 32, T>(bytes, out, |b, out| q8_0(&mut Fields(b, e), out)),
        DType::Q2K => each::<84, 256, T>(bytes, out, |b, out| q2_k(&mut Fields(b, e), out)),
        DType::Q3K => each::<110, 256, T>(bytes, out, |b, out| q3_k(&mut Fields(b, e), out)),
        DType::Q4K => each::<144, 256, T>(bytes, out, |b, out| q4_k(&mut Fields(b, e), out)),
        DType::Q5K => each::<176, 256, T>(bytes, out, |b, out| q5_k(&mut Fields(b, e), out)),
        DType::Q6K => each::<210, 256, T>(bytes, out, |b, out| q6_k(&mut Fields(b, e), out)),
        DType::Q1_0 => each::<18, 128, T>(bytes, out, |b, out| q1_0(&mut Fields(b, e), out)),
        DType::Q2_0 => each::<18, 64, T>(bytes, out, |b, out| q2_0(&mut Fields(b, e), out)),
        DType::TQ1_0 => each::<54, 256, T>(bytes, out, |b, out| tq1_0(&mut Fields(b, e), out)),
        DType::TQ2_0 => each::<66, 256, T>(bytes, out, |b, out| tq2_0(&mut Fields(b, e), out)),
        DType::Iq4Nl => each::<18, 32, T>(bytes, out, |b, out| iq4_nl(&mut Fields(b, e), out)),
        DType::Iq4Xs => each::<136, 256, T>(bytes, out, |b, out| iq4_xs(&mut Fields(b, e), out)),
        DType::MxFp4 => each::<17, 32, T>(bytes, out, |b, out| mxfp4(&mut Fields(b, e), out)),
        DType::NvFp4 => each::<36, 64, T>(bytes, out, |b, out| nvfp4(&mut Fields(b, e), out)),
        _ if CODEBOOKS => return codebook::decode(dtype, endianness, bytes, out),
        _ => return None,
    })
}

/// Decodes blocks of `LEN` bytes and `COUNT` elements, the last one as far as it fits.
fn each<const LEN: usize, const COUNT: usize, T: Decoded>(
    bytes: &[u8],
    out: &mut [T],
    block: impl Fn(&[u8], &mut [T; COUNT]),
) -> usize {
    let (blocks, _) = bytes.as_chunks::<LEN>();
    let fits = out.len();
    let (groups, rest) = out.as_chunks_mut::<COUNT>();
    for (from, to) in blocks.iter().zip(groups.iter_mut()) {
        block(from, to);
    }
    if let Some(from) = blocks.get(groups.len()) {
        let mut last = [T::default(); COUNT];
        block(from, &mut last);
        rest.iter_mut().zip(last).for_each(|(to, from)| *to = from);
    }
    blocks.len().saturating_mul(COUNT).min(fits)
}

/// The fields of one block, read in order.
struct Fields<'a>(&'a [u8], Endianness);

impl<'a> Fields<'a> {
    /// The next `N` bytes.
    fn take<const N: usize>(&mut self) -> &'a [u8; N] {
        let Some((head, rest)) = self.0.split_first_chunk() else { return &[0; N] };
        self.0 = rest;
        head
    }

    fn short(&mut self) -> u16 {
        match self.1 {
            Endianness::Little => u16::from_le_bytes(*self.take()),
            Endianness::Big => u16::from_be_bytes(*self.take()),
        }
    }

    /// 32 bits, one for each element.
    fn flags(&mut self) -> u32 {
        match self.1 {
            Endianness::Little => u32::from_le_bytes(*self.take()),
            Endianness::Big => u32::from_be_bytes(*self.take()),
        }
    }

    /// A scale.
    fn half(&mut self) -> f32 {
        half(self.short())
    }

    /// Scale and minimum of eight parts, 6 bits each in 12 bytes, multiplied by those of the
    /// block.
    fn scales(&mut self) -> [(f32, f32); 8] {
        let (d, min) = (self.half(), self.half());
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *self.take::<12>();
        let low = |a: u8, b: u8| (d * number(a & 63), min * number(b & 63));
        let high = |a: u8, b: u8, c: u8| {
            let (scale, least) = ((c & 0xF) | ((a >> 2) & 0x30), (c >> 4) | ((b >> 2) & 0x30));
            (d * number(scale), min * number(least))
        };
        [
            low(a0, b0),
            low(a1, b1),
            low(a2, b2),
            low(a3, b3),
            high(a0, b0, c0),
            high(a1, b1, c1),
            high(a2, b2, c2),
            high(a3, b3, c3),
        ]
    }
}

/// A byte in two's complement.
fn number(byte: u8) -> f32 {
    f32::from(i8::from_le_bytes([byte]))
}

fn step(table: &[i8; 16], code: u8) -> f32 {
    f32::from(table.get(usize::from(code)).copied().unwrap_or(0))
}

/// Decodes sixteen bytes: the codes in their lower halves, then those in their upper halves.
fn nibbles<T>(bytes: &[u8; 16], out: &mut [T; 32], value: impl Fn(u8) -> T) {
    let ([low, high], _) = out.as_chunks_mut::<16>() else { return };
    fill(low, *bytes, |byte| value(byte & 0xF));
    fill(high, *bytes, |byte| value(byte >> 4));
}

/// The same with a fifth bit per element, from `flags`.
fn five<T>(flags: u32, bytes: &[u8; 16], out: &mut [T; 32], value: impl Fn(u8) -> T) {
    let ([low, high], _) = out.as_chunks_mut::<16>() else { return };
    for (i, (to, byte)) in (0_u32..).zip(low.iter_mut().zip(bytes)) {
        let bit = if flags & (1 << i) == 0 { 0 } else { 16 };
        *to = value((byte & 0xF) | bit);
    }
    for (i, (to, byte)) in (0_u32..).zip(high.iter_mut().zip(bytes)) {
        let bit = if flags & (0x1_0000 << i) == 0 { 0 } else { 16 };
        *to = value((byte >> 4) | bit);
    }
}

/// Run number `i` of `N` bytes.
fn run<const N: usize>(bytes: &[u8], i: usize) -> &[u8; N] {
    bytes.as_chunks().0.get(i).unwrap_or(&[0; N])
}

/// Computes one element from each byte. The bytes are copied, so that compilers see that they do
/// not overlap `out`.
fn fill<const N: usize, T>(out: &mut [T; N], bytes: [u8; N], value: impl Fn(u8) -> T) {
    out.iter_mut().zip(bytes).for_each(|(to, byte)| *to = value(byte));
}

fn q4_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let d = b.half();
    nibbles(b.take(), out, |q| T::of(d, number(q.wrapping_sub(8)), NONE));
}

fn q4_1<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let (d, min) = (b.half(), b.half());
    nibbles(b.take(), out, |q| T::of(d, number(q), min));
}

fn q5_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let d = b.half();
    five(b.flags(), b.take(), out, |q| T::of(d, number(q.wrapping_sub(16)), NONE));
}

fn q5_1<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let (d, min) = (b.half(), b.half());
    five(b.flags(), b.take(), out, |q| T::of(d, number(q), min));
}

fn q8_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let d = b.half();
    fill(out, *b.take(), |q| T::of(d, number(q), NONE));
}

fn q1_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 128]) {
    let d = b.half();
    for (out, byte) in out.as_chunks_mut::<8>().0.iter_mut().zip(b.take::<16>()) {
        for (i, to) in out.iter_mut().enumerate() {
            *to = T::of(d, if (byte >> i) & 1 == 0 { -1.0 } else { 1.0 }, NONE);
        }
    }
}

fn q2_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 64]) {
    let d = b.half();
    // A byte holds four consecutive elements, not elements that are 32 apart as in `pairs`.
    for (out, byte) in out.as_chunks_mut::<4>().0.iter_mut().zip(b.take::<16>()) {
        for (to, shift) in out.iter_mut().zip([0, 2, 4, 6]) {
            *to = T::of(d, number(((byte >> shift) & 3).wrapping_sub(1)), NONE);
        }
    }
}

fn tq1_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (long, short, last) = (b.take::<32>(), b.take::<16>(), b.take::<4>());
    let d = b.half();
    // A byte is a fraction in base 3: multiplied by 3, its integer part is the first digit.
    let digit = |byte: u8, power: u8| {
        let shifted = u16::from(byte.wrapping_mul(power)).wrapping_mul(3);
        let [_, digit] = shifted.to_le_bytes();
        T::of(d, number(digit.wrapping_sub(1)), NONE)
    };
    let Some((longs, rest)) = out.split_first_chunk_mut::<160>() else { return };
    let Some((shorts, lasts)) = rest.split_first_chunk_mut::<80>() else { return };
    let powers = || [1, 3, 9, 27, 81].into_iter();
    for (out, power) in longs.as_chunks_mut().0.iter_mut().zip(powers()) {
        fill(out, *long, |byte| digit(byte, power));
    }
    for (out, power) in shorts.as_chunks_mut().0.iter_mut().zip(powers()) {
        fill(out, *short, |byte| digit(byte, power));
    }
    for (out, power) in lasts.as_chunks_mut().0.iter_mut().zip(powers()) {
        fill(out, *last, |byte| digit(byte, power));
    }
}

fn tq2_0<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let q = b.take();
    let d = b.half();
    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let (q, shift) = pairs(q, i);
        fill(out, *q, |q| T::of(d, number(((q >> shift) & 3).wrapping_sub(1)), NONE));
    }
}

fn iq4_nl<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let d = b.half();
    nibbles(b.take(), out, |q| T::of(d, step(&UNEVEN, q), NONE));
}

fn iq4_xs<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let (high, low, q) = (b.short(), b.take::<4>(), b.take::<128>());
    for (i, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let low = low.get(i >> 1).copied().unwrap_or(0) >> ((i & 1) << 2);
        let [high, _] = (high >> (i << 1)).to_le_bytes();
        let d = d * number(((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32));
        nibbles(run(q, i), out, |q| T::of(d, step(&UNEVEN, q), NONE));
    }
}

fn mxfp4<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 32]) {
    let [exponent] = *b.take::<1>();
    // Half of 2^(e - 127), subnormal for the two least exponents.
    let bits = match u32::from(exponent).checked_sub(2) {
        None => 0x0020_0000 << exponent,
        Some(more) => more.wrapping_add(1) << 23,
    };
    let d = f32::from_bits(bits);
    nibbles(b.take(), out, |q| T::of(d, step(&FLOATS, q), NONE));
}

fn nvfp4<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 64]) {
    let scales = b.take::<4>();
    for (out, scale) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales) {
        let d = unsigned_e4m3(*scale);
        let q = *b.take::<8>();
        let ([low, high], _) = out.as_chunks_mut::<8>() else { continue };
        fill(low, q, |q| T::of(d, step(&FLOATS, q & 0xF), NONE));
        fill(high, q, |q| T::of(d, step(&FLOATS, q >> 4), NONE));
    }
}

/// Half of a float with 4 bits of exponent and 3 of mantissa, ignoring its sign; 0 for the NaN.
fn unsigned_e4m3(code: u8) -> f32 {
    if code == 0x7F {
        return 0.0;
    }
    let (exponent, mantissa) = (u32::from(code >> 3) & 0xF, code & 7);
    if exponent == 0 {
        return f32::from(mantissa) / 1024.0;
    }
    f32::from_bits((exponent.wrapping_add(119) << 23) | (u32::from(mantissa) << 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn all(dtype: DType, endianness: Endianness, block: &[u8]) -> Option<Vec<f32>> {
        let mut out = [f32::NAN; MOST];
        let count = decode(dtype, endianness, block, &mut out)?;
        Some(out[..count].to_vec())
    }

    /// Every element of a block has its own bits, except where a code stands for several:
    /// changing one element changes no other.
    #[test]
    fn elements_are_where_the_type_says() {
        for dtype in DType::ALL {
            let Some((count, len)) = dtype.block() else { continue };
            if dtype.name().starts_with("iq") && !dtype.name().starts_with("iq4")
                || *dtype == DType::TQ1_0
            {
                continue;
            }
            let mut block = std::vec![0x3C_u8; len as usize];
            let bits = |block: &[u8]| -> Option<Vec<u32>> {
                let all = all(*dtype, Endianness::Little, block)?;
                Some(all.into_iter().map(f32::to_bits).collect())
            };
            let Some(before) = bits(&block) else { continue };
            assert_eq!(before.len(), count as usize, "{}", dtype.name());
            let mut changed = std::vec![false; count as usize];
            for at in 0..block.len() {
                for bit in 0..8 {
                    block[at] ^= 1 << bit;
                    let after = bits(&block).unwrap();
                    let here: Vec<_> =
                        (0..count as usize).filter(|i| before[*i] != after[*i]).collect();
                    if let [one] = here[..] {
                        changed[one] = true;
                    }
                    block[at] ^= 1 << bit;
                }
            }
            assert!(changed.iter().all(|seen| *seen), "{}", dtype.name());
        }
    }

    /// `dequantize_row_q2_0` of ggml: four codes per byte, lowest bits first, for -1 to 2 times
    /// the scale.
    #[test]
    fn codes_of_two_bits() {
        let mut block = [0b11_10_01_00; 18];
        (block[0], block[1], block[17]) = (0x00, 0x38, 0b00_01_10_11);
        let all = all(DType::Q2_0, Endianness::Little, &block).unwrap();
        for (i, value) in
            [(0, -0.5), (1, 0.0), (2, 0.5), (3, 1.0), (59, 1.0), (60, 1.0), (63, -0.5)]
        {
            assert_eq!(all[i], value, "{i}");
        }
    }

    #[test]
    fn byte_orders_differ_in_scales_only() {
        let mut block = [7_u8; 18];
        (block[0], block[1]) = (0x00, 0x3C);
        let little = all(DType::Q4_0, Endianness::Little, &block).unwrap();
        assert_eq!(little[3], -1.0);
        block.swap(0, 1);
        assert_eq!(all(DType::Q4_0, Endianness::Big, &block).unwrap(), little);
        assert_eq!(all(DType::Q8_1, Endianness::Big, &block), None);
    }

    /// A `Quant` multiplies out to its element's value, to the bit.
    #[test]
    fn values_are_scale_times_quant_plus_min() {
        let mut types = 0;
        for dtype in DType::ALL {
            let Some((_, len)) = dtype.block() else { continue };
            let block: Vec<u8> = (0..len).map(|i| (i * 37 + i / 7) as u8 & 0x5F).collect();
            for endianness in [Endianness::Little, Endianness::Big] {
                let mut quants = [Quant::default(); MOST];
                let count = decode(*dtype, endianness, &block, &mut quants);
                let values = all(*dtype, endianness, &block);
                assert_eq!(count, values.as_ref().map(Vec::len), "{}", dtype.name());
                let Some(values) = values else { continue };
                types += 1;
                for (value, Quant { scale, quant, min }) in values.iter().zip(quants) {
                    assert_eq!(value.to_bits(), (scale * quant + min).to_bits());
                    let whole = (quant * 8.0).fract() == 0.0 && quant.abs() <= 127.0;
                    assert!(whole, "{}: {quant}", dtype.name());
                }
            }
        }
        assert_eq!(types, 2 * 25);
    }
}
