//! Elements anywhere in a tensor.

use crate::blocks::{self, Blocks};
use crate::document::Document;
use crate::text::Texts;
use crate::values::{Numbers, place};
use alloc::vec::Vec;
use weighbridge::column_major;
#[cfg(feature = "full")]
use weighbridge::strided;
#[cfg(feature = "full")]
use weighbridge_core::Chunks;
use weighbridge_core::{Absent, DType, Layout, Span, Stop, Tensor};

/// Maximum number of elements in one answer.
pub const MOST: u64 = 1 << 20;

/// A table of elements.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The first element.
    pub from: u64,
    /// Number of rows.
    pub rows: u64,
    /// Distance from one row to the next, in elements.
    pub row_step: u64,
    /// Number of columns.
    pub columns: u64,
    /// Distance from one column to the next, in elements.
    pub column_step: u64,
}

impl Grid {
    /// Runs of neighbouring elements, row by row, as first element and length,
    /// cut off after the last of `elements`. `None` if there are too many.
    fn runs(&self, elements: u64) -> Option<Vec<(u64, u64)>> {
        self.rows.checked_mul(self.columns).filter(|cells| *cells <= MOST)?;
        let mut runs = Vec::new();
        for row in 0..self.rows {
            let first = self.from.checked_add(row.checked_mul(self.row_step)?)?;
            if self.column_step == 1 {
                let len = self.columns.min(elements.saturating_sub(first));
                if len > 0 {
                    runs.push((first, len));
                }
                continue;
            }
            for column in 0..self.columns {
                let at = first.checked_add(column.checked_mul(self.column_step)?)?;
                if at < elements {
                    runs.push((at, 1));
                }
            }
        }
        Some(runs)
    }
}

/// The elements of a table, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// As numbers.
    Numbers(Numbers),
    /// In blocks, which are still to be decoded.
    Blocks(Blocks),
    /// As texts: those of NumPy arrays that are no numbers. Several for a record with fields.
    Texts(Texts),
}

/// Why elements are not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The parser's reason, which includes missing bytes.
    Stop(Stop),
    /// More than [`MOST`] elements, or [`blocks::MOST_BYTES`].
    TooMany,
    /// The type, the layout or the encoding has no elements that can be shown.
    Unsupported,
    /// The elements lie too deep inside compressed data.
    TooFar,
    /// The data does not match its encoding.
    Undecodable,
}

impl From<Absent> for Refusal {
    fn from(absent: Absent) -> Self {
        Refusal::Stop(absent.into())
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        Refusal::Stop(stop)
    }
}

impl Document {
    /// Elements of a dense tensor, as a table.
    ///
    /// # Errors
    /// Why they are not available; missing bytes are noted.
    pub fn grid(&mut self, tensor: &Tensor, grid: &Grid) -> Result<Elements, Refusal> {
        let mut runs = grid.runs(tensor.elements).ok_or(Refusal::TooMany)?;
        if tensor.dtype.block().is_some() {
            return self.blocks(tensor, &runs).map(Elements::Blocks);
        }
        #[cfg(feature = "full")]
        let items = self.items(tensor)?;
        #[cfg(not(feature = "full"))]
        let items: Option<()> = None;
        if items.is_none() && !tensor.dtype.is_numeric() {
            return Err(Refusal::Unsupported);
        }
        if tensor.layout == Layout::ColumnMajor {
            let extents = self.index.shape(tensor.index as usize);
            runs = stored(&runs, extents).ok_or(Refusal::Unsupported)?;
        }
        #[cfg(feature = "full")]
        if let Some(items) = items {
            return self.item_texts(tensor, &items, &runs).map(Elements::Texts);
        }
        #[cfg(feature = "full")]
        if let Some(span) = range(tensor) {
            let strides = self.strides(tensor).ok_or(Refusal::Unsupported)?;
            let extents: Option<Vec<u64>> =
                self.index.shape(tensor.index as usize).iter().copied().collect();
            runs = strided(&runs, &extents.ok_or(Refusal::Unsupported)?, &strides);
            return self.raw_runs(tensor, span, &runs).map(Elements::Numbers);
        }
        let numbers = match tensor.raw() {
            Some(span) => self.raw_runs(tensor, span, &runs),
            None if tensor.elements == 0 => Ok(Numbers::new(tensor.dtype)),
            None => self.decoded_runs(tensor, &runs),
        };
        numbers.map(Elements::Numbers)
    }

    /// The blocks that hold elements; files store them uncompressed and row-major.
    fn blocks(&mut self, tensor: &Tensor, runs: &[(u64, u64)]) -> Result<Blocks, Refusal> {
        let mut found = Blocks::default();
        let span = match tensor.raw() {
            Some(span) if tensor.layout == Layout::RowMajor => span,
            _ if tensor.elements == 0 => return Ok(found),
            _ => return Err(Refusal::Unsupported),
        };
        let spans = spans(tensor.dtype, span, runs);
        if spans.clone().map(|(span, _)| span.len).sum::<u64>() > blocks::MOST_BYTES {
            return Err(Refusal::TooMany);
        }
        self.session.read(spans, |(skip, len), bytes| found.push(bytes, skip, len))?;
        Ok(found)
    }

    /// The strides of a view, which lie in an index that is always in memory.
    #[cfg(feature = "full")]
    fn strides(&self, tensor: &Tensor) -> Option<Vec<u64>> {
        let at = tensor.strides()?;
        self.session.look(|source| {
            let (words, _) = source.get(at).ok()?.as_chunks::<8>();
            Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
        })
    }

    fn raw_runs(
        &mut self,
        tensor: &Tensor,
        span: Span,
        runs: &[(u64, u64)],
    ) -> Result<Numbers, Refusal> {
        let Tensor { dtype, endianness, .. } = *tensor;
        let mut numbers = Numbers::new(dtype);
        self.session.read(spans(dtype, span, runs), |(skip, len), bytes| {
            numbers.add(dtype, endianness, bytes, skip..skip.saturating_add(len));
        })?;
        Ok(numbers)
    }

    #[cfg(not(feature = "full"))]
    fn decoded_runs(&mut self, _: &Tensor, _: &[(u64, u64)]) -> Result<Numbers, Refusal> {
        Err(Refusal::Unsupported)
    }

    #[cfg(feature = "full")]
    fn decoded_runs(&mut self, tensor: &Tensor, runs: &[(u64, u64)]) -> Result<Numbers, Refusal> {
        let Tensor { dtype, endianness, .. } = *tensor;
        let mut numbers = Numbers::new(dtype);
        for (first, len) in runs {
            let (at, bytes, skip) = place(dtype, *first, *len).ok_or(Refusal::Unsupported)?;
            let bytes = self.decoded(tensor, at, bytes)?;
            numbers.add(dtype, endianness, bytes, skip..skip.saturating_add(*len));
        }
        Ok(numbers)
    }
}

/// The range that holds all elements of a view.
#[cfg(feature = "full")]
fn range(tensor: &Tensor) -> Option<Span> {
    match (tensor.strides(), tensor.chunks) {
        (Some(_), Chunks::One(span)) => Some(span),
        _ => None,
    }
}

/// The bytes of each run of elements stored in `within`, with the position of its first element
/// in them and their number.
fn spans(
    dtype: DType,
    within: Span,
    runs: &[(u64, u64)],
) -> impl Iterator<Item = (Span, (u64, u64))> + Clone {
    runs.iter().map_while(move |(first, len)| {
        let (at, bytes, skip) = place(dtype, *first, *len)?;
        at.checked_add(bytes).filter(|end| *end <= within.len)?;
        Some((Span::new(within.offset.saturating_add(at), bytes), (skip, *len)))
    })
}

/// Positions of the elements of `runs`, which count the last axis as the
/// fastest, in storage where the first is. `None` if the extents are unknown.
fn stored(runs: &[(u64, u64)], extents: &[Option<u64>]) -> Option<Vec<(u64, u64)>> {
    let most: u64 = runs.iter().map(|(_, len)| len).sum();
    let Some(extents) = extents.iter().copied().collect::<Option<Vec<u64>>>() else {
        return if most > 1 { None } else { Some(runs.to_vec()) };
    };
    let mut places: Vec<(u64, u64)> = Vec::new();
    for at in runs.iter().flat_map(|(first, len)| *first..first.saturating_add(*len)) {
        let place = column_major(at, &extents);
        match places.last_mut() {
            Some((first, len)) if first.saturating_add(*len) == place => *len += 1,
            _ => places.push((place, 1)),
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_major_elements_are_found_in_row_major_order() {
        assert_eq!(
            stored(&[(0, 6)], &[Some(2), Some(3)]).unwrap(),
            [(0, 1), (2, 1), (4, 1), (1, 1), (3, 1), (5, 1)]
        );
        assert_eq!(stored(&[(1, 2)], &[Some(1), Some(4)]).unwrap(), [(1, 2)]);
        let places = stored(&[(0, 8)], &[Some(2); 3]).unwrap();
        assert!(places.iter().map(|(at, _)| *at).eq([0, 4, 2, 6, 1, 5, 3, 7]));
        assert_eq!(stored(&[(0, 2)], &[None, None]), None);
    }

    #[test]
    fn rows_are_runs_and_columns_are_not() {
        let grid = Grid { from: 2, rows: 3, row_step: 4, columns: 2, column_step: 1 };
        assert_eq!(grid.runs(11).unwrap(), [(2, 2), (6, 2), (10, 1)]);
        let grid = Grid { from: 0, rows: 2, row_step: 1, columns: 2, column_step: 3 };
        assert_eq!(grid.runs(9).unwrap(), [(0, 1), (3, 1), (1, 1), (4, 1)]);
        let grid = Grid { rows: 1 << 32, columns: 1 << 32, ..grid };
        assert!(grid.runs(9).is_none());
        let grid = Grid { from: u64::MAX, rows: 2, row_step: 1, columns: 1, column_step: 1 };
        assert!(grid.runs(9).is_none());
    }
}
