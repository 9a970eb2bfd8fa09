//! A two-dimensional slice of a dense tensor, averaged into cells.

mod walk;

use crate::analyse::feed::Feed;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use walk::{Axis, Sums, Walk};
use weighbridge_core::{DType, Endianness};

/// Maximum number of cells in a picture.
const MOST: u64 = 1 << 24;

/// Two axes of a tensor, at a fixed position on each of the others.
///
/// ```
/// use weighbridge::heatmap::Slice;
///
/// // Rows and columns of the second of three matrices.
/// let slice = Slice::whole(vec![3, 64, 64], 1, 2, vec![1, 0, 0]);
/// assert_eq!(slice.shape[slice.row_axis], 64);
/// ```
#[derive(Clone, Debug)]
pub struct Slice {
    /// Extents in storage order, the last varying fastest.
    pub shape: Vec<u64>,
    /// The axis from top to bottom; the same as the column axis for a single row.
    pub row_axis: usize,
    /// The axis from left to right.
    pub column_axis: usize,
    /// The position on every other axis.
    pub fixed: Vec<u64>,
    /// Rows and columns of the slice to draw; all of them if `None`.
    pub window: Option<(Range<u64>, Range<u64>)>,
    /// Whether to draw the scales of blocks instead of the elements.
    pub scales: bool,
}

impl Slice {
    /// A slice of elements, drawn in full.
    ///
    /// ```
    /// let slice = weighbridge::heatmap::Slice::whole(vec![2, 4], 0, 1, vec![0, 0]);
    /// assert!(slice.window.is_none() && !slice.scales);
    /// ```
    pub fn whole(shape: Vec<u64>, row_axis: usize, column_axis: usize, fixed: Vec<u64>) -> Slice {
        Slice { shape, row_axis, column_axis, fixed, window: None, scales: false }
    }
}

/// A picture of a slice, built from elements that arrive in pieces of any length.
///
/// ```
/// use weighbridge::heatmap::{Heatmap, Slice};
/// use weighbridge::{DType, Endianness};
///
/// let slice = Slice::whole(vec![2, 4], 0, 1, vec![0, 0]);
/// let mut map = Heatmap::new(DType::U8, Endianness::Little, &slice, 2, 2).unwrap();
/// for piece in [&[1, 3, 5][..], &[7, 0, 0, 2, 4]] {
///     map.push(piece);
/// }
/// let means: Vec<f32> = map.cells().map(|cell| cell.mean).collect();
/// assert_eq!(means, [2.0, 6.0, 0.0, 3.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Heatmap {
    feed: Feed,
    /// Height in cells.
    pub height: u64,
    /// Width in cells.
    pub width: u64,
    /// First element of the slice.
    pub from: u64,
    /// End of the slice's elements, exclusive.
    pub to: u64,
    /// First byte of the slice.
    pub first_byte: u64,
    /// End of the slice in bytes, exclusive.
    pub last_byte: u64,
    walk: Walk,
    sums: Vec<Sums>,
}

/// A cell of a picture, which may combine several elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The mean of the finite elements; NaN if there are none.
    pub mean: f32,
    /// The least finite element.
    pub least: f32,
    /// The greatest finite element.
    pub greatest: f32,
    /// Number of non-finite elements.
    pub bad: u32,
}

impl Heatmap {
    /// Creates a picture of at most `height` × `width` cells; `None` if the type is not
    /// numeric, or the shape does not contain the axes, positions or window.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice::whole(vec![2, 4], 0, 1, vec![0, 0]);
    /// let map = Heatmap::new(DType::U8, Endianness::Little, &slice, 2, 2).unwrap();
    /// assert_eq!((map.height, map.width), (2, 2));
    /// ```
    pub fn new(
        dtype: DType,
        endianness: Endianness,
        slice: &Slice,
        height: u64,
        width: u64,
    ) -> Option<Heatmap> {
        let Slice { shape, row_axis, column_axis, fixed, window, scales } = slice;
        let single = row_axis == column_axis;
        let columns = *shape.get(*column_axis)?;
        let rows = if single { 1 } else { *shape.get(*row_axis)? };
        let (rows, columns) = match window {
            None => (0..rows, 0..columns),
            Some((r, c)) => {
                let inside =
                    |range: &Range<u64>, extent| range.start < range.end && range.end <= extent;
                (inside(r, rows) && inside(c, columns)).then(|| (r.clone(), c.clone()))?
            }
        };
        let (high, wide) = (rows.end - rows.start, columns.end - columns.start);
        let (height, width) = (height.clamp(1, high.max(1)), width.clamp(1, wide.max(1)));
        let cells = height.checked_mul(width).filter(|cells| *cells <= MOST)?;
        // The first and the last element of the slice.
        let (mut from, mut to, mut step) = (0_u64, 0_u64, 1_u64);
        let mut axes = Vec::with_capacity(shape.len());
        for (axis, extent) in shape.iter().copied().enumerate().rev() {
            let (drawn, cells, cell_step) = if axis == *column_axis {
                (columns.clone(), width, 1)
            } else if axis == *row_axis {
                (rows.clone(), height, width)
            } else {
                let position = *fixed.get(axis)?;
                (position..position.checked_add(1)?, 1, 0)
            };
            let (at, last) = (drawn.start, drawn.end.saturating_sub(1));
            if last > 0 && last >= extent {
                return None;
            }
            from = from.checked_add(at.checked_mul(step)?)?;
            to = to.checked_add(last.checked_mul(step)?)?;
            step = step.checked_mul(extent)?;
            axes.push(Axis { extent, at, drawn, cells, step: cell_step });
        }
        axes.reverse();
        let last = axes.pop()?;
        let to = if step == 0 { from } else { to.checked_add(1)? };
        // Packed elements may start inside a byte, others inside a block, which is pushed as a
        // whole.
        let (unit, stored) = dtype.unit()?;
        let (unit, stored) = (u64::from(unit), u64::from(stored));
        let skip = from % unit;
        let feed = Feed::new(dtype, endianness, to - from + skip)?;
        let ends = (0..last.cells).map(|i| last.end(i)).collect();
        let mut walk = Walk { outer: axes, last, ends, next: 0, base: None };
        for _ in 0..skip {
            walk.back();
        }
        walk.begin();
        Some(Heatmap {
            feed: if *scales { feed.scales()? } else { feed },
            height,
            width,
            from: from - skip,
            to,
            first_byte: (from / unit).checked_mul(stored)?,
            last_byte: to.div_ceil(unit).checked_mul(stored)?,
            walk,
            sums: vec![Sums::NONE; cells as usize],
        })
    }

    /// Adds the next bytes, starting with element `from`.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice::whole(vec![2, 4], 0, 1, vec![0, 0]);
    /// let mut map = Heatmap::new(DType::U8, Endianness::Little, &slice, 2, 2).unwrap();
    /// map.push(&[1, 3, 5, 7]);
    /// assert_eq!(map.cells().nth(1).unwrap().greatest, 7.0);
    /// ```
    pub fn push(&mut self, bytes: &[u8]) {
        let Heatmap { feed, walk, sums, .. } = self;
        feed.push(bytes, &mut |values| walk.take(values, sums));
    }

    /// The cells, row by row.
    ///
    /// ```
    /// use weighbridge::heatmap::{Heatmap, Slice};
    /// use weighbridge::{DType, Endianness};
    ///
    /// let slice = Slice::whole(vec![2, 4], 0, 1, vec![0, 0]);
    /// let mut map = Heatmap::new(DType::U8, Endianness::Little, &slice, 2, 2).unwrap();
    /// map.push(&[1; 8]);
    /// assert!(map.cells().all(|cell| cell.mean == 1.0 && cell.bad == 0));
    /// ```
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell> {
        self.sums.iter().map(Sums::cell)
    }
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
            window: None,
            scales: false,
        };
        let mut map = Heatmap::new(DType::F32, Endianness::Little, &slice, size.0, size.1).unwrap();
        map.push(&bytes[map.from as usize * 4..map.to as usize * 4]);
        map.cells().map(|cell| cell.mean).collect()
    }

    /// Adds each element individually, as a reference.
    fn slowly(shape: &[u64], values: &[f32], slice: &Slice, size: (u64, u64)) -> Vec<[f64; 4]> {
        let Slice { row_axis, column_axis, fixed, window, .. } = slice;
        let rows = if row_axis == column_axis { 1 } else { shape[*row_axis] };
        let (rows, columns) = window.clone().unwrap_or((0..rows, 0..shape[*column_axis]));
        let (high, wide) = (rows.end - rows.start, columns.end - columns.start);
        let (height, width) = (size.0.min(high), size.1.min(wide));
        let none = [0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
        let mut cells = vec![none; (height * width) as usize];
        for (i, value) in values.iter().enumerate() {
            let mut rest = i as u64;
            let mut at = vec![0; shape.len()];
            for (at, extent) in at.iter_mut().zip(shape).rev() {
                (*at, rest) = (rest % extent, rest / extent);
            }
            let row = if row_axis == column_axis { 0 } else { at[*row_axis] };
            let column = at[*column_axis];
            let free = |axis| axis == *row_axis || axis == *column_axis;
            let here = at
                .iter()
                .zip(fixed)
                .enumerate()
                .all(|(axis, (at, fixed))| free(axis) || at == fixed);
            if here && rows.contains(&row) && columns.contains(&column) {
                let cell = (row - rows.start) * height / high * width
                    + (column - columns.start) * width / wide;
                let cell = &mut cells[cell as usize];
                let value = f64::from(*value);
                if value.is_finite() {
                    *cell =
                        [cell[0] + value, cell[1] + 1.0, cell[2].min(value), cell[3].max(value)];
                }
            }
        }
        cells
    }

    #[test]
    fn window_of_slice_matches_elements() {
        let shape = [3, 5, 7, 4];
        let count: u64 = shape.iter().product();
        let value = |i: u64| if i % 53 == 9 { f32::NAN } else { (i * i % 101) as f32 - 30.0 };
        let values: Vec<f32> = (0..count).map(value).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let fixed = vec![1, 3, 2, 2];
        let mut tried = 0;
        for (row_axis, column_axis) in
            (0..4).flat_map(|row| (0..4).map(move |column| (row, column)))
        {
            let rows = if row_axis == column_axis { 1 } else { shape[row_axis] };
            let columns = shape[column_axis];
            for window in [None, Some((0..1, 1..columns)), Some((rows / 3..rows, 0..columns - 1))] {
                for (size, cut) in [((9, 9), 1000), ((2, 3), 13), ((1, 2), 5)] {
                    let fixed = fixed.clone();
                    let window = window.clone();
                    let slice = Slice {
                        shape: shape.to_vec(),
                        row_axis,
                        column_axis,
                        fixed,
                        window,
                        scales: false,
                    };
                    let mut map =
                        Heatmap::new(DType::F32, Endianness::Little, &slice, size.0, size.1)
                            .unwrap();
                    let part = &bytes[map.first_byte as usize..map.last_byte as usize];
                    part.chunks(cut).for_each(|piece| map.push(piece));
                    let expected = slowly(&shape, &values, &slice, size);
                    assert_eq!(map.cells().len(), expected.len());
                    for (cell, [sum, count, least, greatest]) in map.cells().zip(expected) {
                        if count > 0.0 {
                            let found = (cell.mean, cell.least.into(), cell.greatest.into());
                            assert_eq!(found, ((sum / count) as f32, least, greatest), "{slice:?}");
                        } else {
                            assert!(cell.mean.is_nan());
                        }
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 500, "{tried}");
    }

    /// Two blocks of 32 elements, with scales of 1 and 2.
    #[test]
    fn scales_of_blocks() {
        let mut bytes = [0x99; 36];
        (bytes[0], bytes[1], bytes[18], bytes[19]) = (0x00, 0x3C, 0x00, 0x40);
        let slice = |scales| Slice {
            shape: vec![2, 32],
            row_axis: 0,
            column_axis: 1,
            fixed: vec![0, 0],
            window: Some((0..2, 30..32)),
            scales,
        };
        for (scales, expected) in [(true, [1.0, 2.0]), (false, [2.0, 2.0])] {
            let mut map =
                Heatmap::new(DType::Q4_0, Endianness::Little, &slice(scales), 2, 1).unwrap();
            assert_eq!((map.first_byte, map.last_byte), (0, 36));
            bytes.chunks(7).for_each(|piece| map.push(piece));
            assert!(map.cells().map(|cell| cell.mean).eq(expected));
            // Code 9 means 1, so elements equal their scales; code 11 means 3.
            bytes[17] = 0xB9;
        }
        assert!(Heatmap::new(DType::F32, Endianness::Little, &slice(true), 2, 1).is_none());
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
        let slice = Slice {
            shape: vec![2, 3],
            row_axis: 1,
            column_axis: 1,
            fixed: vec![1, 0],
            window: None,
            scales: false,
        };
        let mut map = Heatmap::new(DType::U4, Endianness::Little, &slice, 1, 3).unwrap();
        assert_eq!((map.from, map.to), (2, 6));
        map.push(&[0x32, 0x54]);
        let cells: Vec<f32> = map.cells().map(|cell| cell.mean).collect();
        assert_eq!(cells, [3.0, 4.0, 5.0]);
    }

    #[test]
    fn slice_outside_shape_is_refused() {
        let slice = |fixed: &[u64]| Slice {
            shape: vec![2, 3, 4],
            row_axis: 1,
            column_axis: 2,
            fixed: fixed.to_vec(),
            window: None,
            scales: false,
        };
        let new = |fixed: &[u64]| {
            Heatmap::new(DType::F32, Endianness::Little, &slice(fixed), 8, 8).is_some()
        };
        assert!(new(&[1, 0, 0]));
        assert!(!new(&[2, 0, 0]));
        assert!(!new(&[]));
        let outside = Slice { window: Some((0..4, 0..1)), ..slice(&[1, 0, 0]) };
        assert!(Heatmap::new(DType::F32, Endianness::Little, &outside, 8, 8).is_none());
        let huge = Slice { shape: vec![u64::MAX, 2], fixed: vec![0, 0], ..slice(&[]) };
        let huge = Slice { row_axis: 0, column_axis: 1, ..huge };
        assert!(Heatmap::new(DType::F32, Endianness::Little, &huge, 8, 8).is_none());
    }
}
