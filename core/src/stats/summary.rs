//! The finished statistics of elements.

use super::block::Block;
use crate::model::{DType, Element, Endianness, element::WIDEST};

/// Statistics of the elements of a tensor, or of a part of it. Mean, deviation and extremes cover
/// the finite elements only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    dtype: DType,
    count: u64,
    finite: u64,
    zeros: u64,
    subnormals: u64,
    nans: u64,
    infinities: u64,
    first_nan: Option<u64>,
    first_infinity: Option<u64>,
    mean: Sum,
    /// Sum of squared deviations from the mean.
    squares: Sum,
    least: f64,
    greatest: f64,
    /// Extremes of 64-bit integers, which doubles cannot hold beyond 2^53, in an order shared by
    /// signed and unsigned ones.
    least_key: u64,
    greatest_key: u64,
}

/// A sum that keeps its rounding error, so that a million terms cost no digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    value: f64,
    rest: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let term = term + self.rest;
        let sum = self.value + term;
        let taken = sum - self.value;
        let rest = (self.value - (sum - taken)) + (term - taken);
        *self = Sum { value: sum, rest: if rest.is_finite() { rest } else { 0.0 } };
    }
}

impl Summary {
    /// The summary of no elements.
    pub(super) fn new(dtype: DType) -> Self {
        Summary {
            dtype,
            count: 0,
            finite: 0,
            zeros: 0,
            subnormals: 0,
            nans: 0,
            infinities: 0,
            first_nan: None,
            first_infinity: None,
            mean: Sum::default(),
            squares: Sum::default(),
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            least_key: u64::MAX,
            greatest_key: 0,
        }
    }

    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Adds a block of finite elements.
    pub(super) fn add(&mut self, block: &Block) {
        self.count = self.count.saturating_add(block.count);
        self.zeros = self.zeros.saturating_add(block.zeros);
        self.subnormals = self.subnormals.saturating_add(block.subnormals);
        self.least = self.least.min(block.least);
        self.greatest = self.greatest.max(block.greatest);
        self.moments(block.count, block.mean, block.squares);
    }

    /// Adds `count` NaNs; `first` may be the position of the tensor's first.
    pub(super) fn add_nans(&mut self, count: u64, first: Option<u64>) {
        self.count = self.count.saturating_add(count);
        self.nans = self.nans.saturating_add(count);
        self.first_nan = lesser(self.first_nan, first);
    }

    /// The same for infinities.
    pub(super) fn add_infinities(&mut self, count: u64, first: Option<u64>) {
        self.count = self.count.saturating_add(count);
        self.infinities = self.infinities.saturating_add(count);
        self.first_infinity = lesser(self.first_infinity, first);
    }

    /// Includes 64-bit integers in the extremes, which doubles may be unable to hold.
    pub(super) fn add_keys(&mut self, words: &[[u8; 8]], endianness: Endianness) {
        let flip = if self.dtype == DType::I64 { SIGN } else { 0 };
        for word in words {
            let word = match endianness {
                Endianness::Little => u64::from_le_bytes(*word),
                Endianness::Big => u64::from_be_bytes(*word),
            };
            self.least_key = self.least_key.min(word ^ flip);
            self.greatest_key = self.greatest_key.max(word ^ flip);
        }
    }

    /// Updates mean and squares by the formula of Chan, Golub and LeVeque.
    #[allow(clippy::as_conversions, reason = "counts beyond 2^53 elements are rounded")]
    fn moments(&mut self, count: u64, mean: f64, squares: f64) {
        if count == 0 {
            return;
        }
        let total = self.finite.saturating_add(count);
        let (before, share) = (self.finite as f64, count as f64 / total as f64);
        self.finite = total;
        self.squares.add(squares);
        let delta = (mean - self.mean.value) - self.mean.rest;
        if before == 0.0 || !delta.is_finite() {
            let value = self.mean.value * (1.0 - share) + mean * share;
            self.mean = Sum { value, rest: 0.0 };
        } else {
            self.mean.add(delta * share);
        }
        if before > 0.0 {
            self.squares.add(delta * delta * (before * share));
        }
    }

    /// Adds the statistics of another part of the same tensor. Mean and deviation depend
    /// on the order of the parts, within their errors.
    pub fn merge(&mut self, other: &Summary) {
        self.count = self.count.saturating_add(other.count);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.subnormals = self.subnormals.saturating_add(other.subnormals);
        self.nans = self.nans.saturating_add(other.nans);
        self.infinities = self.infinities.saturating_add(other.infinities);
        self.first_nan = lesser(self.first_nan, other.first_nan);
        self.first_infinity = lesser(self.first_infinity, other.first_infinity);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.least_key = self.least_key.min(other.least_key);
        self.greatest_key = self.greatest_key.max(other.greatest_key);
        self.moments(other.finite, other.mean.value, other.squares.value);
    }

    /// Number of elements seen.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of elements that are neither NaN nor infinite.
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

    /// The least finite element; `None` if there is none.
    pub fn min(&self) -> Option<Element> {
        self.extreme(self.least, self.least_key)
    }

    /// The greatest finite element; `None` if there is none.
    pub fn max(&self) -> Option<Element> {
        self.extreme(self.greatest, self.greatest_key)
    }

    /// The mean of the finite elements; `None` if there are none. See [`Stats`] for its
    /// error.
    ///
    /// [`Stats`]: super::Stats
    pub fn mean(&self) -> Option<f64> {
        (self.finite > 0).then_some(self.mean.value)
    }

    /// The population standard deviation of the finite elements; `None` if there are none. See
    /// [`Stats`] for its error.
    ///
    /// [`Stats`]: super::Stats
    #[allow(clippy::as_conversions, reason = "counts beyond 2^53 elements are rounded")]
    pub fn deviation(&self) -> Option<f64> {
        (self.finite > 0).then(|| square_root(self.squares.value / self.finite as f64))
    }

    /// An extreme, in the elements' type.
    #[allow(clippy::as_conversions, reason = "the value came from that type")]
    fn extreme(&self, value: f64, key: u64) -> Option<Element> {
        if self.finite == 0 {
            return None;
        }
        let sample = self.dtype.element(&[0; WIDEST], 0, Endianness::Little)?;
        let wide = self.dtype.bits() == 64;
        Some(match sample {
            Element::Int(_) if wide => Element::Int((key ^ SIGN) as i64),
            Element::Uint(_) if wide => Element::Uint(key),
            Element::Int(_) => Element::Int(value as i64),
            Element::Uint(_) => Element::Uint(value as u64),
            // A byte beyond 1 is read as a number.
            Element::Bool(_) if value > 1.0 => Element::Uint(value as u64),
            Element::Bool(_) => Element::Bool(value != 0.0),
            Element::F32(_) => Element::F32(value as f32),
            Element::F64(_) => Element::F64(value),
        })
    }
}

/// Orders signed integers like unsigned ones.
const SIGN: u64 = 1 << 63;

/// The lesser of two positions, if they exist.
fn lesser(one: Option<u64>, two: Option<u64>) -> Option<u64> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

/// The square root, which `core` does not have: Newton's method with a first guess from the exponent,
/// accurate to the last bit or the one before.
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
