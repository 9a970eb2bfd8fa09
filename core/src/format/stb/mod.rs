//! STB 0.1, the SVG-Tensor Binary format (`.stb`).
//!
//! Little-endian. Header of 32 bytes, a table of 32 bytes a tensor, padding,
//! payloads. Tensors have numbers instead of names.
//!
//! | header at | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `STB0` |
//! | 4 | 1 | version, 1 |
//! | 5 | 1 | flags, 0 |
//! | 6 | 2 | number of tensors |
//! | 8 | 8 | two reserved words, 0 |
//! | 16 | 8 | `data_offset`: where payloads may begin, a multiple of 64 |
//! | 24 | 8 | `file_size`: length of the file |
//!
//! | entry at | size | field |
//! |---|---|---|
//! | 0 | 1 | id |
//! | 1 | 1 | element type |
//! | 2 | 1 | rank, 0 to 8 |
//! | 3 | 1 | layout |
//! | 4 | 8 | offset of the data from the file's start, a multiple of 64 |
//! | 12 | 8 | its size in bytes |
//! | 20 | 12 | three extents; beyond rank 3 the first is an index into a shape table that is not in the file |
//!
//! Order of suppression: a file shorter than `file_size` breaks `H-FSIZE`, and
//! tensors that lack bytes for that reason are broken without a finding each.
//! A tensor is judged by the longer of the recorded and the real length, so
//! that a wrong `file_size` is reported once. `T-OFF-MIN` comes before `T-END`.

pub mod rules;

use crate::checksum::Checksum;
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, Dims, DimsAt};
use crate::dtype::DType;
use crate::finding::Kind;
use crate::format::Policy;
use crate::name::{NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::source::{Absent, Source, Span};
use crate::tensor::{Chunk, Chunks, Layout, Meta, Part, Region, Status, Tensor, Value, Version};

/// Where fields lie and what they hold (§3, §4).
mod field {
    pub(super) const MAGIC: [u8; 4] = *b"STB0";
    pub(super) const VERSION: u8 = 1;
    pub(super) const HEADER: u64 = 32;
    pub(super) const ENTRY: u64 = 32;
    pub(super) const ALIGN: u64 = 64;
    pub(super) const AT_VERSION: u64 = 4;
    pub(super) const AT_FLAGS: u64 = 5;
    pub(super) const AT_RESERVED: u64 = 8;
    pub(super) const AT_DATA_OFFSET: u64 = 16;
    pub(super) const AT_FILE_SIZE: u64 = 24;
    pub(super) const ENTRY_DTYPE: u64 = 1;
    pub(super) const ENTRY_RANK: u64 = 2;
    pub(super) const ENTRY_LAYOUT: u64 = 3;
    pub(super) const ENTRY_OFFSET: u64 = 4;
    pub(super) const ENTRY_SIZE: u64 = 12;
    pub(super) const ENTRY_DIMS: u64 = 20;
    pub(super) const DIRECT_RANK: u8 = 3;
    pub(super) const LARGEST_RANK: u8 = 8;
}

/// What the header says, as far as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of tensors.
    count: u16,
    /// Where payloads may begin.
    data_offset: u64,
    /// The recorded length.
    file_size: u64,
    /// What payloads are judged by.
    bound: u64,
}

impl Header {
    pub(crate) const POLICY: Policy = Policy {
        duplicate_tensor: Some(rules::T_ID_DUP),
        overlap: Some(rules::T_OVERLAP),
        alias: Some(rules::T_ALIAS),
        gap: Some(rules::D_GAP),
        trailing: Some(rules::D_TRAILING),
        padding: Some(rules::D_PAD),
        align: field::ALIGN,
        ..Policy::NONE
    };

    pub(crate) fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    pub(crate) fn open(r: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<Header, Halt> {
        let len = r.source().len();
        r.region(0, field::HEADER, rules::H_LEN);
        if len < field::HEADER {
            r.flag(rules::H_LEN, 0, len, field::HEADER, len);
            return Err(Halt::Refused(rules::H_LEN));
        }
        let magic = r.parse(crate::read::array::<4>)?;
        let version = r.u8()?;
        let flags = r.u8()?;
        let count = r.u16()?;
        let reserved = r.u64()?;
        let data_offset = r.u64()?;
        let file_size = r.u64()?;

        if magic != field::MAGIC {
            r.flag(rules::H_MAGIC, 0, 4, 0, 0);
            return Err(Halt::Refused(rules::H_MAGIC));
        }
        if version != field::VERSION {
            let expected = u64::from(field::VERSION);
            r.flag(rules::H_VERSION, field::AT_VERSION, 1, expected, u64::from(version));
            return Err(Halt::Refused(rules::H_VERSION));
        }
        let table_end = field::HEADER.saturating_add(u64::from(count).saturating_mul(field::ENTRY));
        let data_at = Span::new(field::AT_DATA_OFFSET, 8);
        r.check(flags == 0, rules::H_FLAGS, Span::new(field::AT_FLAGS, 1), 0, u64::from(flags));
        r.check(reserved == 0, rules::H_RSV, Span::new(field::AT_RESERVED, 8), 0, reserved);
        if data_offset < table_end {
            r.check(false, rules::H_DOFF_TABLE, data_at, table_end, data_offset);
            return Err(Halt::Refused(rules::H_DOFF_TABLE));
        }
        let whole = if r.source().is_exact() { file_size == len } else { file_size <= len };
        let bound = if r.source().is_exact() { file_size.max(len) } else { file_size };
        r.check(data_offset <= bound, rules::H_DOFF_FILE, data_at, bound, data_offset);
        r.check(is_aligned(data_offset), rules::H_DOFF_ALIGN, data_at, field::ALIGN, data_offset);
        r.check(whole, rules::H_FSIZE, Span::new(field::AT_FILE_SIZE, 8), file_size, len);
        Ok(Header { count, data_offset, file_size, bound })
    }

    pub(crate) fn version(&self) -> Option<Version> {
        Some(Version::major(u16::from(field::VERSION)))
    }

    pub(crate) fn file_len(&self) -> Option<u64> {
        Some(self.file_size)
    }

    pub(crate) fn tensor_count(&self) -> u64 {
        u64::from(self.count)
    }

    pub(crate) fn meta(
        &self,
        _: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        c.finish();
        Ok(None)
    }

    pub(crate) fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        let at = c.at.max(field::HEADER);
        let end = at.saturating_add(field::ENTRY);
        // A table that the file's end cuts off is implied by H-FSIZE.
        if c.index >= u32::from(self.count) || end > r.source().len() {
            c.finish();
            return Ok(None);
        }
        r.region(at, self.table_end(), rules::H_FSIZE);
        r.about(Kind::Tensor, c.index);
        let _id = r.u8()?;
        let dtype = r.u8()?;
        let rank = r.u8()?;
        let layout = r.u8()?;
        let data = Span { at: r.u64()?, len: r.u64()? };
        let extents = r.take(12)?;
        c.advance(end);
        let tensor = Entry { at, dtype, rank, layout, data, extents };
        Ok(Some(self.judge(r, &tensor)))
    }

    pub(crate) fn attribute(
        &self,
        _: &mut Reader<'_, '_>,
        _: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        c.finish();
        Ok(None)
    }

    pub(crate) fn value(&self, _: &mut Reader<'_, '_>, _: &Meta) -> Result<Option<Value>, Halt> {
        Ok(None)
    }

    pub(crate) fn chunk(
        &self,
        _: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _: u64,
    ) -> Result<Option<Chunk>, Halt> {
        Ok(Chunk::raw(tensor))
    }

    pub(crate) fn checksum(&self, _: &Source<'_>, _: &Tensor) -> Result<Option<Checksum>, Absent> {
        Ok(None)
    }

    pub(crate) fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        let region = |part, span| Region { part, span, kind: Kind::File, entry: 0 };
        match c.phase {
            0 => {
                c.next_phase();
                return Ok(Some(region(Part::Header, Span::new(0, field::HEADER))));
            }
            1 => {
                c.next_phase();
                return Ok(Some(region(
                    Part::Table,
                    Span::between(field::HEADER, self.table_end()),
                )));
            }
            _ => {}
        }
        while let Some(tensor) = self.tensor(r, c)? {
            if let Chunks::One(span) = tensor.chunks {
                return Ok(Some(Region {
                    part: Part::Payload,
                    span,
                    kind: Kind::Tensor,
                    entry: tensor.index,
                }));
            }
        }
        Ok(None)
    }

    pub(crate) fn audit(&self, _: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        c.finish();
        Ok(())
    }

    /// Where payloads may begin, as an offset from the file's start (§3).
    pub const fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// The id of a tensor, by which references find it (§4).
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn id(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u8, Absent> {
        Ok(source.get(Span::new(tensor.at, 1))?.first().copied().unwrap_or(0))
    }

    /// The stored element type of a tensor (§4.1), of which this build may know
    /// nothing.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u8, Absent> {
        let at = tensor.at.saturating_add(field::ENTRY_DTYPE);
        Ok(source.get(Span::new(at, 1))?.first().copied().unwrap_or(0))
    }

    /// The index into the shape table, which is not part of the file, of a
    /// tensor of rank 4 to 8 (§4); `None` for other ranks.
    ///
    /// The reference writer stores the first extent there instead. Nothing in
    /// the file tells which is meant.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn shape_table_index(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<u32>, Absent> {
        if tensor.dims.encoding != DimEncoding::External {
            return Ok(None);
        }
        let bytes = source.get(Span::new(tensor.at.saturating_add(field::ENTRY_DIMS), 4))?;
        Ok(bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)))
    }

    fn table_end(&self) -> u64 {
        field::HEADER.saturating_add(self.tensor_count().saturating_mul(field::ENTRY))
    }

    fn judge(&self, r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> Tensor {
        let Entry { at, data, .. } = *entry;
        let byte_at = |offset| Span::new(at.saturating_add(offset), 1);
        let word_at = |offset| Span::new(at.saturating_add(offset), 8);
        let dtype = match entry.dtype {
            0 => DType::F32,
            1 => DType::F16,
            2 => DType::I8,
            3 => DType::I32,
            _ => DType::Unknown,
        };
        let layout = match entry.layout {
            0 => Layout::RowMajor,
            1 => Layout::ColumnMajor,
            2 => Layout::ChannelsLast,
            _ => Layout::Unknown,
        };
        let mut status = Status::Sound;
        if dtype == DType::Unknown {
            r.check(false, rules::T_DTYPE, byte_at(field::ENTRY_DTYPE), 0, u64::from(entry.dtype));
            status = Status::Unsupported;
        }
        if layout == Layout::Unknown {
            r.check(
                false,
                rules::T_LAYOUT,
                byte_at(field::ENTRY_LAYOUT),
                0,
                u64::from(entry.layout),
            );
            status = Status::Unsupported;
        }

        let direct = entry.rank <= field::DIRECT_RANK;
        let mut elements = 0;
        let mut sound = true;
        if entry.rank > field::LARGEST_RANK {
            let largest = u64::from(field::LARGEST_RANK);
            r.check(
                false,
                rules::T_RANK,
                byte_at(field::ENTRY_RANK),
                largest,
                u64::from(entry.rank),
            );
            sound = false;
        } else if direct {
            // Three 32-bit extents may exceed u64; no type and size fit then.
            let product =
                Dims::new(entry.extents, u32::from(entry.rank), DimEncoding::U32).product();
            let size = product.and_then(|n| dtype.bytes(n));
            elements = product.unwrap_or(0);
            if dtype != DType::Unknown && size != Some(data.len) {
                let expected = size.unwrap_or(u64::MAX);
                r.check(false, rules::T_SIZE, word_at(field::ENTRY_SIZE), expected, data.len);
                sound = false;
            }
            self.judge_unused(r, entry);
        } else if dtype != DType::Unknown {
            let width = u64::from(dtype.bits() >> 3);
            elements = data.len.checked_div(width).unwrap_or(0);
            let whole = elements.saturating_mul(width);
            if whole != data.len {
                r.check(false, rules::T_SIZE, word_at(field::ENTRY_SIZE), whole, data.len);
                sound = false;
            }
        }

        let offset_at = word_at(field::ENTRY_OFFSET);
        if data.at < self.data_offset {
            r.check(false, rules::T_OFF_MIN, offset_at, self.data_offset, data.at);
            sound = false;
        } else if data.end().is_none_or(|end| end > self.bound) {
            let found = data.at.saturating_add(data.len);
            r.check(false, rules::T_END, offset_at, self.bound, found);
            sound = false;
        }
        r.check(is_aligned(data.at), rules::T_OFF_ALIGN, offset_at, field::ALIGN, data.at);
        // Bytes that a truncated file lacks were reported with the header.
        sound &= data.end().is_some_and(|end| end <= r.source().len());

        Tensor {
            index: r.subject().entry,
            at,
            name: NameAt { at, len: 1, encoding: NameEncoding::Number },
            dtype,
            status: if sound { status } else { Status::Broken },
            layout,
            dims: DimsAt {
                at: at.saturating_add(field::ENTRY_DIMS),
                len: if direct { u32::from(entry.rank).saturating_mul(4) } else { 0 },
                rank: u32::from(entry.rank),
                lead: None,
                encoding: if direct { DimEncoding::U32 } else { DimEncoding::External },
            },
            elements,
            chunks: if sound { Chunks::One(data) } else { Chunks::None },
            ..Tensor::default()
        }
    }

    /// Extents beyond the rank.
    fn judge_unused(&self, r: &mut Reader<'_, '_>, entry: &Entry<'_>) {
        let extents = Dims::new(entry.extents, 3, DimEncoding::U32);
        for (i, extent) in (0_u32..).zip(extents).skip(usize::from(entry.rank)) {
            if extent != 0 {
                let offset = field::ENTRY_DIMS.saturating_add(u64::from(i).saturating_mul(4));
                r.about_part(i);
                r.flag(rules::T_DIMS0, entry.at.saturating_add(offset), 4, 0, extent);
            }
        }
        r.about_part(crate::finding::Subject::NO_PART);
    }
}

/// One entry of the table, as it is stored.
struct Entry<'a> {
    at: u64,
    dtype: u8,
    rank: u8,
    layout: u8,
    data: Span,
    extents: &'a [u8],
}

fn is_aligned(offset: u64) -> bool {
    offset & (field::ALIGN.wrapping_sub(1)) == 0
}
