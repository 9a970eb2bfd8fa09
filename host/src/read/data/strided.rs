//! Reads the elements of a view with strides in row-major order.

use crate::base::error::Error;
use crate::check::access::Access;
use crate::list::entry::Shape;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Chunks, Stop, Tensor};

/// Most bytes of the range that holds the elements: they are kept, because elements of a row may
/// lie at both ends of it.
const KEPT: u64 = 1 << 30;
/// Bytes of elements gathered at a time.
const PIECE: usize = 256 << 10;

/// A view of elements that lie in one range.
struct View {
    /// Bytes per element.
    width: usize,
    extents: Vec<u64>,
    /// In elements.
    strides: Vec<u64>,
}

/// Calls `take` with the first `len` bytes of the elements, piece by piece.
pub(super) fn bytes<E: From<Error>>(
    access: &Access<'_>,
    tensor: &Tensor,
    len: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let Chunks::One(range) = tensor.chunks else { return Ok(()) };
    let (Some((1, width)), Some(at)) = (tensor.unit(), tensor.strides()) else {
        return Err(Error::Unsupported("its elements share bytes".into()).into());
    };
    let shape = access.ask(|source| Shape::read(source, tensor))?;
    let strides = access.ask(|source| {
        let bytes = source.get(at).map_err(Stop::NeedBytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<u64>>())
    })?;
    let extents = shape.known().unwrap_or_default();
    // One stored element may stand for any number of them.
    if range.len > KEPT || len > access.options().work_of(access.len()) {
        return Err(Error::Memory(range.len.max(len)).into());
    }
    let view = View { width: width as usize, extents, strides };
    if let Some(stored) = access.resident(range) {
        return view.gather(stored, len, &mut take);
    }
    let mut stored = vec![0; usize::try_from(range.len).unwrap_or(usize::MAX)];
    access.read(range.offset, &mut stored)?;
    view.gather(&stored, len, &mut take)
}

impl View {
    /// Calls `take` with the first `len` bytes of the elements, which lie in `stored`.
    fn gather<E: From<Error>>(
        &self,
        stored: &[u8],
        len: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let cut = || Error::Unsupported("its data is too short for its shape".into());
        let (last, outer) = match (self.extents.split_last(), self.strides.split_last()) {
            (Some((extent, outer)), Some((stride, _))) => ((*extent, *stride), outer),
            _ => ((1, 1), &[][..]),
        };
        let mut index = vec![0; outer.len()];
        let (mut left, mut place) = (len, 0_u64);
        let mut piece = Vec::with_capacity(PIECE);
        while left > 0 && last.0 > 0 {
            for column in 0..last.0 {
                if left == 0 {
                    break;
                }
                let at = (place + column * last.1) * self.width as u64;
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let element = stored.get(at..).and_then(|rest| rest.get(..self.width));
                piece.extend_from_slice(element.ok_or_else(cut)?);
                left = left.saturating_sub(self.width as u64);
                if piece.len() + self.width > PIECE {
                    take(&piece)?;
                    piece.clear();
                }
            }
            // The next row.
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else {
                    left = 0;
                    break;
                };
                axis = next;
                index[axis] += 1;
                place += self.strides[axis];
                if index[axis] < outer[axis] {
                    break;
                }
                place -= self.strides[axis] * outer[axis];
                index[axis] = 0;
            }
        }
        if piece.is_empty() { Ok(()) } else { take(&piece) }
    }
}

/// Where the elements at `runs` of the row-major order lie in the range of a view, each by itself
/// unless they lie in sequence. A run is a position and a number of elements.
///
/// ```
/// let runs = weighbridge::strided(&[(0, 4)], &[2, 2], &[1, 3]);
/// assert_eq!(runs, [(0, 1), (3, 1), (1, 1), (4, 1)]);
/// ```
pub fn strided(runs: &[(u64, u64)], extents: &[u64], strides: &[u64]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (from, count) in runs {
        for at in *from..from.saturating_add(*count) {
            let (mut rest, mut place) = (at, 0_u64);
            for (extent, stride) in extents.iter().zip(strides).rev() {
                let extent = (*extent).max(1);
                place = place.saturating_add((rest % extent).saturating_mul(*stride));
                rest /= extent;
            }
            match found.last_mut() {
                Some((start, len)) if *start + *len == place => *len += 1,
                _ => found.push((place, 1)),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(extents: &[u64], strides: &[u64], len: u64) -> Vec<u8> {
        let stored: Vec<u8> = (0..24).collect();
        let view = View { width: 1, extents: extents.to_vec(), strides: strides.to_vec() };
        let mut all = Vec::new();
        let taken = view.gather(&stored, len, &mut |piece| {
            all.extend_from_slice(piece);
            Ok::<(), Error>(())
        });
        taken.expect("all elements are there");
        all
    }

    #[test]
    fn views_are_gathered_in_row_major_order() {
        assert_eq!(gathered(&[2, 3], &[3, 1], 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(gathered(&[3, 2], &[1, 3], 6), [0, 3, 1, 4, 2, 5]);
        assert_eq!(gathered(&[2, 2, 2], &[12, 1, 6], 8), [0, 6, 1, 7, 12, 18, 13, 19]);
        assert_eq!(gathered(&[2, 2], &[0, 5], 4), [0, 5, 0, 5]);
        assert_eq!(gathered(&[3, 2], &[1, 3], 3), [0, 3, 1]);
        assert_eq!(gathered(&[], &[], 1), [0]);
        assert_eq!(gathered(&[3, 0], &[1, 1], 0), [0; 0]);
    }

    #[test]
    fn elements_past_the_range_are_an_error() {
        let view = View { width: 2, extents: vec![4], strides: vec![1] };
        let taken = view.gather(&[0; 7], 8, &mut |_| Ok::<(), Error>(()));
        assert!(taken.is_err());
    }
}
