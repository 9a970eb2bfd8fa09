//! Counting values by size.

/// How often values fall into bins of equal width; the bins are the caller's.
///
/// NaN is in none, and infinities are below or above.
#[derive(Debug)]
pub struct Histogram<'b> {
    low: f64,
    high: f64,
    bins: &'b mut [u64],
    below: u64,
    above: u64,
}

impl<'b> Histogram<'b> {
    /// Divides `low..=high` into as many bins as `bins` has; they are added to.
    /// Without a bin, or unless `low` is less than `high` and both are finite,
    /// nothing is in range.
    pub fn new(low: f64, high: f64, bins: &'b mut [u64]) -> Self {
        Histogram { low, high, bins, below: 0, above: 0 }
    }

    /// The bins, in ascending order. A value on the border of two is in the
    /// upper one; `high` itself is in the last.
    pub fn bins(&self) -> &[u64] {
        self.bins
    }

    /// How many values are below the lowest bin.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// How many values are above the highest bin.
    pub fn above(&self) -> u64 {
        self.above
    }

    /// Adds what `other` counted. Both divide the same range into equally many
    /// bins.
    pub fn merge(&mut self, other: &Histogram<'_>) {
        for (bin, more) in self.bins.iter_mut().zip(other.bins.iter()) {
            *bin = bin.saturating_add(*more);
        }
        self.below = self.below.saturating_add(other.below);
        self.above = self.above.saturating_add(other.above);
    }

    #[allow(clippy::as_conversions, reason = "a float to an integer rounds down and saturates")]
    pub(super) fn add(&mut self, values: &[f64]) {
        let sound = self.low < self.high && (self.high - self.low).is_finite();
        let scale = self.bins.len() as f64 / (self.high - self.low);
        let last = self.bins.len().saturating_sub(1);
        for value in values {
            if *value < self.low {
                self.below = self.below.saturating_add(1);
            } else if *value > self.high {
                self.above = self.above.saturating_add(1);
            } else if sound && !value.is_nan() {
                let bin = (((value - self.low) * scale) as usize).min(last);
                if let Some(bin) = self.bins.get_mut(bin) {
                    *bin = bin.saturating_add(1);
                }
            }
        }
    }
}
