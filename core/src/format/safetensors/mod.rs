//! safetensors (`.safetensors`).
//!
//! | at | size | what |
//! |---|---|---|
//! | 0 | 8 | N, little-endian: header length |
//! | 8 | N | header: a JSON object, padded with spaces |
//! | 8 + N | | buffer, to the end of the file |
//!
//! | header member | value |
//! |---|---|
//! | `__metadata__` | optional: an object of strings |
//! | any other | a tensor: `{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}` |
//!
//! Offsets are relative to the start of the buffer. Every byte of the buffer belongs to
//! exactly one tensor. Tensors may be in any order. Keys are compared with escapes resolved.
//!
//! Duplicate keys. Tensor names, and keys of `__metadata__`, are compared by the audit
//! (`audit/resumable/duplicate_names.rs`), a second `__metadata__` is found in `members.rs`, a second field
//! of a tensor in `entry.rs`, and equal keys in unknown fields in `json/foreign.rs`.
//!
//! Order of suppression. Broken JSON ends validation. If a field of an entry is missing or
//! has the wrong type, the entry is not validated further. In unknown fields, only keys and
//! numbers are checked. After that, `OFFSET-ORDER` takes precedence over `OFFSET-BOUNDS`,
//! `SHAPE-OVERFLOW`, `TENSOR-BITS` and `TENSOR-SIZE`. If a tensor's type is unknown, only
//! its offsets are validated. If any entry is broken, uncovered bytes are not reported.

pub mod rules;

mod entry;
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
pub(in crate::format) mod json;
mod members;
pub(in crate::format) mod metadata;
mod open;

use crate::base::{Word, word};
use crate::format::{Container, Glance};
use crate::input::{Absent, Source, Span};
use crate::model::{Metadata, Name, Part, Region, Status, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt, Rule};

/// Known keys: the one member that is not a tensor, and the fields of an entry.
const KEYS: &[u8] = b"__metadata__ dtype shape data_offsets ";

/// An offset in the header.
fn far(at: u32) -> Word {
    word(u64::from(at))
}

/// Field lengths, limits and values.
mod field {
    use crate::model::DType;

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

    /// The types and their bits per element.
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "evaluated while compiling"
    )]
    pub(super) const TYPES: [(DType, u8); DTYPES.len()] = {
        let mut types = [(DType::Unknown, 0); DTYPES.len()];
        let mut i = 0;
        while i < DTYPES.len() {
            types[i] = (DTYPES[i].1, DTYPES[i].1.bits() as u8);
            i += 1;
        }
        types
    };

    /// Their spellings, each followed by a space. A table of strings would take twice the
    /// space.
    #[allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::disallowed_macros,
        reason = "evaluated while compiling"
    )]
    pub(super) const SPELLINGS: [u8; 123] = {
        let mut all = [b' '; 123];
        let (mut i, mut len) = (0, 0);
        while i < DTYPES.len() {
            let spelling = DTYPES[i].0.as_bytes();
            let mut j = 0;
            while j < spelling.len() {
                all[len + j] = spelling[j];
                j += 1;
            }
            len += j + 1;
            i += 1;
        }
        assert!(len == all.len());
        all
    };
}

/// Positions of a cursor over the header.
mod stands {
    pub(super) const FIRST: u64 = 0;
    /// After a comma; in the metadata, after an entry.
    pub(super) const AFTER: u64 = 1;
    /// After the closing brace.
    pub(super) const END: u64 = 2;
    /// After the closing brace, and the tensors fill the buffer.
    pub(super) const COVERED: u64 = 3;
}

/// The validated header. It has fewer than 2^27 bytes, so its offsets fit 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Offset of the buffer: the end of the header.
    data_at: u32,
    /// Offset after the opening brace.
    first: u32,
    /// Offset after the brace or comma before the metadata; 0 if there is none.
    meta_from: u32,
    /// Offset of the metadata's value.
    meta_at: u32,
    /// Offset of the comma or brace after the metadata; 0 if the header ends before that.
    meta_end: u32,
    /// Offset after the closing brace; 0 if the header ends before that.
    end: u32,
    /// End of the white space after the closing brace.
    stray: u32,
    count: u32,
}

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The cursor's position, one of [`stands`].
    stands: u64,
    /// End of the data of all tensors so far, if they follow one another without a gap.
    data_end: u64,
    /// Progress of opening.
    #[cfg(feature = "windows")]
    scan: open::Scan,
}

impl parse::State for State {
    const START: State = State {
        stands: stands::FIRST,
        data_end: 0,
        #[cfg(feature = "windows")]
        scan: open::Scan::START,
    };
    const ALONE: State = State { data_end: Cursor::UNKNOWN, ..State::START };
}

impl metadata::Stands for State {
    fn stands(&mut self) -> &mut u64 {
        &mut self.stands
    }
}

/// The position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    const QUOTING: &[Rule] = &[rules::DTYPE_UNKNOWN];

    const ENDS_WITH_TENSORS: bool = true;

    /// The safetensors crate accepts white space before the brace, but that does not
    /// identify the format. Such a file is opened by name.
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

    fn places_empty(&self) -> bool {
        true
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.count)
    }

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        self.next_meta(r, c)
    }

    /// Reads a member together with the comma or brace after it. The cursor can then skip
    /// the metadata by its known position, without reading it again.
    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        if let Some(tensor) = self.next_plain(r, c) {
            return Ok(Some(tensor));
        }
        // Filled in place, because it is large for a small stack.
        let mut found = Ok(None);
        self.read_tensor(r, c, &mut found);
        found
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok((meta.status != Status::Broken).then(|| Value::Text(metadata::text_at(meta))))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let file = |part, at, end| {
            let span = Span::between(at, end);
            Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }))
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

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_sound(r, c, goes_on);
    }

    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_names(r, c, until, goes_on);
    }

    /// Whether the listing that ended with this cursor found contiguous tensors that fill
    /// the buffer.
    fn is_covered(&self, listed: &Cursor) -> bool {
        listed.state.stands == stands::COVERED
    }
}

impl Header {
    /// A header before anything is known.
    const NONE: Header = Header {
        data_at: 0,
        first: 0,
        meta_from: 0,
        meta_at: 0,
        meta_end: 0,
        end: 0,
        stray: 0,
        count: 0,
    };

    /// Offset of the buffer in the file. `data_offsets` are relative to it.
    pub fn data_at(&self) -> u64 {
        u64::from(self.data_at)
    }

    /// The element type as spelled in the file.
    ///
    /// # Errors
    /// [`Absent`] if the entry is not resident.
    pub fn dtype_text<'a>(&self, source: &Source<'a>, tensor: &Tensor) -> Result<Name<'a>, Absent> {
        Ok(Name::new(source.get(tensor.extra)?, crate::model::NameEncoding::Plain))
    }
}
