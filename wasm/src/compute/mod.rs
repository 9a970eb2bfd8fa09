//! What computes over data that streams by: it belongs to no document.

pub mod difference;
pub mod heatmap;
pub mod pairs;
pub mod statistics;

use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness};

/// Elements that are decoded at a time; blocks of every type fill it.
const PIECE: usize = 256;

/// Cuts bytes that come in pieces of any length into elements.
#[derive(Debug)]
pub struct Feed {
    dtype: DType,
    endianness: Endianness,
    /// Elements that may still come: the last byte of packed ones may hold
    /// more.
    left: u64,
    carry: Vec<u8>,
}

impl Feed {
    /// `elements` elements of this type; `None` for types that are not numbers.
    pub fn new(dtype: DType, endianness: Endianness, elements: u64) -> Option<Feed> {
        dtype.is_numeric().then_some(())?;
        Some(Feed { dtype, endianness, left: elements, carry: Vec::new() })
    }

    /// Calls `take` with the elements of the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(f64)) {
        let width = self.dtype.unit().map_or(1, |(_, width)| width as usize);
        if !self.carry.is_empty() {
            let missing = width - self.carry.len();
            let (head, rest) = bytes.split_at(missing.min(bytes.len()));
            self.carry.extend_from_slice(head);
            bytes = rest;
            if self.carry.len() < width {
                return;
            }
            let whole = core::mem::take(&mut self.carry);
            self.whole(&whole, take);
        }
        let (whole, tail) = bytes.split_at(bytes.len() - bytes.len() % width);
        self.whole(whole, take);
        self.carry.extend_from_slice(tail);
    }

    /// Whole units.
    fn whole(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(f64)) {
        let mut values = [0.0; PIECE];
        let piece = self.dtype.bytes(PIECE as u64).unwrap_or(1) as usize;
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at(piece.min(bytes.len()));
            let count = self.dtype.decode_f64(self.endianness, head, &mut values).unwrap_or(0);
            let count = usize::try_from(self.left).map_or(count, |left| left.min(count));
            values[..count].iter().for_each(|value| take(*value));
            self.left -= count as u64;
            bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn elements_may_be_cut_anywhere() {
        let bytes: Vec<u8> = [1.0_f32, -2.5, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        for size in 1..=bytes.len() {
            let mut feed = Feed::new(DType::F32, Endianness::Little, u64::MAX).unwrap();
            let mut seen = vec![];
            for piece in bytes.chunks(size) {
                feed.push(piece, &mut |value| seen.push(value));
            }
            assert_eq!(seen, [1.0, -2.5, 3.0]);
        }
        let mut feed = Feed::new(DType::U4, Endianness::Little, 3).unwrap();
        let mut seen = vec![];
        feed.push(&[0x21, 0x43], &mut |value| seen.push(value));
        assert_eq!(seen, [1.0, 2.0, 3.0]);
        assert!(Feed::new(DType::Text, Endianness::Little, 1).is_none());
    }
}
