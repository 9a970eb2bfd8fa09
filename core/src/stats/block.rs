//! Sums of a few values, in lanes that compilers turn into vectors.
//!
//! What the values differ from an origin is summed up, the mean of the first few: then
//! the squares exceed those of the deviations at most as often as these few go into all,
//! whatever the values are, and no digits are lost that matter.

use crate::base::widen;

/// What a block of finite values sums up to.
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

/// Sums in single precision are kept in this many lanes,
const LANES: usize = 16;
/// and go on in double precision after so many rows.
const ROWS: usize = 16;
/// 2^-80: squares that sum up to less may have been too small for single precision.
const SMALL: f64 = f64::from_bits(0x3AF0_0000_0000_0000);
/// Lanes in double precision.
const WIDE: usize = 8;

/// The least and the greatest of some values, and the least magnitude.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) least: f32,
    pub(super) greatest: f32,
    pub(super) nearest: f32,
}

/// Goes through rows with one kind of operation, which compilers turn into vectors; of
/// loops that do more they often do not.
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

/// The ends of values that `float` gives, if none is NaN.
#[inline(always)]
pub(super) fn ends<T: Copy>(values: &[T], float: impl Fn(T) -> f32) -> Ends {
    let (rows, _) = values.as_chunks::<LANES>();
    let less = |end: f32, value: f32| if end < value { end } else { value };
    let more = |end: f32, value: f32| if end > value { end } else { value };
    // Each folded at once, so that its lanes do not take the registers of the next.
    let least = lanes(rows, f32::INFINITY, |end, value| less(end, float(value)));
    let least = least.into_iter().fold(f32::INFINITY, less);
    let greatest = lanes(rows, f32::NEG_INFINITY, |end, value| more(end, float(value)));
    let greatest = greatest.into_iter().fold(f32::NEG_INFINITY, more);
    let nearest = lanes(rows, f32::INFINITY, |end, value| less(end, float(value).abs()));
    let nearest = nearest.into_iter().fold(f32::INFINITY, less);
    Ends { least, greatest, nearest }
}

/// The same of 16-bit floats by their codes, which `float` turns into values: as signed
/// numbers positive ones are in order, as unsigned ones negative ones are, backwards.
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

/// Sums up values with these ends in single precision, sixteen at a time; `float` gives
/// them, and magnitudes below `tiny` are subnormal.
///
/// `None` where that is not good enough: unless they fill groups of 256, if any is not
/// finite, or where squares are too large or too small.
#[inline(always)]
pub(super) fn singles<T: Copy>(
    values: &[T],
    ends: Ends,
    float: impl Fn(T) -> f32 + Copy,
    tiny: f32,
) -> Option<Block> {
    let (rows, _) = values.as_chunks::<LANES>();
    let (groups, _) = rows.as_chunks::<ROWS>();
    let count = groups.as_flattened().as_flattened().len();
    if count != values.len() {
        return None;
    }
    // Halves, so that the sum of the largest is finite.
    let share = 0.5 / 256.0;
    let origin = lanes(groups.first()?, 0.0, |sum, value| sum + float(value) * share);
    let origin = origin.into_iter().fold(0.0, |sum, lane| sum + lane) * 2.0;
    let Ends { least, greatest, nearest } = ends;
    // A value at the end of the range makes the deviation a 45th of it at least. So an
    // origin of less is as good as 0, which takes no difference.
    let origin = if origin.abs() * 32.0 < greatest - least { 0.0 } else { origin };
    let (sum, squares) = if origin == 0.0 {
        sums(groups, float)
    } else {
        sums(groups, |value| float(value) - origin)
    };
    let equal = least == greatest;
    // A NaN or an infinity makes the squares one, too.
    if !squares.is_finite() || (squares < SMALL && !equal) {
        return None;
    }
    let ends = [least.into(), greatest.into()];
    let mut block = Block::new(count, origin.into(), sum, squares, ends);
    if equal {
        block.squares = 0.0;
    }
    if nearest < tiny || nearest == 0.0 {
        let (mut zeros, mut small) = (0_u32, 0_u32);
        for value in values {
            let size = float(*value).abs();
            zeros = zeros.wrapping_add(u32::from(size == 0.0));
            small = small.wrapping_add(u32::from(size < tiny));
        }
        block.zeros = zeros.into();
        block.subnormals = small.saturating_sub(zeros).into();
    }
    Some(block)
}

/// The sum of values that `float` gives, and the sum of their squares.
#[inline(always)]
fn sums<T: Copy>(groups: &[[[T; LANES]; ROWS]], float: impl Fn(T) -> f32) -> (f64, f64) {
    let (mut sum, mut squares) = ([0.0_f64; 4], [0.0_f64; 4]);
    let add = |total: &mut [f64; 4], part: [f32; LANES]| {
        let part = lanes(part.as_chunks::<4>().0, 0.0, |sum, part| sum + part);
        total.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
    };
    for group in groups {
        add(&mut sum, lanes(group, 0.0, |sum, value| sum + float(value)));
        let square = |value: f32| value * value;
        add(&mut squares, lanes(group, 0.0, |sum, value| sum + square(float(value))));
    }
    let total = |lanes: [f64; 4]| lanes.into_iter().fold(0.0, |sum, lane| sum + lane);
    (total(sum), total(squares))
}

/// Sums up values in double precision; magnitudes below `tiny` are subnormal. `None` if
/// any is not finite, or squares are too large.
pub(super) fn doubles(values: &[f64], tiny: f64) -> Option<Block> {
    let (rows, rest) = values.as_chunks::<WIDE>();
    let origin = mean(rows.first().map_or(rest, |row| row));
    let less = |end: f64, value: f64| if end < value { end } else { value };
    let more = |end: f64, value: f64| if end > value { end } else { value };
    let total = |lanes: [f64; WIDE]| lanes.into_iter().fold(0.0, |sum, lane| sum + lane);
    let mut sum = total(lanes(rows, 0.0, |sum, value: f64| sum + (value - origin)));
    let mut squares = total(lanes(rows, 0.0, |sum, value: f64| {
        let difference = value - origin;
        sum + difference * difference
    }));
    let least = lanes(rows, f64::INFINITY, less);
    let mut least = least.into_iter().fold(f64::INFINITY, less);
    let greatest = lanes(rows, f64::NEG_INFINITY, more);
    let mut greatest = greatest.into_iter().fold(f64::NEG_INFINITY, more);
    let nearest = lanes(rows, f64::INFINITY, |end, value: f64| less(end, value.abs()));
    let mut nearest = nearest.into_iter().fold(f64::INFINITY, less);
    for value in rest {
        let difference = value - origin;
        sum += difference;
        squares += difference * difference;
        least = least.min(*value);
        greatest = greatest.max(*value);
        nearest = nearest.min(value.abs());
    }
    if !squares.is_finite() {
        return None;
    }
    let mut block = Block::new(values.len(), origin, sum, squares, [least, greatest]);
    if nearest < tiny || nearest == 0.0 {
        block.count_small(values, tiny);
    }
    Some(block)
}

/// The same of finite values that are so large that their squares are infinite, and so
/// is the deviation.
pub(super) fn huge(values: &[f64], tiny: f64) -> Block {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut block = Block::new(values.len(), mean(values), 0.0, f64::INFINITY, [least, greatest]);
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
            // Rounding may lead past the ends.
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
