//! Two tensors, element by element.

use crate::analyse::feed::Feed;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness};

/// The most elements of a head that are reordered: 32 MiB of numbers.
const HEAD: usize = 4 << 20;
/// Exponents of finite `f64` values, counting subnormals as one.
const EXPONENTS: usize = 2047;

/// The difference between two tensors of any types, such as quantisation errors or changes from
/// training. Elements are compared as `f64`, in file order. Elements that wait for the other
/// side, or for the rest of a head, are not counted: `count` shows whether all were compared.
///
/// ```
/// use weighbridge::Difference;
/// use weighbridge::weighbridge_core::{DType, Endianness};
///
/// let f32 = (DType::F32, Endianness::Little);
/// let bytes = |values: [f32; 2]| values.map(f32::to_le_bytes).concat();
/// let mut difference = Difference::new(f32, f32, 2).unwrap();
/// difference.push(0, &bytes([1.0, 2.0]));
/// difference.push(1, &bytes([1.0, 2.5]));
/// assert_eq!((difference.different, difference.max, difference.max_at), (1, 0.5, Some(1)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// `None` while one is being pushed.
    feeds: [Option<Feed>; 2],
    /// Elements of one side that wait for the other.
    waiting: VecDeque<f64>,
    /// The side that they belong to.
    ahead: usize,
    /// Number of pairs compared.
    pub count: u64,
    /// Pairs whose values differ as `f64`, which integers beyond 2^53 may not; two NaN are
    /// equal.
    pub different: u64,
    /// The largest difference of a pair without NaN.
    pub max: f64,
    /// The position of that pair; `None` if no pair differs.
    pub max_at: Option<u64>,
    /// Pairs with NaN in the first only, and in the second only.
    pub nans: [u64; 2],
    /// The position of the first such pair.
    pub nan_at: Option<u64>,
    /// Pairs of finite elements, which the cosine and the error cover.
    pub finite: u64,
    dot: f64,
    squares: [f64; 2],
    /// The sum of the squared differences.
    error: f64,
    /// Non-zero finite differences, by exponent.
    sizes: Vec<u64>,
    reorder: Option<Reorder>,
}

/// Reorders the rows of one side to match the other.
#[derive(Clone, Debug)]
struct Reorder {
    side: usize,
    /// Elements per row.
    row: usize,
    /// Elements per head, which has an even number of rows.
    head: usize,
    /// Elements of the current head so far.
    waiting: Vec<f64>,
}

impl Difference {
    /// A comparison of `elements` pairs; `None` for types that are not numbers.
    ///
    /// ```
    /// use weighbridge::Difference;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// let (a, b) = ((DType::BF16, Endianness::Little), (DType::Q4_0, Endianness::Little));
    /// assert!(Difference::new(a, b, 64).is_some());
    /// ```
    pub fn new(a: (DType, Endianness), b: (DType, Endianness), elements: u64) -> Option<Self> {
        let feed = |(dtype, endianness)| Feed::new(dtype, endianness, elements);
        Some(Difference {
            feeds: [Some(feed(a)?), Some(feed(b)?)],
            waiting: VecDeque::new(),
            ahead: 0,
            count: 0,
            different: 0,
            max: 0.0,
            max_at: None,
            nans: [0; 2],
            nan_at: None,
            finite: 0,
            dot: 0.0,
            squares: [0.0; 2],
            error: 0.0,
            sizes: vec![0; EXPONENTS],
            reorder: None,
        })
    }

    /// Reorders the rows of each head of side 0 or 1 as llama.cpp's converter does for Llama's
    /// `attn_q` and `attn_k`: alternately from the two halves of a head. `row` is the number of
    /// elements per row and `rows` the number of rows per head; `None` if `rows` is odd, or a
    /// head has more than 4 Mi elements. Positions are then those of the other side.
    ///
    /// ```
    /// use weighbridge::Difference;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// let bytes = (DType::U8, Endianness::Little);
    /// let mut difference = Difference::new(bytes, bytes, 4).unwrap().reordered(0, 1, 4).unwrap();
    /// difference.push(0, &[0, 1, 2, 3]);
    /// difference.push(1, &[0, 2, 1, 3]);
    /// assert_eq!((difference.count, difference.different), (4, 0));
    /// ```
    pub fn reordered(mut self, side: usize, row: usize, rows: usize) -> Option<Self> {
        let head = row.checked_mul(rows).filter(|head| (1..=HEAD).contains(head))?;
        (side < 2 && rows.is_multiple_of(2)).then_some(())?;
        self.reorder = Some(Reorder { side, row, head, waiting: Vec::new() });
        Some(self)
    }

    /// Adds the next decoded bytes of side 0 or 1. Elements that one side is ahead are kept.
    ///
    /// ```
    /// use weighbridge::Difference;
    /// use weighbridge::weighbridge_core::{DType, Endianness};
    ///
    /// let bytes = (DType::U8, Endianness::Little);
    /// let mut difference = Difference::new(bytes, bytes, 3).unwrap();
    /// difference.push(0, &[1, 2, 3]);
    /// difference.push(1, &[1, 2]);
    /// assert_eq!((difference.count, difference.different), (2, 0));
    /// ```
    pub fn push(&mut self, side: usize, bytes: &[u8]) {
        let Some(mut feed) = self.feeds.get_mut(side).and_then(Option::take) else { return };
        feed.push(bytes, &mut |values| match self.reorder.take_if(|it| it.side == side) {
            Some(mut reorder) => {
                reorder.push(values, &mut |values| self.take(side, values));
                self.reorder = Some(reorder);
            }
            None => self.take(side, values),
        });
        self.feeds[side] = Some(feed);
    }

    fn take(&mut self, side: usize, mut values: &[f64]) {
        while self.ahead != side && !self.waiting.is_empty() && !values.is_empty() {
            let waiting = core::mem::take(&mut self.waiting);
            let (others, _) = waiting.as_slices();
            let len = others.len().min(values.len());
            let (pairs, rest) = values.split_at(len);
            let others = others.get(..len).unwrap_or_default();
            match side {
                0 => self.compare(pairs, others),
                _ => self.compare(others, pairs),
            }
            self.waiting = waiting;
            self.waiting.drain(..len);
            values = rest;
        }
        if !values.is_empty() {
            self.ahead = side;
            self.waiting.extend(values);
        }
    }

    fn compare(&mut self, a: &[f64], b: &[f64]) {
        for (a, b) in a.iter().copied().zip(b.iter().copied()) {
            if a.is_finite() && b.is_finite() {
                self.finite += 1;
                self.dot += a * b;
                self.squares[0] += a * a;
                self.squares[1] += b * b;
                self.error += (a - b) * (a - b);
                if a != b {
                    let exponent = ((a - b).to_bits() >> 52) as usize & 0x7FF;
                    self.sizes[exponent.min(EXPONENTS - 1)] += 1;
                }
            }
            if a != b && !(a.is_nan() && b.is_nan()) {
                self.differs(a, b);
            }
            self.count += 1;
        }
    }

    fn differs(&mut self, a: f64, b: f64) {
        self.different += 1;
        if a.is_nan() || b.is_nan() {
            self.nans[usize::from(b.is_nan())] += 1;
            self.nan_at.get_or_insert(self.count);
            return;
        }
        let distance = if a < b { b - a } else { a - b };
        if self.max_at.is_none() || distance > self.max {
            self.max = distance;
            self.max_at = Some(self.count);
        }
    }

    /// The cosine of the angle between the two tensors, over pairs of finite elements; NaN if
    /// either is all zero.
    ///
    /// ```
    /// # use weighbridge::Difference;
    /// # use weighbridge::weighbridge_core::{DType, Endianness};
    /// let bytes = (DType::U8, Endianness::Little);
    /// let mut difference = Difference::new(bytes, bytes, 2).unwrap();
    /// difference.push(0, &[1, 0]);
    /// difference.push(1, &[0, 1]);
    /// assert_eq!(difference.cosine(), 0.0);
    /// ```
    pub fn cosine(&self) -> f64 {
        let [a, b] = self.squares;
        self.dot / (root(a) * root(b))
    }

    /// The error relative to the first tensor: the root of the sum of squared differences over
    /// that of the first tensor's squared elements, for pairs of finite elements. 0 if they are
    /// equal, infinite if only the first is all zero, and NaN if sums of squares leave the
    /// range of `f64`.
    ///
    /// ```
    /// # use weighbridge::Difference;
    /// # use weighbridge::weighbridge_core::{DType, Endianness};
    /// let bytes = (DType::U8, Endianness::Little);
    /// let mut difference = Difference::new(bytes, bytes, 2).unwrap();
    /// difference.push(0, &[3, 4]);
    /// difference.push(1, &[3, 5]);
    /// assert_eq!(difference.relative_rms(), 0.2);
    /// ```
    pub fn relative_rms(&self) -> f64 {
        match self.sizes.iter().any(|count| *count > 0) {
            true => root(self.error) / root(self.squares[0]),
            false => 0.0,
        }
    }
}

impl Difference {
    /// The magnitudes of finite differences: `(k, counts)`, where `counts[i]` is the number of
    /// pairs with `2^(k + i) <= |a - b| < 2^(k + i + 1)`. Empty ends are left out. Subnormal
    /// differences are in the bin of 2^-1023, those beyond `f64` in that of 2^1023.
    ///
    /// ```
    /// # use weighbridge::Difference;
    /// # use weighbridge::weighbridge_core::{DType, Endianness};
    /// let bytes = (DType::U8, Endianness::Little);
    /// let mut difference = Difference::new(bytes, bytes, 3).unwrap();
    /// difference.push(0, &[9, 9, 9]);
    /// difference.push(1, &[8, 5, 9]);
    /// assert_eq!(difference.magnitudes(), (0, vec![1, 0, 1]));
    /// ```
    pub fn magnitudes(&self) -> (i32, Vec<u64>) {
        let used = |count: &u64| *count > 0;
        let Some(first) = self.sizes.iter().position(used) else { return (0, Vec::new()) };
        let last = self.sizes.iter().rposition(used).unwrap_or(first);
        (first as i32 - 1023, self.sizes[first..=last].to_vec())
    }
}

impl Reorder {
    fn push(&mut self, mut values: &[f64], take: &mut dyn FnMut(&[f64])) {
        while !values.is_empty() {
            let missing = self.head - self.waiting.len();
            let (now, later) = values.split_at(missing.min(values.len()));
            self.waiting.extend_from_slice(now);
            values = later;
            if self.waiting.len() == self.head {
                let (first, second) = self.waiting.split_at(self.head / 2);
                for (one, other) in first.chunks(self.row).zip(second.chunks(self.row)) {
                    take(one);
                    take(other);
                }
                self.waiting.clear();
            }
        }
    }
}

/// Square root by Newton's method, because `core` has none.
fn root(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return x.max(0.0);
    }
    // Halving the exponent is accurate to within a factor of 2.
    let mut root = f64::from_bits((x.to_bits() >> 1) + (1023 << 51));
    for _ in 0..8 {
        root = (root + x / root) / 2.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const F32: (DType, Endianness) = (DType::F32, Endianness::Little);

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn difference_does_not_depend_on_pieces() {
        let (a, b) = (f32s(&[1.0, 2.0, f32::NAN, 4.0]), f32s(&[1.0, 5.0, f32::NAN, 4.5]));
        let mut sums = Difference::new(F32, F32, 4).unwrap();
        sums.push(0, &a[..6]);
        sums.push(1, &b[..13]);
        sums.push(0, &a[6..]);
        sums.push(1, &b[13..]);
        assert_eq!((sums.count, sums.different), (4, 2));
        assert_eq!((sums.max, sums.max_at), (3.0, Some(1)));
        let expected = 29.0 / (21.0_f64.sqrt() * 46.25_f64.sqrt());
        assert!((sums.cosine() - expected).abs() < 1e-15);
    }

    #[test]
    fn difference_of_two_types() {
        let mut sums = Difference::new(F32, (DType::I16, Endianness::Big), 2).unwrap();
        sums.push(0, &f32s(&[256.0, -1.0]));
        sums.push(1, &[1, 0, 0xFF, 0xFF]);
        assert_eq!((sums.count, sums.different, sums.max_at), (2, 0, None));
        assert!((sums.cosine() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn infinite_difference_is_infinite() {
        let mut sums = Difference::new(F32, F32, 2).unwrap();
        sums.push(0, &f32s(&[f32::INFINITY, 0.0]));
        sums.push(1, &f32s(&[f32::NEG_INFINITY, 0.0]));
        assert_eq!((sums.max, sums.max_at), (f64::INFINITY, Some(0)));
        assert!(sums.cosine().is_nan());
    }

    #[test]
    fn nan_on_one_side_is_counted_apart() {
        let mut sums = Difference::new(F32, F32, 4).unwrap();
        sums.push(0, &f32s(&[1.0, f32::NAN, 3.0, f32::NAN]));
        sums.push(1, &f32s(&[1.5, 2.0, f32::NAN, f32::NAN]));
        assert_eq!((sums.count, sums.different, sums.finite), (4, 3, 1));
        assert_eq!((sums.nans, sums.nan_at), ([1, 1], Some(1)));
        assert_eq!((sums.max, sums.max_at), (0.5, Some(0)));
    }

    /// As NumPy computes it: `np.linalg.norm(a - b) / np.linalg.norm(a)`.
    #[test]
    fn errors_are_relative_to_the_first() {
        let mut sums = Difference::new(F32, F32, 3).unwrap();
        sums.push(1, &f32s(&[1.5, 2.0, f32::NAN]));
        sums.push(0, &f32s(&[1.0, 2.0, 3.0]));
        assert!((sums.relative_rms() - 0.5 / 5.0_f64.sqrt()).abs() < 1e-15);
        let mut zero = Difference::new(F32, F32, 1).unwrap();
        zero.push(0, &f32s(&[0.0]));
        assert_eq!(zero.relative_rms(), 0.0);
        zero.push(1, &f32s(&[1.0]));
        assert_eq!(zero.relative_rms(), f64::INFINITY);
    }

    /// As `convert_hf_to_gguf.py` does: `reshape(heads, 2, half, row).swapaxes(1, 2)`.
    #[test]
    fn rows_of_heads_are_reordered() {
        let (row, rows, heads) = (3, 4, 2);
        let theirs: Vec<f32> = (0..row * rows * heads).map(|i| i as f32).collect();
        let mut gguf = Vec::new();
        for head in theirs.chunks(row * rows) {
            for i in 0..rows / 2 {
                for j in 0..2 {
                    gguf.extend_from_slice(&head[(j * rows / 2 + i) * row..][..row]);
                }
            }
        }
        let mut sums = Difference::new(F32, F32, 24).unwrap().reordered(0, row, rows).unwrap();
        for (one, other) in f32s(&theirs).chunks(7).zip(f32s(&gguf).chunks(7)) {
            sums.push(1, other);
            sums.push(0, one);
        }
        assert_eq!((sums.count, sums.different), (24, 0));
        let new = || Difference::new(F32, F32, 24).unwrap();
        assert!(new().reordered(0, 3, 3).is_none() && new().reordered(0, 0, 2).is_none());
        assert!(
            new().reordered(0, usize::MAX, 2).is_none() && new().reordered(0, 4 << 20, 2).is_none()
        );
    }

    #[test]
    fn roots_agree_with_the_standard_library() {
        for x in [1e-300, 0.5, 1.0, 2.0, 3.0, 1e10, 1.7e308] {
            let exact: f64 = x;
            assert!((root(x) / exact.sqrt() - 1.0).abs() < 1e-15, "{x}");
        }
        assert_eq!(root(0.0), 0.0);
    }
}
