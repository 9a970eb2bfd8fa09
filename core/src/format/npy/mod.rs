//! NPY 1.0 to 3.0, one array of NumPy (`.npy`).
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 6 | magic string, `\x93NUMPY` |
//! | 6 | 2 | major and minor version |
//! | 8 | 2, from 2.0 on 4 | length of the header, little-endian |
//! | 10 or 12 | | header: the literal of a Python dictionary, spaces, a newline |
//! | then | | elements, row-major or column-major |
//!
//! The header is a text, and is never evaluated: `literal` reads the forms that
//! `numpy.save` has ever written, and the white space, order and commas that Python
//! allows. What else Python takes for the same value (comments, numbers in other
//! bases, joined strings, lists for tuples) breaks `NPY-SYNTAX` or `NPY-SHAPE`.
//!
//! Order of suppression. The first fatal fault of the header ends it, but for
//! `NPY-DATA`, with which the array is listed as broken, and `NPY-OBJECT`: a file of objects
//! is not opened, and such a member of an archive is listed as broken. The form of the
//! padding is looked at in sound headers only.

mod descr;
mod header;
mod literal;
pub mod rules;

use crate::format::{Container, Policy};
use crate::input::{Absent, Source, Span};
use crate::model::{Chunks, Layout, Part, Region, Status, Tensor, Version};
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt};
pub(crate) use header::{Array, Place, Prelude, read};

/// What the fixed bytes hold.
mod field {
    pub(super) const MAGIC: [u8; 6] = *b"\x93NUMPY";
    /// As much as `numpy.load` parses.
    pub(super) const HEADER_LONG: u64 = 10_000;
    pub(super) const ALIGN: u64 = 64;
    /// What version 1.0 had before NumPy 1.14.
    pub(super) const ALIGN_OLD: u64 = 16;
    pub(super) const RANK: u32 = 64;
    pub(super) const RANK_OLD: u32 = 32;
}

/// What the header says, as far as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    major: u8,
    array: Array,
}

impl Container for Header {
    type State = ();

    const POLICY: Policy = Policy::NONE;

    const ENDS_WITH_TENSORS: bool = true;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor<()>) -> Result<Header, Halt> {
        r.region(0, r.source().len(), rules::NPY_LENGTH);
        // The data is not part of what is read here.
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
    /// The text of `descr` in the header, which says what the elements are.
    ///
    /// # Errors
    /// [`Absent`] when the header is not resident.
    pub fn descr<'a>(&self, source: &Source<'a>) -> Result<&'a [u8], Absent> {
        source.get(self.array.descr)
    }
}

impl Array {
    /// The array as a tensor without a name. `left` bytes are there for its data, which
    /// begins where `place` does; findings are about that.
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

    /// Bytes of its data; `None` if nothing tells.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.elements.checked_mul(self.width?.into())
    }
}
