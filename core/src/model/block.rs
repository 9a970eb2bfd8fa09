//! Elements of blocks that share a scale, as ggml stores them.
//!
//! Each is computed as ggml's reference does it, operation by operation, so that
//! it comes out the same to the last bit. A block is decoded as a whole, in loops
//! of fixed length, which compilers turn into vectors.

use crate::model::values::half;
use crate::model::{DType, Endianness};

/// Most elements of a block.
pub(crate) const MOST: usize = 256;

/// The steps that codes of 4 bits stand for in the types `iq4_nl` and `iq4_xs`.
const UNEVEN: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// The same for 4-bit floats, doubled.
const FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Decodes blocks, as many elements as `bytes` and `out` both hold, and returns how
/// many; `None` for types whose blocks are not decoded.
pub(crate) fn decode(
    dtype: DType,
    endianness: Endianness,
    bytes: &[u8],
    out: &mut [f32],
) -> Option<usize> {
    let e = endianness;
    Some(match dtype {
        DType::Q4_0 => each::<18, 32>(bytes, out, |b, out| q4_0(&mut Fields(b, e), out)),
        DType::Q4_1 => each::<20, 32>(bytes, out, |b, out| q4_1(&mut Fields(b, e), out)),
        DType::Q5_0 => each::<22, 32>(bytes, out, |b, out| q5_0(&mut Fields(b, e), out)),
        DType::Q5_1 => each::<24, 32>(bytes, out, |b, out| q5_1(&mut Fields(b, e), out)),
        DType::Q8_0 => each::<34, 32>(bytes, out, |b, out| q8_0(&mut Fields(b, e), out)),
        DType::Q2K => each::<84, 256>(bytes, out, |b, out| q2_k(&mut Fields(b, e), out)),
        DType::Q3K => each::<110, 256>(bytes, out, |b, out| q3_k(&mut Fields(b, e), out)),
        DType::Q4K => each::<144, 256>(bytes, out, |b, out| q4_k(&mut Fields(b, e), out)),
        DType::Q5K => each::<176, 256>(bytes, out, |b, out| q5_k(&mut Fields(b, e), out)),
        DType::Q6K => each::<210, 256>(bytes, out, |b, out| q6_k(&mut Fields(b, e), out)),
        DType::Q2_0 => each::<18, 64>(bytes, out, |b, out| q2_0(&mut Fields(b, e), out)),
        DType::TQ2_0 => each::<66, 256>(bytes, out, |b, out| tq2_0(&mut Fields(b, e), out)),
        DType::Iq4Nl => each::<18, 32>(bytes, out, |b, out| iq4_nl(&mut Fields(b, e), out)),
        DType::Iq4Xs => each::<136, 256>(bytes, out, |b, out| iq4_xs(&mut Fields(b, e), out)),
        DType::MxFp4 => each::<17, 32>(bytes, out, |b, out| mxfp4(&mut Fields(b, e), out)),
        _ => return None,
    })
}

/// Decodes blocks of `LEN` bytes and `COUNT` elements, the last one as far as it fits.
fn each<const LEN: usize, const COUNT: usize>(
    bytes: &[u8],
    out: &mut [f32],
    block: impl Fn(&[u8], &mut [f32; COUNT]),
) -> usize {
    let (blocks, _) = bytes.as_chunks::<LEN>();
    let fits = out.len();
    let (groups, rest) = out.as_chunks_mut::<COUNT>();
    for (from, to) in blocks.iter().zip(groups.iter_mut()) {
        block(from, to);
    }
    if let Some(from) = blocks.get(groups.len()) {
        let mut last = [0.0; COUNT];
        block(from, &mut last);
        rest.iter_mut().zip(last).for_each(|(to, from)| *to = from);
    }
    blocks.len().saturating_mul(COUNT).min(fits)
}

/// The fields of one block, which are taken one after the other.
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

    /// Scale and minimum of eight parts, of 6 bits each in 12 bytes, times the two of
    /// the block.
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

/// Sixteen bytes whose lower halves are codes, then their upper ones.
fn nibbles(bytes: &[u8; 16], out: &mut [f32; 32], value: impl Fn(u8) -> f32) {
    let ([low, high], _) = out.as_chunks_mut::<16>() else { return };
    fill(low, *bytes, |byte| value(byte & 0xF));
    fill(high, *bytes, |byte| value(byte >> 4));
}

/// The same with a fifth bit of each element.
fn five(flags: u32, bytes: &[u8; 16], out: &mut [f32; 32], value: impl Fn(u8) -> f32) {
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

/// `N` items from item `i` times `N` on.
fn run<const N: usize>(bytes: &[u8], i: usize) -> &[u8; N] {
    bytes.as_chunks().0.get(i).unwrap_or(&[0; N])
}

/// Elements that depend on a byte each, which is copied, so that compilers see that no
/// element overlaps it.
fn fill<const N: usize>(out: &mut [f32; N], bytes: [u8; N], value: impl Fn(u8) -> f32) {
    out.iter_mut().zip(bytes).for_each(|(to, byte)| *to = value(byte));
}

fn q4_0(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let d = b.half();
    nibbles(b.take(), out, |q| d * number(q.wrapping_sub(8)));
}

fn q4_1(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let (d, min) = (b.half(), b.half());
    nibbles(b.take(), out, |q| d * number(q) + min);
}

fn q5_0(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let d = b.half();
    five(b.flags(), b.take(), out, |q| d * number(q.wrapping_sub(16)));
}

fn q5_1(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let (d, min) = (b.half(), b.half());
    five(b.flags(), b.take(), out, |q| d * number(q) + min);
}

fn q8_0(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let d = b.half();
    fill(out, *b.take(), |q| number(q) * d);
}

/// In which bytes the 2-bit codes of a run of 16 elements are, and where in them: runs
/// of 32 bytes hold 32 elements in their lowest bits, then as many in the next, and so on.
fn pairs(bytes: &[u8; 64], i: usize) -> (&[u8; 16], usize) {
    (run(bytes, ((i >> 2) & 2) | (i & 1)), i & 6)
}

fn q2_k(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let (scales, q) = (b.take::<16>(), b.take());
    let (d, min) = (b.half(), b.half());
    for (i, (out, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let (d, min) = (d * number(scale & 0xF), min * number(scale >> 4));
        let (q, shift) = pairs(q, i);
        fill(out, *q, |q| d * number((q >> shift) & 3) - min);
    }
}

fn q3_k(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let (mask, q, scales) = (b.take::<32>(), b.take(), b.take::<12>());
    let d = b.half();
    let byte = |i: usize| scales.get(i).copied().unwrap_or(0);
    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = byte(i & 7) >> ((i >> 3) << 2);
        let high = byte(8 | (i & 3)) >> ((i >> 2) << 1);
        let d = d * number(((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32));
        let (q, shift) = pairs(q, i);
        for (to, (q, mask)) in out.iter_mut().zip(q.iter().zip(run::<16>(mask, i & 1))) {
            // Where the bit is not set, 4 is taken off.
            let bit = (mask >> (i >> 1)) & 1;
            *to = d * number(((q >> shift) & 3).wrapping_sub((bit ^ 1) << 2));
        }
    }
}

fn q4_k(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let (scales, q) = (b.scales(), b.take::<128>());
    for (i, (out, (d, min))) in out.as_chunks_mut::<32>().0.iter_mut().zip(scales).enumerate() {
        let shift = (i & 1) << 2;
        fill(out, *run(q, i >> 1), |q| d * number((q >> shift) & 0xF) - min);
    }
}

fn q5_k(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let (scales, high, q) = (b.scales(), b.take::<32>(), b.take::<128>());
    for (i, (out, (d, min))) in out.as_chunks_mut::<32>().0.iter_mut().zip(scales).enumerate() {
        let shift = (i & 1) << 2;
        for (to, (q, high)) in out.iter_mut().zip(run::<32>(q, i >> 1).iter().zip(high)) {
            *to = d * number(((q >> shift) & 0xF) | (((high >> i) & 1) << 4)) - min;
        }
    }
}

fn q6_k(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let (low, high, scales) = (b.take::<128>(), b.take(), b.take::<16>());
    let d = b.half();
    for (i, (out, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let d = d * number(*scale);
        // Runs of 64 bytes hold 64 elements in their lower halves, then as many in
        // their upper ones.
        let low = run::<16>(low, ((i >> 1) & 4) | (i & 3));
        let shift = i & 4;
        let (high, up) = pairs(high, i);
        for (to, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
            let q = ((low >> shift) & 0xF) | (((high >> up) & 3) << 4);
            *to = d * number(q.wrapping_sub(32));
        }
    }
}

fn q2_0(b: &mut Fields<'_>, out: &mut [f32; 64]) {
    let d = b.half();
    // Bits of four elements are in one byte, and not 32 bytes apart as above.
    for (out, byte) in out.as_chunks_mut::<4>().0.iter_mut().zip(b.take::<16>()) {
        for (to, shift) in out.iter_mut().zip([0, 2, 4, 6]) {
            *to = number(((byte >> shift) & 3).wrapping_sub(1)) * d;
        }
    }
}

fn tq2_0(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let q = b.take();
    let d = b.half();
    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let (q, shift) = pairs(q, i);
        fill(out, *q, |q| d * number(((q >> shift) & 3).wrapping_sub(1)));
    }
}

fn iq4_nl(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let d = b.half();
    nibbles(b.take(), out, |q| d * step(&UNEVEN, q));
}

fn iq4_xs(b: &mut Fields<'_>, out: &mut [f32; 256]) {
    let d = b.half();
    let (high, low, q) = (b.short(), b.take::<4>(), b.take::<128>());
    for (i, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let low = low.get(i >> 1).copied().unwrap_or(0) >> ((i & 1) << 2);
        let [high, _] = (high >> (i << 1)).to_le_bytes();
        let d = d * number(((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32));
        nibbles(run(q, i), out, |q| d * step(&UNEVEN, q));
    }
}

fn mxfp4(b: &mut Fields<'_>, out: &mut [f32; 32]) {
    let [exponent] = *b.take::<1>();
    // Half of 2^(e - 127), subnormal for the two least.
    let bits = match u32::from(exponent).checked_sub(2) {
        None => 0x0020_0000 << exponent,
        Some(more) => more.wrapping_add(1) << 23,
    };
    let d = f32::from_bits(bits);
    nibbles(b.take(), out, |q| d * step(&FLOATS, q));
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

    /// Every element of a block has its own bits: changing one element changes no other.
    #[test]
    fn elements_are_where_the_type_says() {
        for dtype in DType::ALL {
            let Some((count, len)) = dtype.block() else { continue };
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

    /// `dequantize_row_q2_0` of ggml: four codes a byte, the lowest bits first, for -1 to
    /// 2 times the scale.
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
        assert_eq!(all(DType::Iq1S, Endianness::Big, &block), None);
    }
}
