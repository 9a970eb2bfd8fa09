//! Sums of a few values, in lanes.

/// The sums of a block of values; valid only if none is `special`.
pub(super) struct Block {
    /// Some value is NaN, infinite, or too large to be summed.
    pub(super) special: bool,
    /// Some value is zero or subnormal.
    pub(super) small: bool,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) origin: f64,
    /// Sum of the differences from it.
    pub(super) sum: f64,
    /// Sum of their squares.
    pub(super) squares: f64,
}

/// Number of lanes that sums are kept in, so that the compiler can vectorise.
const LANES: usize = 8;

#[derive(Clone, Copy)]
struct Lanes {
    sum: [f64; LANES],
    squares: [f64; LANES],
    least: [f64; LANES],
    greatest: [f64; LANES],
    /// The least magnitude.
    nearest: [f64; LANES],
}

impl Block {
    /// Sums up `values`; magnitudes below `tiny` are subnormal.
    pub(super) fn of(values: &[f64], origin: f64, tiny: f64) -> Block {
        let mut lanes = Lanes {
            sum: [0.0; LANES],
            squares: [0.0; LANES],
            least: [f64::INFINITY; LANES],
            greatest: [f64::NEG_INFINITY; LANES],
            nearest: [f64::INFINITY; LANES],
        };
        let (rows, rest) = values.as_chunks::<LANES>();
        for row in rows {
            lanes.add(row, origin);
        }
        let mut block = lanes.join(origin);
        for value in rest {
            let difference = value - origin;
            block.sum += difference;
            block.squares += difference * difference;
            block.least = block.least.min(*value);
            block.greatest = block.greatest.max(*value);
            block.small |= value.abs() < tiny || *value == 0.0;
        }
        let nearest = lanes.nearest.iter().copied().fold(f64::INFINITY, f64::min);
        block.small |= nearest < tiny || nearest == 0.0;
        // A NaN or an infinity anywhere makes the sum non-finite.
        block.special = !block.squares.is_finite();
        block
    }
}

impl Lanes {
    #[inline]
    fn add(&mut self, row: &[f64; LANES], origin: f64) {
        let sums = self.sum.iter_mut().zip(&mut self.squares);
        for ((sum, squares), value) in sums.zip(row) {
            let difference = value - origin;
            *sum += difference;
            *squares += difference * difference;
        }
        let ends = self.least.iter_mut().zip(&mut self.greatest).zip(&mut self.nearest);
        for (((least, greatest), nearest), value) in ends.zip(row) {
            let size = value.abs();
            *least = if *value < *least { *value } else { *least };
            *greatest = if *value > *greatest { *value } else { *greatest };
            *nearest = if size < *nearest { size } else { *nearest };
        }
    }

    fn join(&self, origin: f64) -> Block {
        let total = |lanes: &[f64; LANES]| lanes.iter().fold(0.0, |sum, lane| sum + lane);
        Block {
            special: false,
            small: false,
            least: self.least.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: self.greatest.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            origin,
            sum: total(&self.sum),
            squares: total(&self.squares),
        }
    }
}
