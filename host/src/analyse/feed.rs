//! Decodes elements from bytes that arrive in pieces.

use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness};

/// Elements decoded at a time, a multiple of every block size.
const PIECE: usize = 256;

/// Decodes elements from bytes that arrive in pieces of any length.
///
/// ```
/// use weighbridge::Feed;
/// use weighbridge::weighbridge_core::{DType, Endianness};
///
/// let mut feed = Feed::new(DType::I16, Endianness::Little, 2).unwrap();
/// let mut sum = 0.0;
/// for piece in [&[1][..], &[0, 2], &[0]] {
///     feed.push(piece, &mut |values| sum += values.iter().sum::<f64>());
/// }
/// assert_eq!(sum, 3.0);
/// ```
#[derive(Clone, Debug)]
pub struct Feed {
    dtype: DType,
    endianness: Endianness,
    /// Elements still to come; the last byte of packed elements may hold more.
    left: u64,
    carry: Vec<u8>,
    /// Whether to return scales instead of elements.
    scales: bool,
}

impl Feed {
    /// A feed of `elements` elements of a type; `None` for types that are not numbers.
    ///
    /// ```
    /// use weighbridge::Feed;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// assert!(Feed::new(DType::Text, Endianness::Little, 1).is_none());
    /// ```
    pub fn new(dtype: DType, endianness: Endianness, elements: u64) -> Option<Feed> {
        dtype.is_numeric().then_some(())?;
        Some(Feed { dtype, endianness, left: elements, carry: Vec::new(), scales: false })
    }

    /// A feed of the elements' block scales instead of the elements; `None` for types without
    /// blocks.
    ///
    /// ```
    /// use weighbridge::Feed;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// let mut feed = Feed::new(DType::Q8_0, Endianness::Little, 32).unwrap().scales().unwrap();
    /// let mut block = [7; 34];
    /// block[..2].copy_from_slice(&[0x00, 0x3C]);
    /// feed.push(&block, &mut |scales| assert_eq!(scales, [1.0; 32]));
    /// ```
    pub fn scales(self) -> Option<Feed> {
        self.dtype.block()?;
        Some(Feed { scales: true, ..self })
    }

    /// Calls `take` with the elements of the next bytes, 1 to 256 at a time.
    ///
    /// ```
    /// use weighbridge::Feed;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// let mut feed = Feed::new(DType::U4, Endianness::Little, 3).unwrap();
    /// feed.push(&[0x21, 0x43], &mut |values| assert_eq!(values, [1.0, 2.0, 3.0]));
    /// ```
    pub fn push(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(&[f64])) {
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

    /// Decodes whole units.
    fn whole(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(&[f64])) {
        let mut values = [0.0; PIECE];
        let piece = self.dtype.bytes(PIECE as u64).unwrap_or(1) as usize;
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at(piece.min(bytes.len()));
            let count = self.decode(head, &mut values).unwrap_or(0);
            let count = usize::try_from(self.left).map_or(count, |left| left.min(count));
            if count > 0 {
                take(&values[..count]);
            }
            self.left -= count as u64;
            bytes = rest;
        }
    }

    fn decode(&self, bytes: &[u8], out: &mut [f64; PIECE]) -> Option<usize> {
        match self.scales {
            true => scales(self.dtype, self.endianness, bytes, out),
            false => self.dtype.decode_f64(self.endianness, bytes, out),
        }
    }
}

/// The scales of elements, which only GGUF has.
#[cfg(feature = "gguf")]
fn scales(dtype: DType, order: Endianness, bytes: &[u8], out: &mut [f64; PIECE]) -> Option<usize> {
    let mut quants = [weighbridge_core::Quant::default(); PIECE];
    let count = dtype.decode_quants(order, bytes, &mut quants)?;
    out.iter_mut().zip(quants).for_each(|(to, quant)| *to = quant.scale.into());
    Some(count)
}

#[cfg(not(feature = "gguf"))]
fn scales(_: DType, _: Endianness, _: &[u8], _: &mut [f64; PIECE]) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn feed_accepts_pieces_of_any_length() {
        let bytes: Vec<u8> = [1.0_f32, -2.5, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        for size in 1..=bytes.len() {
            let mut feed = Feed::new(DType::F32, Endianness::Little, u64::MAX).unwrap();
            let mut seen = vec![];
            for piece in bytes.chunks(size) {
                feed.push(piece, &mut |values| seen.extend_from_slice(values));
            }
            assert_eq!(seen, [1.0, -2.5, 3.0]);
        }
    }
}
