//! Two tensors, element by element.

use super::Feed;
use alloc::collections::VecDeque;
use weighbridge_core::{DType, Endianness};

/// Compares elements in order, whatever their types.
#[derive(Debug)]
pub struct Difference {
    feeds: [Feed; 2],
    /// Elements of one side that wait for the other.
    waiting: VecDeque<f64>,
    /// Which side they are of.
    ahead: usize,
    /// Pairs that were compared.
    pub count: u64,
    /// Pairs whose values differ; two NaN are equal.
    pub different: u64,
    /// The greatest difference, pairs with a NaN left out.
    pub greatest: f64,
    /// Where it is.
    pub at: Option<u64>,
    /// NaN in the first only, and in the second only.
    pub nans: [u64; 2],
    /// The first pair of these.
    pub nan_at: Option<u64>,
    /// Pairs of finite elements, which the cosine is of.
    pub finite: u64,
    dot: f64,
    squares: [f64; 2],
}

impl Difference {
    /// Of `elements` elements; `None` for types that are not numbers.
    pub fn new(a: (DType, Endianness), b: (DType, Endianness), elements: u64) -> Option<Self> {
        let feeds = [Feed::new(a.0, a.1, elements)?, Feed::new(b.0, b.1, elements)?];
        Some(Difference {
            feeds,
            waiting: VecDeque::new(),
            ahead: 0,
            count: 0,
            different: 0,
            greatest: 0.0,
            at: None,
            nans: [0; 2],
            nan_at: None,
            finite: 0,
            dot: 0.0,
            squares: [0.0; 2],
        })
    }

    /// Takes the next bytes of side 0 or 1.
    pub fn push(&mut self, side: usize, bytes: &[u8]) {
        let Difference { feeds, waiting, ahead, count, different, greatest, at, .. } = self;
        let (nans, nan_at, finite) = (&mut self.nans, &mut self.nan_at, &mut self.finite);
        let (dot, squares) = (&mut self.dot, &mut self.squares);
        let Some(feed) = feeds.get_mut(side) else { return };
        feed.push(bytes, &mut |value| {
            if waiting.is_empty() || *ahead == side {
                *ahead = side;
                waiting.push_back(value);
                return;
            }
            let Some(other) = waiting.pop_front() else { return };
            let (a, b) = if side == 0 { (value, other) } else { (other, value) };
            let same = a == b || (a.is_nan() && b.is_nan());
            *different += u64::from(!same);
            if same {
            } else if a.is_nan() || b.is_nan() {
                nans[usize::from(b.is_nan())] += 1;
                nan_at.get_or_insert(*count);
            } else {
                let distance = if a < b { b - a } else { a - b };
                if at.is_none() || distance > *greatest {
                    *greatest = distance;
                    *at = Some(*count);
                }
            }
            if a.is_finite() && b.is_finite() {
                *finite += 1;
                *dot += a * b;
                squares[0] += a * a;
                squares[1] += b * b;
            }
            *count += 1;
        });
    }

    /// The cosine of the angle between the two, over pairs of finite elements;
    /// NaN if either is all zero.
    pub fn cosine(&self) -> f64 {
        let [a, b] = self.squares;
        self.dot / (root(a) * root(b))
    }
}

/// Square root by Newton's method: `core` has none. Wasm has an instruction,
/// but only the standard library names it.
fn root(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return x.max(0.0);
    }
    // Halving the exponent is right within a factor of 2.
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
    fn sides_may_come_in_any_pieces() {
        let (a, b) = (f32s(&[1.0, 2.0, f32::NAN, 4.0]), f32s(&[1.0, 5.0, f32::NAN, 4.5]));
        let mut sums = Difference::new(F32, F32, 4).unwrap();
        sums.push(0, &a[..6]);
        sums.push(1, &b[..13]);
        sums.push(0, &a[6..]);
        sums.push(1, &b[13..]);
        assert_eq!((sums.count, sums.different), (4, 2));
        assert_eq!((sums.greatest, sums.at), (3.0, Some(1)));
        let expected = 29.0 / (21.0_f64.sqrt() * 46.25_f64.sqrt());
        assert!((sums.cosine() - expected).abs() < 1e-15);
    }

    #[test]
    fn types_may_differ() {
        let mut sums = Difference::new(F32, (DType::I16, Endianness::Big), 2).unwrap();
        sums.push(0, &f32s(&[256.0, -1.0]));
        sums.push(1, &[1, 0, 0xFF, 0xFF]);
        assert_eq!((sums.count, sums.different, sums.at), (2, 0, None));
        assert!((sums.cosine() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn infinities_differ_without_end() {
        let mut sums = Difference::new(F32, F32, 2).unwrap();
        sums.push(0, &f32s(&[f32::INFINITY, 0.0]));
        sums.push(1, &f32s(&[f32::NEG_INFINITY, 0.0]));
        assert_eq!((sums.greatest, sums.at), (f64::INFINITY, Some(0)));
        assert!(sums.cosine().is_nan());
    }

    #[test]
    fn nan_on_one_side_is_no_distance() {
        let mut sums = Difference::new(F32, F32, 4).unwrap();
        sums.push(0, &f32s(&[1.0, f32::NAN, 3.0, f32::NAN]));
        sums.push(1, &f32s(&[1.5, 2.0, f32::NAN, f32::NAN]));
        assert_eq!((sums.count, sums.different, sums.finite), (4, 3, 1));
        assert_eq!((sums.nans, sums.nan_at), ([1, 1], Some(1)));
        assert_eq!((sums.greatest, sums.at), (0.5, Some(0)));
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
