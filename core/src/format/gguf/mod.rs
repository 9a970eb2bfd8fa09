//! GGUF (`.gguf`), versions 2 and 3 in either byte order.
//!
//! | at | size | what |
//! |---|---|---|
//! | 0 | 4 | magic, `GGUF` |
//! | 4 | 4 | version; read in the wrong byte order, its lower half is zero |
//! | 8 | 8 | number of tensors |
//! | 16 | 8 | number of metadata entries |
//! | 24 | | metadata entries, then tensor entries, without padding |
//! | next multiple of the alignment | | data, each tensor's at a multiple of the alignment |
//!
//! | metadata | size | tensor | size |
//! |---|---|---|---|
//! | key: length, bytes | 8 + | name: length, bytes | 8 + |
//! | value type | 4 | rank | 4 |
//! | value | | extents, innermost first | 8 each |
//! | | | element type | 4 |
//! | | | offset, relative to the start of the data | 8 |
//!
//! A string is a 64-bit length followed by its bytes. An array is its item type, a 64-bit
//! item count, and the items. The alignment is the metadata entry `general.alignment`, or 32
//! by default. Shapes are returned outermost dim first, as in other formats and NumPy.
//!
//! Order of suppression. An entry whose end is unknown ends its table, and later entries are
//! not listed. If the alignment or the end of the tables is unknown, the data cannot be
//! located: all tensors are broken, without a finding for each. `DATA-BOUNDS` and
//! `OFFSET-ALIGN` take precedence over `OFFSET-ORDER`, and `EXTENT-RANGE` over
//! `SHAPE-OVERFLOW`. A tensor is in order if it lies where ggml expects it, or right after
//! the preceding data. A second alignment is also a duplicate key, and a gap also breaks
//! ggml's expected order: both rules are reported, because they differ in severity. Only
//! the first fault in the values of an entry is reported. If a tensor's type is unknown,
//! only its offset is validated, and its data ends where the next entry's data begins.

pub mod rules;

mod elements;
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
mod head;
mod items;
mod meta;
mod open;
mod tensor;
mod values;

pub use items::{Item, Items};

use crate::base::{Word, wide, word};
use crate::format::{Container, Glance};
use crate::input::{Absent, Source, Span};
use crate::model::{Endianness, Metadata, Part, Region, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};

/// The numbers of the value types (ggml, `enum gguf_type`).
pub mod value_type {
    /// An unsigned integer of 8 bits.
    pub const UINT8: u32 = 0;
    /// A signed integer of 8 bits.
    pub const INT8: u32 = 1;
    /// An unsigned integer of 16 bits.
    pub const UINT16: u32 = 2;
    /// A signed integer of 16 bits.
    pub const INT16: u32 = 3;
    /// An unsigned integer of 32 bits.
    pub const UINT32: u32 = 4;
    /// A signed integer of 32 bits.
    pub const INT32: u32 = 5;
    /// A float of 32 bits.
    pub const FLOAT32: u32 = 6;
    /// A Boolean byte.
    pub const BOOL: u32 = 7;
    /// A length of 64 bits, and as many bytes.
    pub const STRING: u32 = 8;
    /// An item type, a count of 64 bits, and the items.
    pub const ARRAY: u32 = 9;
    /// An unsigned integer of 64 bits.
    pub const UINT64: u32 = 10;
    /// A signed integer of 64 bits.
    pub const INT64: u32 = 11;
    /// A float of 64 bits.
    pub const FLOAT64: u32 = 12;
}

/// Field lengths, limits and values.
mod field {
    pub(super) use super::value_type::{ARRAY, BOOL, STRING, UINT32};
    use super::value_type::{FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT64};
    use crate::model::DType;

    pub(super) const MAGIC: [u8; 4] = *b"GGUF";
    pub(super) const HEADER: u64 = 24;
    /// Length of the shortest metadata entry: an empty key and a one-byte value.
    pub(super) const LEAST_META: u64 = 13;
    pub(super) const LEAST_TENSOR: u64 = 24;
    pub(super) const ALIGNMENT: u32 = 32;
    pub(super) const ALIGNMENT_KEY: &[u8] = b"general.alignment";
    pub(super) const LARGEST_ALIGNMENT: u32 = 1 << 20;
    pub(super) const LONGEST_NAME: u64 = 64;
    pub(super) const LARGEST_RANK: u32 = 4;
    pub(super) const LARGEST_EXTENT: u64 = u64::MAX >> 1;

    /// Names of the value types, by number.
    pub(super) const VALUE_TYPES: &[&str] = &[
        "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string",
        "array", "uint64", "int64", "float64",
    ];

    /// Whether data can be aligned to multiples of `number`: a multiple of 8, as in the
    /// specification, or a power of two, as in ggml.
    pub(super) fn aligns(number: u32) -> bool {
        number.is_power_of_two() || (number != 0 && number & 7 == 0)
    }

    /// Length in bytes of a number of this type; 0 for other types.
    pub(super) fn width(tag: u32) -> u64 {
        match tag {
            UINT8 | INT8 | BOOL => 1,
            UINT16 | INT16 => 2,
            UINT32 | INT32 | FLOAT32 => 4,
            UINT64 | INT64 | FLOAT64 => 8,
            _ => 0,
        }
    }

    /// The element type of a numeric value type.
    pub(super) fn dtype(tag: u32) -> Option<DType> {
        Some(match tag {
            UINT8 => DType::U8,
            INT8 => DType::I8,
            UINT16 => DType::U16,
            INT16 => DType::I16,
            UINT32 => DType::U32,
            INT32 => DType::I32,
            FLOAT32 => DType::F32,
            BOOL => DType::Bool,
            UINT64 => DType::U64,
            INT64 => DType::I64,
            FLOAT64 => DType::F64,
            _ => return None,
        })
    }
}

/// The validated header, and the ends of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Offset after the metadata; 0 if its end is unknown.
    tensors_at: Word,
    /// Offset after the tensor entries; 0 if their end is unknown.
    tables_end: Word,
    /// Offset of the data; 0 if unknown.
    data_at: Word,
    /// Number of metadata entries.
    metas: u32,
    /// Number of tensors.
    count: u32,
    /// The alignment; 0 if the recorded one is invalid.
    alignment: u32,
    /// Index of the metadata entry that records the alignment.
    align_entry: u32,
    version: u8,
    big: bool,
    /// Location of the items of the longest list in the metadata.
    longest: fast::List,
}

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Offset at which the next tensor's data should begin.
    next_data: u64,
    /// Difference to the offset that ggml expects.
    astray: u64,
    /// Items left in the lists around the cursor, one count per level.
    left: [u64; 3],
    /// List depth of the cursor, with a flag if the innermost list holds strings.
    within: u8,
    /// The current value is faulty.
    faulty: bool,
    /// End of the current value.
    end: u64,
    /// The header as far as opening has read it.
    header: Header,
    /// State of the fast paths.
    swept: fast::Swept,
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
        swept: fast::Swept::NONE,
    };
    const ALONE: State = State { next_data: Cursor::UNKNOWN, ..State::START };
}

/// The position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    const VALUE_TYPES: &[&str] = field::VALUE_TYPES;

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

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_sound(r, c, goes_on);
    }

    /// Whether the listing that ended at `listed` found the tensors' data in entry order,
    /// with only zero padding in between.
    fn is_covered(&self, listed: &Cursor) -> bool {
        listed.state.swept.is_covered()
    }
}

impl Header {
    /// A header before anything is known.
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
        longest: fast::NO_LIST,
    };

    /// The byte order of everything in the file.
    pub const fn endianness(&self) -> Endianness {
        if self.big { Endianness::Big } else { Endianness::Little }
    }

    /// The data alignment in bytes; 0 if the recorded one cannot be used.
    pub const fn alignment(&self) -> u32 {
        self.alignment
    }

    /// Offset of the tensor entries, after the metadata; `None` if the end of the metadata is
    /// unknown.
    pub fn tensors_at(&self) -> Option<u64> {
        (self.tensors_at != 0).then_some(wide(self.tensors_at))
    }

    /// Offset of the data in the file; `None` if unknown. Tensor offsets are relative to it.
    pub fn data_at(&self) -> Option<u64> {
        (self.data_at != 0).then_some(wide(self.data_at))
    }

    /// The number of the element type, which this build may not know.
    ///
    /// # Errors
    /// [`Absent`] if the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u32, Absent> {
        let bytes = source.get(tensor.extra)?.first_chunk().copied().unwrap_or_default();
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}
