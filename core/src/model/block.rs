//! Elements of blocks that share a scale, as ggml stores them.
//!
//! Each element is computed like ggml's reference, operation by operation, so the result is
//! the same to the last bit.

use crate::model::{DType, Endianness};

/// The 16 values that 4-bit codes of `iq4_nl` and `iq4_xs` stand for.
const UNEVEN: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// The same for 4-bit floats, doubled.
const FLOATS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// One block.
#[derive(Clone, Copy)]
struct Block<'a> {
    bytes: &'a [u8],
    endianness: Endianness,
}

/// Element number `i` of `block`, which has the length of the type's blocks; `None` for
/// types that are not decoded here.
pub(crate) fn element(dtype: DType, block: &[u8], i: usize, endianness: Endianness) -> Option<f32> {
    let b = Block { bytes: block, endianness };
    Some(match dtype {
        DType::Q4_0 => b.half(0) * number(b.nibble(2, 16, i).wrapping_sub(8)),
        DType::Q4_1 => b.half(0) * number(b.nibble(4, 16, i)) + b.half(2),
        DType::Q5_0 => {
            let q = b.nibble(6, 16, i) | (b.flag(2, i) << 4);
            b.half(0) * number(q.wrapping_sub(16))
        }
        DType::Q5_1 => {
            let q = b.nibble(8, 16, i) | (b.flag(4, i) << 4);
            b.half(0) * number(q) + b.half(2)
        }
        DType::Q8_0 => b.signed(2, i) * b.half(0),
        DType::Q2K => {
            let scale = b.byte(i >> 4);
            let d = b.half(80) * number(scale & 0xF);
            let min = b.half(82) * number(scale >> 4);
            d * number(b.pair(16, i)) - min
        }
        DType::Q3K => {
            let low = b.byte(96_usize.wrapping_add((i >> 4) & 7)) >> ((i >> 7) << 2);
            let high = b.byte(104_usize.wrapping_add((i >> 4) & 3)) >> ((i >> 6) << 1);
            let scale = ((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32);
            let bit = (b.byte(i & 31) >> (i >> 5)) & 1;
            // If the bit is clear, 4 is subtracted.
            let q = b.pair(32, i).wrapping_sub((bit ^ 1) << 2);
            b.half(108) * number(scale) * number(q)
        }
        DType::Q4K => {
            let (d, min) = b.scales(i >> 5);
            d * number(b.nibble(16, 32, i)) - min
        }
        DType::Q5K => {
            let (d, min) = b.scales(i >> 5);
            let bit = (b.byte(16_usize.wrapping_add(i & 31)) >> (i >> 5)) & 1;
            d * number(b.nibble(48, 32, i) | (bit << 4)) - min
        }
        DType::Q6K => {
            let low = b.nibble(0, 64, i);
            let q = (low | (b.pair(128, i) << 4)).wrapping_sub(32);
            b.half(208) * b.signed(192, i >> 4) * number(q)
        }
        // One byte has bits of four elements, not 32 bytes apart as below.
        DType::Q2_0 => {
            let q = (b.byte(2_usize.wrapping_add(i >> 2)) >> ((i & 3) << 1)) & 3;
            number(q.wrapping_sub(1)) * b.half(0)
        }
        DType::TQ2_0 => b.half(64) * number(b.pair(0, i).wrapping_sub(1)),
        DType::Iq4Nl => b.half(0) * step(&UNEVEN, b.nibble(2, 16, i)),
        DType::Iq4Xs => {
            let part = i >> 5;
            let low = b.byte(4_usize.wrapping_add(part >> 1)) >> ((part & 1) << 2);
            let high = b.short(2) >> (part << 1);
            let [high, _] = high.to_le_bytes();
            let scale = ((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32);
            b.half(0) * number(scale) * step(&UNEVEN, b.nibble(8, 16, i))
        }
        DType::MxFp4 => {
            let exponent = u32::from(b.byte(0));
            // Half of 2^(e - 127); subnormal for the two smallest.
            let bits = match exponent.checked_sub(2) {
                None => 0x0020_0000 << exponent,
                Some(more) => more.wrapping_add(1) << 23,
            };
            f32::from_bits(bits) * step(&FLOATS, b.nibble(1, 16, i))
        }
        _ => return None,
    })
}

/// A byte in two's complement.
fn number(byte: u8) -> f32 {
    f32::from(i8::from_le_bytes([byte]))
}

fn step(table: &[i8; 16], code: u8) -> f32 {
    f32::from(table.get(usize::from(code)).copied().unwrap_or(0))
}

impl Block<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn short(&self, at: usize) -> u16 {
        let bytes = [self.byte(at), self.byte(at.wrapping_add(1))];
        match self.endianness {
            Endianness::Little => u16::from_le_bytes(bytes),
            Endianness::Big => u16::from_be_bytes(bytes),
        }
    }

    /// A half-precision scale.
    fn half(&self, at: usize) -> f32 {
        half::f16::from_bits(self.short(at)).to_f32()
    }

    /// Byte `i` of those at `at`, as two's complement.
    fn signed(&self, at: usize, i: usize) -> f32 {
        number(self.byte(at.wrapping_add(i)))
    }

    /// The 4-bit code of element `i`: runs of `run` bytes, a power of two, hold `run`
    /// elements in their lower halves, then as many in their upper halves.
    fn nibble(&self, at: usize, run: usize, i: usize) -> u8 {
        let mask = run.wrapping_sub(1);
        let place = ((i >> 1) & !mask) | (i & mask);
        let byte = self.byte(at.wrapping_add(place));
        if i & run == 0 { byte & 0xF } else { byte >> 4 }
    }

    /// The 2-bit code of element `i`: runs of 32 bytes hold 32 elements in their lowest
    /// bits, then 32 in the next, and so on.
    fn pair(&self, at: usize, i: usize) -> u8 {
        let place = ((i >> 2) & !31) | (i & 31);
        (self.byte(at.wrapping_add(place)) >> ((i >> 4) & 6)) & 3
    }

    /// Bit `i` of a 32-bit number.
    fn flag(&self, at: usize, i: usize) -> u8 {
        let byte = match self.endianness {
            Endianness::Little => i >> 3,
            Endianness::Big => 3_usize.wrapping_sub(i >> 3),
        };
        (self.byte(at.wrapping_add(byte)) >> (i & 7)) & 1
    }

    /// Scale and minimum of part `j` of eight, of 6 bits each in 12 bytes.
    fn scales(&self, j: usize) -> (f32, f32) {
        let byte = |i: usize| self.byte(4_usize.wrapping_add(i));
        let (scale, min) = match j.checked_sub(4) {
            None => (byte(j) & 63, byte(j.wrapping_add(4)) & 63),
            Some(k) => {
                let both = byte(k.wrapping_add(8));
                let scale = (both & 0xF) | ((byte(k) >> 2) & 0x30);
                (scale, (both >> 4) | ((byte(j) >> 2) & 0x30))
            }
        };
        (self.half(0) * number(scale), self.half(2) * number(min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element of a block has its own bits: changing one element changes no other.
    #[test]
    fn elements_are_where_the_type_says() {
        for dtype in DType::ALL {
            let Some((count, len)) = dtype.block() else { continue };
            let mut block = std::vec![0x3C_u8; len as usize];
            let all = |block: &[u8]| -> Option<std::vec::Vec<u32>> {
                let one = |i| element(*dtype, block, i, Endianness::Little).map(f32::to_bits);
                (0..count as usize).map(one).collect()
            };
            let Some(before) = all(&block) else { continue };
            let mut changed = std::vec![false; count as usize];
            for at in 0..block.len() {
                for bit in 0..8 {
                    block[at] ^= 1 << bit;
                    let after = all(&block).unwrap();
                    let here: std::vec::Vec<_> =
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
        let all = |i| element(DType::Q2_0, &block, i, Endianness::Little);
        for (i, value) in
            [(0, -0.5), (1, 0.0), (2, 0.5), (3, 1.0), (59, 1.0), (60, 1.0), (63, -0.5)]
        {
            assert_eq!(all(i), Some(value), "{i}");
        }
    }

    #[test]
    fn byte_orders_differ_in_scales_only() {
        let mut block = [7_u8; 18];
        (block[0], block[1]) = (0x00, 0x3C);
        let little = element(DType::Q4_0, &block, 3, Endianness::Little);
        assert_eq!(little, Some(-1.0));
        block.swap(0, 1);
        assert_eq!(element(DType::Q4_0, &block, 3, Endianness::Big), little);
        assert_eq!(element(DType::Iq1S, &block, 3, Endianness::Big), None);
    }
}
