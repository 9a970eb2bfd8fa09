//! Sums of a few values, in lanes.

/// What a block of values sums up to; right only if none is `special`.
pub(super) struct Block {
    /// Values that are NaN or infinite.
    pub(super) special: u64,
    pub(super) zeros: u64,
    pub(super) subnormals: u64,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) mean: f64,
    pub(super) squares: f64,
}

/// Sums are kept in this many lanes, so that a compiler can use vectors.
const LANES: usize = 8;

impl Block {
    #[allow(clippy::as_conversions, reason = "a block has few elements")]
    pub(super) fn of(values: &[f64], tiny: f64) -> Block {
        let (rows, rest) = values.as_chunks::<LANES>();
        let mut last = [0.0; LANES];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        // Deviations from any one of them sum up without cancellation.
        let origin = values.first().copied().unwrap_or(0.0);
        let mut lanes = Lanes::new();
        rows.iter().for_each(|row| lanes.add(row, origin, tiny));
        lanes.add_some(&last, rest.len(), origin, tiny);
        let mean = origin + total(&lanes.sum) / (values.len().max(1) as f64);
        let mut squares = [0.0; LANES];
        for row in rows {
            for (sum, value) in squares.iter_mut().zip(row) {
                *sum += (value - mean) * (value - mean);
            }
        }
        for (sum, value) in squares.iter_mut().zip(rest) {
            *sum += (value - mean) * (value - mean);
        }
        Block {
            special: count(&lanes.special),
            zeros: count(&lanes.zeros),
            subnormals: count(&lanes.subnormals),
            least: lanes.least.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: lanes.greatest.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean,
            squares: total(&squares),
        }
    }
}

struct Lanes {
    sum: [f64; LANES],
    least: [f64; LANES],
    greatest: [f64; LANES],
    special: [u64; LANES],
    zeros: [u64; LANES],
    subnormals: [u64; LANES],
}

impl Lanes {
    fn new() -> Self {
        Lanes {
            sum: [0.0; LANES],
            least: [f64::INFINITY; LANES],
            greatest: [f64::NEG_INFINITY; LANES],
            special: [0; LANES],
            zeros: [0; LANES],
            subnormals: [0; LANES],
        }
    }

    #[inline]
    fn add(&mut self, row: &[f64; LANES], origin: f64, tiny: f64) {
        self.add_some(row, LANES, origin, tiny);
    }

    #[inline]
    fn add_some(&mut self, row: &[f64; LANES], len: usize, origin: f64, tiny: f64) {
        let sums = self.sum.iter_mut().zip(&mut self.least).zip(&mut self.greatest);
        for (((sum, least), greatest), value) in sums.zip(row).take(len) {
            *sum += value - origin;
            *least = if *value < *least { *value } else { *least };
            *greatest = if *value > *greatest { *value } else { *greatest };
        }
        let counts = self.special.iter_mut().zip(&mut self.zeros).zip(&mut self.subnormals);
        for (((special, zeros), subnormals), value) in counts.zip(row).take(len) {
            let size = value.abs();
            *special = special.wrapping_add(u64::from(size <= f64::MAX) ^ 1);
            *zeros = zeros.wrapping_add(u64::from(size == 0.0));
            *subnormals = subnormals.wrapping_add(u64::from(size < tiny && size != 0.0));
        }
    }
}

fn total(lanes: &[f64; LANES]) -> f64 {
    lanes.iter().fold(0.0, |sum, lane| sum + lane)
}

fn count(lanes: &[u64; LANES]) -> u64 {
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}
