//! Elements that are more than a list of numbers: rows of columns, annotation
//! values, entries of sparse tensors.

use crate::text::Texts;
use crate::values::Numbers;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use weighbridge_core::format::idv::block::{Row, Scalar};
use weighbridge_core::format::idv::{Codec, Item};
use weighbridge_core::{DType, Element};

/// Elements, and how they form rows.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Numbers; 0 for a missing element.
    pub numbers: Numbers,
    /// Texts instead of numbers; empty for a missing element.
    pub texts: Option<Texts>,
    /// Numbers per element: 2 for local times and row ids.
    pub width: u32,
    /// Positions of missing elements, ascending.
    pub missing: Vec<u32>,
    /// Structure of rows that are vectors.
    pub vectors: Option<Vectors>,
    /// For a sparse tensor, the coordinates of each element, one number per
    /// axis.
    pub coordinates: Option<Vec<u64>>,
    count: u32,
}

/// How elements form vectors.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// End of each row in the elements.
    pub ends: Vec<u32>,
    /// The index of each element within its row.
    pub indices: Vec<u32>,
    /// Lengths of the rows; a sparse row stores fewer elements.
    pub lengths: Vec<u32>,
}

impl Cells {
    /// No elements yet, for this codec.
    pub fn of(codec: &Codec) -> Cells {
        let (dtype, width) = match codec.item {
            Item::Number(dtype) => (dtype, 1),
            Item::Key(key) => (key.stored, 1),
            Item::Bit | Item::TwoBits => (DType::Bool, 1),
            Item::TimeSpan | Item::DateTime => (DType::I64, 1),
            Item::DateTimeOffset => (DType::I64, 2),
            Item::RowId => (DType::U64, 2),
            _ => (DType::Unknown, 1),
        };
        Cells {
            texts: (codec.item == Item::Text).then(Texts::default),
            width,
            vectors: codec.vector.map(|_| Vectors::default()),
            ..Cells::numbers(dtype)
        }
    }

    /// No elements yet, for a sparse tensor.
    pub fn sparse(dtype: DType) -> Cells {
        Cells { coordinates: Some(Vec::new()), ..Cells::numbers(dtype) }
    }

    fn numbers(dtype: DType) -> Cells {
        Cells {
            numbers: Numbers::new(dtype),
            texts: None,
            width: 1,
            missing: Vec::new(),
            vectors: None,
            coordinates: None,
            count: 0,
        }
    }

    /// Adds an entry of a sparse tensor; its coordinates may lie outside the
    /// shape.
    pub fn entry(&mut self, at: impl Iterator<Item = u64>, value: Element) {
        self.numbers.push(value);
        if let Some(coordinates) = &mut self.coordinates {
            coordinates.extend(at);
        }
    }

    /// Adds a row; for a vector, elements until `left` bytes are used up.
    pub fn row(&mut self, row: &Row<'_>, left: &mut u64) {
        let vector = match row {
            Row::Scalar(scalar) => return self.scalar(scalar, left),
            Row::Vector(vector) => vector,
        };
        let before = self.count;
        for scalar in vector.values() {
            if *left == 0 {
                break;
            }
            self.scalar(&scalar, left);
        }
        let taken = self.count - before;
        let count = self.count;
        let Some(vectors) = &mut self.vectors else { return };
        match vector.indices() {
            Some(indices) => vectors.indices.extend(indices.take(taken as usize)),
            None => vectors.indices.extend(0..taken),
        }
        vectors.ends.push(count);
        vectors.lengths.push(vector.len());
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, left: &mut u64) {
        let takes = match scalar {
            Scalar::Text(text) => text.as_str().map_or(8, |text| text.len() as u64 + 1),
            _ => 8,
        };
        *left = left.saturating_sub(takes);
        let numbers = &mut self.numbers;
        match scalar {
            Scalar::Text(text) => {
                if let Some(texts) = &mut self.texts {
                    texts.push(text.as_str().map_or(&text.to_string(), |text| text));
                }
            }
            Scalar::Number(element) => numbers.push(*element),
            Scalar::Bool(value) => numbers.push(Element::Bool(*value)),
            Scalar::Key(rank) => numbers.push(Element::Uint(*rank)),
            Scalar::TimeSpan(ticks) | Scalar::DateTime(ticks) => numbers.push(Element::Int(*ticks)),
            Scalar::DateTimeOffset { ticks, minutes } => {
                numbers.push(Element::Int(*ticks));
                numbers.push(Element::Int((*minutes).into()));
            }
            Scalar::RowId { low, high } => {
                numbers.push(Element::Uint(*low));
                numbers.push(Element::Uint(*high));
            }
            _ => {
                self.missing.push(self.count);
                match &mut self.texts {
                    Some(texts) => texts.push(""),
                    None => (0..self.width).for_each(|_| numbers.push(Element::Uint(0))),
                }
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_cell_keeps_its_place() {
        let codec = Codec { item: Item::DateTimeOffset, vector: None };
        let mut cells = Cells::of(&codec);
        let local = Scalar::DateTimeOffset { ticks: 7, minutes: -60 };
        let mut left = u64::MAX;
        for scalar in [local, Scalar::Missing, local] {
            cells.row(&Row::Scalar(scalar), &mut left);
        }
        let expected: Vec<u8> =
            [7_i64, -60, 0, 0, 7, -60].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(cells.numbers.bytes, expected);
        assert_eq!((cells.width, cells.missing), (2, [1].to_vec()));
    }
}
