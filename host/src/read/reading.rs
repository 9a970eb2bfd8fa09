//! Reads rows of columns and values of annotations as their bytes arrive.

use crate::list::entry::Shape;
use crate::read::data::Block;
use core::ops::Range;
use weighbridge_core::codec::Undecoded;
use weighbridge_core::format::idv::block::Row;
use weighbridge_core::format::idv::{Codec, Header};
use weighbridge_core::{Chunk, Cursor, EntryKind, File, Source, Status, Stop, Tensor, limits};

/// The annotation with the values that keys stand for.
const KEY_VALUES: &[u8] = b"KeyValues";

/// Reads the columns of one data view block by block; another file needs another reader. It
/// keeps what it has read, because a block and the data that leads to it need not be in memory
/// together, and so that the next rows of a block are not decoded again.
///
/// ```
/// use weighbridge::{Goal, Options, RowReader, Session};
///
/// # let bytes = weighbridge_tests::samples::columns();
/// let mut session = Session::whole(&bytes, Options::new());
/// session.poll(Goal::Index)?;
/// let column = session.ask(|file, source| {
///     let entry = file.next_tensor(source, &mut Default::default(), &mut |_| {})?;
///     Ok(entry.map(|entry| entry.tensor))
/// });
/// let column = column.unwrap().flatten().unwrap();
/// let (mut reader, mut rows) = (RowReader::default(), 0);
/// let read = session.ask(|file, source| {
///     reader.rows(file, source, &column, 0..1, &mut |_| rows += 1)
/// });
/// assert_eq!((read, rows), (Ok(Some(Some(1))), 1));
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct RowReader {
    codec: Option<(u32, Codec)>,
    /// The block that contains a row of a column.
    place: Option<((u32, u64), Chunk)>,
    annotation: Option<((u32, Annotation), Codec, Chunk)>,
    /// The block decoded last.
    block: Option<(Chunk, Block)>,
}

/// Selects an annotation of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Annotation {
    /// The one at this position.
    At(u32),
    /// The one with the values that keys stand for.
    KeyValues,
}

impl RowReader {
    /// How a column's elements are stored; `None` if it is not a sound column.
    ///
    /// ```
    /// use weighbridge::RowReader;
    /// use weighbridge::weighbridge_core::{File, Source, Tensor};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let codec = RowReader::default().codec(&file, &source, &Tensor::default())?;
    /// assert!(codec.is_none()); // of safetensors
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The core's errors.
    pub fn codec(
        &mut self,
        file: &File,
        source: &Source<'_>,
        column: &Tensor,
    ) -> Result<Option<Codec>, Stop> {
        let File::Idv(header) = file else { return Ok(None) };
        match self.codec {
            _ if column.status != Status::Sound => Ok(None),
            Some((known, codec)) if known == column.index => Ok(Some(codec)),
            _ => {
                let codec = header.codec(source, column)?;
                self.codec = Some((column.index, codec));
                Ok(Some(codec))
            }
        }
    }

    /// Calls `take` with rows from the start of a range, as far as they are in one block.
    /// Returns their number, which is 0 after the last row; `None` if they cannot be decoded.
    ///
    /// ```
    /// use weighbridge::RowReader;
    /// use weighbridge::weighbridge_core::{File, Source, Tensor};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let mut reader = RowReader::default();
    /// let read = reader.rows(&file, &source, &Tensor::default(), 0..9, &mut |_| {})?;
    /// assert!(read.is_none()); // of safetensors
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The core's errors.
    pub fn rows(
        &mut self,
        file: &File,
        source: &Source<'_>,
        column: &Tensor,
        rows: Range<u64>,
        take: &mut dyn FnMut(&Row<'_>),
    ) -> Result<Option<u64>, Stop> {
        let (File::Idv(header), Some(codec)) = (file, self.codec(file, source, column)?) else {
            return Ok(None);
        };
        if rows.is_empty() {
            return Ok(Some(0));
        }
        let of = (column.index, rows.start);
        let chunk = match self.place {
            Some((known, chunk)) if known == of => chunk,
            _ => match block_of(file, source, column, rows.start)? {
                Some(chunk) => self.place.insert((of, chunk)).1,
                // No block contains the row: it follows the last one, or a block is broken.
                None => {
                    let shape = Shape::read(source, column)?;
                    let count = shape.extents().first().copied().flatten().unwrap_or(0);
                    return Ok((rows.start >= count).then_some(0));
                }
            },
        };
        let Some(bytes) = self.decoded(source, &chunk, limits::BLOCK_BYTES)? else {
            return Ok(None);
        };
        let Ok(block) = header.block(&codec, chunk.elements, bytes) else { return Ok(None) };
        let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        let skip = rows.start - chunk.row;
        let left = (chunk.elements - skip).min(rows.end - rows.start);
        block.rows().skip(size(skip)).take(size(left)).for_each(|row| take(&row));
        Ok(Some(left))
    }

    /// Calls `take` with the value of an annotation and how it is stored; `false` if there is
    /// no such annotation, or it cannot be decoded.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{File, Source, Tensor};
    /// use weighbridge::{Annotation, RowReader};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let (mut reader, which) = (RowReader::default(), Annotation::KeyValues);
    /// let found = reader.annotation(&file, &source, &Tensor::default(), which, &mut |_, _| {})?;
    /// assert!(!found); // of safetensors
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The core's errors.
    pub fn annotation(
        &mut self,
        file: &File,
        source: &Source<'_>,
        column: &Tensor,
        which: Annotation,
        take: &mut dyn FnMut(&Codec, &Row<'_>),
    ) -> Result<bool, Stop> {
        let File::Idv(header) = file else { return Ok(false) };
        let of = (column.index, which);
        let (codec, chunk) = match self.annotation {
            Some((known, codec, chunk)) if known == of => (codec, chunk),
            _ => match payload_of(file, header, source, column, which)? {
                Some((codec, chunk)) => {
                    self.annotation = Some((of, codec, chunk));
                    (codec, chunk)
                }
                None => return Ok(false),
            },
        };
        let Some(bytes) = self.decoded(source, &chunk, limits::ANNOTATION_BYTES)? else {
            return Ok(false);
        };
        let block = header.block(&codec, 1, bytes).ok();
        let row = block.and_then(|block| block.rows().next());
        Ok(row.map(|row| take(&codec, &row)).is_some())
    }

    /// All bytes of a block, unless they cannot be decoded.
    fn decoded(
        &mut self,
        source: &Source<'_>,
        chunk: &Chunk,
        most: u64,
    ) -> Result<Option<&[u8]>, Stop> {
        let mut block = match self.block.take().filter(|(known, _)| known == chunk) {
            Some((_, block)) => block,
            None => match Block::new(chunk, most) {
                Ok(block) => block,
                Err(_) => return Ok(None),
            },
        };
        let missing = match block.fill(source) {
            Ok(()) => None,
            Err(Undecoded::Absent(absent)) => Some(absent),
            Err(Undecoded::Fault(_)) => return Ok(None),
        };
        let (_, block) = self.block.insert((*chunk, block));
        match missing {
            Some(absent) => Err(absent.into()),
            None => Ok(Some(block.bytes())),
        }
    }
}

/// The block that contains a row.
fn block_of(
    file: &File,
    source: &Source<'_>,
    column: &Tensor,
    row: u64,
) -> Result<Option<Chunk>, Stop> {
    // Finds the last block that does not begin after the row.
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
    Ok(found.filter(|chunk| row - chunk.row < chunk.elements))
}

fn payload_of(
    file: &File,
    header: &Header,
    source: &Source<'_>,
    column: &Tensor,
    which: Annotation,
) -> Result<Option<(Codec, Chunk)>, Stop> {
    let mut cursor = Cursor::default();
    while let Some(meta) = file.next_attribute(source, column, &mut cursor)? {
        let wanted = match which {
            Annotation::At(index) => meta.index == index,
            Annotation::KeyValues => {
                meta.kind == EntryKind::Attribute && meta.key.bytes().eq(KEY_VALUES.iter().copied())
            }
        };
        if wanted && meta.status == Status::Sound {
            return Ok(header.annotation_payload(source, &meta)?);
        }
    }
    Ok(None)
}
