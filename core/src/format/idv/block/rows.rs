//! Iteration over the rows of a block.

use super::values::{Scalar, Values};
use super::vectors::Vectors;
use super::{Block, Words};
use core::iter::FusedIterator;

/// One row of a column, or the value of an annotation.
#[derive(Clone, Debug)]
pub enum Row<'b> {
    /// A value.
    Scalar(Scalar<'b>),
    /// A vector of values.
    Vector(VectorRow<'b>),
}

/// A vector as stored: dense with all values, or sparse with some.
#[derive(Clone, Debug)]
pub struct VectorRow<'b> {
    len: u32,
    indices: Option<Words<'b>>,
    values: Values<'b>,
}

impl<'b> VectorRow<'b> {
    /// Number of values, stored or not.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether the vector has no values.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The indices of the stored values, ascending; `None` if the vector is dense.
    pub fn indices(&self) -> Option<impl Iterator<Item = u32>> {
        // Validation rejected negative indices.
        self.indices.map(|indices| indices.iter().map(i32::unsigned_abs))
    }

    /// The stored values.
    pub fn values(&self) -> Values<'b> {
        self.values.clone()
    }
}

/// An iterator over the rows of a block.
#[derive(Clone, Debug)]
pub struct Rows<'b> {
    vectors: Option<Vectors<'b>>,
    values: Values<'b>,
    next: usize,
    end: usize,
    /// Number of vector indices read so far.
    indices: usize,
}

impl<'b> Rows<'b> {
    pub(super) fn new(block: &Block<'b>) -> Self {
        Rows {
            vectors: block.vectors,
            values: Values::all(&block.values),
            next: 0,
            end: block.rows,
            indices: 0,
        }
    }
}

impl<'b> Iterator for Rows<'b> {
    type Item = Row<'b>;

    fn next(&mut self) -> Option<Row<'b>> {
        if self.next >= self.end {
            return None;
        }
        let row = self.next;
        self.next = row.saturating_add(1);
        let Some(vectors) = &self.vectors else {
            return self.values.next().map(Row::Scalar);
        };
        let (len, sparse) = vectors.row(row);
        let size = |number: i32| usize::try_from(number).unwrap_or(0);
        let indices = sparse.map(|count| {
            let end = self.indices.saturating_add(size(count));
            let indices = vectors.indices.0.get(self.indices..end).unwrap_or_default();
            self.indices = end;
            Words(indices)
        });
        let values = self.values.split(size(sparse.unwrap_or(len)));
        Some(Row::Vector(VectorRow { len: len.unsigned_abs(), indices, values }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Rows<'_> {}
impl FusedIterator for Rows<'_> {}
