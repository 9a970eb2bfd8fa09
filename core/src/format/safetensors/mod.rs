//! safetensors (`.safetensors`).
//!
//! | at | size | what |
//! |---|---|---|
//! | 0 | 8 | N, little-endian: length of the header |
//! | 8 | N | header: a JSON object, spaces behind it |
//! | 8 + N | | buffer, to the end of the file |
//!
//! | member of the header | value |
//! |---|---|
//! | `__metadata__` | optional: an object of strings |
//! | any other | a tensor: `{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}` |
//!
//! Offsets count from the start of the buffer, whose every byte belongs to one
//! tensor. Tensors may come in any order. Keys are compared as they read, with
//! escapes resolved.
//!
//! Order of suppression. Where the JSON itself is broken, that ends what can be
//! judged. An entry that lacks a field, or has one of another type, is not judged
//! further; then `OFFSET-ORDER` comes before `OFFSET-BOUNDS`, `SHAPE-OVERFLOW`,
//! `TENSOR-BITS` and `TENSOR-SIZE`. A tensor of unknown type is held to its
//! offsets only. While an entry is broken, no bytes are said to belong to
//! nothing.

pub mod rules;

mod entry;
pub(in crate::format) mod json;
pub(in crate::format) mod metadata;
pub(in crate::format) mod open;
#[cfg(feature = "sweep")]
mod sweep;

use crate::cursor::Cursor;
use crate::dims::{DimEncoding, DimsAt};
use crate::dtype::DType;
use crate::finding::Kind;
#[cfg(feature = "sweep")]
use crate::format::Glance;
use crate::format::{Container, Policy};
use crate::name::{Name, NameAt};
use crate::read::{Halt, Reader};
use crate::source::{Absent, Source, Span, widen};
use crate::tensor::{Chunks, Meta, Part, Region, Status, Tensor, Value, Version};
use entry::Entry;
use json::{Fault, Json, Text};

/// The member that is no tensor.
const METADATA: &str = "__metadata__";

/// What fields hold.
mod field {
    use crate::dtype::DType;

    pub(super) const LENGTH: u64 = 8;
    pub(super) const LONGEST: u64 = 100_000_000;

    pub(super) const DTYPES: [(&str, DType); 22] = [
        ("BF16", DType::BF16),
        ("F16", DType::F16),
        ("F32", DType::F32),
        ("F8_E4M3", DType::F8E4M3),
        ("F8_E5M2", DType::F8E5M2),
        ("I64", DType::I64),
        ("U8", DType::U8),
        ("I32", DType::I32),
        ("I8", DType::I8),
        ("BOOL", DType::Bool),
        ("F64", DType::F64),
        ("I16", DType::I16),
        ("U16", DType::U16),
        ("U32", DType::U32),
        ("U64", DType::U64),
        ("F4", DType::F4),
        ("F6_E2M3", DType::F6E2M3),
        ("F6_E3M2", DType::F6E3M2),
        ("F8_E8M0", DType::F8E8M0),
        ("F8_E4M3FNUZ", DType::F8E4M3Fnuz),
        ("F8_E5M2FNUZ", DType::F8E5M2Fnuz),
        ("C64", DType::C64),
    ];
}

/// What a cursor over the header stands before, in `extra`.
mod stands {
    pub(super) const FIRST: u64 = 0;
    /// Behind a comma; in the metadata, behind an entry.
    pub(super) const BEHIND: u64 = 1;
    /// Behind the closing brace.
    pub(super) const END: u64 = 2;
    /// The same, and the tensors fill the buffer.
    pub(super) const COVERED: u64 = 3;
}

/// What the header says, as far as it was proved. It has fewer than 2^27 bytes,
/// so its offsets are small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the buffer, which is the end of the header.
    data_at: u32,
    /// Offset behind the opening brace.
    first: u32,
    /// Offset behind the brace or comma before the metadata; 0 if there is none.
    meta_from: u32,
    /// Offset of its value.
    meta_at: u32,
    /// Offset of the comma or brace behind it; 0 if the header ends before.
    meta_end: u32,
    /// Offset behind the closing brace; 0 if the header ends before.
    end: u32,
    /// Where white space behind it ends.
    stray: u32,
    count: u32,
}

impl Container for Header {
    const POLICY: Policy = Policy {
        duplicate_tensor: Some(rules::NAME_DUPLICATE),
        duplicate_meta: Some(rules::METADATA_KEY),
        overlap: Some(rules::OVERLAP),
        alias: Some(rules::ALIAS),
        gap: Some(rules::HOLE),
        trailing: Some(rules::TRAILING),
        ..Policy::NONE
    };

    const ENDS_WITH_TENSORS: bool = true;

    /// White space before the brace, which the crate lets pass, is no sign of the
    /// format; such a file is opened by name.
    fn detect(head: &[u8], _: u64) -> bool {
        match head.split_first_chunk() {
            Some((length, [b'{', ..])) => u64::from_le_bytes(*length) <= field::LONGEST,
            _ => false,
        }
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        Header::open_steps(r, c)
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.count)
    }

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Meta>, Halt> {
        self.next_meta(r, c)
    }

    /// The cursor's `extra` is what it stands before, its `state` where the data
    /// of all tensors so far ends, if it follows without a gap.
    ///
    /// A member is read with the comma or brace behind it, so that the place of
    /// the metadata, which is passed over, is known without reading it again.
    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let mut start = c.at.max(u64::from(self.first));
        if start == u64::from(self.meta_from) && c.extra != stands::END {
            if u64::from(self.meta_end) == 0 {
                // The header ends within it, which its entries report.
                c.finish();
                return Ok(None);
            }
            start = u64::from(self.meta_end).wrapping_add(1);
            c.extra = if start == u64::from(self.end) { stands::END } else { stands::BEHIND };
        }
        if c.extra == stands::END {
            self.finish(r, c, start);
            return Ok(None);
        }
        r.region(start, u64::from(self.data_at), rules::JSON_TRUNCATED);
        r.about(Kind::Tensor, c.index);
        #[cfg(feature = "sweep")]
        if let Some(tensor) = self.plain_tensor(r, c, start) {
            return Ok(Some(tensor));
        }
        self.any_tensor(r, c, start)
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Meta) -> Result<Option<Value>, Halt> {
        Ok((meta.status != Status::Broken).then(|| Value::Text(metadata::text_at(meta))))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let file = |part, at, end| {
            let span = Span::between(at, end);
            Ok(Some(Region { part, span, kind: Kind::File, entry: 0 }))
        };
        match c.phase {
            0 => {
                c.next_phase();
                return file(Part::Header, 0, field::LENGTH);
            }
            1 => {
                c.next_phase();
                return file(Part::Table, field::LENGTH, u64::from(self.data_at));
            }
            _ => {}
        }
        self.payload(r, c)
    }

    #[cfg(feature = "sweep")]
    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_sound(r, c, goes_on);
    }

    /// Whether the listing that ended with this cursor found every byte of the
    /// buffer in one tensor after the other.
    fn is_covered(&self, listed: &Cursor) -> bool {
        listed.extra == stands::COVERED
    }
}

impl Header {
    /// The tensor of the next member, whatever it looks like.
    fn any_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        start: u64,
    ) -> Result<Option<Tensor>, Halt> {
        let mut json = Json::new(r.resident());
        let may_end = c.extra == stands::FIRST && start == u64::from(self.first);
        let (key, entry, last) = match member(&mut json, may_end) {
            Ok(Some(member)) => member,
            Ok(None) => {
                json.report(r, start);
                self.finish(r, c, start.wrapping_add(widen(json.at)));
                return Ok(None);
            }
            Err(Fault) => {
                return match json::halt(r, &json) {
                    halt if halt.is_absent() => Err(halt),
                    _ => {
                        c.finish();
                        Ok(None)
                    }
                };
            }
        };
        let end = start.wrapping_add(widen(json.at));
        let data_len = r.source().len().saturating_sub(u64::from(self.data_at));
        let place = entry.and_then(|entry| entry.judge(&mut json, data_len));
        let fatal = json.report(r, start);
        let place = place.filter(|_| !fatal);
        let tensor = self.describe(c.index, start, &key, entry.as_ref(), place);
        c.state = match place {
            Some(place) if place.begin == c.state => place.end,
            _ => Cursor::UNKNOWN,
        };
        c.advance(end);
        c.extra = if last { stands::END } else { stands::BEHIND };
        Ok(Some(tensor))
    }

    /// Offset of the buffer from the file's start; `data_offsets` count from
    /// there.
    pub fn data_at(&self) -> u64 {
        u64::from(self.data_at)
    }

    /// The element type as the file spells it.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_text<'a>(&self, source: &Source<'a>, tensor: &Tensor) -> Result<Name<'a>, Absent> {
        Ok(Name::new(source.get(tensor.extra)?, crate::name::NameEncoding::Plain))
    }

    /// What follows the closing brace, which opening looked at.
    fn finish(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, at: u64) {
        let stray = if at == u64::from(self.end) { u64::from(self.stray) } else { at };
        r.about(Kind::File, 0);
        let rest = Span::between(stray, u64::from(self.data_at));
        r.check(rest.is_empty(), rules::JSON_TRAILING, rest, 0, rest.len);
        c.at = at;
        let data_len = r.source().len().saturating_sub(u64::from(self.data_at));
        if c.state == data_len {
            c.extra = stands::COVERED;
        }
        c.finish();
    }

    fn describe(
        &self,
        index: u32,
        start: u64,
        key: &Text,
        entry: Option<&Entry>,
        place: Option<entry::Place>,
    ) -> Tensor {
        let from = |at: usize| start.wrapping_add(widen(at));
        let mut name = NameAt::plain(from(key.at), widen(key.len));
        name.encoding = key.encoding();
        let at = name.at.wrapping_sub(1);
        let mut tensor = Tensor { index, at, name, status: Status::Broken, ..Tensor::default() };
        if let Some(entry) = entry {
            tensor.extra = Span::new(from(entry.spelling.at), widen(entry.spelling.len));
            tensor.dims = DimsAt {
                at: from(entry.dims_at),
                len: u32::try_from(entry.dims_len).unwrap_or(u32::MAX),
                rank: entry.rank,
                lead: None,
                encoding: DimEncoding::Json,
            };
        }
        if let Some(place) = place {
            let at = u64::from(self.data_at).wrapping_add(place.begin);
            let known = place.dtype != DType::Unknown;
            tensor.status = if known { Status::Sound } else { Status::Unsupported };
            tensor.dtype = place.dtype;
            tensor.elements = place.elements;
            tensor.chunks = Chunks::One(Span::new(at, place.end.wrapping_sub(place.begin)));
        }
        tensor
    }
}

/// A tensor, its entry if that is an object, and whether it is the last member.
type Member = (Text, Option<Entry>, bool);

/// Reads the next tensor and the comma or brace behind it; `None` if the brace
/// comes first. Further metadata on the way is noted and passed over.
fn member(json: &mut Json<'_>, may_end: bool) -> Result<Option<Member>, Fault> {
    if json.token()? == b'}' && may_end {
        json.bump();
        return Ok(None);
    }
    loop {
        json.token()?;
        let at = json.at;
        let key = json.key()?;
        json.token()?;
        let metadata = Name::new(json.inside(&key), key.encoding()) == *METADATA;
        let entry = if metadata {
            json.skip(1)?;
            json.note(rules::METADATA_DUPLICATE, at, 0, 0);
            None
        } else {
            Entry::read(json)?
        };
        let last = match json.token()? {
            b',' => false,
            b'}' => true,
            _ => return json.syntax(),
        };
        json.bump();
        if !metadata {
            return Ok(Some((key, entry, last)));
        }
        if last {
            return Ok(None);
        }
    }
}
