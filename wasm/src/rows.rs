//! Rows of columns and values of annotations.

use crate::cells::Cells;
use crate::document::Document;
use crate::elements::{MOST, Refusal};
use weighbridge::{Annotation, RowReader};
use weighbridge_core::format::idv::block::Row;
use weighbridge_core::{Stop, Tensor};

/// The read in progress.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    reader: RowReader,
    rows: Option<Rows>,
}

/// Rows of a column.
#[derive(Debug)]
struct Rows {
    /// Column, first row, number of rows.
    of: (u32, u64, u64),
    cells: Cells,
    /// The next row to read.
    row: u64,
}

impl Document {
    /// Rows `from..from + count` of a column, fewer at its end.
    ///
    /// # Errors
    /// Why they are not available; missing bytes are noted.
    pub fn rows_of(&mut self, column: &Tensor, from: u64, count: u64) -> Result<Cells, Refusal> {
        let count = count.min(MOST);
        let (of, end) = ((column.index, from, count), from.saturating_add(count));
        let Document { session, reading: Reading { reader, rows: kept }, .. } = self;
        let mut rows = kept.take().filter(|rows| rows.of == of);
        let read = session.ask(|file, source| {
            let Some(codec) = reader.codec(file, source, column)? else {
                return Ok(Err(Refusal::Unsupported));
            };
            let begin = || Rows { of, cells: Cells::of(&codec), row: from };
            let Rows { cells, row, .. } = rows.get_or_insert_with(begin);
            loop {
                let mut whole = u64::MAX;
                let take = &mut |it: &Row<'_>| cells.row(it, &mut whole);
                match reader.rows(file, source, column, *row..end, take)? {
                    Some(0) => return Ok(Ok(())),
                    Some(more) => *row += more,
                    None => return Ok(Err(Refusal::Undecodable)),
                }
            }
        });
        match read {
            Ok(read) => read.unwrap_or(Err(Refusal::Unsupported))?,
            Err(stop) => {
                *kept = rows;
                return Err(stop.into());
            }
        }
        rows.map(|rows| rows.cells).ok_or(Refusal::Unsupported)
    }

    /// The value of an annotation, cut off after about `most` bytes, and
    /// whether it was cut off; `None` if there is no such annotation, or it
    /// cannot be decoded.
    ///
    /// # Errors
    /// The parser's errors; missing bytes are noted.
    pub fn annotation(
        &mut self,
        column: &Tensor,
        which: Annotation,
        most: u64,
    ) -> Result<Option<(Cells, bool)>, Stop> {
        let Document { session, reading, .. } = self;
        let mut shown = None;
        session.ask(|file, source| {
            reading.reader.annotation(file, source, column, which, &mut |codec, row| {
                let (mut cells, mut left) = (Cells::of(codec), most);
                cells.row(row, &mut left);
                shown = Some((cells, left == 0));
            })
        })?;
        Ok(shown)
    }
}
