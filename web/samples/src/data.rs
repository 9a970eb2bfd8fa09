//! Numbers that look like weights, identical in every run.

/// A random number generator: xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from 0 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// An approximately normal number: the sum of twelve uniform ones.
    pub(crate) fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.unit()).sum::<f32>() - 6.0
    }
}

/// Weights of `rows` × `columns`: noise plus a low-rank pattern that is visible in a heat map.
pub(crate) fn weights(seed: u64, rows: usize, columns: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    let waves: Vec<(f32, f32, f32)> =
        (0..3).map(|_| (random.unit() * 0.3, random.unit() * 0.3, random.unit() * 6.3)).collect();
    let mut out = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let pattern: f32 = waves
                .iter()
                .map(|&(down, across, phase)| {
                    (row as f32 * down + column as f32 * across + phase).sin()
                })
                .sum();
            out.push(0.02 * random.normal() + 0.015 * pattern);
        }
    }
    out
}

pub(crate) fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Truncates to the upper halves: bfloat16, rounded towards zero.
pub(crate) fn bf16_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect()
}

/// `count` numbers with known statistics: -count/2 … count/2 - 1.
pub(crate) fn ramp(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32 - (count / 2) as f32).collect()
}

/// Sixteen numbers that cover special values: a NaN at 5, infinities at 9 and 12, two zeros and a
/// subnormal.
pub(crate) fn special() -> Vec<f32> {
    let mut out: Vec<f32> = (0..16).map(|i| i as f32 * 0.25 + 0.5).collect();
    out[2] = 0.0;
    out[3] = -0.0;
    out[5] = f32::NAN;
    out[7] = f32::from_bits(1);
    out[9] = f32::INFINITY;
    out[12] = f32::NEG_INFINITY;
    out
}
