//! BinTensors (`.bt`), the layout of releases 0.1 and later.
//!
//! The length of the header, the header in bincode 2's standard configuration,
//! one buffer. There is no magic and no version.
//!
//! | field | stored as |
//! |---|---|
//! | header length | `u64`, little-endian; counts all that follows up to the data |
//! | metadata tag | one byte: 0 none, 1 some |
//! | metadata, if any | count, then that many keys and values |
//! | tensors | count, then that many entries |
//! | padding | spaces up to a multiple of 8 |
//! | data | tensor after tensor in the order of the list |
//!
//! | field of an entry | stored as |
//! |---|---|
//! | name | string |
//! | element type | integer, 0 to 14 |
//! | rank | integer |
//! | extents | that many integers |
//! | start, end | integers: offsets from the start of the data |
//!
//! A string is its length and its bytes. An integer below 251 is one byte;
//! otherwise 251, 252 or 253 and two, four or eight bytes, little-endian.
//!
//! Order of suppression. A broken length (`F1`, `F2`, `F3`) or structure (`F4`,
//! `V1`, `V2`, `M1`, `M2`, `T1`, `T3`, `T5`) ends what can be judged. Each
//! tensor has to begin where the one before ends: `O2` comes before `O1`, then
//! `S1`, `S2` and `S3`; an entry of which only the start is wrong breaks `O1`
//! alone, and one of which only the end is wrong breaks `S3` or `O2` and says
//! nothing of the next. `B2` is reported for the first tensor that the end of
//! the file cuts; those behind it are broken without a finding each. `T6` and
//! `M6` do not make `C1` and `M5` of neighbours. `C1` and `M5` are about the
//! list as a whole, so the first place is reported.

pub mod rules;

mod fields;
mod order;
mod spans;
#[cfg(feature = "sweep")]
mod sweep;

use crate::cursor::Cursor;
use crate::dims::{DimEncoding, DimsAt, bincode_uint};
use crate::dtype::DType;
use crate::finding::Kind;
#[cfg(feature = "sweep")]
use crate::format::Glance;
use crate::format::{Container, Policy};
use crate::name::NameAt;
use crate::read::{Halt, Reader};
use crate::source::{Absent, Source, Span};
use crate::tensor::{Chunks, Meta, Part, Region, Status, Tensor, Value, Version};
use fields::Entry;
use spans::Verdict;

/// What fields hold.
mod field {
    use crate::dtype::DType;

    pub(super) const LENGTH: u64 = 8;
    /// Bytes of the longest header that any release reads.
    pub(super) const LONGEST: u64 = 100_000_000;
    pub(super) const NONE: u8 = 0;
    pub(super) const SOME: u8 = 1;
    pub(super) const TWO_BYTES: u8 = 251;
    pub(super) const FOUR_BYTES: u8 = 252;
    pub(super) const EIGHT_BYTES: u8 = 253;
    pub(super) const SIXTEEN_BYTES: u8 = 254;
    /// Fewest bytes of a metadata entry and of a tensor.
    pub(super) const PAIR: u64 = 2;
    pub(super) const ENTRY: u64 = 5;
    pub(super) const ALIGN: u64 = 8;
    pub(super) const PADDING: u8 = b' ';

    /// Element types by discriminant; the specification gives only the first.
    pub(super) const DTYPES: [DType; 15] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::F8E5M2,
        DType::F8E4M3,
        DType::I16,
        DType::U16,
        DType::F16,
        DType::BF16,
        DType::I32,
        DType::U32,
        DType::F32,
        DType::F64,
        DType::I64,
        DType::U64,
    ];
}

/// What the header says, as far as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the data, which is the end of the header.
    data_at: u64,
    /// Offset of the first metadata entry; 0 if there is no metadata.
    meta_at: u64,
    /// Offset of the first tensor.
    list_at: u64,
    meta_count: u32,
    count: u32,
}

impl Container for Header {
    const POLICY: Policy = Policy {
        duplicate_tensor: Some(rules::T6),
        duplicate_meta: Some(rules::M6),
        ..Policy::NONE
    };

    const ENDS_WITH_TENSORS: bool = true;

    /// There is no magic, so this is what a file must look like to be taken
    /// for one: a length that fits, and the tag of the metadata.
    fn detect(head: &[u8], len: u64) -> bool {
        let Some((length, rest)) = head.split_first_chunk() else {
            return false;
        };
        let length = u64::from_le_bytes(*length);
        // The tag and the number of tensors are two bytes at least.
        (2..=field::LONGEST).contains(&length)
            && length.saturating_add(field::LENGTH) <= len
            && matches!(rest.first(), Some(&(field::NONE | field::SOME)))
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        if c.phase == 0 {
            Header::open_front(r, c)?;
        }
        // Two numbers below 2^32, for neither exceeds the longest header.
        let (data_at, meta_count) = (c.state & 0xFFFF_FFFF, c.state >> 32);
        while u64::from(c.index) < meta_count {
            r.region(c.at, data_at, rules::F4);
            r.about(Kind::Metadata, c.index);
            fields::skip_text(r)?;
            fields::skip_text(r)?;
            c.advance(r.at());
        }
        r.region(c.at, data_at, rules::F4);
        r.about(Kind::File, 0);
        let count = fields::count(r, field::ENTRY, rules::T1)?;
        let data = r.source().len().saturating_sub(data_at);
        if count == 0 && data > 0 && r.source().is_exact() {
            r.flag(rules::B1, data_at, data, 0, data);
        }
        let meta_count = u32::try_from(meta_count).unwrap_or(u32::MAX);
        Ok(Header { data_at, meta_at: c.extra, list_at: r.at(), meta_count, count })
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.count)
    }

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Meta>, Halt> {
        if c.index >= self.meta_count {
            c.finish();
            return Ok(None);
        }
        let at = c.at.max(self.meta_at);
        r.region(at, self.data_at, rules::F4);
        r.about(Kind::Metadata, c.index);
        let pair = fields::pair(r)?;
        let key = fields::span(at, pair.key_at, pair.key.len());
        let value = fields::span(at, pair.value_at, pair.value.len());
        let index = c.index;
        c.advance(r.at());

        r.check(is_utf8(pair.key), rules::M3, key, 0, 0);
        r.check(is_utf8(pair.value), rules::M4, value, 0, 0);
        fields::flag_overlong(r, at, pair.overlong);
        Ok(Some(Meta {
            kind: Kind::Metadata,
            index,
            at,
            key: NameAt::plain(key.at, key.len),
            stored: value,
            ..Meta::default()
        }))
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        if c.index >= self.count {
            c.finish();
            return Ok(None);
        }
        let at = c.at.max(self.list_at);
        r.region(at, self.data_at, rules::F4);
        r.about(Kind::Tensor, c.index);
        let entry = match fields::entry(r) {
            Ok(entry) => entry,
            Err(halt) if halt.is_absent() => return Err(halt),
            // Where the next entry begins cannot be known.
            Err(_) => {
                c.finish();
                return Ok(None);
            }
        };
        let index = c.index;
        c.advance(r.at());
        let verdict = self.judge(r, c, at, &entry);
        Ok(Some(self.describe(index, at, &entry, verdict)))
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Meta) -> Result<Option<Value>, Halt> {
        Ok(Some(Value::Text(NameAt::plain(meta.stored.at, meta.stored.len))))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let region = |part, at, end| {
            let span = Span::between(at, end);
            Ok(Some(Region { part, span, kind: Kind::File, entry: 0 }))
        };
        let phase = c.phase;
        if phase < 3 {
            c.next_phase();
        }
        match phase {
            0 if self.meta_at > 0 => return region(Part::Header, 0, self.meta_at),
            0 => return region(Part::Header, 0, self.list_at),
            1 if self.meta_at > 0 => return region(Part::Metadata, self.meta_at, self.list_at),
            1 | 2 => {
                c.phase = 3;
                return region(Part::Table, self.list_at, self.data_at);
            }
            _ => {}
        }
        self.payload(r, c)
    }

    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        self.audit_order(r, c)
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
}

impl Header {
    /// Offset of the data from the file's start; the offsets of the list count
    /// from there.
    pub const fn data_at(&self) -> u64 {
        self.data_at
    }

    /// Whether the file has metadata, which may still be without an entry.
    pub const fn has_metadata(&self) -> bool {
        self.meta_at > 0
    }

    /// Number of metadata entries.
    pub const fn metadata_count(&self) -> u32 {
        self.meta_count
    }

    /// The stored element type of a tensor, of which this build may know
    /// nothing.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u64, Absent> {
        // Behind the name; the rank and the extents follow.
        let at = tensor.name.span().end().unwrap_or(u64::MAX);
        let stored = source.get(Span::between(at, tensor.dims.at))?;
        Ok(bincode_uint(stored).map_or(0, |(_, code)| code))
    }

    /// Reads up to the first metadata entry or, if there is no metadata, up to
    /// the number of tensors, and leaves that place in the cursor.
    fn open_front(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let len = r.source().len();
        r.region(0, field::LENGTH, rules::F1);
        if len < field::LENGTH {
            r.flag(rules::F1, 0, len, field::LENGTH, len);
            return Err(Halt::refused(rules::F1));
        }
        let length = r.u64()?;
        if length > field::LONGEST {
            r.flag(rules::F2, 0, field::LENGTH, field::LONGEST, length);
            return Err(Halt::refused(rules::F2));
        }
        let data_at = length.saturating_add(field::LENGTH);
        if data_at > len {
            r.flag(rules::F3, 0, field::LENGTH, data_at, len);
            return Err(Halt::refused(rules::F3));
        }
        // From the start again, so that both are asked for together: a host may
        // hold no more than it is asked for.
        r.region(0, data_at, rules::F4);
        r.skip(field::LENGTH)?;
        let tag = r.u8()?;
        let (meta_at, meta_count) = match tag {
            field::NONE => (0, 0),
            field::SOME => {
                let count = fields::count(r, field::PAIR, rules::M2)?;
                (r.at(), count)
            }
            _ => {
                r.flag(rules::M1, field::LENGTH, 1, 0, u64::from(tag));
                return Err(Halt::refused(rules::M1));
            }
        };
        c.at = r.at();
        c.state = data_at | (u64::from(meta_count) << 32);
        c.extra = meta_at;
        c.phase = 1;
        Ok(())
    }

    fn describe(&self, index: u32, at: u64, entry: &Entry<'_>, verdict: Verdict) -> Tensor {
        let name = fields::span(at, entry.name_at(), entry.name.len());
        let dims = fields::span(at, entry.dims_at, entry.start_at.wrapping_sub(entry.dims_at));
        let data = Span {
            at: self.data_at.saturating_add(entry.start),
            len: entry.end.saturating_sub(entry.start),
        };
        let sound = verdict.status != Status::Broken;
        Tensor {
            index,
            at,
            name: NameAt::plain(name.at, name.len),
            dtype: verdict.dtype,
            status: verdict.status,
            dims: DimsAt {
                at: dims.at,
                len: u32::try_from(dims.len).unwrap_or(u32::MAX),
                rank: entry.rank,
                lead: None,
                encoding: DimEncoding::Bincode,
            },
            elements: entry.elements.unwrap_or(0),
            chunks: if sound { Chunks::One(data) } else { Chunks::None },
            ..Tensor::default()
        }
    }

    /// How many bytes the file has behind the header.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn data_len(&self, r: &Reader<'_, '_>) -> u64 {
        r.source().len().saturating_sub(self.data_at)
    }
}

/// The element type with this discriminant.
fn dtype(code: u64) -> DType {
    let known = usize::try_from(code).ok().and_then(|code| field::DTYPES.get(code));
    known.copied().unwrap_or(DType::Unknown)
}

fn is_utf8(text: &[u8]) -> bool {
    text.is_ascii() || crate::utf8::is(text)
}
