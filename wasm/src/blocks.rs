//! Elements in blocks that share a scale.
//!
//! The modules that read files return them as stored, and `compute` decodes them: the decoders of
//! all types would take 17 kB of the module of every format, gzipped, and 3 kB of the first.

use crate::values::Numbers;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Element, Endianness};

/// Maximum bytes of blocks in one answer.
pub const MOST_BYTES: u64 = 64 << 20;

/// The blocks that hold runs of neighbouring elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// The blocks of all runs, as stored.
    pub bytes: Vec<u8>,
    /// Of each run: the length of its blocks, the position of its first element in them, and the
    /// number of its elements.
    pub runs: Vec<u32>,
}

impl Blocks {
    /// Adds a run of `count` elements in `blocks`, the first of which is element `skip`.
    pub fn push(&mut self, blocks: &[u8], skip: u64, count: u64) {
        self.runs.extend([blocks.len() as u32, skip as u32, count as u32]);
        self.bytes.extend_from_slice(blocks);
    }
}

/// Decodes all runs; `None` for types whose blocks are not decoded.
pub fn decode(
    dtype: DType,
    endianness: Endianness,
    mut bytes: &[u8],
    runs: &[u32],
) -> Option<Numbers> {
    dtype.block()?;
    if !dtype.is_numeric() {
        return None;
    }
    let mut numbers = Numbers::new(dtype);
    for [len, skip, count] in runs.as_chunks().0 {
        let (blocks, rest) = bytes.split_at_checked(*len as usize)?;
        let skip = *skip as usize;
        let mut values = vec![0.0; skip.checked_add(*count as usize)?];
        let decoded = dtype.decode_f32(endianness, blocks, &mut values)?;
        let values = values.get(skip..decoded).unwrap_or_default();
        values.iter().for_each(|value| numbers.push(Element::F32(*value)));
        bytes = rest;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_decode_to_their_elements() {
        let stored: Vec<u8> = (0..300_u32).map(|i| (i * 37 % 251) as u8).collect();
        for dtype in [DType::Q4_0, DType::Q8_0, DType::Iq4Nl] {
            let (_, len) = dtype.block().unwrap();
            let len = len as usize;
            let mut blocks = Blocks::default();
            blocks.push(&stored[..2 * len], 30, 5);
            blocks.push(&stored[2 * len..3 * len], 31, 1);
            let numbers = decode(dtype, Endianness::Little, &blocks.bytes, &blocks.runs).unwrap();
            let mut expected = Numbers::new(dtype);
            expected.add(dtype, Endianness::Little, &stored, 30..35);
            expected.add(dtype, Endianness::Little, &stored, 95..96);
            assert_eq!(numbers, expected, "{}", dtype.name());
        }
    }

    #[test]
    fn run_beyond_output_is_refused() {
        let little = Endianness::Little;
        assert_eq!(decode(DType::Q8_1, little, &[], &[]), None);
        assert_eq!(decode(DType::F32, little, &[0; 4], &[4, 0, 1]), None);
        assert_eq!(decode(DType::Q4_0, little, &[0; 17], &[18, 0, 1]), None);
        let none = decode(DType::Q4_0, little, &[0; 17], &[17, 0, 9]).unwrap();
        assert!(none.is_empty());
        assert!(decode(DType::Q4_0, little, &[], &[]).unwrap().is_empty());
    }
}
