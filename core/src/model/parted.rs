//! Sparse tensors whose indices are apart from their values.

use crate::model::Chunk;

/// The parts of a sparse tensor. An index part must be decoded, or the values, to count them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parted {
    /// Row pointers, for compressed rows: one more than there are rows.
    pub(crate) pointers: Option<Chunk>,
    /// Columns; or coordinates, all those of the first dimension before those of the next.
    pub(crate) indices: Chunk,
    /// One value per entry.
    pub(crate) values: Chunk,
    /// Bytes per index: 1 to 8.
    pub(crate) width: u8,
    /// Columns of a row must ascend.
    pub(crate) ascends: bool,
}
