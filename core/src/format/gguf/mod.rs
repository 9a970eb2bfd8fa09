//! GGUF (`.gguf`), versions 2 and 3 in either byte order.
//!
//! | at | size | what |
//! |---|---|---|
//! | 0 | 4 | magic, `GGUF` |
//! | 4 | 4 | version; its lower half is zero in the other byte order |
//! | 8 | 8 | number of tensors |
//! | 16 | 8 | number of metadata entries |
//! | 24 | | metadata, then the entries of tensors, without padding |
//! | next multiple of the alignment | | data, each tensor's at such a multiple |
//!
//! | metadata | size | tensor | size |
//! |---|---|---|---|
//! | key: length, bytes | 8 + | name: length, bytes | 8 + |
//! | type of the value | 4 | rank | 4 |
//! | value | | extents, the innermost first | 8 each |
//! | | | element type | 4 |
//! | | | offset of the data from its start | 8 |
//!
//! A string is a 64-bit length and its bytes; an array is the type of its items, their
//! 64-bit number, and the items. The alignment is the metadata entry `general.alignment`,
//! else 32. Shapes are returned outermost dim first, as in other formats and NumPy.
//!
//! Order of suppression. An entry whose end is unknown ends its table, and what follows is
//! not listed. While the alignment is unknown or the tables do not end, data has no place:
//! its tensors are broken without a finding each. `DATA-BOUNDS` and `OFFSET-ALIGN` come
//! before `OFFSET-ORDER`, `EXTENT-RANGE` before `SHAPE-OVERFLOW`. A tensor is in order
//! where ggml expects it, and right after the data before it. A second alignment is also a
//! duplicate key, and a gap is also a place that ggml does not expect: both rules are
//! reported, because they differ in severity. Of the values of one entry the first fault is
//! reported. Of a tensor of unknown type only the offset is validated, and its data ends
//! where that of the next entry begins.

pub mod rules;

mod elements;
mod head;
mod items;
#[cfg(feature = "keys")]
mod keys;
mod meta;
mod open;
#[cfg_attr(not(feature = "sweep"), path = "no_sweep.rs")]
mod sweep;
mod tensor;
mod values;

pub use items::{Item, Items};
#[cfg(feature = "keys")]
pub(crate) use keys::Keys;

use crate::base::{Word, wide, word};
use crate::format::{Container, Glance, Policy};
use crate::input::{Absent, Source, Span};
use crate::model::{Endianness, Metadata, Part, Region, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};

/// Values of fields.
mod field {
    use crate::model::DType;

    pub(super) const MAGIC: [u8; 4] = *b"GGUF";
    pub(super) const HEADER: u64 = 24;
    /// The shortest metadata entry: its key has one byte or none.
    pub(super) const LEAST_META: u64 = 13;
    pub(super) const LEAST_TENSOR: u64 = 24;
    pub(super) const ALIGNMENT: u32 = 32;
    pub(super) const ALIGNMENT_KEY: &[u8] = b"general.alignment";
    pub(super) const LARGEST_ALIGNMENT: u32 = 1 << 20;
    pub(super) const LONGEST_NAME: u64 = 64;
    pub(super) const LARGEST_RANK: u32 = 4;
    pub(super) const LARGEST_EXTENT: u64 = u64::MAX >> 1;

    pub(super) const UINT32: u32 = 4;
    pub(super) const BOOL: u32 = 7;
    pub(super) const STRING: u32 = 8;
    pub(super) const ARRAY: u32 = 9;

    /// Whether data can be aligned to multiples of `number`: a multiple of 8, as in the
    /// specification, or a power of two, as in ggml.
    pub(super) fn aligns(number: u32) -> bool {
        number.is_power_of_two() || (number != 0 && number & 7 == 0)
    }

    /// Length of a number of this type in bytes; 0 for other types.
    pub(super) fn width(tag: u32) -> u64 {
        match tag {
            0 | 1 | BOOL => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            _ => 0,
        }
    }

    /// The type of a number.
    pub(super) fn dtype(tag: u32) -> Option<DType> {
        Some(match tag {
            0 => DType::U8,
            1 => DType::I8,
            2 => DType::U16,
            3 => DType::I16,
            4 => DType::U32,
            5 => DType::I32,
            6 => DType::F32,
            BOOL => DType::Bool,
            10 => DType::U64,
            11 => DType::I64,
            12 => DType::F64,
            _ => return None,
        })
    }
}

/// What the header says, and where the tables end, as far as that was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Offset after the metadata; 0 if its end is unknown.
    tensors_at: Word,
    /// Offset after the entries of tensors; 0 if their end is unknown.
    tables_end: Word,
    /// Offset of the data; 0 if unknown.
    data_at: Word,
    /// Number of metadata entries.
    metas: u32,
    /// Number of tensors.
    count: u32,
    /// The alignment; 0 if the recorded one is invalid.
    alignment: u32,
    /// The metadata entry that records it.
    align_entry: u32,
    version: u8,
    big: bool,
    /// Place of the items of the longest list in the metadata.
    longest: sweep::List,
}

/// What is remembered from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Where the data of the next tensor should begin.
    next_data: u64,
    /// What ggml adds to that.
    astray: u64,
    /// Items left of the lists that the cursor is within, level by level.
    left: [u64; 3],
    /// How deep it is within lists, and whether the innermost has texts.
    within: u8,
    /// The value that is looked at was found faulty.
    faulty: bool,
    /// Where the value that is looked at ends.
    end: u64,
    /// What opening has read.
    header: Header,
    /// What fast passes remember.
    swept: sweep::Swept,
}

impl parse::State for State {
    const START: State = State {
        next_data: 0,
        astray: 0,
        left: [0; 3],
        within: 0,
        faulty: false,
        end: 0,
        header: Header::NONE,
        swept: sweep::Swept::NONE,
    };
    const ALONE: State = State { next_data: Cursor::UNKNOWN, ..State::START };

    fn is_inside(&self) -> bool {
        self.within != 0
    }
}

/// Where an iteration stands.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    const POLICY: Policy = Policy {
        duplicate_tensor: Some(rules::NAME_DUPLICATE),
        duplicate_meta: Some(rules::KEY_DUPLICATE),
        overlap: Some(rules::OVERLAP),
        alias: Some(rules::ALIAS),
        gap: Some(rules::GAP),
        trailing: Some(rules::TRAILING),
        padding: Some(rules::PADDING),
        ..Policy::NONE
    };

    const ENDS_WITH_TENSORS: bool = true;

    fn detect(head: &[u8], _: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        Header::open_steps(r, c)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(self.version.into()))
    }

    fn endianness(&self) -> Endianness {
        Header::endianness(self)
    }

    fn alignment(&self) -> u64 {
        Header::alignment(self).max(1).into()
    }

    fn tensor_count(&self) -> u64 {
        self.count.into()
    }

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        self.next_meta(r, c)
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        self.next_tensor(r, c)
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        self.value_of(r, meta)
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        const HEADER: Word = word(field::HEADER);
        let (part, at, end) = match c.phase {
            0 => (Part::Header, 0, HEADER),
            1 => (Part::Table, HEADER, self.tensors_at),
            2 => (Part::Table, self.tensors_at, self.tables_end),
            _ => return self.payload(r, c),
        };
        c.next_phase();
        let span = Span::new(wide(at), wide(end.saturating_sub(at)));
        Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }))
    }

    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        self.audit_values(r, c)
    }

    #[cfg(feature = "keys")]
    fn keys(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, keys: &mut Keys) -> Result<(), Halt> {
        self.audit_keys(r, c, keys)
    }

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_sound(r, c, goes_on);
    }

    /// Whether the tensors, which ended at `listed`, are in the order of their data with
    /// only zero padding between them.
    fn is_covered(&self, listed: &Cursor) -> bool {
        listed.state.swept.is_covered()
    }
}

impl Header {
    /// Nothing is known yet.
    const NONE: Header = Header {
        tensors_at: 0,
        tables_end: 0,
        data_at: 0,
        metas: 0,
        count: 0,
        alignment: 0,
        align_entry: 0,
        version: 0,
        big: false,
        longest: sweep::NO_LIST,
    };

    /// The byte order of everything in the file.
    pub const fn endianness(&self) -> Endianness {
        if self.big { Endianness::Big } else { Endianness::Little }
    }

    /// The alignment of data in bytes; 0 if the recorded one cannot be used.
    pub const fn alignment(&self) -> u32 {
        self.alignment
    }

    /// Offset of the data in the file, to which those of tensors are relative; `None` if it
    /// is unknown.
    pub fn data_at(&self) -> Option<u64> {
        (self.data_at != 0).then_some(wide(self.data_at))
    }

    /// The element type as a number, which may be unknown to this build.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u32, Absent> {
        let bytes = source.get(tensor.extra)?.first_chunk().copied().unwrap_or_default();
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}
