//! STB 0.1, the SVG-Tensor Binary format (`.stb`).
//!
//! Little-endian. A 32-byte header, a table with 32 bytes per tensor, padding,
//! payloads. Tensors have numbers instead of names.
//!
//! | header at | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `STB0` |
//! | 4 | 1 | version, 1 |
//! | 5 | 1 | flags, 0 |
//! | 6 | 2 | number of tensors |
//! | 8 | 4 | reserved, 0 |
//! | 12 | 4 | reserved, 0 |
//! | 16 | 8 | `data_offset`: first offset where payloads may begin, a multiple of 64 |
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
//! Order of suppression: a file shorter than `file_size` breaks `H-FSIZE`, and tensors cut
//! off for that reason are marked broken without a finding each. A tensor is validated
//! against the longer of the recorded and the real length, so a wrong `file_size` is
//! reported once. `T-OFF-MIN` takes precedence over `T-END`. A broken tensor, or one of
//! unknown type, gets no `T-SHAPE`.

pub mod rules;

mod entry;

use crate::format::Container;
use crate::input::{Absent, Source, Span};
use crate::model::{DimEncoding, Part, Region, Tensor, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use entry::Entry;

/// Offsets and values of fields (§3, §4).
mod field {
    use crate::parse::reader::Field;
    pub(super) const MAGIC: [u8; 4] = *b"STB0";
    pub(super) const VERSION: u8 = 1;
    pub(super) const HEADER: u64 = 32;
    pub(super) const ENTRY: u64 = 32;
    pub(super) const ALIGN: u64 = 64;
    pub(super) const DIRECT_RANK: u8 = 3;
    pub(super) const LARGEST_RANK: u8 = 8;
    pub(super) const LAST_LAYOUT: u8 = 2;

    pub(super) const H_MAGIC: Field = Field::new(0, 4);
    pub(super) const H_VERSION: Field = Field::new(4, 1);
    pub(super) const H_FLAGS: Field = Field::new(5, 1);
    pub(super) const H_COUNT: Field = Field::new(6, 2);
    pub(super) const H_RESERVED: [Field; 2] = [Field::new(8, 4), Field::new(12, 4)];
    pub(super) const H_DATA_OFFSET: Field = Field::new(16, 8);
    pub(super) const H_FILE_SIZE: Field = Field::new(24, 8);

    pub(super) const DTYPE: Field = Field::new(1, 1);
    pub(super) const RANK: Field = Field::new(2, 1);
    pub(super) const LAYOUT: Field = Field::new(3, 1);
    pub(super) const OFFSET: Field = Field::new(4, 8);
    pub(super) const SIZE: Field = Field::new(12, 8);
    pub(super) const DIMS: Field = Field::new(20, 12);
}

/// The validated header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of tensors.
    count: u16,
    /// First offset where payloads may begin.
    data_offset: u64,
    /// The recorded file length.
    file_size: u64,
    /// The length that payloads are validated against.
    bound: u64,
}

/// Position of an iteration.
type Cursor = parse::Cursor<()>;

impl Container for Header {
    type State = ();

    const ENDS_WITH_TENSORS: bool = true;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    #[inline(always)]
    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<Header, Halt> {
        let len = r.source().len();
        r.region(0, field::HEADER, rules::H_LEN);
        let header: &[u8; 32] = r.array()?;
        let [version] = field::H_VERSION.of(header);
        let [flags] = field::H_FLAGS.of(header);
        let count = u16::from_le_bytes(field::H_COUNT.of(header));
        let data_offset = u64::from_le_bytes(field::H_DATA_OFFSET.of(header));
        let file_size = u64::from_le_bytes(field::H_FILE_SIZE.of(header));

        if field::H_MAGIC.of(header) != field::MAGIC {
            return Err(r.reject(rules::H_MAGIC, field::H_MAGIC, 0, 0));
        }
        if version != field::VERSION {
            let (expected, found) = (field::VERSION.into(), version.into());
            return Err(r.reject(rules::H_VERSION, field::H_VERSION, expected, found));
        }
        if flags != 0 {
            r.fault(rules::H_FLAGS, field::H_FLAGS, 0, flags.into());
        }
        for field in field::H_RESERVED {
            let reserved = u32::from_le_bytes(field.of(header));
            if reserved != 0 {
                r.fault(rules::H_RSV, field, 0, reserved.into());
            }
        }
        let exact = r.source().is_exact();
        let bound = if exact && file_size < len { len } else { file_size };
        let header = Header { count, data_offset, file_size, bound };
        let table_end = header.table_end();
        if data_offset < table_end {
            let field = field::H_DATA_OFFSET;
            return Err(r.reject(rules::H_DOFF_TABLE, field, table_end, data_offset));
        }
        if data_offset > bound {
            r.fault(rules::H_DOFF_FILE, field::H_DATA_OFFSET, bound, data_offset);
        }
        if !is_aligned(data_offset) {
            r.fault(rules::H_DOFF_ALIGN, field::H_DATA_OFFSET, field::ALIGN, data_offset);
        }
        if file_size > len || (exact && file_size != len) {
            r.fault(rules::H_FSIZE, field::H_FILE_SIZE, file_size, len);
        }
        Ok(header)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(u16::from(field::VERSION)))
    }

    fn file_len(&self) -> Option<u64> {
        Some(self.file_size)
    }

    fn numbered_until(&self) -> Option<u64> {
        Some(self.table_end())
    }

    fn alignment(&self) -> u64 {
        field::ALIGN
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.count)
    }

    #[inline(always)]
    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let at = if c.at == 0 { field::HEADER } else { c.at };
        let end = at.wrapping_add(field::ENTRY);
        // A table cut off by the end of the file was reported as H-FSIZE or H-DOFF-FILE.
        if c.index >= u32::from(self.count) || end > r.source().len() {
            c.finish();
            return Ok(None);
        }
        r.region(at, end, rules::H_FSIZE);
        r.read_ahead(self.table_end());
        r.about(EntryKind::Tensor, c.index);
        let entry = Entry(r.array()?);
        c.advance(end);
        Ok(Some(self.validate(r, at, entry)))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let region = |part, span| Region { part, span, kind: EntryKind::File, entry: 0 };
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
        self.payload(r, c)
    }
}

impl Header {
    /// Offset from the file's start where payloads may begin (§3).
    pub const fn data_offset(&self) -> u64 {
        self.data_offset
    }

    /// A tensor's id, by which references name it (§4).
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn id(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u8, Absent> {
        Ok(source.get(Span::new(tensor.offset, 1))?.first().copied().unwrap_or(0))
    }

    /// The stored element type of a tensor (§4.1), which may be unknown to this build.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u8, Absent> {
        let at = tensor.offset.saturating_add(field::DTYPE.at.into());
        Ok(source.get(Span::new(at, 1))?.first().copied().unwrap_or(0))
    }

    /// The shape table index of a tensor of rank 4 to 8 (§4); `None` for other ranks. The
    /// shape table is not part of the file.
    ///
    /// The reference writer stores the first dim there instead; the file does not say which of
    /// the two it is.
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
        let bytes =
            source.get(Span::new(tensor.offset.saturating_add(field::DIMS.at.into()), 4))?;
        Ok(bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)))
    }

    pub(crate) fn table_end(&self) -> u64 {
        field::HEADER.wrapping_add(u64::from(u32::from(self.count).wrapping_mul(32)))
    }
}

fn is_aligned(offset: u64) -> bool {
    offset & (field::ALIGN.wrapping_sub(1)) == 0
}
