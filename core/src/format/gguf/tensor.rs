//! Tensor entries.

use super::elements::{NEWEST, Stored, is_newer, stored};
use super::head::{self, u32, u64};
use super::{Cursor, Header, field, rules};
use crate::base::{Word, division::padding, limits, place, utf8, wide, widen, word};
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Endianness, NameAt, Status, Tensor, dims::times,
};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// An unknown number; valid numbers are at most `field::LARGEST_EXTENT`.
const UNKNOWN: u64 = u64::MAX;

/// An entry as stored, before validation.
#[derive(Default)]
pub(super) struct Entry<'a> {
    at: Word,
    /// Empty if it is longer than any valid name.
    name: &'a [u8],
    name_len: Word,
    dims: &'a [u8],
    ty: u32,
    ty_at: Word,
    offset: u64,
}

impl Entry<'_> {
    fn rank(&self) -> u32 {
        u32::try_from(self.dims.len() >> 3).unwrap_or(0)
    }

    /// Offset of the dims.
    fn dims_at(&self) -> u64 {
        wide(self.ty_at).wrapping_sub(widen(self.dims.len()))
    }

    /// Position of the stored offset.
    fn offset_at(&self) -> u64 {
        wide(self.ty_at).wrapping_add(4)
    }
}

/// Reads the entry at the reader's position.
pub(super) fn entry<'a>(
    r: &mut Reader<'_, 'a>,
    big: bool,
    entry: &mut Entry<'a>,
) -> Result<(), Halt> {
    entry.at = r.here();
    (entry.name, entry.name_len) = head::text(r, limits::GGUF_NAME, big);
    let rank = u32(r, big);
    let room = (r.left() >> 3).min(limits::GGUF_RANK.into());
    if u64::from(rank) > room {
        head::refuse(r, rules::DIMS_BOUNDS, 4, room, rank.into());
    }
    // After a rejected rank, these read nothing.
    entry.dims = r.bytes(word(u64::from(rank) << 3));
    entry.ty_at = r.here();
    entry.ty = u32(r, big);
    entry.offset = u64(r, big);
    r.settle()
}

impl Header {
    /// Reads the tensor of the next entry.
    pub(super) fn next_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        if self.tensors_at == 0 || c.index >= self.count {
            self.prove(r.source(), c);
            c.finish();
            return Ok(None);
        }
        head::go(r, c.at.max(wide(self.tensors_at)));
        if self.tables_end != 0 {
            r.read_ahead(wide(self.tables_end));
        }
        r.about(EntryKind::Tensor, c.index);
        if let Some(tensor) = self.plain_tensor(r, c) {
            return Ok(Some(tensor));
        }
        self.any_tensor(r, c)
    }

    /// Reads the tensor of the entry at the reader's position, in any form.
    pub(super) fn any_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        // Filled in place: it is expensive to move.
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
        // If the type is unknown, only the next tensor gives the length of the data.
        let mut next = Entry { offset: UNKNOWN, ..Entry::default() };
        if stored.is_none() && c.index.wrapping_add(1) < self.count {
            self.peek(r, &mut next)?;
        }
        let tensor = self.validate(r, c, &entry, stored, next.offset);
        c.advance(end);
        Ok(Some(tensor))
    }

    /// Reads the entry at the reader's position; its offset stays unknown if it cannot be
    /// read.
    fn peek<'a>(&self, r: &mut Reader<'_, 'a>, next: &mut Entry<'a>) -> Result<(), Halt> {
        let muted = r.is_muted();
        r.mute();
        let taken = entry(r, self.big, next);
        if !muted {
            r.unmute();
        }
        match taken {
            Ok(()) => Ok(()),
            Err(halt) if halt.is_absent() => Err(halt),
            Err(_) => {
                next.offset = UNKNOWN;
                Ok(())
            }
        }
    }

    /// Validates an entry and returns its tensor. The next tensor's data begins at `next`.
    fn validate(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        entry: &Entry<'_>,
        stored: Option<Stored>,
        next: u64,
    ) -> Tensor {
        let big = self.big;
        let encoding = if big { DimEncoding::ReversedBig } else { DimEncoding::Reversed };
        let mut tensor = Tensor {
            index: c.index,
            offset: wide(entry.at),
            status: Status::Broken,
            dtype: DType::default(),
            endianness: if big { Endianness::Big } else { Endianness::Little },
            dims: DimsAt {
                offset: entry.dims_at(),
                len: entry.rank() << 3,
                rank: entry.rank(),
                lead: None,
                encoding,
            },
            extra: Span::new(wide(entry.ty_at), 4),
            ..Tensor::default()
        };
        if validate_name(r, entry) {
            tensor.name = NameAt::plain(tensor.offset.wrapping_add(8), wide(entry.name_len));
        }
        let elements = validate_shape(r, entry, big);
        let mut size = UNKNOWN;
        match stored {
            None => {
                let newer = is_newer(entry.ty);
                let rule = if newer { rules::DTYPE_UNKNOWN } else { rules::DTYPE_REMOVED };
                r.flag(rule, tensor.extra.offset, 4, NEWEST.into(), entry.ty.into());
            }
            Some(stored) => {
                tensor.dtype = stored.dtype;
                if elements != UNKNOWN {
                    size = sized(r, entry, stored, elements, big);
                }
            }
        }
        if size != UNKNOWN {
            tensor.elements = elements;
        }
        let before = core::mem::replace(&mut c.state.next_data, Cursor::UNKNOWN);
        let astray = core::mem::take(&mut c.state.astray);
        // Without the end of the tables or an alignment, the data cannot be located.
        let measured = size != UNKNOWN || stored.is_none();
        if self.data_at != 0 && tensor.name.offset != 0 && measured {
            self.place_data(r, c, entry, &mut tensor, size, (before, astray), next);
        }
        if tensor.status != Status::Broken && stored.is_none() {
            tensor.status = Status::Unsupported;
            if elements == UNKNOWN {
                (tensor.status, tensor.chunks) = (Status::Broken, Chunks::None);
            }
        }
        match tensor.chunks {
            Chunks::One(span) if tensor.status == Status::Sound => {
                let end = span.end().unwrap_or(u64::MAX);
                self.cover(r.source(), c, before, entry.offset, end);
            }
            _ => c.state.swept.loosen(),
        }
        tensor
    }

    /// Locates a tensor's data: `size` bytes if that is known, otherwise up to `next`.
    /// `before` is the end of the preceding data, and the difference to the offset that ggml
    /// expects.
    #[allow(clippy::too_many_arguments, reason = "the known facts about one tensor")]
    fn place_data(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        entry: &Entry<'_>,
        tensor: &mut Tensor,
        size: u64,
        before: (u64, u64),
        next: u64,
    ) {
        let len = word(r.source().len());
        let offset = place(entry.offset);
        let begin = self.data_at.saturating_add(offset);
        let alignment = u64::from(self.alignment);
        let (before, expected) = match before {
            (Cursor::UNKNOWN, _) => (entry.offset, entry.offset),
            (before, astray) => (before, before.wrapping_add(astray)),
        };
        let end = if size != UNKNOWN {
            let data_end = wide(offset.saturating_add(place(size)).min(Word::MAX >> 1));
            c.state.next_data = data_end.wrapping_add(padding(data_end, alignment));
            let counted = expected.wrapping_add(size).wrapping_add(padding(size, alignment));
            c.state.astray = counted.wrapping_sub(c.state.next_data);
            begin.saturating_add(place(size))
        } else if next >= entry.offset {
            self.data_at.saturating_add(place(next)).min(len).max(begin)
        } else {
            begin.max(len)
        };
        let at = entry.offset_at();
        let fits = end <= len;
        if !fits {
            r.flag(rules::DATA_BOUNDS, at, 8, wide(len), wide(end));
        }
        if padding(entry.offset, alignment) != 0 {
            r.flag(rules::OFFSET_ALIGN, at, 8, alignment, entry.offset);
        } else if fits && before != entry.offset && expected != entry.offset {
            r.flag(rules::OFFSET_ORDER, at, 8, expected, entry.offset);
        }
        if fits {
            tensor.status = Status::Sound;
            tensor.chunks = Chunks::One(Span::between(wide(begin), wide(end)));
        }
    }
}

/// Validates the name; returns whether it may be read.
fn validate_name(r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> bool {
    let (at, len) = (wide(entry.at), wide(entry.name_len));
    if len > limits::GGUF_NAME {
        r.flag(rules::NAME_LIMIT, at, 8, limits::GGUF_NAME, len);
        return false;
    }
    if len > field::LONGEST_NAME {
        r.flag(rules::NAME_LENGTH, at, 8, field::LONGEST_NAME, len);
    } else if len == field::LONGEST_NAME {
        r.flag(rules::NAME_64, at, 8, field::LONGEST_NAME.saturating_sub(1), len);
    }
    if !utf8::is(entry.name) {
        r.flag(rules::NAME_UTF8, at.wrapping_add(8), len, 0, 0);
    }
    if entry.name.contains(&0) {
        r.flag(rules::NAME_NUL, at.wrapping_add(8), len, 0, 0);
    }
    true
}

/// The number of elements; unknown if the shape breaks a fatal rule.
fn validate_shape(r: &mut Reader<'_, '_>, entry: &Entry<'_>, big: bool) -> u64 {
    let (at, len) = (entry.dims_at(), widen(entry.dims.len()));
    let rank = entry.rank();
    if rank > field::LARGEST_RANK {
        let most = field::LARGEST_RANK.into();
        r.flag(rules::DIMS_COUNT, at.wrapping_sub(4), 4, most, rank.into());
    }
    let (mut elements, mut exceeds) = (1_u64, false);
    for bytes in entry.dims.as_chunks().0 {
        let extent = extent(bytes, big);
        if extent > field::LARGEST_EXTENT {
            r.flag(rules::EXTENT_RANGE, at, len, field::LARGEST_EXTENT, extent);
            return UNKNOWN;
        }
        // From the left, as in ggml: nothing overflows after a 0, but an overflow before it
        // counts.
        elements = times(elements, extent);
        exceeds |= elements > field::LARGEST_EXTENT;
    }
    if exceeds {
        r.flag(rules::SHAPE_OVERFLOW, at, len, field::LARGEST_EXTENT, u64::MAX);
        return UNKNOWN;
    }
    if elements == 0 {
        r.flag(rules::EXTENT_ZERO, at, len, 1, 0);
    }
    elements
}

fn extent(bytes: &[u8; 8], big: bool) -> u64 {
    if big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) }
}

/// The length in bytes; unknown if it breaks a rule.
fn sized(
    r: &mut Reader<'_, '_>,
    entry: &Entry<'_>,
    stored: Stored,
    elements: u64,
    big: bool,
) -> u64 {
    let (at, len) = (entry.dims_at(), widen(entry.dims.len()));
    let row = entry.dims.first_chunk().map_or(1, |row| extent(row, big));
    let block = stored.block();
    // A block has few elements: the lower half of the number suffices.
    if word(row) & word(block).wrapping_sub(1) != 0 {
        r.flag(rules::BLOCK_MULTIPLE, at, len.min(8), block, row);
        return UNKNOWN;
    }
    let size = stored.size(elements);
    if size > field::LARGEST_EXTENT {
        r.flag(rules::SHAPE_OVERFLOW, at, len, field::LARGEST_EXTENT, u64::MAX);
        return UNKNOWN;
    }
    size
}
