//! Sparse tensors as stored: indices and values, never densified.

use crate::base::widen;
use crate::model::{Element, Endianness, Layout, Tensor};

/// Bytes per index.
pub(crate) const WORD: usize = 8;

/// A fault in the indices of a sparse tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A coordinate is outside the shape.
    Coordinate,
    /// Two entries have the same coordinates.
    Duplicate,
    /// The data ends inside an entry.
    Partial,
    /// Row pointers do not start at 0, or they descend.
    Pointer,
    /// The last row pointer is not the number of entries.
    Count,
    /// A column is outside the shape.
    Column,
    /// Two entries of a row have the same column.
    ColumnTwice,
}

/// Number of bytes that are reversed together: the value's width in a big-endian tensor, as the
/// only writer of such tensors stores it; 1 otherwise.
pub(crate) fn unit(tensor: &Tensor) -> usize {
    match tensor.endianness {
        Endianness::Big => usize::try_from(tensor.dtype.bits() >> 3).unwrap_or(1).clamp(1, WORD),
        Endianness::Little => 1,
    }
}

/// Decodes an index whose bytes are reversed in units.
pub(crate) fn word(mut bytes: [u8; WORD], unit: usize) -> u64 {
    let mut left = bytes.as_mut_slice();
    while let Some((head, rest)) = left.split_at_mut_checked(unit) {
        head.reverse();
        left = rest;
        if left.is_empty() {
            break;
        }
    }
    u64::from_le_bytes(bytes)
}

/// The entries of a sparse tensor of layout [`Layout::Coo`] or [`Layout::Csr`], in file order.
///
/// | layout | bytes |
/// |---|---|
/// | COO | entries back to back: a 64-bit index per dimension, then the value |
/// | CSR | rows + 1 row pointers and a column per entry, 64 bits each; then the values |
///
/// The indices are not validated here; the audit does that.
#[derive(Clone, Copy, Debug)]
pub struct Sparse<'a> {
    tensor: Tensor,
    bytes: &'a [u8],
    /// Dimensions (COO), or 0 (CSR).
    rank: usize,
    /// Rows (CSR).
    rows: usize,
    len: usize,
}

impl<'a> Sparse<'a> {
    /// The entries of `tensor` with these `dims`, in its decoded `bytes`; `None` if it is not
    /// sparse, or if the bytes are too few for CSR.
    pub fn new(
        tensor: &Tensor,
        dims: impl IntoIterator<Item = u64>,
        bytes: &'a [u8],
    ) -> Option<Self> {
        let mut dims = dims.into_iter();
        let width = usize::try_from(tensor.dtype.bits() >> 3).ok().filter(|width| *width > 0)?;
        let mut sparse = Sparse { tensor: *tensor, bytes, rank: 0, rows: 0, len: 0 };
        match tensor.layout {
            Layout::Coo => {
                sparse.rank = dims.count();
                let entry = sparse.rank.checked_mul(WORD)?.checked_add(width)?;
                sparse.len = bytes.len().checked_div(entry)?;
            }
            Layout::Csr => {
                sparse.rows = usize::try_from(dims.next()?).ok()?;
                sparse.len = usize::try_from(sparse.word(sparse.rows)?).ok()?;
                let words = sparse.rows.checked_add(1)?.checked_add(sparse.len)?;
                let values = sparse.len.checked_mul(width)?;
                let needed = words.checked_mul(WORD)?.checked_add(values)?;
                bytes.get(..needed)?;
            }
            _ => return None,
        }
        Some(sparse)
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of entry `index`.
    pub fn value(&self, index: usize) -> Option<Element> {
        if index >= self.len {
            return None;
        }
        let width = usize::try_from(self.tensor.dtype.bits() >> 3).ok()?;
        let at = match self.tensor.layout {
            Layout::Coo => {
                let words = self.rank.checked_mul(WORD)?;
                index.checked_mul(words.checked_add(width)?)?.checked_add(words)?
            }
            _ => {
                let words = self.rows.checked_add(1)?.checked_add(self.len)?;
                words.checked_mul(WORD)?.checked_add(index.checked_mul(width)?)?
            }
        };
        let bytes = self.bytes.get(at..)?.get(..width)?;
        self.tensor.dtype.element(bytes, 0, self.tensor.endianness)
    }

    /// Coordinate `axis` of entry `index` (COO).
    pub fn coordinate(&self, index: usize, axis: usize) -> Option<u64> {
        if index >= self.len || axis >= self.rank {
            return None;
        }
        let width = usize::try_from(self.tensor.dtype.bits() >> 3).ok()?;
        let entry = self.rank.checked_mul(WORD)?.checked_add(width)?;
        self.word_at(index.checked_mul(entry)?.checked_add(axis.checked_mul(WORD)?)?)
    }

    /// Row pointer `row` (CSR): a row's entries lie between its pointer and the next. There is
    /// one more pointer than rows.
    pub fn pointer(&self, row: u64) -> Option<u64> {
        let row = usize::try_from(row).ok()?;
        if self.tensor.layout != Layout::Csr || row > self.rows {
            return None;
        }
        self.word(row)
    }

    /// The column of entry `index` (CSR).
    pub fn column(&self, index: usize) -> Option<u64> {
        if self.tensor.layout != Layout::Csr || index >= self.len {
            return None;
        }
        self.word(self.rows.checked_add(1)?.checked_add(index)?)
    }

    /// Number of rows (CSR); 0 for COO.
    pub const fn rows(&self) -> u64 {
        widen(self.rows)
    }

    /// Number of coordinates of an entry (COO); 0 for CSR.
    pub const fn rank(&self) -> usize {
        self.rank
    }

    fn word(&self, index: usize) -> Option<u64> {
        self.word_at(index.checked_mul(WORD)?)
    }

    fn word_at(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(word(*bytes, unit(&self.tensor)))
    }
}
