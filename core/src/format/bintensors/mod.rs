//! BinTensors (`.bt`), the layout of releases 0.1 and later.
//!
//! The header length, the header in bincode 2's standard configuration, one
//! buffer. There is no magic and no version.
//!
//! | field | stored as |
//! |---|---|
//! | header length | `u64`, little-endian; counts everything up to the data |
//! | metadata tag | one byte: 0 none, 1 some |
//! | metadata, if any | count, then that many keys and values |
//! | tensors | count, then that many entries |
//! | padding | spaces up to a multiple of 8 |
//! | data | the tensors, in list order |
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
//! `V1`, `V2`, `M1`, `M2`, `T1`, `T3`, `T5`) ends validation. Each tensor must
//! begin where the previous one ends. `O2` suppresses `O1` and `S3`; of `S1`,
//! `S2` and `S3`, only the first is reported. An entry with only a wrong start
//! breaks `O1` alone; one with only a wrong end breaks `S3` or `O2` and does not
//! affect the next. `B2` is reported for the first tensor cut off by the end of
//! the file; those after it are marked broken without a finding each. Adjacent
//! duplicates break `T6` or `M6` but not `C1` or `M5`. `C1` and `M5` concern the
//! list as a whole, so only the first entry out of order is reported.

pub mod rules;

#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
mod fields;
mod open;
mod order;
mod spans;

use crate::base::{Word, features::WINDOWS, place, utf8, wide, widen, word};
use crate::format::Container;
#[cfg(feature = "sweep")]
use crate::format::Glance;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunks, Metadata, NameAt, Part, Region, Status, Tensor, Value, Version};
use crate::model::{DType, DimEncoding, DimsAt, dims::bincode_uint};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use fields::Entry;

/// Values of fields.
mod field {
    use crate::base::Word;
    use crate::model::DType;

    pub(super) const LENGTH: u64 = 8;
    /// Maximum header length that any release reads.
    pub(super) const LONGEST: u64 = 100_000_000;
    pub(super) const NONE: u8 = 0;
    pub(super) const SOME: u8 = 1;
    /// The largest one-byte integer; larger bytes are the tags of wider integers.
    pub(super) const ONE_BYTE: u8 = 250;
    pub(super) const TWO_BYTES: u8 = 251;
    pub(super) const SIXTEEN_BYTES: u8 = 254;
    /// Length of an integer, such as an element type, with the tag for eight bytes.
    pub(super) const WIDE: Word = 9;
    /// Minimum lengths of a metadata entry and a tensor entry.
    pub(super) const PAIR: Word = 2;
    pub(super) const ENTRY: Word = 5;
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
    /// First element types of two, four and eight bytes.
    pub(super) const WIDER: [Word; 3] = [5, 9, 12];
}

/// The validated header. Its length is limited to 100 MB, so the offsets in it
/// fit 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Offset of the data: the end of the header.
    data_at: u32,
    /// Offset of the first metadata entry; 0 if there is no metadata.
    meta_at: u32,
    /// Offset of the first tensor.
    list_at: u32,
    meta_count: u32,
    count: u32,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Expected start of the next tensor's data: the end stated by the previous entry.
    stated: u64,
    /// The same, computed from the previous tensor's shape.
    shaped: u64,
    /// The previous entry, for validating the order of the list.
    before: order::Before,
    /// The order as found while listing.
    listed: fast::Listed,
    /// Header fields read while opening.
    #[cfg(feature = "windows")]
    header: Header,
}

impl parse::State for State {
    const START: State = State {
        stated: 0,
        shaped: 0,
        before: order::Before::NONE,
        listed: fast::Listed::START,
        #[cfg(feature = "windows")]
        header: Header::NONE,
    };
    const ALONE: State = State { stated: Cursor::UNKNOWN, ..State::START };
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    const ENDS_WITH_TENSORS: bool = true;

    /// There is no magic, so a file is recognised by a header length that fits and by the
    /// metadata tag.
    fn detect(head: &[u8], len: u64) -> bool {
        let Some((length, rest)) = head.split_first_chunk() else {
            return false;
        };
        let length = place(u64::from_le_bytes(*length));
        // The tag and the number of tensors take at least two bytes.
        (2..=word(field::LONGEST)).contains(&length)
            && length.saturating_add(word(field::LENGTH)) <= word(len)
            && matches!(rest.first(), Some(&(field::NONE | field::SOME)))
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

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        if c.index >= self.meta_count {
            c.finish();
            return Ok(None);
        }
        let (at, index) = (self.go(r, c, EntryKind::Metadata), c.index);
        let mut entry = Entry::default();
        let value = fields::pair(r, &mut entry);
        r.settle()?;
        c.advance(r.at());
        let (key, len) = (entry.name_span(), word(widen(value.len())));
        let stored = Span::new(wide(r.here().wrapping_sub(len)), wide(len));

        r.check(is_utf8(entry.name), rules::M3, key, 0, 0);
        r.check(is_utf8(value), rules::M4, stored, 0, 0);
        fields::flag_overlong(r);
        if !r.is_partial() {
            order::follow(r, c, &entry, rules::M5);
        }
        Ok(Some(Metadata {
            kind: EntryKind::Metadata,
            index,
            offset: at,
            key: NameAt::plain(key.offset, key.len),
            stored,
            ..Metadata::default()
        }))
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let (at, index) = (self.go(r, c, EntryKind::Tensor), c.index);
        if index >= self.count {
            match r.is_partial() {
                true => c.state.listed.finish(at),
                false => self.follow(r, at),
            }
            c.finish();
            return Ok(None);
        }
        let mut entry = Entry::default();
        match fields::entry(r, &mut entry) {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(halt) => {
                r.refuse(halt);
                // The start of the next entry is unknown.
                c.finish();
                return Ok(None);
            }
        }
        c.advance(r.at());
        let validated = spans::validate(r, &entry);
        let status = self.validate_place(r, c, &entry, validated);
        match r.is_partial() {
            true => c.state.listed.add(r, index, &entry),
            false => order::follow(r, c, &entry, rules::C1),
        }
        Ok(Some(self.describe(index, at, &entry, status)))
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok(Some(Value::Text(NameAt::plain(meta.stored.offset, meta.stored.len))))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let region = |part, at: u32, end: u32| {
            let span = Span::between(at.into(), end.into());
            Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }))
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

    /// For a file that is fully in memory, the order is validated along with the entries.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if r.is_partial() {
            return self.audit_order(r, c);
        }
        c.finish();
        Ok(())
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

    #[cfg(feature = "sweep")]
    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_names(r, c, until, goes_on);
    }

    fn start_audit(&self, c: &mut Cursor) {
        let listed = c.state.listed;
        *c = Cursor::START;
        c.state.listed = listed;
    }
}

impl Header {
    /// A header before anything has been read.
    const NONE: Header = Header { data_at: 0, meta_at: 0, list_at: 0, meta_count: 0, count: 0 };

    /// Offset of the data from the file's start; the offsets in the list are
    /// relative to it.
    #[allow(clippy::as_conversions, reason = "u32 to u64 in a const fn")]
    pub const fn data_at(&self) -> u64 {
        self.data_at as u64
    }

    /// Whether the file has metadata, which may be empty.
    pub const fn has_metadata(&self) -> bool {
        self.meta_at > 0
    }

    /// Number of metadata entries.
    pub const fn metadata_count(&self) -> u32 {
        self.meta_count
    }

    /// The stored element type of a tensor, which may be unknown to this build.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u64, Absent> {
        // After the name; the rank and the extents follow.
        let at = tensor.name.span().end().unwrap_or(u64::MAX);
        let stored = source.get(Span::between(at, tensor.dims.offset))?;
        Ok(bincode_uint(stored).map_or(0, |(_, code)| code))
    }

    /// Moves to the next metadata or tensor entry and returns its offset.
    fn go(&self, r: &mut Reader<'_, '_>, c: &Cursor, kind: EntryKind) -> u64 {
        let list = if kind == EntryKind::Tensor { self.list_at } else { self.meta_at };
        let at = wide(word(c.at).max(word(list.into())));
        r.region(at, self.data_at(), rules::F4);
        r.about(kind, c.index);
        at
    }

    fn describe(&self, index: u32, at: u64, entry: &Entry<'_>, status: Status) -> Tensor {
        let name = entry.name_span();
        // Verified only if the entry is sound.
        let data = Span {
            offset: self.data_at().wrapping_add(entry.start.value),
            len: entry.end.value.wrapping_sub(entry.start.value),
        };
        let dims = entry.start.at.wrapping_sub(entry.dims_at);
        Tensor {
            index,
            offset: at,
            name: NameAt::plain(name.offset, name.len),
            dtype: dtype(entry.dtype.value),
            status,
            dims: DimsAt {
                offset: wide(entry.dims_at),
                len: low(dims),
                rank: low(word(entry.rank.value)),
                lead: None,
                encoding: DimEncoding::Bincode,
            },
            elements: if entry.overflows { 0 } else { entry.elements },
            chunks: if status == Status::Broken { Chunks::None } else { Chunks::One(data) },
            ..Tensor::default()
        }
    }

    /// Number of bytes after the header.
    fn data_len(&self, r: &Reader<'_, '_>) -> u64 {
        r.source().len().saturating_sub(self.data_at())
    }
}

/// Narrows an offset or count in the header, which is always below 2³².
fn low(n: Word) -> u32 {
    u32::try_from(wide(n) & 0xFFFF_FFFF).unwrap_or(0)
}

/// The element type with this discriminant.
fn dtype(code: u64) -> DType {
    let known = usize::try_from(code).ok().and_then(|code| field::DTYPES.get(code));
    known.copied().unwrap_or(DType::Unknown)
}

fn is_utf8(text: &[u8]) -> bool {
    WINDOWS && text.is_ascii() || utf8::is(text)
}
