//! Sums of small blocks of values, in lanes that compilers vectorise.
//!
//! The squares of values exceed the squares of their deviations by the square of the mean. Where
//! that loses too many digits, the deviations are summed in a second pass.

use crate::base::widen;

/// The sums of a block of finite values.
pub(super) struct Block {
    pub(super) count: u64,
    pub(super) mean: f64,
    /// Sum of squared deviations from the mean.
    pub(super) squares: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) zeros: u64,
    pub(super) subnormals: u64,
}

/// Number of lanes in single precision.
const LANES: usize = 16;
/// Number of rows after which single-precision sums are added up in double precision.
const ROWS: usize = 16;
/// 2^-80: squares with a smaller sum may have been too small for single precision.
const SMALL: f64 = f64::from_bits(0x3AF0_0000_0000_0000);
/// Number of lanes in double precision.
const WIDE: usize = 8;

/// The least and greatest of some values, and the least magnitude.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) least: f32,
    pub(super) greatest: f32,
    pub(super) nearest: f32,
}

/// Applies one kind of operation to all rows, which compilers vectorise; loops that do more are
/// often not vectorised.
#[inline(always)]
fn lanes<T: Copy, S: Copy, const N: usize>(
    rows: &[[T; N]],
    start: S,
    step: impl Fn(S, T) -> S,
) -> [S; N] {
    let mut lanes = [start; N];
    for row in rows {
        for (lane, value) in lanes.iter_mut().zip(row) {
            *lane = step(*lane, *value);
        }
    }
    lanes
}

/// The ends of the values that `float` returns, if none is NaN.
#[inline(always)]
pub(super) fn ends<T: Copy>(values: &[T], float: impl Fn(T) -> f32) -> Ends {
    let (rows, _) = values.as_chunks::<LANES>();
    let less = |end: f32, value: f32| if end < value { end } else { value };
    let more = |end: f32, value: f32| if end > value { end } else { value };
    // Each is folded immediately, so that its lanes do not take registers from the next.
    let least = lanes(rows, f32::INFINITY, |end, value| less(end, float(value)));
    let least = least.into_iter().fold(f32::INFINITY, less);
    let greatest = lanes(rows, f32::NEG_INFINITY, |end, value| more(end, float(value)));
    let greatest = greatest.into_iter().fold(f32::NEG_INFINITY, more);
    let nearest = lanes(rows, f32::INFINITY, |end, value| less(end, float(value).abs()));
    let nearest = nearest.into_iter().fold(f32::INFINITY, less);
    Ends { least, greatest, nearest }
}

/// The same for 16-bit floats, by their codes, which `float` converts to values. As signed
/// integers, the codes of positive floats are in order; as unsigned integers, those of negative
/// floats are in reverse order.
#[inline(always)]
pub(super) fn ends_of_codes(codes: &[[u8; 2]], float: impl Fn(u16) -> f32) -> Ends {
    let (mut low, mut high) = (i16::MAX, i16::MIN);
    let (mut first, mut last) = (i16::MAX, i16::MIN);
    for code in codes {
        let signed = i16::from_le_bytes(*code);
        let unsigned = signed ^ i16::MIN;
        low = low.min(signed);
        high = high.max(signed);
        first = first.min(unsigned);
        last = last.max(unsigned);
    }
    let code = |end: i16| u16::from_le_bytes(end.to_le_bytes());
    let (low, high) = (code(low), code(high));
    let (first, last) = (code(first) ^ SIGN, code(last) ^ SIGN);
    let (negative, positive) = (last & SIGN != 0, first & SIGN == 0);
    let nearest = match (negative, positive) {
        (true, true) => (low ^ SIGN).min(first),
        (true, false) => low ^ SIGN,
        (false, _) => first,
    };
    Ends {
        least: float(if negative { last } else { first }),
        greatest: float(if positive { high } else { first }),
        nearest: float(nearest),
    }
}

const SIGN: u16 = 1 << 15;

/// Sums values with these ends in single precision, sixteen at a time; `float` returns the values
/// of an element of `all`, and magnitudes below `tiny` are subnormal.
///
/// `None` if that is not accurate enough: if `all` does not fill groups of 256, if any value is
/// not finite, or if squares are too large or too small.
#[inline(always)]
pub(super) fn singles<T: Copy, const W: usize>(
    all: &[T],
    ends: Ends,
    float: impl Fn(T) -> [f32; W] + Copy,
    tiny: f32,
) -> Option<Block> {
    let (rows, _) = all.as_chunks::<LANES>();
    let (groups, _) = rows.as_chunks::<ROWS>();
    if all.is_empty() || groups.as_flattened().as_flattened().len() != all.len() {
        return None;
    }
    let count = all.len().saturating_mul(W);
    let Ends { least, greatest, nearest } = ends;
    let ends = [least.into(), greatest.into()];
    let (sum, squares) = sums(groups, float);
    let mut block = Block::new(count, 0.0, sum, squares, ends);
    // A NaN or an infinity makes the sum of squares non-finite.
    if !squares.is_finite() {
        return None;
    }
    // Where the mean dominates the squares, digits of the deviations are lost.
    if block.squares * 3.0 < squares {
        let origin = near(block.mean);
        let (sum, squares) = sums(groups, |value| float(value).map(|value| value - origin));
        // An outlier's square may be in range while the square of its deviation is not.
        if !squares.is_finite() {
            return None;
        }
        block = Block::new(count, origin.into(), sum, squares, ends);
    }
    let equal = least == greatest;
    if block.squares < SMALL && !equal {
        return None;
    }
    if equal {
        block.squares = 0.0;
    }
    if nearest < tiny || nearest == 0.0 {
        let (mut zeros, mut small) = (0_u32, 0_u32);
        for one in all {
            for value in float(*one) {
                zeros = zeros.wrapping_add(u32::from(value == 0.0));
                small = small.wrapping_add(u32::from(value.abs() < tiny));
            }
        }
        block.zeros = zeros.into();
        block.subnormals = small.saturating_sub(zeros).into();
    }
    Some(block)
}

/// The mean of a block of `f32`, rounded to that type.
#[allow(clippy::as_conversions, reason = "rounding is intended, and a mean is in range")]
fn near(mean: f64) -> f32 {
    mean as f32
}

/// The sum of the values that `float` returns, and the sum of their squares.
#[inline(always)]
fn sums<T: Copy, const W: usize>(
    groups: &[[[T; LANES]; ROWS]],
    float: impl Fn(T) -> [f32; W],
) -> (f64, f64) {
    let (mut sum, mut squares) = ([0.0_f64; 4], [0.0_f64; 4]);
    let add = |total: &mut [f64; 4], part: [f32; LANES]| {
        let part = lanes(part.as_chunks::<4>().0, 0.0, |sum, part| sum + part);
        total.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
    };
    let few = |all: [f32; W]| all.into_iter().reduce(|one, two| one + two).unwrap_or(0.0);
    let square = |value: f32| value * value;
    for group in groups {
        add(&mut sum, lanes(group, 0.0, |sum, one| sum + few(float(one))));
        add(&mut squares, lanes(group, 0.0, |sum, one| sum + few(float(one).map(square))));
    }
    let total = |lanes: [f64; 4]| lanes.into_iter().fold(0.0, |sum, lane| sum + lane);
    (total(sum), total(squares))
}

/// Sums at most 1,024 16-bit integers without any rounding; `zero` is 0, or the least `i16` if
/// they are unsigned.
#[allow(clippy::as_conversions, reason = "all stays below 2^53")]
pub(super) fn shorts(codes: &[[u8; 2]], zero: i16) -> Option<Block> {
    let number = |code: [u8; 2]| i16::from_le_bytes(code) ^ zero;
    let (mut least, mut greatest, mut zeros) = (i16::MAX, i16::MIN, 0_u16);
    let (mut sum, mut squares) = (0_i32, 0_u64);
    for code in codes {
        let value = number(*code);
        least = least.min(value);
        greatest = greatest.max(value);
        zeros = zeros.wrapping_add(u16::from(value == zero));
    }
    for code in codes {
        let value = i32::from(number(*code));
        sum = sum.wrapping_add(value);
        squares = squares.wrapping_add(u64::from(value.wrapping_mul(value).unsigned_abs()));
    }
    let (count, sum) = (widen(codes.len()), i64::from(sum));
    let squares = squares.wrapping_mul(count).wrapping_sub(sum.wrapping_mul(sum).unsigned_abs());
    let (len, origin) = (count as f64, f64::from(zero));
    (count > 0).then(|| Block {
        count,
        mean: sum as f64 / len - origin,
        squares: squares as f64 / len,
        least: f64::from(least) - origin,
        greatest: f64::from(greatest) - origin,
        zeros: zeros.into(),
        subnormals: 0,
    })
}

/// Sums values in double precision; magnitudes below `tiny` are subnormal. `None` if any value is
/// not finite, or if squares are too large.
pub(super) fn doubles(values: &[f64], tiny: f64) -> Option<Block> {
    let (rows, rest) = values.as_chunks::<WIDE>();
    let less = |end: f64, value: f64| if end < value { end } else { value };
    let more = |end: f64, value: f64| if end > value { end } else { value };
    let least = lanes(rows, f64::INFINITY, less);
    let mut least = least.into_iter().fold(f64::INFINITY, less);
    let greatest = lanes(rows, f64::NEG_INFINITY, more);
    let mut greatest = greatest.into_iter().fold(f64::NEG_INFINITY, more);
    let nearest = lanes(rows, f64::INFINITY, |end, value: f64| less(end, value.abs()));
    let mut nearest = nearest.into_iter().fold(f64::INFINITY, less);
    for value in rest {
        least = least.min(*value);
        greatest = greatest.max(*value);
        nearest = nearest.min(value.abs());
    }
    let (sum, squares) = wide_sums(values, 0.0);
    if !squares.is_finite() {
        return None;
    }
    let mut block = Block::new(values.len(), 0.0, sum, squares, [least, greatest]);
    // Up to four of 53 binary digits may be lost.
    if block.squares * 16.0 < squares {
        let origin = block.mean;
        let (sum, squares) = wide_sums(values, origin);
        block = Block::new(values.len(), origin, sum, squares, [least, greatest]);
    }
    if nearest < tiny || nearest == 0.0 {
        block.count_small(values, tiny);
    }
    Some(block)
}

/// The sum of the values' differences from `origin`, and the sum of their squares.
#[inline(always)]
fn wide_sums(values: &[f64], origin: f64) -> (f64, f64) {
    let (rows, rest) = values.as_chunks::<WIDE>();
    let square = |value: f64| value * value;
    let total = |lanes: [f64; WIDE]| lanes.into_iter().fold(0.0, |sum, lane| sum + lane);
    let sum = total(lanes(rows, 0.0, |sum, value: f64| sum + (value - origin)));
    let squares = total(lanes(rows, 0.0, |sum, value: f64| sum + square(value - origin)));
    rest.iter().fold((sum, squares), |(sum, squares), value| {
        (sum + (value - origin), squares + square(value - origin))
    })
}

/// The same for finite values so large that their squares are infinite; so is the deviation,
/// unless the values are close together.
pub(super) fn huge(values: &[f64], tiny: f64) -> Block {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let origin = mean(values).max(least).min(greatest);
    let (sum, squares) = wide_sums(values, origin);
    let sum = if squares.is_finite() { sum } else { 0.0 };
    let mut block = Block::new(values.len(), origin, sum, squares, [least, greatest]);
    block.count_small(values, tiny);
    block
}

/// The mean of a few finite values, which is finite.
#[allow(clippy::as_conversions, reason = "a block has few elements")]
fn mean(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    values.iter().fold(0.0, |sum, value| sum + value / count)
}

impl Block {
    fn count_small(&mut self, values: &[f64], tiny: f64) {
        let (mut zeros, mut small) = (0_u64, 0_u64);
        for value in values {
            zeros = zeros.wrapping_add(u64::from(*value == 0.0));
            small = small.wrapping_add(u64::from(value.abs() < tiny));
        }
        self.zeros = zeros;
        self.subnormals = small.saturating_sub(zeros);
    }

    #[allow(clippy::as_conversions, reason = "a block has few elements")]
    fn new(count: usize, origin: f64, sum: f64, squares: f64, [least, greatest]: [f64; 2]) -> Self {
        let len = count.max(1) as f64;
        let squares = squares - if sum == 0.0 { 0.0 } else { sum * (sum / len) };
        Block {
            count: widen(count),
            // Rounding may go past the ends.
            mean: (origin + sum / len).max(least).min(greatest),
            // Squares of the largest doubles are infinite.
            squares: if squares.is_finite() { squares.max(0.0) } else { f64::INFINITY },
            least,
            greatest,
            zeros: 0,
            subnormals: 0,
        }
    }
}
