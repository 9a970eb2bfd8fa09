//! Dispatches calls from the rest of the core to a file of any format.

use super::{Cursor, File, quietly};
use crate::base::{Word, place, wide, word};
use crate::format::{self, Container, Glance};
use crate::input::{Source, Span};
use crate::model::{Chunk, Chunks, Metadata, Region, Tensor};
#[cfg(feature = "payloads")]
use crate::model::{parted::Parted, texts::Texts};
use crate::parse::{self, Reader, Stop};
use crate::rule::{EntryKind, Halt};

impl File {
    /// A cursor placed before the entry at `at`, for reading out of order.
    pub(crate) fn cursor_before(&self, at: u64, index: u32) -> Cursor {
        let mut cursor = Cursor::START;
        each!(self, header => *cursor.of(header) = parse::Cursor::before(at, index), ());
        cursor
    }

    /// The tensor whose entry lies at `at`, read out of order and without reporting.
    pub(crate) fn tensor_at(
        &self,
        source: &Source<'_>,
        at: u64,
        index: u32,
    ) -> Result<Option<Tensor>, Stop> {
        let mut cursor = self.cursor_before(at, index);
        quietly(source, |reader| self.tensor(reader, &mut cursor))
    }

    /// Tensor number `index` with the name that a listing gives it, if it may have another by
    /// itself.
    pub(crate) fn listed_tensor(
        &self,
        source: &Source<'_>,
        index: u32,
    ) -> Result<Option<Tensor>, Stop> {
        if !each!(self, header => named_around(header), false) {
            return Ok(None);
        }
        let mut cursor = Cursor::START;
        quietly(source, |reader| {
            loop {
                match self.tensor(reader, &mut cursor)? {
                    Some(tensor) if tensor.index < index => {}
                    tensor => return Ok(tensor),
                }
            }
        })
    }

    /// End of the index, if tensors are named by one-byte numbers and all data lies after it.
    pub(crate) fn index_end(&self) -> Option<u64> {
        each!(self, header => header.numbered_until(), None)
    }

    /// The alignment of payloads in bytes.
    pub(crate) fn alignment(&self) -> u64 {
        each!(self, header => Container::alignment(header), 1)
    }

    /// Whether a part of the file is compared with others.
    pub(crate) fn places(&self, region: &Region) -> bool {
        !region.span.is_empty()
            || region.kind == EntryKind::Tensor
                && each!(self, header => Container::places_empty(header), false)
    }

    /// End of the file: its recorded length, if that is shorter than the source.
    pub(crate) fn end(&self, source: &Source<'_>) -> Word {
        let len = source.len();
        word(self.recorded_len().map_or(len, |recorded| recorded.min(len)))
    }

    pub(crate) fn meta(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        if cursor.is_done() {
            return Ok(None);
        }
        each!(self, header => header.meta(reader, cursor.of(header)), Ok(None))
    }

    pub(crate) fn tensor(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        if cursor.is_done() {
            return Ok(None);
        }
        each!(self, header => header.tensor(reader, cursor.of(header)), Ok(None))
    }

    pub(crate) fn attribute(
        &self,
        reader: &mut Reader<'_, '_>,
        tensor: &Tensor,
        cursor: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        if cursor.is_done() {
            return Ok(None);
        }
        each!(self, header => header.attribute(reader, tensor, cursor.of(header)), Ok(None))
    }

    /// Passes over valid tensors as long as they are resident, the format has a fast path for
    /// them, and `goes_on` returns true.
    pub(crate) fn sweep<'a>(
        &self,
        reader: &mut Reader<'_, 'a>,
        cursor: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if !cursor.is_done() {
            each!(self, header => header.sweep(reader, cursor.of(header), goes_on), ());
        }
    }

    /// The same up to entry `until`, if a sweep has already passed over all of these.
    pub(crate) fn sweep_again<'a>(
        &self,
        reader: &mut Reader<'_, 'a>,
        cursor: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if !cursor.is_done() {
            each!(self, header => header.sweep_again(reader, cursor.of(header), until, goes_on), ());
        }
    }

    /// Turns the cursor at the end of a listing of all tensors into the start of the format's
    /// audit.
    pub(crate) fn start_audit(&self, cursor: &mut Cursor) {
        each!(self, header => header.start_audit(cursor.of(header)), ());
    }

    /// Whether listing all tensors, which ended at `listed`, has proved that the file's parts are
    /// in order with nothing but valid padding between them.
    pub(crate) fn is_covered(&self, listed: &mut Cursor) -> bool {
        each!(self, header => header.is_covered(listed.of(header)), false)
    }

    pub(crate) fn region(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        if cursor.is_done() {
            return Ok(None);
        }
        let region = each!(self, header => header.region(reader, cursor.of(header)), Ok(None))?;
        // A truncated file may declare tables longer than itself.
        let left = |at| word(reader.source().len()).saturating_sub(place(at));
        Ok(region.map(|mut region: Region| {
            region.span.len = wide(place(region.span.len).min(left(region.span.offset)));
            region
        }))
    }

    /// As [`chunk`](Self::chunk), without reporting.
    pub(crate) fn chunk_of(
        &self,
        reader: &mut Reader<'_, '_>,
        tensor: &Tensor,
        chunk: u64,
    ) -> Result<Option<Chunk>, Halt> {
        reader.mute();
        let found = each!(self, header => header.chunk(reader, tensor, chunk), Ok(None));
        reader.unmute();
        found
    }

    /// Where the elements of a tensor have text, without reporting.
    #[cfg(feature = "payloads")]
    pub(crate) fn texts(
        &self,
        reader: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<Texts, Halt> {
        reader
            .quietly(|reader| each!(self, header => header.texts(reader, tensor), Ok(Texts::NONE)))
    }

    /// The parts of a sparse tensor whose indices must be decoded, without reporting.
    #[cfg(feature = "payloads")]
    pub(crate) fn parted(
        &self,
        reader: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<Option<Parted>, Halt> {
        reader.quietly(|reader| each!(self, header => header.parted(reader, tensor), Ok(None)))
    }

    pub(crate) fn audit(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
    ) -> Result<(), Halt> {
        if cursor.is_done() {
            return Ok(());
        }
        each!(self, header => header.audit(reader, cursor.of(header)), Ok(()))
    }
}

/// [`File::region_of`] for one format.
pub(super) fn last_region<F: Container>(
    _: &F,
    source: &Source<'_>,
    tensor: &Tensor,
) -> Option<Region> {
    match tensor.chunks {
        Chunks::One(span) if F::ENDS_WITH_TENSORS => {
            let len = span.len.min(source.len().saturating_sub(span.offset));
            Some(format::data_of(tensor.index, Span::new(span.offset, len)))
        }
        _ => None,
    }
}

/// Whether what surrounds an entry may name it.
fn named_around<H: Container>(_: &H) -> bool {
    H::NAMED_AROUND
}
