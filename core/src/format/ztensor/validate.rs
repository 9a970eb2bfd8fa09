//! Validation of one tensor's map.

use super::cbor::{OPEN, Pull};
use super::entry::{Entry, Key};
use super::{Cursor, Header, checksum, field, listed, rules};
use crate::base::cbor::major;
use crate::base::features::DETAILS;
use crate::base::{Word, place, wide, word};
use crate::input::Span;
use crate::model::{
    Chunks, DimEncoding, DimsAt, Encoding, Endianness, Layout, Status, Tensor,
    dims::{product, scaled},
};
use crate::rule::{Rule, Severity, Subject, general};

/// The common faults of fields: missing, wrong type, not in lower case, unknown text.
const FAULTS: [[Option<Rule>; 4]; Key::COUNT] = [
    [Some(rules::FIELD_NAME), Some(rules::TYPE_NAME), None, None],
    [Some(rules::FIELD_OFFSET), Some(rules::TYPE_OFFSET), None, None],
    [Some(rules::FIELD_SIZE), Some(rules::TYPE_SIZE), None, None],
    [
        Some(rules::FIELD_DTYPE),
        Some(rules::TYPE_DTYPE),
        Some(rules::DTYPE_CASE),
        Some(rules::DTYPE_UNKNOWN),
    ],
    [
        Some(rules::FIELD_LAYOUT),
        Some(rules::TYPE_LAYOUT),
        Some(rules::LAYOUT_CASE),
        Some(rules::LAYOUT_UNKNOWN),
    ],
    [Some(rules::FIELD_SHAPE), Some(rules::TYPE_SHAPE), None, None],
    [
        Some(rules::FIELD_ENCODING),
        Some(rules::TYPE_ENCODING),
        Some(rules::ENCODING_CASE),
        Some(rules::ENCODING_UNKNOWN),
    ],
    [
        None,
        Some(rules::TYPE_ENDIANNESS),
        Some(rules::ENDIANNESS_CASE),
        Some(rules::ENDIANNESS_VALUE),
    ],
    [None, Some(rules::TYPE_CHECKSUM), None, None],
    [None, Some(rules::SPARSE_FORMAT_TYPE), None, None],
];

/// Columns of [`FAULTS`].
const MISSING: usize = 0;
const MISTYPED: usize = 1;
const CASE: usize = 2;
const UNKNOWN: usize = 3;

/// Not a position in a list.
const NONE: usize = usize::MAX;

/// Reads the fields of a map again and validates them.
#[repr(C)]
pub(super) struct Validator<'j, 'p, 'r, 'a> {
    pub(super) pull: &'j mut Pull<'p, 'r, 'a>,
    pub(super) entry: &'j Entry,
    /// Whether a fatal fault was reported.
    fatal: bool,
    /// Whether a field's value is unknown.
    unknown: bool,
    /// Whether the last field was missing or null.
    void: bool,
    /// Length of an element in bytes; 0 if its type is unknown.
    width: u8,
    /// Start of the index, before which blobs must end.
    index_at: Word,
    /// The first dim.
    rows: u64,
    tensor: Tensor,
}

impl Header {
    /// Validates an element of the index; for a map, everything except its keys.
    #[inline(never)]
    pub(super) fn validate(
        &self,
        pull: &mut Pull<'_, '_, '_>,
        entry: &Entry,
        c: &mut Cursor,
    ) -> Tensor {
        let mut validator = Validator {
            pull,
            entry,
            index_at: self.index_at,
            tensor: Tensor::NONE,
            fatal: entry.fatal,
            unknown: false,
            void: false,
            width: 0,
            rows: 0,
        };
        validator.tensor.index = c.index;
        validator.tensor.offset = wide(entry.at);
        validator.tensor.status = Status::Broken;
        if entry.map {
            validator.all(c);
        }
        c.advance(wide(entry.end));
        validator.tensor
    }
}

impl Validator<'_, '_, '_, '_> {
    fn all(&mut self, c: &mut Cursor) {
        let Entry { at, end, .. } = *self.entry;
        self.tensor.extra = Span::new(wide(at), wide(end.wrapping_sub(at)));
        self.name();
        self.dtype();
        self.layout();
        self.encoding();
        self.endianness();
        self.checksum();
        let counted = self.shape();
        let placed = self.blob();
        let Chunks::One(blob) = self.tensor.chunks else { return };
        if placed && counted && self.width > 0 {
            self.size(blob.len);
        }
        if self.fatal {
            self.tensor.chunks = Chunks::None;
            return;
        }
        if listed::is_before(c, blob) {
            self.flag(rules::BLOB_ORDER, Key::OFFSET, wide(c.state.data_end), blob.offset);
        }
        listed::pass_blob(self.pull.r.source(), c, blob);
        self.tensor.status = if self.unknown { Status::Unsupported } else { Status::Sound };
    }

    fn report(&mut self, rule: Rule, at: Word, len: u64, expected: u64, found: u64) {
        self.fatal |= rule.severity() == Severity::Fatal;
        self.pull.r.flag(rule, wide(at), len, expected, found);
    }

    /// Reports a fault of a field's value.
    fn flag(&mut self, rule: Rule, key: Key, expected: u64, found: u64) {
        let at = self.entry.place(key);
        let len = if DETAILS { self.len_of(at) } else { 0 };
        self.report(rule, at, len, expected, found);
    }

    fn flag_alone(&mut self, rule: Rule, key: Key) {
        self.flag(rule, key, 0, 0);
    }

    /// Length in bytes of the value at `at`.
    fn len_of(&mut self, at: Word) -> u64 {
        self.pull.item_at(at);
        self.pull.skip(3);
        wide(self.pull.at().wrapping_sub(at))
    }

    /// Reports one of the common faults of fields.
    fn fault(&mut self, key: Key, which: usize) {
        let row = FAULTS.get(key.position());
        if let Some(rule) = row.and_then(|row| row.get(which).copied().flatten()) {
            match which {
                MISSING => self.report(rule, self.entry.at, 1, 0, 0),
                _ => self.flag_alone(rule, key),
            }
        }
    }

    /// Whether the value of a field has this type; if so, its head is read.
    ///
    /// Parsing cannot fail here, because the bytes were read before.
    fn find(&mut self, key: Key, major: u8) -> bool {
        let at = self.entry.place(key);
        self.void = at == 0;
        if self.void {
            self.fault(key, MISSING);
            return false;
        }
        self.pull.item_at(at);
        if self.pull.head.major == major {
            return true;
        }
        self.void = self.pull.head.is_null();
        if self.void && matches!(key, Key::ENDIANNESS | Key::CHECKSUM) {
            self.flag_alone(rules::FIELD_NULL, key);
        } else {
            self.fault(key, MISTYPED);
        }
        false
    }

    /// Reads the text of a field; returns false if it is not text.
    #[inline(always)]
    fn text(&mut self, key: Key) -> bool {
        let found = self.find(key, major::TEXT);
        if found {
            self.pull.string();
        }
        found
    }

    /// The position of a field's text among `words`; [`NONE`] if it is not one of them.
    fn word(&mut self, key: Key, words: &[u8]) -> usize {
        if !self.text(key) {
            return NONE;
        }
        let Some((number, exact)) = self.pull.text.word_of(words) else {
            self.unknown = true;
            self.fault(key, UNKNOWN);
            return NONE;
        };
        if !exact {
            self.fault(key, CASE);
        }
        number.into()
    }

    fn name(&mut self) {
        if !self.find(Key::NAME, major::TEXT) {
            return;
        }
        self.tensor.name = self.pull.string_at();
        let (mut empty, mut nul) = (true, false);
        for byte in self.pull.text.bytes() {
            empty = false;
            nul |= byte == 0;
        }
        if empty {
            self.flag_alone(rules::NAME_EMPTY, Key::NAME);
        }
        if nul {
            self.flag_alone(rules::NAME_NUL, Key::NAME);
        }
    }

    fn dtype(&mut self) {
        let place = self.word(Key::DTYPE, field::DTYPE_NAMES);
        if let Some(dtype) = field::DTYPES.get(place) {
            (self.tensor.dtype, self.width) = *dtype;
        }
    }

    fn layout(&mut self) {
        let place = self.word(Key::LAYOUT, field::LAYOUT_NAMES);
        self.tensor.layout = match field::LAYOUTS.get(place) {
            Some(layout) => *layout,
            // The specification calls dense the default.
            None if self.entry.place(Key::LAYOUT) == 0 => Layout::RowMajor,
            None => Layout::Unknown,
        };
        if self.tensor.layout == Layout::Sparse {
            self.unknown = true;
            if self.entry.place(Key::SPARSE_FORMAT) == 0 {
                self.flag_alone(rules::SPARSE_FORMAT_MISSING, Key::LAYOUT);
            } else if self.find(Key::SPARSE_FORMAT, major::TEXT) {
                self.flag_alone(rules::SPARSE_UNDEFINED, Key::SPARSE_FORMAT);
            }
        }
    }

    fn encoding(&mut self) {
        self.tensor.encoding = match self.word(Key::ENCODING, b"raw zstd ") {
            0 => Encoding::Raw,
            1 => Encoding::Zstd,
            _ => Encoding::Unknown,
        };
    }

    fn endianness(&mut self) {
        let (encoding, ordered) = (self.tensor.encoding, self.width > 1);
        let order = self.word(Key::ENDIANNESS, b"little big ");
        if order == NONE {
            if self.void && ordered && encoding == Encoding::Raw {
                self.report(rules::ENDIANNESS_IMPLICIT, self.entry.at, 1, 0, 0);
            }
            return;
        }
        let big = order == 1;
        let unused = match encoding {
            // Inside a frame, data has the byte order of the machine that wrote it, which is
            // little-endian in practice.
            Encoding::Zstd if ordered && big => rules::ENDIANNESS_ZSTD,
            Encoding::Zstd => rules::ENDIANNESS_UNUSED,
            Encoding::Raw if self.width == 1 => rules::ENDIANNESS_UNUSED,
            _ => {
                if big {
                    self.tensor.endianness = Endianness::Big;
                }
                return;
            }
        };
        self.flag_alone(unused, Key::ENDIANNESS);
    }

    fn checksum(&mut self) {
        if self.entry.place(Key::CHECKSUM) == 0 {
            return;
        }
        // What it would have been compared with may be wrong as well.
        let is_lost = if self.text(Key::CHECKSUM) {
            let rule = checksum::fault(&self.pull.text);
            if let Some(rule) = rule {
                self.flag_alone(rule, Key::CHECKSUM);
            }
            rule == Some(rules::CHECKSUM_FORM)
        } else {
            !self.void
        };
        if is_lost {
            self.flag_alone(general::CHECKSUM_UNCHECKED, Key::CHECKSUM);
        }
    }

    /// Validates the shape; returns whether the number of elements fits 64 bits.
    #[inline(never)]
    fn shape(&mut self) -> bool {
        if !self.find(Key::SHAPE, major::ARRAY) {
            return false;
        }
        let mut left = self.pull.count();
        let at = self.pull.at();
        let mut rank = 0_u32;
        let mut zero = false;
        // The product of the nonzero dims; 0 if it exceeds 64 bits, which is a fault even next to
        // a zero.
        let mut elements = 1;
        let end = loop {
            if left == 0 {
                break self.pull.at();
            }
            self.pull.item(4, left == OPEN);
            let head = self.pull.head;
            if head.is_break() {
                break self.pull.head_at;
            }
            if head.major != major::UINT || self.pull.head_at != self.pull.start {
                self.pull.r.about_part(rank);
                self.report(rules::TYPE_DIM, self.pull.start, 1, 0, 0);
                self.pull.r.about_part(Subject::NO_PART);
                return false;
            }
            let dim = head.argument;
            if rank == 0 {
                self.rows = dim;
            }
            match dim {
                0 => zero = true,
                _ => elements = product(elements, dim).unwrap_or(0),
            }
            rank = rank.wrapping_add(1);
            left = if left == OPEN { OPEN } else { left.wrapping_sub(1) };
        };
        let len = u32::try_from(end.wrapping_sub(at)).unwrap_or(u32::MAX);
        let encoding = DimEncoding::Cbor;
        self.tensor.dims = DimsAt { offset: wide(at), len, rank, lead: None, encoding };
        if rank > field::RANK {
            let (most, rank) = (u64::from(field::RANK), u64::from(rank));
            self.flag(rules::SHAPE_RANK, Key::SHAPE, most, rank);
        }
        match elements {
            0 => self.flag_alone(rules::SHAPE_OVERFLOW, Key::SHAPE),
            _ if zero => {}
            _ => self.tensor.elements = elements,
        }
        elements != 0
    }

    /// Validates the location of the blob; returns whether it is inside the file's data.
    #[inline(never)]
    fn blob(&mut self) -> bool {
        let placed = self.find(Key::OFFSET, major::UINT);
        let at = self.pull.head.argument;
        let sized = self.find(Key::SIZE, major::UINT);
        let len = self.pull.head.argument;
        if !placed {
            return false;
        }
        let blob = Span::new(at, len);
        self.tensor.chunks = Chunks::One(blob);
        let (rule, expected, found) = if at < field::MAGIC_LEN {
            (rules::BLOB_MAGIC, field::MAGIC_LEN, at)
        } else {
            if at & field::ALIGN.wrapping_sub(1) != 0 {
                self.flag(rules::BLOB_ALIGN, Key::OFFSET, field::ALIGN, at);
            }
            if !sized {
                return false;
            }
            let (index_at, file) = (self.index_at, word(self.pull.r.source().len()));
            match blob.end().map(place) {
                Some(end) if end <= index_at => return true,
                None => (rules::BLOB_OVERFLOW, 0, at),
                Some(_) if len == 0 => (rules::BLOB_EMPTY_BOUNDS, wide(index_at), at),
                Some(end) if end > file => (rules::BLOB_BOUNDS, wide(file), wide(end)),
                Some(end) => (rules::BLOB_INDEX, wide(index_at), wide(end)),
            }
        };
        self.flag(rule, Key::OFFSET, expected, found);
        rule == rules::BLOB_EMPTY_BOUNDS
    }

    /// Compares the size of the blob with shape, type and layout.
    #[inline(never)]
    fn size(&mut self, len: u64) {
        let Tensor { layout, encoding, elements, dims, .. } = self.tensor;
        let width = u64::from(self.width);
        let dense = scaled(elements, self.width.into());
        let raw = encoding == Encoding::Raw;
        let rank = u64::from(dims.rank);
        let broken = match layout {
            _ if encoding == Encoding::Zstd && len == 0 => {
                let nothing = layout == Layout::RowMajor && dense == Some(0);
                (if nothing { rules::ZSTD_EMPTY } else { rules::ZSTD_TRUNCATED }, 0, 0)
            }
            Layout::RowMajor => match dense {
                None => (rules::SHAPE_BYTES, u64::MAX, elements),
                Some(bytes) if raw && bytes != len => (rules::SHAPE_SIZE, bytes, len),
                Some(_) => return,
            },
            Layout::Coo if rank == 0 => (rules::SPARSE_COO_RANK, 0, 0),
            Layout::Csr if rank != 2 => (rules::SPARSE_CSR_RANK, 2, rank),
            Layout::Coo | Layout::Csr if raw => {
                // An entry is coordinates or a column, and the value. CSR has row pointers
                // before the entries, one more than there are rows.
                let rows = layout == Layout::Csr;
                let indices = if rows { 1 } else { rank };
                let entry = indices.wrapping_mul(field::INDEX).wrapping_add(width);
                let pointers = if rows { self.rows.checked_add(1) } else { Some(0) };
                let head = pointers.and_then(|pointers| pointers.checked_mul(field::INDEX));
                let entries = match rows {
                    true if self.rows >= len >> 3 => None,
                    true => Some(len.wrapping_sub((self.rows << 3).wrapping_add(field::INDEX))),
                    false => Some(len),
                };
                // The data lies in the file, so its length fits a word.
                let entry_len = word(entry.min(wide(Word::MAX)));
                let whole = entries.is_some_and(|n| word(n).checked_rem(entry_len) == Some(0));
                if !whole && rows {
                    (rules::SPARSE_CSR_SIZE, head.unwrap_or(u64::MAX), len)
                } else if !whole {
                    (rules::SPARSE_COO_SIZE, entry, len)
                } else if dense != Some(len) {
                    (rules::SPARSE_DENSE_SIZE, dense.unwrap_or(u64::MAX), len)
                } else {
                    return;
                }
            }
            _ => return,
        };
        let (rule, expected, found) = broken;
        self.flag(rule, Key::SIZE, expected, found);
    }
}
