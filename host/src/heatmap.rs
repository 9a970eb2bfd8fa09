//! A two-dimensional slice of a dense tensor, averaged into cells.

use crate::feed::Feed;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Endianness};

/// Most cells of a picture.
const MOST: u64 = 1 << 24;

/// Two axes of a tensor, at a position on every other.
///
/// ```
/// use weighbridge::heatmap::Slice;
///
/// // Rows and columns of the second of three matrices.
/// let slice = Slice { shape: vec![3, 64, 64], row_axis: 1, column_axis: 2, fixed: vec![1, 0, 0] };
/// assert_eq!(slice.shape[slice.row_axis], 64);
/// ```
#[derive(Clone, Debug)]
pub struct Slice {
    /// Extents in storage order, the last varying fastest.
    pub shape: Vec<u64>,
    /// The axes that span the picture; the same one twice for a single row.
    pub row_axis: usize,
    /// The axis from left to right.
    pub column_axis: usize,
    /// The position on every other axis.
    pub fixed: Vec<u64>,
}

/// A picture of a slice, made of elements that come in pieces of any length.
///
/// ```
/// use weighbridge::heatmap::{Heatmap, Slice};
/// use weighbridge::{DType, Endianness};
///
/// let slice = Slice { shape: vec![2, 4], row_axis: 0, column_axis: 1, fixed: vec![0, 0] };
/// let mut map = Heatmap::new(DType::U8, Endianness::Little, slice, 2, 2).unwrap();
/// for piece in [&[1, 3, 5][..], &[7, 0, 0, 2, 4]] {
///     map.push(piece);
/// }
/// let means: Vec<f32> = map.cells().map(|cell| cell.mean).collect();
/// assert_eq!(means, [2.0, 6.0, 0.0, 3.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Heatmap {
    feed: Feed,
    slice: Slice,
    /// Extents of the two axes.
    rows: u64,
    columns: u64,
    /// Cells.
    pub height: u64,
    /// Cells.
    pub width: u64,
    /// The elements that matter lie here.
    pub from: u64,
    /// The elements that matter end here.
    pub to: u64,
    /// The bytes that hold them begin here,
    pub first_byte: u64,
    /// and end here.
    pub last_byte: u64,
    /// Position of the next element on every axis.
    at: Vec<u64>,
    sums: Vec<Sums>,
}

/// A cell of a picture, in which several elements may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The mean of those that are finite; NaN if there are none.
    pub mean: f32,
    /// The least of them.
    pub least: f32,
    /// The greatest of them.
    pub greatest: f32,
    /// How many are not finite.
    pub bad: u32,
}

#[derive(Clone, Copy, Debug)]
struct Sums {
    sum: f64,
    count: u32,
    bad: u32,
    least: f32,
    greatest: f32,
}

impl Heatmap {
    /// A picture of at most `height` × `width` cells; `None` if the type is no number, or the
    /// axes or positions are not in the shape.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice { shape: vec![2, 4], row_axis: 0, column_axis: 1, fixed: vec![0, 0] };
    /// let mut map = Heatmap::new(DType::U8, Endianness::Little, slice, 2, 2).unwrap();
    /// assert_eq!((map.height, map.width), (2, 2));
    /// ```
    pub fn new(
        dtype: DType,
        endianness: Endianness,
        slice: Slice,
        height: u64,
        width: u64,
    ) -> Option<Heatmap> {
        let Slice { shape, row_axis, column_axis, fixed } = &slice;
        let columns = *shape.get(*column_axis)?;
        let rows = if row_axis == column_axis { 1 } else { *shape.get(*row_axis)? };
        let free = |axis: usize| axis == *row_axis || axis == *column_axis;
        // The first and the last element of the slice.
        let (mut from, mut to, mut step) = (0_u64, 0_u64, 1_u64);
        let mut at = vec![0; shape.len()];
        for (axis, extent) in shape.iter().enumerate().rev() {
            let (first, last) = if free(axis) {
                (0, extent.saturating_sub(1))
            } else {
                let position = *fixed.get(axis)?;
                (position, position)
            };
            if first > 0 && first >= *extent {
                return None;
            }
            from = from.checked_add(first.checked_mul(step)?)?;
            to = to.checked_add(last.checked_mul(step)?)?;
            step = step.checked_mul(*extent)?;
            *at.get_mut(axis)? = first;
        }
        let to = if step == 0 { from } else { to.checked_add(1)? };
        let (height, width) = (height.clamp(1, rows.max(1)), width.clamp(1, columns.max(1)));
        let cells = height.checked_mul(width).filter(|cells| *cells <= MOST)?;
        // Packed elements begin inside a byte, others inside a block, which is
        // pushed as a whole.
        let (unit, stored) = dtype.unit()?;
        let (unit, stored) = (u64::from(unit), u64::from(stored));
        let skip = from % unit;
        let feed = Feed::new(dtype, endianness, to - from + skip)?;
        let mut map = Heatmap {
            feed,
            rows,
            columns,
            height,
            width,
            from: from - skip,
            to,
            first_byte: (from / unit).checked_mul(stored)?,
            last_byte: to.div_ceil(unit).checked_mul(stored)?,
            at,
            sums: vec![Sums::NONE; cells as usize],
            slice,
        };
        for _ in 0..skip {
            map.back();
        }
        Some(map)
    }

    /// Takes the next bytes, the first of which holds element `from`.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice { shape: vec![2, 4], row_axis: 0, column_axis: 1, fixed: vec![0, 0] };
    /// let mut map = Heatmap::new(DType::U8, Endianness::Little, slice, 2, 2).unwrap();
    /// map.push(&[1, 3, 5, 7]);
    /// assert_eq!(map.cells().nth(1).unwrap().greatest, 7.0);
    /// ```
    pub fn push(&mut self, bytes: &[u8]) {
        let Heatmap { feed, slice, rows, columns, height, width, at, sums, .. } = self;
        let (row_axis, column_axis) = (slice.row_axis, slice.column_axis);
        feed.push(bytes, &mut |values| {
            for value in values.iter().copied() {
                let outside = at.iter().zip(&slice.fixed).enumerate().any(|(axis, (at, fixed))| {
                    axis != row_axis && axis != column_axis && at != fixed
                });
                if !outside {
                    let row = if row_axis == column_axis { 0 } else { at[row_axis] };
                    let cell = scale(row, *height, *rows) * *width
                        + scale(at[column_axis], *width, *columns);
                    if let Some(sums) = sums.get_mut(cell as usize) {
                        sums.add(value);
                    }
                }
                for (position, extent) in at.iter_mut().zip(&slice.shape).rev() {
                    *position += 1;
                    if *position < *extent {
                        break;
                    }
                    *position = 0;
                }
            }
        });
    }

    /// One element back.
    fn back(&mut self) {
        for (position, extent) in self.at.iter_mut().zip(&self.slice.shape).rev() {
            match position.checked_sub(1) {
                Some(before) => {
                    *position = before;
                    break;
                }
                None => *position = extent.saturating_sub(1),
            }
        }
    }

    /// The cells, row by row.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice { shape: vec![2, 4], row_axis: 0, column_axis: 1, fixed: vec![0, 0] };
    /// let mut map = Heatmap::new(DType::U8, Endianness::Little, slice, 2, 2).unwrap();
    /// map.push(&[1; 8]);
    /// assert!(map.cells().all(|cell| cell.mean == 1.0 && cell.bad == 0));
    /// ```
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell> {
        self.sums.iter().map(Sums::cell)
    }
}

impl Sums {
    const NONE: Sums =
        Sums { sum: 0.0, count: 0, bad: 0, least: f32::INFINITY, greatest: f32::NEG_INFINITY };

    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count = self.count.saturating_add(1);
            self.least = self.least.min(value as f32);
            self.greatest = self.greatest.max(value as f32);
        } else {
            self.bad = self.bad.saturating_add(1);
        }
    }

    fn cell(&self) -> Cell {
        let Sums { sum, count, bad, least, greatest } = *self;
        if count == 0 {
            return Cell { mean: f32::NAN, least: f32::NAN, greatest: f32::NAN, bad };
        }
        Cell { mean: (sum / f64::from(count)) as f32, least, greatest, bad }
    }
}

/// The cell of `cells` that position `at` of `extent` falls into.
fn scale(at: u64, cells: u64, extent: u64) -> u64 {
    (u128::from(at) * u128::from(cells) / u128::from(extent.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(shape: &[u64], axes: (usize, usize), fixed: &[u64], size: (u64, u64)) -> Vec<f32> {
        let elements: u64 = shape.iter().product();
        let bytes: Vec<u8> = (0..elements).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let slice = Slice {
            shape: shape.to_vec(),
            row_axis: axes.0,
            column_axis: axes.1,
            fixed: fixed.to_vec(),
        };
        let mut map = Heatmap::new(DType::F32, Endianness::Little, slice, size.0, size.1).unwrap();
        map.push(&bytes[map.from as usize * 4..map.to as usize * 4]);
        map.cells().map(|cell| cell.mean).collect()
    }

    #[test]
    fn slices_along_any_axes() {
        assert_eq!(draw(&[2, 3], (0, 1), &[0, 0], (2, 3)), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(draw(&[2, 3], (1, 0), &[0, 0], (3, 2)), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        assert_eq!(draw(&[2, 2, 2], (0, 2), &[0, 1, 0], (2, 2)), [2.0, 3.0, 6.0, 7.0]);
        assert_eq!(draw(&[4], (0, 0), &[0], (9, 2)), [0.5, 2.5]);
        assert_eq!(draw(&[4, 4], (0, 1), &[0, 0], (2, 2)), [2.5, 4.5, 10.5, 12.5]);
    }

    #[test]
    fn packed_elements_may_begin_inside_a_byte() {
        let slice = Slice { shape: vec![2, 3], row_axis: 1, column_axis: 1, fixed: vec![1, 0] };
        let mut map = Heatmap::new(DType::U4, Endianness::Little, slice, 1, 3).unwrap();
        assert_eq!((map.from, map.to), (2, 6));
        map.push(&[0x32, 0x54]);
        let cells: Vec<f32> = map.cells().map(|cell| cell.mean).collect();
        assert_eq!(cells, [3.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_not_in_the_shape_is_refused() {
        let slice = |fixed: &[u64]| Slice {
            shape: vec![2, 3, 4],
            row_axis: 1,
            column_axis: 2,
            fixed: fixed.to_vec(),
        };
        let new = |fixed: &[u64]| {
            Heatmap::new(DType::F32, Endianness::Little, slice(fixed), 8, 8).is_some()
        };
        assert!(new(&[1, 0, 0]));
        assert!(!new(&[2, 0, 0]));
        assert!(!new(&[]));
        let huge =
            Slice { shape: vec![u64::MAX, 2], row_axis: 0, column_axis: 1, fixed: vec![0, 0] };
        assert!(Heatmap::new(DType::F32, Endianness::Little, huge, 8, 8).is_none());
    }
}
