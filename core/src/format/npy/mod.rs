//! NPY 1.0 to 3.0, a single NumPy array (`.npy`).
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 6 | magic string, `\x93NUMPY` |
//! | 6 | 2 | major and minor version |
//! | 8 | 2, from 2.0 on 4 | header length, little-endian |
//! | 10 or 12 | | header: a Python dictionary literal, spaces, a newline |
//! | then | | elements, row-major or column-major |
//!
//! The header is text and is never evaluated. `literal` reads every form that `numpy.save`
//! has ever written, with any white space, key order and commas that Python allows. Other
//! Python spellings of the same value (comments, numbers in other bases, concatenated
//! strings, lists instead of tuples) break `NPY-SYNTAX` or `NPY-SHAPE`.
//!
//! Order of suppression. The first fatal fault in the header ends validation, with two
//! exceptions. After `NPY-DATA` the array is listed as broken. After `NPY-OBJECT` a file is
//! not opened, but an archive member is listed as broken. The header's padding is checked
//! only if the header is valid.

mod descr;
mod header;
mod literal;
pub mod rules;

use crate::format::Container;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunks, Layout, Part, Region, Status, Tensor, Version};
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt};
pub(crate) use header::{Array, Place, Prelude, read};

/// Field values and limits.
mod field {
    pub(super) const MAGIC: [u8; 6] = *b"\x93NUMPY";
    /// The default limit of `numpy.load`.
    pub(super) const HEADER_LONG: u64 = 10_000;
    pub(super) const ALIGN: u64 = 64;
    /// The alignment of version 1.0 before NumPy 1.14.
    pub(super) const ALIGN_OLD: u64 = 16;
    pub(super) const RANK: u32 = 64;
    pub(super) const RANK_OLD: u32 = 32;
}

/// The validated header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    major: u8,
    array: Array,
}

impl Container for Header {
    type State = ();

    const ENDS_WITH_TENSORS: bool = true;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor<()>) -> Result<Header, Halt> {
        r.region(0, r.source().len(), rules::NPY_LENGTH);
        // The data is not read here.
        r.read_ahead(field::ALIGN.wrapping_mul(2));
        let prelude = Prelude::read(r)?;
        let text = r.take(prelude.text)?;
        let array = read(r, Place::here(0), prelude, text)?;
        if array.status == Status::Broken {
            return Err(Halt::refused(rules::NPY_OBJECT));
        }
        Ok(Header { major: prelude.major, array })
    }

    fn version(&self) -> Option<Version> {
        Some(Version::minor(self.major.into(), 0))
    }

    fn tensor_count(&self) -> u64 {
        1
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<()>) -> Result<Option<Tensor>, Halt> {
        if c.index > 0 {
            c.finish();
            return Ok(None);
        }
        r.about(EntryKind::Tensor, 0);
        let at = self.array.data;
        let data = Span::between(at, r.source().len());
        c.advance(at);
        let tensor = self.array.tensor(r, data, data.len);
        if let Chunks::One(span) = tensor.chunks {
            let rest = data.len.wrapping_sub(span.len);
            if rest > 0 {
                r.about(EntryKind::File, 0);
                r.flag(rules::NPY_TRAILING, at.wrapping_add(span.len), rest, 0, rest);
            }
        }
        Ok(Some(tensor))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<()>) -> Result<Option<Region>, Halt> {
        if c.phase == 0 {
            c.next_phase();
            let span = Span::new(0, self.array.data);
            return Ok(Some(Region { part: Part::Header, span, kind: EntryKind::File, entry: 0 }));
        }
        self.payload(r, c)
    }
}

impl Header {
    /// The text of `descr` in the header, which describes the element type.
    ///
    /// # Errors
    /// [`Absent`] if the header is not resident.
    pub fn descr<'a>(&self, source: &Source<'a>) -> Result<&'a [u8], Absent> {
        source.get(self.array.descr)
    }
}

impl Array {
    /// The array as a tensor without a name. Its data begins at the start of `place` and has
    /// `left` bytes available; findings refer to `place`.
    pub(crate) fn tensor(&self, r: &mut Reader<'_, '_>, place: Span, left: u64) -> Tensor {
        let mut tensor = Tensor {
            index: r.subject().entry,
            offset: self.at,
            dtype: self.dtype,
            status: self.status,
            layout: if self.columns { Layout::ColumnMajor } else { Layout::RowMajor },
            endianness: self.endianness,
            dims: self.dims,
            elements: self.elements,
            extra: self.descr,
            ..Tensor::default()
        };
        let len = self.bytes().unwrap_or(left);
        if len > left && self.status != Status::Broken {
            r.flag(rules::NPY_DATA, place.offset, place.len, len, left);
            tensor.status = Status::Broken;
        }
        if tensor.status != Status::Broken {
            tensor.chunks = Chunks::One(Span::new(place.offset, len));
        }
        tensor
    }

    /// Length of its data in bytes; `None` if unknown.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.elements.checked_mul(self.width?.into())
    }
}
