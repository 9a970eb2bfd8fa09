//! Statistics with a histogram.

use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness, Histogram, Stats};

/// Sums up a tensor, and counts its elements by magnitude or in equal steps.
#[derive(Debug)]
pub struct Statistics {
    /// The sums.
    pub stats: Stats,
    limits: Option<(f64, f64)>,
    bins: Vec<u64>,
}

impl Statistics {
    /// Of `elements` elements; `None` for types that are not numbers.
    pub fn new(dtype: DType, endianness: Endianness, elements: u64) -> Option<Statistics> {
        let stats = Stats::new(dtype, endianness, 0, elements)?;
        Some(Statistics { stats, limits: None, bins: vec![0; 2 * Histogram::MAGNITUDES] })
    }

    /// Counts in equal steps from here on, instead of by magnitude.
    pub fn between(&mut self, low: f64, high: f64, bins: usize) {
        self.limits = Some((low, high));
        self.bins = vec![0; bins.clamp(1, 1 << 20)];
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut histogram = match self.limits {
            None => Histogram::magnitudes(&mut self.bins),
            Some((low, high)) => Histogram::new(low, high, &mut self.bins),
        };
        self.stats.add(bytes, Some(&mut histogram));
    }

    /// Counts, if they are of this kind.
    pub fn bins(&self, by_magnitude: bool) -> &[u64] {
        if self.limits.is_none() == by_magnitude { &self.bins } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_magnitude_then_in_steps() {
        let bytes: Vec<u8> =
            [1.0_f32, -3.0, 0.0, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut all = Statistics::new(DType::F32, Endianness::Little, 4).unwrap();
        all.push(&bytes);
        let found: Vec<usize> =
            all.bins(true).iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, _)| i).collect();
        assert_eq!(found, [1076, 2100 + 1075]);
        assert!(all.bins(false).is_empty());
        let mut steps = Statistics::new(DType::F32, Endianness::Little, 4).unwrap();
        steps.between(-3.0, 1.0, 4);
        steps.push(&bytes);
        assert_eq!(steps.bins(false), [1, 0, 0, 2]);
    }
}
