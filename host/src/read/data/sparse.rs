//! Entries of sparse tensors.

use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{Element, Layout, Sparse, Tensor};

/// The number of decoded bytes that hold the first `count` entries of a sparse tensor with
/// `rank` dimensions, or `u64::MAX` if its parts lie apart.
///
/// ```
/// use weighbridge::weighbridge_core::Tensor;
/// use weighbridge::{DType, Layout, sparse_len};
///
/// let mut tensor = Tensor::default();
/// (tensor.dtype, tensor.layout) = (DType::F32, Layout::Coo);
/// assert_eq!(sparse_len(&tensor, 2, 10), 10 * (8 + 8 + 4));
/// ```
pub fn sparse_len(tensor: &Tensor, rank: usize, count: u64) -> u64 {
    let entry = 8 * rank as u64 + u64::from(tensor.dtype.bits() / 8);
    match tensor.layout {
        // Entries are stored one by one.
        Layout::Coo => count.saturating_mul(entry),
        _ => u64::MAX,
    }
}

/// The entries of a sparse tensor in file order, with their coordinates, which may lie outside
/// its shape. `None` if the tensor is not sparse or `bytes` is too short.
///
/// ```
/// use weighbridge::weighbridge_core::Tensor;
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
