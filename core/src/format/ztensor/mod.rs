//! zTensor (`.zt`): generation 0.1. [`later`] has generations 1.0 to 2.
//!
//! | at | size | content |
//! |---|---|---|
//! | 0 | 8 | magic, `ZTEN0001` |
//! | 64 | | blobs, each at a multiple of 64, zeros between them |
//! | end - 8 - I | I | index: a CBOR array with one map per tensor |
//! | end - 8 | 8 | I, little-endian |
//!
//! | key | value | |
//! |---|---|---|
//! | `name` | text | |
//! | `offset` | unsigned | from the file's start, a multiple of 64 |
//! | `size` | unsigned | stored bytes |
//! | `dtype` | text | one of 13 |
//! | `layout` | text | `dense`, `sparsecoo`, `sparsecsr`; `sparse` with `sparse_format` |
//! | `shape` | array of unsigned | empty for a scalar |
//! | `encoding` | text | `raw`, `zstd` |
//! | `data_endianness` | text | optional: `little`, `big` |
//! | `checksum` | text | optional: `crc32c:0x…`, `sha256:…`, over the stored bytes |
//! | others | any | custom |
//!
//! Any well-formed CBOR is accepted. The form that real writers emit (a definite
//! array of maps of indefinite length, shortest heads, keys in the order of the
//! table, custom ones sorted after them) is the canonical form; departures from
//! it are lints.
//!
//! The specification calls a sparse layout `sparse`, and leaves open how its
//! bytes are arranged; only the location of such a tensor is checked. Real
//! files use `sparsecoo` (entries back to back: the coordinates as 64-bit
//! numbers, then the value) and `sparsecsr` (row pointers and column indices
//! as 64-bit numbers, then the values). In a big-endian sparse blob every unit
//! of the *value's* width is reversed, indices included, as the only writer
//! does it: with 4-byte values, an index is two big-endian halves, the low one
//! first.
//!
//! Order of suppression: a map that is not well formed is reported as such and
//! ends the index. A blob at an invalid location is not compared with its shape.
//! `BLOB-MAGIC` suppresses `BLOB-ALIGN`; of `BLOB-OVERFLOW`, `BLOB-BOUNDS` and
//! `BLOB-INDEX`, only the first is reported. `FILE-CONCATENATED` suppresses
//! `FILE-ZERO-TENSORS`. A tensor without a name is not compared with others.

mod attribute;
mod cbor;
mod checksum;
mod entry;
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
mod faults;
mod item;
mod keys;
#[cfg_attr(not(feature = "ztensor-later"), path = "no_later.rs")]
mod later;
mod listed;
mod nest;
mod open;
pub mod rules;
mod validate;
mod value;

pub use item::{Item, Items};

use crate::base::{Word, cbor::major, features::SWEEP, wide, word};
use crate::codec::checksum::Checksum;
use crate::format::{self, Container, Fault, Glance};
use crate::input::{Absent, Source, Span};
#[cfg(feature = "payloads")]
use crate::model::parted::Parted;
use crate::model::{
    Chunk, Chunks, Encoding, Layout, Metadata, Name, Part, Region, Tensor, Value, Version,
};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt, Rule};
use cbor::{OPEN, Pull, odd};
use entry::{Entry, Key};
use listed::cover;

/// Sizes of parts and values of fields (File Layout, Tensor Metadata).
mod field {
    use crate::base::widen;
    use crate::model::{DType, Layout};

    /// The magics of this generation, of generations 1.0 to 1.2, and of generation 2.
    pub(super) const MAGICS: [[u8; 8]; 3] = [*b"ZTEN0001", *b"ZTEN1000", *b"\x89ZT2\r\n\x1A\n"];
    pub(super) const MAGIC_LEN: u64 = 8;
    pub(super) const LENGTH_LEN: u64 = 8;
    pub(super) const SMALLEST: u64 = 17;
    pub(super) const ALIGN: u64 = 64;
    /// Length of an index in a sparse layout, in bytes.
    pub(super) const INDEX: u64 = 8;
    /// Maximum number of dims of a usual shape.
    pub(super) const RANK: u32 = 64;
    pub(super) const KEYS: u64 = widen(crate::base::limits::CBOR_KEYS);
    pub(super) const KEY_DEPTH: u64 = widen(crate::base::limits::CBOR_KEY_DEPTH);

    /// The names of data types.
    pub(super) const DTYPE_NAMES: &[u8] =
        b"float32 float16 bfloat16 float64 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool ";
    /// The data types, each with the length of an element in bytes.
    pub(super) const DTYPES: [(DType, u8); 13] = [
        (DType::F32, 4),
        (DType::F16, 2),
        (DType::BF16, 2),
        (DType::F64, 8),
        (DType::I64, 8),
        (DType::I32, 4),
        (DType::I16, 2),
        (DType::I8, 1),
        (DType::U64, 8),
        (DType::U32, 4),
        (DType::U16, 2),
        (DType::U8, 1),
        (DType::Bool, 1),
    ];
    /// The names of layouts, and the layouts.
    pub(super) const LAYOUT_NAMES: &[u8] = b"dense sparsecoo sparsecsr sparse ";
    pub(super) const LAYOUTS: [Layout; 4] =
        [Layout::RowMajor, Layout::Coo, Layout::Csr, Layout::Sparse];
}

/// Minimum distance from the end of the data to the start of a second file: the first file's
/// index of at least 1 byte, and its length of 8 bytes.
const SECOND: Word = 9;

/// Phase of the iteration over parts of the file: those of tensors.
const TENSORS: u8 = 1;

/// The validated header: the location of the index, which is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Start of the index, before which blobs must end.
    index_at: Word,
    /// End of the index.
    index_end: Word,
    /// Offset of the first element.
    first: Word,
    /// Number of elements.
    count: u32,
    /// Whether a break ends the index.
    open: bool,
    /// The header of a file of a later generation.
    later: Option<later::Header>,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// End of the data listed so far.
    data_end: Word,
    /// What is known about the blobs listed so far, one of [`cover`].
    cover: u8,
    /// Number of data items left in a map, plus one; 0 if a break ends it.
    left: u64,
    /// Offset of the first element, while opening counts the elements.
    first: Word,
    /// Offset of the next element to count.
    next: u64,
    /// State of a file of a later generation.
    later: later::State,
}

impl parse::State for State {
    const START: State = State {
        data_end: 0,
        cover: cover::TIGHT,
        left: 0,
        first: 0,
        next: 0,
        later: later::State::START,
    };
    const ALONE: State = State { data_end: Word::MAX, ..State::START };
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;
    const QUOTING: &[Rule] = rules::QUOTING;

    fn detect(head: &[u8], _len: u64) -> bool {
        open::generation(head).is_some()
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        let mut header = Header::NONE;
        header.later = later::open(r, c)?;
        if header.later.is_some() {
            return Ok(header);
        }
        header.index_at = open::index(r, c)?;
        header.index_end = word(r.source().len().saturating_sub(field::LENGTH_LEN));
        match open::counting(c) {
            Some(first) => header.first = first,
            None => header.read(r, c)?,
        }
        if header.open {
            header.count = open::elements(&header, r, c)?;
        }
        Ok(header)
    }

    fn rule(&self, fault: Fault, shared: Option<Rule>) -> Option<Rule> {
        match &self.later {
            Some(later) => later.rule(fault, shared),
            None => shared,
        }
    }

    fn version(&self) -> Option<Version> {
        Some(self.later.as_ref().map_or(Version::minor(0, 1), |later| later.version()))
    }

    fn alignment(&self) -> u64 {
        self.later.as_ref().map_or(field::ALIGN, |later| later.alignment())
    }

    fn tensor_count(&self) -> u64 {
        self.later.as_ref().map_or(u64::from(self.count), |later| later.tensor_count())
    }

    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        match &self.later {
            Some(later) => later.meta(r, c),
            None => {
                c.finish();
                Ok(None)
            }
        }
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        match &self.later {
            Some(later) => later.tensor(r, c),
            None => self.next(r, c),
        }
    }

    fn attribute(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        match &self.later {
            Some(later) => later.attribute(r, tensor, c),
            None => attribute::next(r, tensor.extra, c),
        }
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        match &self.later {
            Some(later) => later.value(r, meta),
            None => attribute::value(r, meta),
        }
    }

    fn chunk(
        &self,
        _: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _: u64,
    ) -> Result<Option<Chunk>, Halt> {
        if let Some(later) = &self.later {
            return Ok(later.chunk(tensor));
        }
        let Chunks::One(stored) = tensor.chunks else { return Ok(None) };
        let decoded = match (tensor.encoding, tensor.layout) {
            (Encoding::Raw, _) => Some(stored.len),
            (Encoding::Zstd, Layout::RowMajor) => tensor.bytes(),
            _ => None,
        };
        let Tensor { encoding, elements, .. } = *tensor;
        Ok(Some(Chunk { stored, decoded, encoding, row: 0, elements, lead: 0 }))
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        if let Some(later) = &self.later {
            return later.region(r, c);
        }
        while c.phase == TENSORS {
            let Some(tensor) = self.next(r, c)? else { break };
            if let Chunks::One(span) = tensor.chunks
                && !span.is_empty()
            {
                return Ok(Some(format::data_of(tensor.index, span)));
            }
        }
        let phase = c.phase;
        c.next_phase();
        let (part, span) = match phase {
            0 => (Part::Header, Span::new(0, field::MAGIC_LEN)),
            TENSORS => (Part::Table, self.index()),
            _ => {
                c.finish();
                (Part::Tail, Span::new(wide(self.index_end), field::LENGTH_LEN))
            }
        };
        Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }))
    }

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if self.later.is_none() {
            self.sweep_sound(r, c, goes_on);
        }
    }

    /// Whether the tensors, whose list ended at `listed`, are in the order of their blobs,
    /// with only zero padding between the blobs.
    fn is_covered(&self, listed: &Cursor) -> bool {
        self.later.is_none() && listed.state.cover == cover::PROVED
    }

    fn checksum(&self, source: &Source<'_>, tensor: &Tensor) -> Result<Option<Checksum>, Absent> {
        Header::checksum(self, source, tensor)
    }

    #[cfg(feature = "payloads")]
    fn parted(&self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Option<Parted>, Halt> {
        match &self.later {
            Some(later) => later.parted(r, tensor),
            None => Ok(None),
        }
    }

    /// May be that of a part, whose object names it (later generations).
    const NAMED_AROUND: bool = cfg!(feature = "ztensor-later");

    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        match &self.later {
            Some(later) => later.audit(r, c),
            None => {
                c.finish();
                Ok(())
            }
        }
    }
}

impl Header {
    /// Before anything is known.
    const NONE: Header =
        Header { index_at: 0, index_end: 0, first: 0, count: OPEN, open: true, later: None };

    /// The index: a CBOR array of maps; in later generations the manifest.
    pub fn index(&self) -> Span {
        if let Some(later) = &self.later {
            return later.index();
        }
        Span::new(wide(self.index_at), wide(self.index_end.wrapping_sub(self.index_at)))
    }

    /// The checksum of a tensor's stored bytes; `None` if it is missing or of unknown form.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn checksum(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Checksum>, Absent> {
        if let Some(later) = &self.later {
            return later.checksum(source, tensor);
        }
        let text = attribute::text(source, tensor.extra, Key::CHECKSUM)?;
        Ok(text.and_then(|text| checksum::value(&text)))
    }

    /// A text field of the tensor's map, for example `dtype`, as spelled in the file;
    /// `None` if the map has no such field.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn text<'a>(
        &self,
        source: &Source<'a>,
        tensor: &Tensor,
        field: &str,
    ) -> Result<Option<Name<'a>>, Absent> {
        match Key::of(&Name::from(field)) {
            Some(key) => attribute::text(source, tensor.extra, key),
            None => Ok(None),
        }
    }

    /// Reads the head of the index.
    fn read(&mut self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        r.region(wide(self.index_at), wide(self.index_end), rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        pull.item_or_break(1);
        pull.done()?;
        if pull.head.major != major::ARRAY {
            let root = Span::new(wide(self.index_at), 1);
            let first = open::look(r, root)?.first().copied().unwrap_or(0);
            return Err(open::refuse(r, rules::INDEX_ROOT, root, 0, u64::from(first)));
        }
        let at = pull.head_at;
        self.count = pull.count();
        pull.done()?;
        self.open = self.count == OPEN;
        if self.open {
            pull.note(odd::INDEFINITE, at);
        }
        pull.report();
        self.first = word(r.at());
        if self.open {
            open::begin_counting(c, self.first);
        }
        Ok(())
    }

    /// Reads and validates the next element of the index.
    #[inline(never)]
    fn next(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let mut at = word(c.at).max(self.first);
        r.region(wide(at), wide(self.index_end), rules::CBOR_TRUNCATED);
        let open = self.open;
        if open || c.index < self.count {
            r.about(EntryKind::Tensor, c.index);
            if let Some(tensor) = self.next_sound(r, c) {
                return Ok(Some(tensor));
            }
            // Deep calls come first, because a tensor is large for a small stack.
            let mut entry = Entry { at, ..Entry::default() };
            let mut pull = Pull::new(r);
            pull.item(2, open);
            let ended = pull.head.is_break();
            if !ended {
                entry.read(&mut pull);
            }
            if let Err(halt) = pull.done() {
                // An element that is not a map is reported however deep it nests.
                if !ended && !entry.map && halt == Halt::refused(rules::CBOR_DEPTH) {
                    pull.r.flag(rules::INDEX_ELEMENT, wide(at), 1, 0, 0);
                }
                return Err(halt);
            }
            if !ended {
                if entry.map {
                    entry.fatal = pull.report();
                } else {
                    let len = wide(entry.end.wrapping_sub(at));
                    pull.r.flag(rules::INDEX_ELEMENT, wide(at), len, 0, 0);
                }
                return Ok(Some(self.validate(&mut pull, &entry, c)));
            }
            at = pull.at();
        }
        self.end(r, c, at)
    }

    /// Validates the bytes after the last element, at `at`.
    fn end(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        at: Word,
    ) -> Result<Option<Tensor>, Halt> {
        r.about(EntryKind::File, 0);
        // After an entry read out of order, the end of the data is unknown and not compared.
        let data_end = c.state.data_end.max(word(field::MAGIC_LEN));
        let unused = self.index_at.saturating_sub(data_end);
        // In a file that was appended to another, the distance from the second magic to the
        // index equals that from the first magic to the end of the data. The last element of
        // an index of indefinite length and the second magic need not be resident together,
        // so such an index is not checked.
        let second = wide(unused);
        let least = data_end.wrapping_add(SECOND);
        let twice = !self.open
            && unused >= least
            && open::generation(open::look(r, Span::new(second, field::MAGIC_LEN))?) == Some(0);
        if twice {
            r.flag(rules::FILE_CONCATENATED, second, field::MAGIC_LEN, 0, second);
        } else if c.index == 0 && unused > 0 {
            r.flag(rules::FILE_ZERO_TENSORS, wide(data_end), second, 0, second);
        }
        let size = self.index_end.wrapping_sub(self.index_at);
        if c.index == 0 && unused == 0 && at >= self.index_end && size > 1 {
            r.flag(rules::FILE_ZERO_FORM, wide(self.index_at), wide(size), 1, wide(size));
        }
        if at < self.index_end {
            let rest = wide(self.index_end.saturating_sub(at));
            r.flag(rules::INDEX_TRAILING, wide(at), rest, 0, rest);
        }
        if SWEEP
            && c.state.cover == cover::TIGHT
            && listed::is_padding(r.source(), wide(data_end), wide(self.index_at))
        {
            c.state.cover = cover::PROVED;
        }
        c.finish();
        Ok(None)
    }
}
