//! Statistics of a tensor's elements in one pass and fixed memory.

mod block;
mod histogram;

pub use histogram::Histogram;

use crate::base::widen;
use crate::model::{DType, Element, Endianness, element::WIDEST};
use block::Block;

/// Elements that are summed together; blocks are merged by the formula of Chan, Golub and
/// LeVeque.
const BLOCK: usize = 256;

/// Statistics of the elements of a tensor, or of a part of it.
///
/// Bytes come in pieces of any size, and the statistics of parts can be
/// [merged](Stats::merge). Mean, deviation, minimum and maximum cover the finite elements.
///
/// ```
/// use weighbridge_core::{DType, Endianness, Stats};
///
/// let values = [1.0_f32, 3.0, f32::NAN, 0.0, f32::INFINITY];
/// let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
/// let mut stats = Stats::new(DType::F32, Endianness::Little, 0, 5).unwrap();
/// stats.add(&bytes[..7], None); // the second element is cut in two
/// stats.add(&bytes[7..], None);
/// assert_eq!((stats.count(), stats.finite(), stats.zeros()), (5, 3, 1));
/// assert_eq!((stats.nans(), stats.first_nan(), stats.infinities()), (1, Some(2), 1));
/// assert!((stats.mean().unwrap() - 4.0 / 3.0).abs() < 1e-15);
/// assert_eq!(stats.max().unwrap().to_f64(), 3.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    dtype: DType,
    endianness: Endianness,
    /// Position of the next element.
    next: u64,
    /// Position after the last element.
    end: u64,
    /// The start of an element that is not complete yet.
    carry: [u8; WIDEST],
    carried: usize,
    count: u64,
    finite: u64,
    zeros: u64,
    subnormals: u64,
    nans: u64,
    infinities: u64,
    first_nan: Option<u64>,
    first_infinity: Option<u64>,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    least: f64,
    greatest: f64,
    /// Minimum and maximum of 64-bit integers, which doubles cannot represent beyond 2^53,
    /// in an order shared by signed and unsigned ones.
    least_key: u64,
    greatest_key: u64,
}

impl Stats {
    /// Statistics of `count` elements, the first of which is number `first` of
    /// its tensor; `None` for types that are not numbers.
    pub fn new(dtype: DType, endianness: Endianness, first: u64, count: u64) -> Option<Self> {
        dtype.element(&[0; WIDEST], 0, endianness)?;
        Some(Stats {
            dtype,
            endianness,
            next: first,
            end: first.saturating_add(count),
            carry: [0; WIDEST],
            carried: 0,
            count: 0,
            finite: 0,
            zeros: 0,
            subnormals: 0,
            nans: 0,
            infinities: 0,
            first_nan: None,
            first_infinity: None,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            least_key: u64::MAX,
            greatest_key: 0,
        })
    }

    /// Adds the next bytes; bytes after the last element are ignored.
    pub fn add(&mut self, mut bytes: &[u8], mut histogram: Option<&mut Histogram<'_>>) {
        let (_, width) = self.dtype.unit().unwrap_or((1, 1));
        let width = usize::try_from(width).unwrap_or(1);
        if self.carried > 0 {
            let missing = width.saturating_sub(self.carried);
            let (head, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            let free = self.carry.get_mut(self.carried..).unwrap_or_default();
            free.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
            self.carried = self.carried.saturating_add(head.len());
            if self.carried < width {
                return;
            }
            let carry = self.carry;
            self.carried = 0;
            self.run(carry.get(..width).unwrap_or_default(), &mut histogram);
            bytes = rest;
        }
        let tail = bytes.len().checked_rem(width).unwrap_or(0);
        let whole = bytes.len().saturating_sub(tail);
        let (whole, tail) = bytes.split_at_checked(whole).unwrap_or((bytes, &[]));
        self.run(whole, &mut histogram);
        self.carry.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        self.carried = tail.len();
    }

    /// Whole elements.
    fn run(&mut self, bytes: &[u8], histogram: &mut Option<&mut Histogram<'_>>) {
        match (self.dtype, self.endianness) {
            (DType::F32, Endianness::Little) => {
                self.each(bytes, histogram, |b| f64::from(f32::from_le_bytes(b)));
            }
            (DType::F32, Endianness::Big) => {
                self.each(bytes, histogram, |b| f64::from(f32::from_be_bytes(b)));
            }
            (DType::F64, Endianness::Little) => self.each(bytes, histogram, f64::from_le_bytes),
            (DType::F64, Endianness::Big) => self.each(bytes, histogram, f64::from_be_bytes),
            (DType::BF16, Endianness::Little) => self.each(bytes, histogram, |b| {
                let bits = u32::from(u16::from_le_bytes(b)) << 16;
                f64::from(f32::from_bits(bits))
            }),
            (DType::F16, Endianness::Little) => self.each(bytes, histogram, |b: [u8; 2]| {
                f64::from(half::f16::from_le_bytes(b).to_f32())
            }),
            (DType::I32, Endianness::Little) => {
                self.each(bytes, histogram, |b| f64::from(i32::from_le_bytes(b)));
            }
            (DType::I16, Endianness::Little) => {
                self.each(bytes, histogram, |b| f64::from(i16::from_le_bytes(b)));
            }
            (DType::I8, _) => self.each(bytes, histogram, |b| f64::from(i8::from_le_bytes(b))),
            (DType::U8, _) => self.each(bytes, histogram, |[b]: [u8; 1]| f64::from(b)),
            _ => self.any(bytes, histogram),
        }
    }

    /// Elements of `N` bytes; `value` converts them to doubles.
    fn each<const N: usize>(
        &mut self,
        bytes: &[u8],
        histogram: &mut Option<&mut Histogram<'_>>,
        value: impl Fn([u8; N]) -> f64,
    ) {
        let mut block = [0.0; BLOCK];
        let (mut elements, _) = bytes.as_chunks::<N>();
        let left = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(usize::MAX);
        elements = elements.get(..left).unwrap_or(elements);
        while !elements.is_empty() {
            let (head, rest) = elements.split_at_checked(BLOCK).unwrap_or((elements, &[]));
            for (to, from) in block.iter_mut().zip(head) {
                *to = value(*from);
            }
            self.block(block.get(..head.len()).unwrap_or_default(), histogram);
            elements = rest;
        }
    }

    /// Elements of any type, one by one.
    fn any(&mut self, bytes: &[u8], histogram: &mut Option<&mut Histogram<'_>>) {
        let mut block = [0.0; BLOCK];
        let mut index = 0_u64;
        loop {
            let mut filled = 0_usize;
            let left = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(usize::MAX);
            for to in block.iter_mut().take(left) {
                let Some(element) = self.dtype.element(bytes, index, self.endianness) else {
                    break;
                };
                if self.dtype.bits() == 64 {
                    let key = key(element);
                    self.least_key = self.least_key.min(key);
                    self.greatest_key = self.greatest_key.max(key);
                }
                *to = element.to_f64();
                index = index.saturating_add(1);
                filled = filled.saturating_add(1);
            }
            if filled == 0 {
                return;
            }
            self.block(block.get(..filled).unwrap_or_default(), histogram);
        }
    }

    fn block(&mut self, values: &[f64], histogram: &mut Option<&mut Histogram<'_>>) {
        if let Some(histogram) = histogram {
            histogram.add(values);
        }
        let len = widen(values.len());
        let block = self.sum_up(values);
        if !block.special {
            self.join(values, &block);
        } else {
            let mut finite = [0.0; BLOCK];
            let mut kept = 0_usize;
            for (i, value) in (self.next..).zip(values) {
                if value.is_nan() {
                    self.nans = self.nans.saturating_add(1);
                    self.first_nan = first(self.first_nan, Some(i));
                } else if value.is_infinite() {
                    self.infinities = self.infinities.saturating_add(1);
                    self.first_infinity = first(self.first_infinity, Some(i));
                } else if let Some(to) = finite.get_mut(kept) {
                    *to = *value;
                    kept = kept.saturating_add(1);
                }
            }
            let finite = finite.get(..kept).unwrap_or_default();
            let block = self.sum_up(finite);
            self.join(finite, &block);
        }
        self.count = self.count.saturating_add(len);
        self.next = self.next.saturating_add(len);
    }

    /// Sums the differences from the mean so far, which is close enough to the block's mean
    /// that no significant digits are lost.
    fn sum_up(&self, values: &[f64]) -> Block {
        let first = values.first().copied().unwrap_or(0.0);
        let origin = if self.finite > 0 { self.mean } else { first };
        let origin = if origin.is_finite() { origin } else { 0.0 };
        Block::of(values, origin, smallest_normal(self.dtype))
    }

    /// Adds finite values with their sums.
    #[allow(clippy::as_conversions, reason = "a block has few elements")]
    fn join(&mut self, values: &[f64], block: &Block) {
        if values.is_empty() {
            return;
        }
        if block.small {
            let tiny = smallest_normal(self.dtype);
            let (mut zeros, mut subnormals) = (0_u64, 0_u64);
            for value in values {
                let (zero, small) = (*value == 0.0, value.abs() < tiny);
                zeros = zeros.wrapping_add(u64::from(zero));
                subnormals = subnormals.wrapping_add(u64::from(small & !zero));
            }
            self.zeros = self.zeros.saturating_add(zeros);
            self.subnormals = self.subnormals.saturating_add(subnormals);
        }
        self.least = self.least.min(block.least);
        self.greatest = self.greatest.max(block.greatest);
        let count = values.len() as f64;
        let squares = block.squares - block.sum * block.sum / count;
        // Squares of the largest doubles are infinite.
        let squares = if squares.is_finite() { squares.max(0.0) } else { f64::INFINITY };
        self.moments(widen(values.len()), block.origin + block.sum / count, squares);
    }

    #[allow(clippy::as_conversions, reason = "counts beyond 2^53 elements are rounded")]
    fn moments(&mut self, len: u64, mean: f64, squares: f64) {
        if len == 0 {
            return;
        }
        let total = self.finite.saturating_add(len);
        let (before, added, all) = (self.finite as f64, len as f64, total as f64);
        let delta = mean - self.mean;
        self.mean += delta * (added / all);
        self.squares += squares + delta * delta * (before * (added / all));
        self.finite = total;
    }

    /// Adds the statistics of another part of the same tensor.
    pub fn merge(&mut self, other: &Stats) {
        self.count = self.count.saturating_add(other.count);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.subnormals = self.subnormals.saturating_add(other.subnormals);
        self.nans = self.nans.saturating_add(other.nans);
        self.infinities = self.infinities.saturating_add(other.infinities);
        self.first_nan = first(self.first_nan, other.first_nan);
        self.first_infinity = first(self.first_infinity, other.first_infinity);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.least_key = self.least_key.min(other.least_key);
        self.greatest_key = self.greatest_key.max(other.greatest_key);
        self.moments(other.finite, other.mean, other.squares);
    }

    /// Number of elements seen.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of finite elements.
    pub fn finite(&self) -> u64 {
        self.finite
    }

    /// Number of zeros, of either sign.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Number of elements that are subnormal in their own type.
    pub fn subnormals(&self) -> u64 {
        self.subnormals
    }

    /// Number of NaNs.
    pub fn nans(&self) -> u64 {
        self.nans
    }

    /// Number of infinities, of either sign.
    pub fn infinities(&self) -> u64 {
        self.infinities
    }

    /// Position of the first NaN in the tensor.
    pub fn first_nan(&self) -> Option<u64> {
        self.first_nan
    }

    /// Position of the first infinity in the tensor.
    pub fn first_infinity(&self) -> Option<u64> {
        self.first_infinity
    }

    /// The smallest finite element; `None` if there is none.
    pub fn min(&self) -> Option<Element> {
        self.extreme(self.least, self.least_key)
    }

    /// The largest finite element; `None` if there is none.
    pub fn max(&self) -> Option<Element> {
        self.extreme(self.greatest, self.greatest_key)
    }

    /// The mean of the finite elements; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.mean)
    }

    /// The population standard deviation of the finite elements; `None` if there are none.
    #[allow(clippy::as_conversions, reason = "counts beyond 2^53 elements are rounded")]
    pub fn deviation(&self) -> Option<f64> {
        (self.finite > 0).then(|| square_root(self.squares / self.finite as f64))
    }

    /// A minimum or maximum in the type of the elements.
    #[allow(clippy::as_conversions, reason = "the value came from that type")]
    fn extreme(&self, value: f64, key: u64) -> Option<Element> {
        if self.finite == 0 {
            return None;
        }
        let sample = self.dtype.element(&[0; WIDEST], 0, self.endianness)?;
        let wide = self.dtype.bits() == 64;
        Some(match sample {
            Element::Int(_) if wide => Element::Int((key ^ SIGN) as i64),
            Element::Uint(_) if wide => Element::Uint(key),
            Element::Int(_) => Element::Int(value as i64),
            Element::Uint(_) => Element::Uint(value as u64),
            // A Boolean byte above 1 is read as a number.
            Element::Bool(_) if value > 1.0 => Element::Uint(value as u64),
            Element::Bool(_) => Element::Bool(value != 0.0),
            Element::F32(_) => Element::F32(value as f32),
            Element::F64(_) => Element::F64(value),
        })
    }
}

/// The smaller of two optional positions.
fn first(one: Option<u64>, two: Option<u64>) -> Option<u64> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

const SIGN: u64 = 1 << 63;

/// Maps 64-bit integers to unsigned numbers in the same order.
fn key(element: Element) -> u64 {
    match element {
        Element::Int(value) => u64::from_le_bytes(value.to_le_bytes()) ^ SIGN,
        Element::Uint(value) => value,
        _ => 0,
    }
}

/// The smallest positive value of a type that is not subnormal; 0 if the type has no
/// subnormals.
fn smallest_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F32 | DType::BF16 => f64::from(f32::MIN_POSITIVE),
        DType::F16 | DType::F8E5M2 => 1.0 / 16_384.0,
        DType::F8E4M3 => 1.0 / 64.0,
        _ => 0.0,
    }
}

/// The square root, which `core` does not have: Newton's method from a first guess by the
/// exponent, exact to one unit in the last place.
#[allow(clippy::as_conversions, reason = "the bits of a positive double")]
fn square_root(value: f64) -> f64 {
    if !(value > 0.0 && value < f64::INFINITY) {
        return if value < 0.0 { f64::NAN } else { value };
    }
    // Halving the exponent halves the logarithm.
    let mut root = f64::from_bits((value.to_bits() >> 1).wrapping_add(0x1FF8 << 48));
    for _ in 0..6 {
        root = 0.5 * (root + value / root);
    }
    root
}
