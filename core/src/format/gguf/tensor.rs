//! Entries of tensors.

use super::elements::{Stored, stored};
use super::head::{self, length, u32, u64};
#[cfg(feature = "sweep")]
use super::sweep;
use super::{Header, field, rules};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, Dims, DimsAt};
use crate::finding::Kind;
use crate::limits;
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::source::{Span, widen};
use crate::tensor::{Chunks, Endianness, Status, Tensor};

/// An entry as it is stored, taken but not judged.
#[derive(Default)]
pub(super) struct Entry<'a> {
    at: u64,
    name: &'a [u8],
    name_at: u64,
    name_len: u64,
    dims: &'a [u8],
    dims_at: u64,
    rank: u32,
    ty: u32,
    ty_at: u64,
    offset: u64,
}

/// Reads the entry where the reader stands.
pub(super) fn entry<'a>(
    r: &mut Reader<'_, 'a>,
    big: bool,
    entry: &mut Entry<'a>,
) -> Result<(), Halt> {
    let at = r.at();
    let name_len = length(r, big)?;
    let name_at = r.at();
    let name = if name_len > limits::GGUF_NAME {
        r.skip(name_len)?;
        &[]
    } else {
        r.take(name_len)?
    };
    let rank = u32(r, big)?;
    let dims_at = r.at();
    let room = (r.left() >> 3).min(limits::GGUF_RANK.into());
    if u64::from(rank) > room {
        r.flag(rules::DIMS_BOUNDS, dims_at.wrapping_sub(4), 4, room, rank.into());
        return Err(Halt::refused(rules::DIMS_BOUNDS));
    }
    let dims = r.take(u64::from(rank) << 3)?;
    let ty_at = r.at();
    let ty = u32(r, big)?;
    let offset = u64(r, big)?;
    *entry = Entry { at, name, name_at, name_len, dims, dims_at, rank, ty, ty_at, offset };
    Ok(())
}

impl Header {
    /// The cursor's `state` is the offset at which ggml expects the next data,
    /// if the size of the data before is known.
    pub(super) fn next_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        if self.tensors_at == 0 || c.index >= self.count {
            #[cfg(feature = "sweep")]
            self.prove(r.source(), c);
            c.finish();
            return Ok(None);
        }
        head::go(r, c.at.max(self.tensors_at));
        if self.tables_end != 0 {
            r.read_ahead(self.tables_end);
        }
        r.about(Kind::Tensor, c.index);
        #[cfg(feature = "sweep")]
        if let Some(tensor) = self.plain_tensor(r, c) {
            return Ok(Some(tensor));
        }
        self.any_tensor(r, c)
    }

    /// The tensor of the entry where the reader stands, whatever it looks like.
    pub(super) fn any_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        // Filled where it lies: it is large to be moved.
        let mut entry = Entry::default();
        match self::entry(r, self.big, &mut entry) {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(halt) => {
                r.refuse(halt);
                c.finish();
                return Ok(None);
            }
        }
        let end = r.at();
        let stored = stored(entry.ty);
        // The size of what is unknown can only be told from what follows it.
        let next = match stored {
            None if c.index.wrapping_add(1) < self.count => self.peek(r)?,
            _ => None,
        };
        let mut expected = c.state;
        let tensor = self.judge(r, c.index, &entry, stored, next, &mut expected);
        #[cfg(feature = "sweep")]
        let before = c.state;
        c.state = expected;
        #[cfg(feature = "sweep")]
        match tensor.chunks {
            Chunks::One(span) if tensor.status == Status::Sound => {
                let end = span.end().unwrap_or(u64::MAX);
                self.cover(r.source(), c, before, entry.offset, end);
            }
            _ => c.extra = sweep::cover::LOOSE,
        }
        c.advance(end);
        Ok(Some(tensor))
    }

    /// The offset of the entry where the reader stands, if that can be read.
    fn peek(&self, r: &mut Reader<'_, '_>) -> Result<Option<u64>, Halt> {
        let muted = r.is_muted();
        r.mute();
        let mut next = Entry::default();
        let entry = entry(r, self.big, &mut next);
        if !muted {
            r.unmute();
        }
        match entry {
            Ok(()) => Ok(Some(next.offset)),
            Err(halt) if halt.is_absent() => Err(halt),
            Err(_) => Ok(None),
        }
    }

    fn judge(
        &self,
        r: &mut Reader<'_, '_>,
        index: u32,
        entry: &Entry<'_>,
        stored: Option<Stored>,
        next: Option<u64>,
        expected: &mut u64,
    ) -> Tensor {
        let dtype = stored.map(|stored| stored.dtype);
        let order = if self.big { Endianness::Big } else { Endianness::Little };
        let encoding = if self.big { DimEncoding::ReversedBig } else { DimEncoding::Reversed };
        let named = entry.name_len <= limits::GGUF_NAME;
        let mut tensor = Tensor {
            index,
            at: entry.at,
            name: if named {
                NameAt::plain(entry.name_at, entry.name_len)
            } else {
                NameAt::default()
            },
            status: Status::Broken,
            dtype: dtype.unwrap_or_default(),
            endianness: order,
            dims: DimsAt {
                at: entry.dims_at,
                len: u32::try_from(entry.dims.len()).unwrap_or(0),
                rank: entry.rank,
                lead: None,
                encoding,
            },
            extra: Span::new(entry.ty_at, 4),
            ..Tensor::default()
        };
        let name_fits = judge_name(r, entry);
        let elements = judge_shape(r, entry, encoding);
        if dtype.is_none() {
            r.flag(rules::DTYPE_UNKNOWN, entry.ty_at, 4, 0, entry.ty.into());
        }
        let size = match (stored, elements) {
            (Some(stored), Some(elements)) => sized(r, entry, stored, elements, self.big),
            _ => None,
        };
        let before = core::mem::replace(expected, Cursor::UNKNOWN);
        if let (Some(elements), Some(_)) = (elements, dtype.and(size)) {
            tensor.elements = elements;
        }
        // Without the end of the tables or an alignment, data lies nowhere.
        if self.data_at == 0 || !name_fits {
            return tensor;
        }
        let len = r.source().len();
        let begin = self.data_at.saturating_add(entry.offset);
        let end = match (size, dtype) {
            (Some(size), _) => begin.saturating_add(size),
            (None, None) => match next.filter(|next| *next >= entry.offset) {
                Some(next) => self.data_at.saturating_add(next).min(len),
                None => len,
            }
            .max(begin),
            (None, Some(_)) => return tensor,
        };
        let offset_at = entry.ty_at.wrapping_add(4);
        if end > len {
            r.flag(rules::DATA_BOUNDS, offset_at, 8, len, end);
        }
        let mask = u64::from(self.alignment).wrapping_sub(1);
        if entry.offset & mask != 0 {
            let alignment = self.alignment.into();
            r.flag(rules::OFFSET_ALIGN, offset_at, 8, alignment, entry.offset);
        } else if before != Cursor::UNKNOWN && before != entry.offset && end <= len {
            r.flag(rules::OFFSET_ORDER, offset_at, 8, before, entry.offset);
        }
        if let Some(size) = size {
            let end = entry.offset.saturating_add(size);
            *expected = end.saturating_add(mask) & !mask;
        }
        if end <= len {
            tensor.status = if dtype.is_some() && elements.is_some() {
                Status::Sound
            } else if elements.is_some() {
                Status::Unsupported
            } else {
                Status::Broken
            };
            if tensor.status != Status::Broken {
                tensor.chunks = Chunks::One(Span::between(begin, end));
            }
        }
        tensor
    }
}

/// Whether the name may be read.
#[cfg_attr(not(feature = "windows"), inline(never))]
fn judge_name(r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> bool {
    let (at, len) = (entry.at, entry.name_len);
    if len > limits::GGUF_NAME {
        r.flag(rules::NAME_LIMIT, at, 8, limits::GGUF_NAME, len);
        return false;
    }
    if len > field::LONGEST_NAME {
        r.flag(rules::NAME_LENGTH, at, 8, field::LONGEST_NAME, len);
    } else if len == field::LONGEST_NAME {
        r.flag(rules::NAME_64, at, 8, field::LONGEST_NAME.saturating_sub(1), len);
    }
    if !Name::new(entry.name, NameEncoding::Plain).is_utf8() {
        r.flag(rules::NAME_UTF8, entry.name_at, len, 0, 0);
    }
    true
}

/// The number of elements.
fn judge_shape(r: &mut Reader<'_, '_>, entry: &Entry<'_>, encoding: DimEncoding) -> Option<u64> {
    let span = Span::new(entry.dims_at, widen(entry.dims.len()));
    if entry.rank > field::LARGEST_RANK {
        let (at, rank) = (entry.dims_at.wrapping_sub(4), entry.rank.into());
        r.flag(rules::DIMS_COUNT, at, 4, field::LARGEST_RANK.into(), rank);
    }
    let (mut elements, mut zero) = (Some(1_u64), false);
    for extent in Dims::new(entry.dims, entry.rank, encoding) {
        if extent > field::LARGEST_EXTENT {
            r.flag(rules::EXTENT_RANGE, span.at, span.len, field::LARGEST_EXTENT, extent);
            return None;
        }
        zero |= extent == 0;
        // A 0 does not hide the overflow of the others.
        elements = elements.and_then(|n| n.checked_mul(extent.max(1)));
    }
    let elements = elements.filter(|n| *n <= field::LARGEST_EXTENT);
    let Some(elements) = elements else {
        r.flag(rules::SHAPE_OVERFLOW, span.at, span.len, field::LARGEST_EXTENT, u64::MAX);
        return None;
    };
    if zero {
        r.flag(rules::EXTENT_ZERO, span.at, span.len, 1, 0);
        return Some(0);
    }
    Some(elements)
}

/// The number of bytes.
fn sized(
    r: &mut Reader<'_, '_>,
    entry: &Entry<'_>,
    stored: Stored,
    elements: u64,
    big: bool,
) -> Option<u64> {
    let span = Span::new(entry.dims_at, widen(entry.dims.len()));
    let block = stored.block();
    let row = match entry.dims.first_chunk() {
        Some(row) if big => u64::from_be_bytes(*row),
        Some(row) => u64::from_le_bytes(*row),
        None => 1,
    };
    if row & block.wrapping_sub(1) != 0 {
        r.flag(rules::BLOCK_MULTIPLE, span.at, span.len.min(8), block, row);
        return None;
    }
    let size = stored.size(elements).filter(|n| *n <= field::LARGEST_EXTENT);
    if size.is_none() {
        r.flag(rules::SHAPE_OVERFLOW, span.at, span.len, field::LARGEST_EXTENT, u64::MAX);
    }
    size
}
