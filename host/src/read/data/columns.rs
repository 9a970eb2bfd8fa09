//! Reads column-major elements in row-major order.

use crate::base::error::Error;
use crate::check::access::Access;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of elements reordered at a time.
const ORDERED: usize = 16 << 20;
/// Bytes read at a time when the wanted elements lie apart.
const PAGE: usize = 4 << 10;

/// Elements stored with the first axis fastest.
pub(super) struct Columns<'e> {
    /// Bytes per element.
    pub(super) width: u64,
    /// None of them is 0.
    pub(super) extents: &'e [u64],
}

impl Columns<'_> {
    /// Calls `take` with the first `count` elements in row-major order, of raw data at the offset
    /// `data`.
    pub(super) fn read<E: From<Error>>(
        &self,
        access: &Access<'_>,
        data: u64,
        count: u64,
        take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut near = Near::default();
        self.gather(count, |place, run| near.read(access, data + place, run), take)
    }

    /// Like [`read`](Self::read), of decoded data.
    pub(super) fn turn<E: From<Error>>(
        &self,
        decoded: &[u8],
        count: u64,
        take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let cut = || Error::Unsupported("its data is too short for its shape".into());
        let copy = |place: u64, run: &mut [u8]| {
            let from = usize::try_from(place).unwrap_or(usize::MAX);
            let bytes = decoded.get(from..).and_then(|rest| rest.get(..run.len()));
            run.copy_from_slice(bytes.ok_or_else(cut)?);
            Ok(())
        };
        self.gather(count, copy, take)
    }

    /// Handles as many rows at a time as fit into memory, with one call of `fill` for each run
    /// along the first axis: its place from the first element, in bytes.
    fn gather<E: From<Error>>(
        &self,
        count: u64,
        mut fill: impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((first, others)) = self.extents.split_first() else { return Ok(()) };
        let row: u64 = others.iter().product();
        let room = (ORDERED as u64 / self.width).max(1);
        let mut done = 0;
        while done < count {
            let (at, column) = (done / row, done % row);
            let wanted = (count - done).div_ceil(row);
            let rows = if row <= room { (room / row).min(first - at).min(wanted) } else { 1 };
            let columns = if rows > 1 { row } else { room.min(row - column).min(count - done) };
            let width = self.width as usize;
            let mut piece = vec![0; (rows * columns) as usize * width];
            let mut run = vec![0; rows as usize * width];
            for k in 0..columns {
                let place = (column_major(column + k, others) * first + at) * self.width;
                fill(place, &mut run)?;
                let cells = piece.chunks_exact_mut(columns as usize * width);
                for (cells, bytes) in cells.zip(run.chunks_exact(width)) {
                    cells[k as usize * width..][..width].copy_from_slice(bytes);
                }
            }
            let here = (rows * columns).min(count - done);
            take(&piece[..here as usize * width], here)?;
            done += here;
        }
        Ok(())
    }
}

/// Converts the row-major position `at` of an element of an array with these extents to its
/// column-major position.
///
/// ```
/// let places: Vec<u64> = (0..6).map(|at| weighbridge::column_major(at, &[2, 3])).collect();
/// assert_eq!(places, [0, 2, 4, 1, 3, 5]);
/// ```
pub fn column_major(mut at: u64, extents: &[u64]) -> u64 {
    let indices = extents.iter().rev().map(|extent| {
        let extent = (*extent).max(1);
        let index = at % extent;
        at /= extent;
        (index, extent)
    });
    // From the last axis to the first, the way they nest.
    indices.fold(0_u64, |place, (index, extent)| place.wrapping_mul(extent).wrapping_add(index))
}

/// A page of the file, for short runs that lie close together.
#[derive(Default)]
struct Near {
    at: u64,
    bytes: Vec<u8>,
}

impl Near {
    fn read(&mut self, access: &Access<'_>, at: u64, into: &mut [u8]) -> Result<(), Error> {
        if into.len() >= PAGE {
            return access.read(at, into);
        }
        let held = |near: &Near| {
            let from = usize::try_from(at.checked_sub(near.at)?).ok()?;
            Some(from..from.checked_add(into.len())?).filter(|it| it.end <= near.bytes.len())
        };
        if held(self).is_none() {
            let len = (access.len() - at).min(PAGE as u64);
            self.bytes.resize(len as usize, 0);
            self.at = at;
            access.read(at, &mut self.bytes)?;
        }
        if let Some(range) = held(self) {
            into.copy_from_slice(&self.bytes[range]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_major_element_positions() {
        let places: Vec<_> = (0..8).map(|at| column_major(at, &[2, 1, 2, 2])).collect();
        assert_eq!(places, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(column_major(0, &[]), 0);
    }
}
