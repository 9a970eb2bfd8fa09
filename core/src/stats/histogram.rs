//! Counting values by size.

/// Counts of values in bins that the caller provides.
///
/// Bins have equal width; NaN is in none, and infinities are below or above. Or there is
/// one bin for each power of two, see [`magnitudes`].
///
/// [`magnitudes`]: Histogram::magnitudes
#[derive(Debug)]
pub struct Histogram<'b> {
    by_magnitude: bool,
    low: f64,
    high: f64,
    bins: &'b mut [u64],
    below: u64,
    above: u64,
}

impl<'b> Histogram<'b> {
    /// Divides `low..=high` into as many bins as `bins` has; counts are added to them.
    /// Nothing is in range if there is no bin, or unless `low` is less than `high` and both
    /// are finite.
    pub fn new(low: f64, high: f64, bins: &'b mut [u64]) -> Self {
        Histogram { by_magnitude: false, low, high, bins, below: 0, above: 0 }
    }

    /// Bins for a histogram by magnitude: as many for each sign.
    pub const MAGNITUDES: usize = 2100;

    /// Counts finite values other than 0 by their power of two: bin `i` holds
    /// negative ones with `2^(i - 1075) <= |x| < 2^(i - 1074)`, and bin
    /// `MAGNITUDES + i` positive ones.
    pub fn magnitudes(bins: &'b mut [u64]) -> Self {
        Histogram { by_magnitude: true, ..Histogram::new(0.0, 0.0, bins) }
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

    /// Adds the counts of `other`, which must have the same range and number of bins.
    pub fn merge(&mut self, other: &Histogram<'_>) {
        for (bin, more) in self.bins.iter_mut().zip(other.bins.iter()) {
            *bin = bin.saturating_add(*more);
        }
        self.below = self.below.saturating_add(other.below);
        self.above = self.above.saturating_add(other.above);
    }

    #[allow(clippy::as_conversions, reason = "a float to an integer rounds down and saturates")]
    pub(super) fn add(&mut self, values: &[f64]) {
        if self.by_magnitude {
            for value in values {
                if let Some(bin) = magnitude(*value).and_then(|bin| self.bins.get_mut(bin)) {
                    *bin = bin.saturating_add(1);
                }
            }
            return;
        }
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

/// The bin of a value by its magnitude; `None` for 0 and what is not finite.
fn magnitude(value: f64) -> Option<usize> {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    let power = match (bits >> 52) & 0x7FF {
        0x7FF => return None,
        // Subnormal: the highest bit decides.
        0 => 64_u32.checked_sub(mantissa.leading_zeros()).filter(|bits| *bits > 0)?,
        exponent => u32::try_from(exponent).ok()?.saturating_add(52),
    };
    let bin = usize::try_from(power).ok()?;
    Some(if value < 0.0 { bin } else { bin.saturating_add(Histogram::MAGNITUDES) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_are_powers_of_two() {
        let power = |value: f64| magnitude(value).map(|bin| bin as i32 - 2100 - 1075);
        assert_eq!(power(1.0), Some(0));
        assert_eq!(power(1.999), Some(0));
        assert_eq!(power(2.0), Some(1));
        assert_eq!(power(0.3), Some(-2));
        assert_eq!(power(f64::MAX), Some(1023));
        assert_eq!(power(f64::MIN_POSITIVE), Some(-1022));
        assert_eq!(power(f64::MIN_POSITIVE / 2.0), Some(-1023));
        assert_eq!(power(f64::from_bits(1)), Some(-1074));
        assert_eq!(magnitude(-1.0), Some(1075));
        for none in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(magnitude(none), None);
        }
    }
}
