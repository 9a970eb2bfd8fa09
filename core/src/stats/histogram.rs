//! Counting values by sign, exponent and leading digits, in the caller's memory.

use super::{bytes_of, pieces};
use crate::model::decode::{bf16, half};
use crate::model::{DType, Endianness};

/// Counts values by their first 16 bits, in one pass and without knowing their range. The counts
/// can then be distributed over bins of any kind.
///
/// Types of at most 16 bits are counted exactly. Values of other types are counted by the first
/// 16 bits of their `f32` representation (doubles by their own): a value is known to one part in
/// 128 (doubles: 16), and exactly if no digits were cut off. Nonzero values below the least of
/// these count as the least, 2^-133 (doubles: 2^-1026).
#[derive(Debug)]
pub struct Histogram<'w> {
    dtype: DType,
    counts: &'w mut [u64; CODES],
    /// Nonzero once digits of a finite value were cut off.
    cut: &'w mut u64,
}

/// One count for each code of 16 bits.
const CODES: usize = 1 << 16;
/// Number of elements decoded at a time to be counted, a multiple of every block size.
const FEW: usize = 256;
/// The exponent of non-finite values, in the upper half of a double and in an `f32`.
const DOUBLE: u32 = 0x7FF0_0000;
const SINGLE: u32 = 0x7F80_0000;
/// The bits of a double that an `f32` has no room for.
const CUT: u64 = (1 << 29) - 1;

impl<'w> Histogram<'w> {
    /// Number of words of memory that a histogram takes.
    pub const WORDS: usize = CODES + 1;

    /// Counts elements of `dtype` in `words`, which are initially 0 or left by an earlier
    /// histogram of the same type. `None` if there are fewer than [`WORDS`](Self::WORDS).
    pub fn new(dtype: DType, words: &'w mut [u64]) -> Option<Self> {
        let (counts, rest) = words.split_first_chunk_mut()?;
        Some(Histogram { dtype, counts, cut: rest.first_mut()? })
    }

    /// Adds the counts of `other`, which has the same type.
    pub fn merge(&mut self, other: &Histogram<'_>) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
        *self.cut |= *other.cut;
    }

    /// Adds the finite values from `low` to `high` to bins of equal width. A value on the border
    /// of two bins counts in the upper one; `high` itself counts in the last. Values known only
    /// to some digits are spread evenly, and count as in range if they may be.
    ///
    /// Adds nothing unless `low` is less than `high` and both are finite.
    #[allow(clippy::as_conversions, reason = "a float to an integer rounds down and saturates")]
    pub fn steps(&self, low: f64, high: f64, bins: &mut [u64]) {
        let width = high - low;
        if !(low < high && width.is_finite()) {
            return;
        }
        let last = bins.len().saturating_sub(1);
        let scale = bins.len() as f64 / width;
        let place = |value: f64| (((value - low) * scale) as usize).min(last);
        let mut put = |bin: usize, count: u64| {
            if let Some(bin) = bins.get_mut(bin) {
                *bin = bin.saturating_add(count);
            }
        };
        self.each(|from, to, count| {
            let (from, to) = (from.max(low), to.min(high));
            if from > to {
                return;
            }
            let (first, end) = (place(from), place(to));
            let mut left = count;
            for bin in first..end {
                let border = low + (bin.saturating_add(1)) as f64 / scale;
                let after = count as f64 * ((to - border) / (to - from));
                let after = (after + 0.5) as u64;
                put(bin, left.saturating_sub(after));
                left = left.min(after);
            }
            put(end, left);
        });
    }

    /// Number of magnitude bins per sign.
    pub const MAGNITUDES: usize = 2100;

    /// Adds nonzero finite values to bins by their power of two: bin `i` counts negative values
    /// with `2^(i - 1075) <= |x| < 2^(i - 1074)`, and bin `MAGNITUDES + i` positive ones.
    pub fn magnitudes(&self, bins: &mut [u64]) {
        self.each(|from, to, count| {
            // The lesser magnitude decides. An interval from 0 counts in the bin below its far
            // end.
            let (near, far) = if from < 0.0 { (to, from) } else { (from, to) };
            let value = if near == 0.0 { far / 2.0 } else { near };
            if let Some(bin) = magnitude(value).and_then(|bin| bins.get_mut(bin)) {
                *bin = bin.saturating_add(count);
            }
        });
    }

    /// The value below which this share of the finite values lies, as precisely as they are
    /// known; `None` if there are none.
    ///
    /// ```
    /// use weighbridge_core::{DType, Endianness, Histogram, Stats};
    ///
    /// let bytes: Vec<u8> = (0..1000_u16).flat_map(u16::to_le_bytes).collect();
    /// let mut words = vec![0; Histogram::WORDS];
    /// let mut histogram = Histogram::new(DType::U16, &mut words).unwrap();
    /// let mut stats = Stats::new(DType::U16, Endianness::Little, 0, 1000).unwrap();
    /// stats.add(&bytes, Some(&mut histogram));
    /// assert_eq!(histogram.quantile(0.25), Some(250.0));
    /// ```
    #[allow(clippy::as_conversions, reason = "a float to an integer rounds down and saturates")]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let all = || (0..=u16::MAX).filter_map(|place| self.in_order(place));
        let finite = all().fold(0_u64, |sum, (.., count)| sum.saturating_add(count));
        let mut rank = ((share * finite as f64) as u64).min(finite.checked_sub(1)?);
        for (from, to, count) in all() {
            if let Some(after) = rank.checked_sub(count) {
                rank = after;
                continue;
            }
            return Some(from + (to - from) * (rank as f64 / count as f64));
        }
        None
    }

    /// The interval of values at this position in ascending order, and their count.
    fn in_order(&self, place: u16) -> Option<(f64, f64, u64)> {
        let code = match self.dtype {
            DType::U16 => place,
            DType::I16 => place ^ 0x8000,
            // Sign and magnitude.
            _ if place < 0x8000 => !place,
            _ => place ^ 0x8000,
        };
        let count = self.counts.get(usize::from(code)).copied().filter(|count| *count > 0)?;
        let (from, to) = self.interval(code)?;
        Some((from, to, count))
    }

    /// Calls `take` with the ends of each interval of finite values, and their count.
    fn each(&self, mut take: impl FnMut(f64, f64, u64)) {
        for (code, count) in (0_u16..=u16::MAX).zip(self.counts.iter()) {
            if *count == 0 {
                continue;
            }
            if let Some((from, to)) = self.interval(code) {
                take(from, to, *count);
            }
        }
    }

    /// The interval of values with this code; `None` if they are not finite.
    fn interval(&self, code: u16) -> Option<(f64, f64)> {
        let point = |value: f64| value.is_finite().then_some((value, value));
        let next = code.wrapping_add(1);
        let (near, far) = match self.dtype {
            DType::BF16 => return point(bf16(code).into()),
            DType::F16 => return point(half(code).into()),
            DType::U16 => return point(code.into()),
            DType::I16 => return point(i16::from_le_bytes(code.to_le_bytes()).into()),
            DType::F64 => {
                (f64::from_bits(u64::from(code) << 48), f64::from_bits(u64::from(next) << 48))
            }
            _ => (f64::from(bf16(code)), f64::from(bf16(next))),
        };
        let whole = self.is_whole() && (far - near).abs() <= 1.0;
        if *self.cut == 0 || whole || near == 0.0 || !near.is_finite() {
            return point(near);
        }
        // Smaller values have the least nonzero code.
        let near = if code & 0x7FFF == 1 { 0.0 } else { near };
        // Beyond the largest value there is only infinity.
        let most = if self.dtype == DType::F64 { f64::MAX } else { f32::MAX.into() };
        let far = far.max(-most).min(most);
        Some(if far > near { (near, far) } else { (far, near) })
    }

    fn is_whole(&self) -> bool {
        matches!(self.dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64)
    }

    /// Counts the elements that fill `bytes`.
    pub(super) fn count(&mut self, endianness: Endianness, bytes: &[u8]) {
        match (self.dtype.bits(), endianness) {
            (16, Endianness::Little) => self.shorts(bytes, u16::from_le_bytes),
            (16, Endianness::Big) => self.shorts(bytes, u16::from_be_bytes),
            (32, Endianness::Little) if self.dtype == DType::F32 => {
                self.words(bytes.as_chunks().0, SINGLE, u32::from_le_bytes);
            }
            _ => self.values(endianness, bytes),
        }
    }

    fn shorts(&mut self, bytes: &[u8], code: impl Fn([u8; 2]) -> u16) {
        for bytes in bytes.as_chunks().0 {
            self.add(code(*bytes), 1);
        }
    }

    #[inline]
    fn add(&mut self, code: u16, count: u64) {
        if let Some(at) = self.counts.get_mut(usize::from(code)) {
            *at = at.wrapping_add(count);
        }
    }

    /// Counts the upper halves of the words that `word` returns; the lower ones are cut off.
    /// Words that include all bits of `special` are not finite.
    fn words<T: Copy>(&mut self, all: &[T], special: u32, word: impl Fn(T) -> u32) {
        let zeros = |counts: &[u64; CODES]| {
            [0, 0x8000].map(|code: usize| counts.get(code).copied().unwrap_or(0))
        };
        let before = zeros(self.counts);
        for one in all {
            let code = usize::try_from(word(*one) >> 16).unwrap_or(0);
            if let Some(at) = self.counts.get_mut(code) {
                *at = at.wrapping_add(1);
            }
        }
        if *self.cut == 0 {
            // The digits of a NaN are not those of a number.
            let finite = |word: u32| if word & special == special { 0 } else { word };
            let cut = all.iter().fold(0, |cut, one| cut | finite(word(*one)));
            *self.cut = u64::from(cut & 0xFFFF != 0);
        }
        // The smallest values have the code of 0, and get the next one.
        let is_small = |word: u32| (word & 0x7FFF_FFFF).wrapping_sub(1) < 0xFFFF;
        if before == zeros(self.counts)
            || !all.iter().fold(false, |any, one| any | is_small(word(*one)))
        {
            return;
        }
        for one in all {
            let word = word(*one);
            if is_small(word) {
                let [_, _, low, high] = word.to_le_bytes();
                let code = u16::from_le_bytes([low, high]);
                self.add(code, u64::MAX);
                self.add(code | 1, 1);
            }
        }
    }

    /// Counts elements of any type: converts a few at a time to words, in loops that vectorise.
    fn values(&mut self, endianness: Endianness, bytes: &[u8]) {
        let dtype = self.dtype;
        let Some(len) = bytes_of(dtype, FEW) else { return };
        if dtype == DType::F32 || dtype.block().is_some() {
            let mut values = [0.0; FEW];
            for bytes in pieces(bytes, len) {
                let count = dtype.decode_f32(endianness, bytes, &mut values).unwrap_or(0);
                self.words(values.get(..count).unwrap_or_default(), SINGLE, f32::to_bits);
            }
            return;
        }
        let (mut values, mut words) = ([0.0; FEW], [0; FEW]);
        for bytes in pieces(bytes, len) {
            let count = dtype.decode_f64(endianness, bytes, &mut values).unwrap_or(0);
            let pairs = words.iter_mut().zip(&values);
            if dtype == DType::F64 {
                pairs.for_each(|(to, value)| *to = upper(*value));
            } else {
                pairs.for_each(|(to, value)| *to = single(*value));
                let cut = values.iter().fold(0, |cut, value| cut | value.to_bits()) & CUT;
                *self.cut |= u64::from(cut != 0);
            }
            let special = if dtype == DType::F64 { DOUBLE } else { SINGLE };
            self.words(words.get(..count).unwrap_or_default(), special, |word| word);
        }
    }

    /// Counts `count` occurrences of a value of a type of at most 8 bits.
    pub(super) fn value(&mut self, value: f64, count: u64) {
        let [_, _, low, high] = single(value).to_le_bytes();
        self.add(u16::from_le_bytes([low, high]), count);
    }
}

/// A value as an `f32`, cut off and not rounded.
#[allow(clippy::as_conversions, reason = "the truncated value is an f32")]
fn single(value: f64) -> u32 {
    (f64::from_bits(value.to_bits() & !CUT) as f32).to_bits()
}

/// The upper half of a double; the lower half of the word is 0 only if nothing is cut off.
#[allow(clippy::as_conversions, reason = "either half of the bits")]
fn upper(value: f64) -> u32 {
    let bits = value.to_bits();
    let cut = bits as u32;
    let word = (bits >> 32) as u32;
    if value.is_finite() { word | ((cut | cut >> 16) & 0xFFFF) } else { word & 0xFFFF_0000 }
}

/// The bin of a value by its magnitude; `None` for 0 and non-finite values.
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
    fn quantiles_survive_outliers() {
        let mut bytes: std::vec::Vec<u8> =
            (0..10_000_i32).flat_map(|i| ((i - 5000) as f32).to_le_bytes()).collect();
        bytes.extend([-1e9_f32, 1e9, f32::NAN].iter().flat_map(|x| x.to_le_bytes()));
        let mut words = std::vec![0; Histogram::WORDS];
        let mut histogram = Histogram::new(DType::F32, &mut words).unwrap();
        assert_eq!(histogram.quantile(0.5), None);
        histogram.count(Endianness::Little, &bytes);
        for share in [0.001, 0.01, 0.25, 0.5, 0.99, 0.999] {
            let (found, expected) = (histogram.quantile(share).unwrap(), share * 10_000.0 - 5000.0);
            assert!((found - expected).abs() <= expected.abs() / 128.0 + 1.0, "{share}: {found}");
        }
        assert!(histogram.quantile(0.0).unwrap() < -0.99e9);
        assert!(histogram.quantile(1.0).unwrap() > 0.99e9);
        let mut words = std::vec![0; Histogram::WORDS];
        let mut shorts = Histogram::new(DType::I16, &mut words).unwrap();
        shorts.count(Endianness::Little, &[0xFF, 0xFF, 0x05, 0x00, 0x00, 0x80]);
        assert_eq!(
            [0.0, 0.4, 0.9].map(|share| shorts.quantile(share)),
            [Some(-32768.0), Some(-1.0), Some(5.0)]
        );
    }

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
