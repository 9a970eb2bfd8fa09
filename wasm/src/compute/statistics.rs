//! Statistics with a histogram.

use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness, Histogram, Stats, Summary};

/// Sums up a tensor, and counts its elements.
#[derive(Debug)]
pub struct Statistics {
    dtype: DType,
    stats: Stats,
    words: Vec<u64>,
}

impl Statistics {
    /// Of `elements` elements; `None` for types that are not numbers.
    pub fn new(dtype: DType, endianness: Endianness, elements: u64) -> Option<Statistics> {
        let stats = Stats::new(dtype, endianness, 0, elements)?;
        Some(Statistics { dtype, stats, words: vec![0; Histogram::WORDS] })
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.stats.add(bytes, Histogram::new(self.dtype, &mut self.words).as_mut());
    }

    /// What was found so far.
    pub fn summary(&self) -> Summary {
        self.stats.summary()
    }

    /// Counts by magnitude.
    pub fn magnitudes(&mut self) -> Vec<u64> {
        let mut bins = vec![0; 2 * Histogram::MAGNITUDES];
        if let Some(histogram) = Histogram::new(self.dtype, &mut self.words) {
            histogram.magnitudes(&mut bins);
        }
        bins
    }

    /// Counts in so many equal steps.
    pub fn steps(&mut self, low: f64, high: f64, bins: usize) -> Vec<u64> {
        let mut bins = vec![0; bins.clamp(1, 1 << 20)];
        if let Some(histogram) = Histogram::new(self.dtype, &mut self.words) {
            histogram.steps(low, high, &mut bins);
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_magnitude_and_in_steps() {
        let bytes: Vec<u8> =
            [1.0_f32, -3.0, 0.0, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut all = Statistics::new(DType::F32, Endianness::Little, 4).unwrap();
        bytes.chunks(5).for_each(|piece| all.push(piece));
        let found: Vec<usize> =
            all.magnitudes().iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, _)| i).collect();
        assert_eq!(found, [1076, 2100 + 1075]);
        assert_eq!(all.steps(-3.0, 1.0, 4), [1, 0, 0, 2]);
        assert_eq!(all.summary().finite(), 3);
    }
}
