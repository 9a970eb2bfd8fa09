//! Rows of columns and values of annotations, decoded block by block.
//!
//! What was read is kept between calls, because a block and what leads to it
//! need not fit into memory together.

use crate::cells::Cells;
use crate::document::Document;
use crate::elements::Refusal;
use weighbridge::Block;
use weighbridge_core::codec::Undecoded;
use weighbridge_core::format::idv::{Codec, Header};
use weighbridge_core::{Chunk, Cursor, EntryKind, File, Status, Stop, Tensor, limits};

/// The annotation that tells what keys stand for.
const KEY_VALUES: &[u8] = b"KeyValues";

/// What is being read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    rows: Option<Rows>,
    annotation: Option<((u32, Annotation), Codec, Chunk)>,
    /// The block that was decoded last, by its place.
    block: Option<(u64, Block)>,
}

/// Rows of a column.
#[derive(Debug)]
struct Rows {
    /// Column, first row, number of rows.
    of: (u32, u64, u64),
    codec: Codec,
    cells: Cells,
    /// The next row.
    row: u64,
    /// Its block.
    chunk: Option<Chunk>,
}

/// Which annotation of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// The one at this position.
    At(u32),
    /// The one that tells what keys stand for.
    KeyValues,
}

impl Document {
    fn table_header(&self) -> Option<Header> {
        match self.session.file() {
            Some(File::Idv(header)) => Some(*header),
            _ => None,
        }
    }

    /// Rows `from..from + count` of a column, fewer at its end.
    ///
    /// # Errors
    /// Why there are none; what is missing is noted.
    pub fn rows_of(&mut self, column: &Tensor, from: u64, count: u64) -> Result<Cells, Refusal> {
        let header = self.table_header().ok_or(Refusal::Unsupported)?;
        if column.status != Status::Sound {
            return Err(Refusal::Unsupported);
        }
        let count = count.min(crate::elements::MOST);
        let of = (column.index, from, count);
        let mut rows = match self.reading.rows.take() {
            Some(rows) if rows.of == of => rows,
            _ => {
                let codec = self.session.ask(|_, source| Ok(header.codec(source, column)?));
                let codec = codec?.ok_or(Refusal::Unsupported)?;
                Rows { of, codec, cells: Cells::of(&codec), row: from, chunk: None }
            }
        };
        let result = self.read_rows(&header, column, &mut rows);
        match result {
            Ok(()) => Ok(rows.cells),
            Err(refusal) => {
                if matches!(refusal, Refusal::Stop(Stop::NeedBytes(_))) {
                    self.reading.rows = Some(rows);
                }
                Err(refusal)
            }
        }
    }

    fn read_rows(
        &mut self,
        header: &Header,
        column: &Tensor,
        rows: &mut Rows,
    ) -> Result<(), Refusal> {
        let end = rows.of.1.saturating_add(rows.of.2);
        while rows.row < end {
            let chunk = match rows.chunk {
                Some(chunk) => chunk,
                None => match self.chunk_of_row(column, rows.row)? {
                    Some(chunk) => *rows.chunk.insert(chunk),
                    // A block is broken, and so is where the next one begins.
                    None if rows.row < self.row_count(column) => {
                        return Err(Refusal::Undecodable);
                    }
                    None => return Ok(()),
                },
            };
            self.decode_block(&chunk, limits::BLOCK_BYTES)?;
            let bytes = self.reading.block.as_ref().map_or(&[][..], |(_, block)| block.bytes());
            let Ok(block) = header.block(&rows.codec, chunk.elements, bytes) else {
                return Err(Refusal::Undecodable);
            };
            let skip = usize::try_from(rows.row - chunk.row).unwrap_or(usize::MAX);
            let take = usize::try_from(end - rows.row).unwrap_or(usize::MAX);
            let mut whole = u64::MAX;
            for row in block.rows().skip(skip).take(take) {
                rows.cells.row(&row, &mut whole);
            }
            rows.row = chunk.row.saturating_add(chunk.elements);
            rows.chunk = None;
        }
        Ok(())
    }

    fn row_count(&self, column: &Tensor) -> u64 {
        self.table.dims(column.index as usize).first().copied().unwrap_or(0)
    }

    /// The block that holds a row.
    fn chunk_of_row(&mut self, column: &Tensor, row: u64) -> Result<Option<Chunk>, Refusal> {
        let found = self.session.ask(|file, source| {
            // The last block that does not begin after the row.
            let (mut low, mut high) = (0, column.chunks.count());
            let mut found = None;
            while low < high {
                let middle = low + (high - low) / 2;
                match file.chunk(source, column, middle)? {
                    Some(chunk) if chunk.row <= row => {
                        found = Some(chunk);
                        low = middle + 1;
                    }
                    _ => high = middle,
                }
            }
            Ok(found)
        });
        let chunk = found?.flatten();
        Ok(chunk.filter(|chunk| row - chunk.row < chunk.elements))
    }

    /// The value of an annotation, cut when it takes more than `most` bytes or
    /// so, and whether it was cut; `None` if there is no such annotation, or
    /// it cannot be decoded.
    ///
    /// # Errors
    /// As the parser's; what is missing is noted.
    pub fn annotation(
        &mut self,
        column: &Tensor,
        which: Annotation,
        most: u64,
    ) -> Result<Option<(Cells, bool)>, Stop> {
        let Some(header) = self.table_header() else { return Ok(None) };
        let of = (column.index, which);
        let known = self.reading.annotation.take().filter(|known| known.0 == of);
        let found = match known {
            Some((_, codec, chunk)) => Some((codec, chunk)),
            None => self.payload_of(&header, column, which)?,
        };
        let Some((codec, chunk)) = found else { return Ok(None) };
        match self.decode_block(&chunk, limits::ANNOTATION_BYTES) {
            Ok(()) => {}
            Err(Refusal::Stop(stop)) => {
                self.reading.annotation = Some((of, codec, chunk));
                return Err(stop);
            }
            Err(_) => return Ok(None),
        }
        let bytes = self.reading.block.as_ref().map_or(&[][..], |(_, block)| block.bytes());
        let row = header.block(&codec, 1, bytes).ok().and_then(|block| block.rows().next());
        Ok(row.map(|row| {
            let mut cells = Cells::of(&codec);
            let mut left = most;
            cells.row(&row, &mut left);
            (cells, left == 0)
        }))
    }

    fn payload_of(
        &mut self,
        header: &Header,
        column: &Tensor,
        which: Annotation,
    ) -> Result<Option<(Codec, Chunk)>, Stop> {
        let found = self.session.ask(|file, source| {
            let mut cursor = Cursor::default();
            while let Some(meta) = file.next_attribute(source, column, &mut cursor)? {
                let wanted = match which {
                    Annotation::At(index) => meta.index == index,
                    Annotation::KeyValues => {
                        meta.kind == EntryKind::Attribute
                            && meta.key.bytes().eq(KEY_VALUES.iter().copied())
                    }
                };
                if wanted && meta.status == Status::Sound {
                    return Ok(header.annotation_payload(source, &meta)?);
                }
            }
            Ok(None)
        });
        found.map(Option::flatten)
    }

    /// Decodes a block as a whole, unless it was the last one that was.
    fn decode_block(&mut self, chunk: &Chunk, most: u64) -> Result<(), Refusal> {
        let at = chunk.stored.offset;
        let mut block = match self.reading.block.take().filter(|(known, _)| *known == at) {
            Some((_, block)) => block,
            None => Block::new(chunk, most).map_err(|_| Refusal::Undecodable)?,
        };
        let full = self.session.ask(|_, source| match block.fill(source) {
            Ok(()) => Ok(true),
            Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
            Err(Undecoded::Fault(_)) => Ok(false),
        });
        if full == Ok(Some(false)) {
            return Err(Refusal::Undecodable);
        }
        self.reading.block = Some((at, block));
        full?;
        Ok(())
    }
}
