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

use crate::base::{Word, wide, word};
use crate::format::Container;
use crate::input::{Absent, Source, Span};
#[cfg(feature = "payloads")]
use crate::model::texts::Texts;
use crate::model::{Chunks, Part, Region, Status, Tensor, Version};
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt, Rule};
#[cfg(feature = "payloads")]
pub(crate) use header::texts;
pub(crate) use header::{Place, Prelude, UNKNOWN, read};

/// Field values and limits.
pub(crate) mod field {
    pub(crate) const MAGIC: [u8; 6] = *b"\x93NUMPY";
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
    /// Offset of the data.
    data: Word,
}

impl Container for Header {
    type State = ();

    const QUOTING: &[Rule] = &[rules::NPY_DESCR, rules::NPY_DESCR_FORM];

    const ENDS_WITH_TENSORS: bool = true;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.first_chunk() == Some(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor<()>) -> Result<Header, Halt> {
        let mut tensor = Tensor::NONE;
        let (prelude, data) = file(r, &mut tensor)?;
        if tensor.status == Status::Broken {
            return Err(Halt::refused(rules::NPY_OBJECT));
        }
        Ok(Header { major: prelude.major, data: word(data.offset) })
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
        // Its faults were reported when the file was opened.
        let mut tensor = Tensor::NONE;
        let (_, mut data) = r.quietly(|r| file(r, &mut tensor))?;
        let left = r.source().len().saturating_sub(data.offset);
        c.advance(data.offset);
        r.about(EntryKind::Tensor, 0);
        if data.len == UNKNOWN {
            data.len = left;
        }
        if data.len > left {
            r.flag(rules::NPY_DATA, data.offset, left, data.len, left);
            tensor.status = Status::Broken;
        } else {
            tensor.chunks = Chunks::One(data);
        }
        if data.len < left {
            let rest = left.wrapping_sub(data.len);
            r.about(EntryKind::File, 0);
            r.flag(rules::NPY_TRAILING, data.offset.wrapping_add(data.len), rest, 0, rest);
        }
        Ok(Some(tensor))
    }

    #[cfg(feature = "payloads")]
    fn texts(&self, r: &mut Reader<'_, '_>, _: &Tensor) -> Result<Texts, Halt> {
        r.region(0, wide(self.data), rules::NPY_LENGTH);
        let prelude = Prelude::read(r)?;
        let text = r.take(prelude.text)?;
        texts(r, prelude, text)
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<()>) -> Result<Option<Region>, Halt> {
        if c.phase == 0 {
            c.next_phase();
            let span = Span::new(0, wide(self.data));
            return Ok(Some(Region { part: Part::Header, span, kind: EntryKind::File, entry: 0 }));
        }
        self.payload(r, c)
    }
}

/// Reads the header of a file into `tensor`; returns the span of the data.
fn file(r: &mut Reader<'_, '_>, tensor: &mut Tensor) -> Result<(Prelude, Span), Halt> {
    r.region(0, r.source().len(), rules::NPY_LENGTH);
    // The data is not read here.
    r.read_ahead(field::ALIGN.wrapping_mul(2));
    let prelude = Prelude::read(r)?;
    let text = r.take(prelude.text)?;
    Ok((prelude, read(r, Place::here(0), prelude, text, tensor)?))
}

impl Header {
    /// The text of `descr` in the header, which describes the element type of `tensor`.
    ///
    /// # Errors
    /// [`Absent`] if the header is not resident.
    pub fn descr<'a>(&self, source: &Source<'a>, tensor: &Tensor) -> Result<&'a [u8], Absent> {
        source.get(tensor.extra)
    }
}
