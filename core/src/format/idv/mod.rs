//! The binary data view of ML.NET (`.idv`), versions 1.1.1.1 to 1.1.1.6.
//!
//! Little-endian. A 256-byte header, regions in any order, an 8-byte tail. All
//! columns of a file have the same number of rows; a column's rows are stored
//! in blocks, and its lookup table gives the location of each block.
//!
//! | header at | size | field |
//! |---|---|---|
//! | 0 | 8 | signature, `CML\0DVB\0` |
//! | 8 | 8 | version, four 16-bit parts |
//! | 16 | 8 | compatible version: the oldest reader that can read the file |
//! | 24 | 8 | offset of the column table of contents, i64 |
//! | 32 | 8 | offset of the tail, i64 |
//! | 40 | 8 | row count, i64 |
//! | 48 | 4 | column count, i32 |
//! | 52 | 204 | unused |
//!
//! | region | entry |
//! |---|---|
//! | table of contents | see `toc` |
//! | lookup table, one per column | block offset i64, stored length i32, uncompressed length i32 |
//! | block | rows of one column, encoded by its codec, compressed |
//! | metadata table of contents, one per column | see `metadata` |
//! | tail | the signature's bytes reversed |
//!
//! A column is a tensor of shape `[rows, dims…]` with one chunk per block, and its
//! annotations are its attributes. A column with an unknown codec or compression is listed
//! as unsupported.
//!
//! Order of suppression: the tail is validated before the table of contents, whose offset
//! is compared with it. A column whose rows per block are out of range has no blocks to
//! validate. A block outside the file, or one whose two lengths contradict each other, is
//! not compared with its rows. An entry whose end is unknown ends its table. Regions that
//! only a broken entry refers to are reported as `R.gap`.

pub(crate) mod annotation;
pub mod block;
pub(crate) mod blocks;
mod codec;
mod definition;
mod family;
mod leb128;
mod metadata;
mod regions;
#[cfg_attr(not(feature = "windows"), path = "no_resume.rs")]
mod resume;
pub mod rules;
mod spelling;
mod toc;

pub use codec::{Codec, Item, Key, Vector};
use definition::Definition;
use leb128::LARGEST;
pub use spelling::Spelling;

use crate::base::features::WINDOWS;
use crate::base::{Word, limits, place, wide, widen, word};
use crate::format::Container;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunk, Encoding, Metadata, Region, Tensor, Value, Version};
use crate::parse::{self, Reader, reader::Field};
use crate::rule::{Halt, Rule};

/// Offsets and values of fields.
mod field {
    use crate::base::Word;
    use crate::parse::reader::Field;

    pub(super) const SIGNATURE: u64 = u64::from_le_bytes(*b"CML\0DVB\0");
    pub(super) const TAIL_SIGNATURE: u64 = u64::from_le_bytes(*b"\0BVD\0LMC");
    pub(super) const HEADER: u64 = 256;
    pub(super) const TAIL: u64 = 8;
    pub(super) const AT_START: Field = Field::new(0, 8);
    pub(super) const VERSION: Field = Field::new(8, 8);
    pub(super) const COMPATIBLE: Field = Field::new(16, 8);
    pub(super) const TOC: Field = Field::new(24, 8);
    pub(super) const TAIL_AT: Field = Field::new(32, 8);
    pub(super) const ROWS: Field = Field::new(40, 8);
    pub(super) const COLUMNS: Field = Field::new(48, 4);
    pub(super) const PADDING: usize = 52;
    /// Version 1.1.1.0, just below the first version.
    pub(super) const VERSION_0: u64 = 0x0001_0001_0001_0000;
    /// Length of a lookup table entry.
    pub(super) const ENTRY: Word = 16;
    /// Usual length of a table of contents entry, for reading ahead.
    pub(super) const COLUMN: u64 = 64;
    /// Minimum length of a slot name: an index and an empty string.
    pub(super) const SLOT_NAME: Word = 5;
}

/// The validated header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    version: u64,
    rows: u64,
    /// Offset of the table of contents; before `tail` if there are columns.
    toc: Word,
    /// Offset of the tail, which is inside the file.
    tail: Word,
    columns: u32,
    /// The version relative to 1.1.1.0, as [`revision`] returns it.
    revision: u32,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Rows per block of the first column.
    rows_per_block: u64,
    /// Position in an entry's own table.
    table: [Word; 4],
    /// State kept while bytes are missing.
    held: resume::Held,
}

impl parse::State for State {
    const START: State = State { rows_per_block: 0, table: [0; 4], held: resume::Held::NONE };
    const ALONE: State = State { rows_per_block: Cursor::UNKNOWN, ..State::START };
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::SIGNATURE.to_le_bytes())
    }

    /// Validates the header, then the tail. They lie apart, so the cursor keeps the validated
    /// header until the tail is resident.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        let header = Header::head(r, c)?;
        let (toc, tail, end) = (wide(header.toc), wide(header.tail), wide(header.end()));
        if WINDOWS && c.phase == 1 && header.columns > 0 {
            // The table of contents and the tail are neighbours, so they are fetched together.
            r.region(toc, tail, rules::T_EOF);
            r.read_ahead(end.min(toc.saturating_add(limits::READ_AHEAD)));
            r.take(1)?;
        }
        c.phase = 2;
        r.region(tail, end, rules::H_TAIL_EOF);
        let signature = r.next_u64();
        if signature != field::TAIL_SIGNATURE && !r.is_halted() {
            r.fail(rules::H_TAIL_SIG, header.tail, field::TAIL, 0, 0);
        }
        r.settle()?;
        if r.source().is_exact() {
            let len = r.source().len();
            let surplus = Span::between(end, len);
            r.check(surplus.is_empty(), rules::H_TRAILING, surplus, end, len);
        }
        Ok(header)
    }

    fn version(&self) -> Option<Version> {
        let part = |shift: u32| u16::try_from((self.version >> shift) & 0xFFFF).unwrap_or(0);
        Some(Version::full([part(48), part(32), part(16), part(0)]))
    }

    fn file_len(&self) -> Option<u64> {
        Some(wide(self.end()))
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.columns)
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        self.next_tensor(r, c)
    }

    fn attribute(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        self.attribute_of(r, (tensor.offset, tensor.index), c)
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        self.value_of(r, meta)
    }

    fn chunk(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        chunk: u64,
    ) -> Result<Option<Chunk>, Halt> {
        self.block_at(r, tensor, chunk)
    }

    fn missing(&self, r: &mut Reader<'_, '_>, report: &mut dyn FnMut(Absent)) {
        self.report_missing(r, report);
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        self.next_region(r, c)
    }

    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        self.audit_blocks(r, c)
    }
}

impl Header {
    /// Number of rows of every column.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The codec of a column, with its parameters.
    ///
    /// # Errors
    /// [`Absent`] when the codec definition is not resident.
    pub fn codec(&self, source: &Source<'_>, column: &Tensor) -> Result<Codec, Absent> {
        source.get(column.extra)?;
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        r.mute();
        r.region(column.extra.offset, wide(self.tail), rules::T_EOF);
        let mut definition = Definition::NONE;
        definition::definition(&mut r, &mut definition);
        Ok(Codec::of(source, &definition))
    }

    /// Validates a decoded block of a column and returns its rows. An annotation's value has
    /// one row.
    ///
    /// # Errors
    /// The first fault that makes rows unreadable, such as an unknown codec. Other faults
    /// are ignored here; the audit reports them.
    pub fn block<'b>(
        &self,
        codec: &Codec,
        rows: u64,
        decoded: &'b [u8],
    ) -> Result<block::Block<'b>, block::Fault> {
        if !codec.is_known() {
            let rule = rules::T_CODEC_UNKNOWN;
            return Err(block::Fault { rule, offset: 0, len: 0, expected: 0 });
        }
        let mut last = None;
        let found = self.validate_block(codec, rows, decoded, &mut |fault| last = Some(fault));
        let none = block::Fault { rule: rules::B_SHORT, offset: 0, len: 0, expected: 0 };
        found.ok_or_else(|| last.unwrap_or(none))
    }

    /// Validates a decoded block and reports its faults.
    pub(crate) fn validate_block<'b>(
        &self,
        codec: &Codec,
        rows: u64,
        decoded: &'b [u8],
        report: &mut dyn FnMut(block::Fault),
    ) -> Option<block::Block<'b>> {
        let sentinels = self.revision < 6;
        block::Block::validate(codec, sentinels, rows, decoded, report)
    }

    /// The codec of a column as text, such as `VBuffer(Single, [4])`.
    ///
    /// # Errors
    /// [`Absent`] when the codec definition is not resident.
    pub fn spelling<'a>(
        &self,
        source: &Source<'a>,
        column: &Tensor,
    ) -> Result<Spelling<'a>, Absent> {
        source.get(column.extra).map(Spelling::of)
    }

    /// End of the file's content, at or before the end of the source.
    fn end(&self) -> Word {
        self.tail.wrapping_add(place(field::TAIL))
    }

    /// Whether `len` bytes at `at` lie between header and tail.
    fn is_inside(&self, at: Word, len: Word) -> bool {
        wide(at) >= field::HEADER && self.tail.checked_sub(at).is_some_and(|room| len <= room)
    }

    /// Whether entries have a metadata table of contents. The payloads of versions without
    /// one are not documented.
    fn has_metadata(&self) -> bool {
        self.revision >= 4
    }

    fn has_slot_names(&self) -> bool {
        self.revision == 3
    }

    /// Reads and validates the header, or returns the cursor's copy.
    fn head(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        if let Some(header) = resume::header(c) {
            return Ok(header);
        }
        let len = r.source().len();
        r.region(0, field::HEADER, rules::H_SIZE);
        let least = field::HEADER.wrapping_add(field::TAIL);
        if len < least {
            r.fail(rules::H_SIZE, 0, len, least, len);
        }
        let Some(head) = r.bytes(place(field::HEADER)).first_chunk() else {
            return r.settle().and(Err(Halt::broken(rules::H_SIZE)));
        };
        let header = Header {
            version: number(head, field::VERSION),
            rows: number(head, field::ROWS),
            toc: offset(number(head, field::TOC)),
            tail: offset(number(head, field::TAIL_AT)),
            columns: u32::from_le_bytes(field::COLUMNS.of(head)),
            revision: revision(number(head, field::VERSION)),
        };
        header.validate(r, head);
        resume::hold(r, c, header)?;
        Ok(header)
    }

    /// Validates the header; halts the reader if the file is refused.
    fn validate(&self, r: &mut Reader<'_, '_>, head: &Head) {
        if number(head, field::AT_START) != field::SIGNATURE {
            return refuse(r, rules::H_SIG, field::AT_START, 0, 0);
        }
        let readable = number(head, field::COMPATIBLE);
        let compatible = revision(readable);
        let nth = |part: u64| field::VERSION_0.wrapping_add(part);
        if self.revision == 0 {
            return refuse(r, rules::H_VER_UNKNOWN, field::VERSION, nth(1), self.version);
        }
        if compatible > 6 {
            return refuse(r, rules::H_COMPAT_MAX, field::COMPATIBLE, nth(6), readable);
        }
        let mut check = |holds, rule, Field { at, len }, expected, found| {
            r.check(holds, rule, Span::new(at.into(), len.into()), expected, found);
        };
        let ordered = compatible <= self.revision;
        check(ordered, rules::H_COMPAT_VER, field::COMPATIBLE, self.version, readable);
        check(self.revision >= 2, rules::H_VER_MIN, field::VERSION, nth(2), self.version);
        check(compatible >= 4, rules::H_COMPAT_MIN, field::COMPATIBLE, nth(4), readable);
        self.validate_numbers(r, head);
        if r.is_halted() {
            return;
        }
        let padding = head.get(field::PADDING..).unwrap_or_default();
        if let Some(first) = padding.iter().position(|byte| *byte != 0) {
            let at = widen(field::PADDING.wrapping_add(first));
            r.flag(rules::H_PAD, at, field::HEADER.wrapping_sub(at), 0, 0);
        }
    }

    /// Validates all counts and offsets; any fault refuses the file.
    fn validate_numbers(&self, r: &mut Reader<'_, '_>, head: &Head) {
        if !is_positive(self.rows) {
            refuse(r, rules::H_ROWS, field::ROWS, 0, self.rows);
        }
        let columns = u64::from(self.columns);
        if columns > LARGEST {
            refuse(r, rules::H_COLS, field::COLUMNS, 0, columns);
        }
        let any = (1..=LARGEST).contains(&columns);
        let (toc, tail) = (wide(self.toc), wide(self.tail));
        let low = toc < field::HEADER;
        let stored = number(head, field::TOC);
        if low && any {
            refuse(r, rules::H_TOC_LOW, field::TOC, field::HEADER, stored);
        }
        // The file was found to be at least as long as header and tail.
        let len = r.source().len();
        let tail_stored = number(head, field::TAIL_AT);
        if tail < field::HEADER {
            refuse(r, rules::H_TAIL_LOW, field::TAIL_AT, field::HEADER, tail_stored);
        } else if len.wrapping_sub(field::TAIL) < tail {
            let end = tail_stored.saturating_add(field::TAIL);
            refuse(r, rules::H_TAIL_EOF, field::TAIL_AT, len, end);
        } else if toc >= tail && any && !low {
            refuse(r, rules::H_TOC_HIGH, field::TOC, tail, stored);
        }
    }
}

/// The bytes of a header.
type Head = [u8; 256];

#[inline(always)]
fn number(head: &Head, field: Field) -> u64 {
    u64::from_le_bytes(field.of(head))
}

/// The last part of a version 1.1.1.x; 0 for earlier versions, and a larger number for later
/// ones.
fn revision(version: u64) -> u32 {
    u32::try_from(version.saturating_sub(field::VERSION_0)).unwrap_or(u32::MAX)
}

/// Converts an offset stored as i64; a negative one becomes 0, which is inside the header.
fn offset(stored: u64) -> Word {
    if is_positive(stored) { place(stored) } else { 0 }
}

/// Reports that a field of the header breaks `rule`, and refuses the file.
fn refuse(r: &mut Reader<'_, '_>, rule: Rule, field: Field, expected: u64, found: u64) {
    r.fail(rule, word(field.at.into()), u64::from(field.len), expected, found);
}

/// The encoding of a block with this compression kind.
fn encoding(kind: u8) -> Encoding {
    match kind {
        0 => Encoding::Raw,
        1 => Encoding::Deflate,
        2 => Encoding::Zlib,
        _ => Encoding::Unknown,
    }
}

/// Whether a number stored as i64 is not negative.
fn is_positive(number: u64) -> bool {
    i64::try_from(number).is_ok()
}
