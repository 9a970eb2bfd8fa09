//! Entries of sparse tensors.

use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{Element, Layout, Sparse, Tensor};

/// How many decoded bytes hold the first `count` entries of a sparse tensor of so many
/// dimensions; `u64::MAX` where its parts lie apart.
///
/// ```
/// use weighbridge::core::Tensor;
/// use weighbridge::{DType, Layout, sparse_len};
///
/// let mut tensor = Tensor::default();
/// (tensor.dtype, tensor.layout) = (DType::F32, Layout::Coo);
/// assert_eq!(sparse_len(&tensor, 2, 10), 10 * (8 + 8 + 4));
/// ```
pub fn sparse_len(tensor: &Tensor, rank: usize, count: u64) -> u64 {
    let entry = 8 * rank as u64 + u64::from(tensor.dtype.bits() / 8);
    match tensor.layout {
        // The entries come one after the other.
        Layout::Coo => count.saturating_mul(entry),
        _ => u64::MAX,
    }
}

/// Entries of a sparse tensor in the order of the file, with their coordinates, which may
/// lie outside of its shape; `None` if it is not sparse, or the bytes are too few.
///
/// ```
/// use weighbridge::core::Tensor;
/// use weighbridge::{DType, Element, Layout, sparse_entries};
///
/// let mut tensor = Tensor::default();
/// (tensor.dtype, tensor.layout) = (DType::U8, Layout::Coo);
/// let bytes = [3, 0, 0, 0, 0, 0, 0, 0, 7]; // 7 at [3]
/// let entries: Vec<_> = sparse_entries(&tensor, &[5], &bytes, 0..9).unwrap().collect();
/// assert_eq!(entries, [(vec![3], Element::Uint(7))]);
/// ```
pub fn sparse_entries<'b>(
    tensor: &Tensor,
    extents: &[u64],
    bytes: &'b [u8],
    range: Range<u64>,
) -> Option<impl Iterator<Item = (Vec<u64>, Element)> + use<'b>> {
    let sparse = Sparse::new(tensor, extents.iter().copied(), bytes)?;
    let layout = tensor.layout;
    let at = |n: u64| usize::try_from(n).map_or(sparse.len(), |n| n.min(sparse.len()));
    let mut row = 0;
    Some((at(range.start)..at(range.end)).map_while(move |i| {
        let place = if layout == Layout::Coo {
            (0..sparse.rank()).filter_map(|axis| sparse.coordinate(i, axis)).collect()
        } else {
            while row < sparse.rows() && sparse.pointer(row + 1).is_some_and(|end| end <= i as u64)
            {
                row += 1;
            }
            [Some(row), sparse.column(i)].into_iter().flatten().collect()
        };
        Some((place, sparse.value(i)?))
    }))
}
