//! Reads the entries of the three tables and runs the checks they share.

use super::text::{is_no_name, validate_bytes, validate_padding};
use super::{Cursor, Header, element_type, field, rules, size_of};
use crate::base::features::WINDOWS;
use crate::base::{Word, wide, widen, word};
use crate::input::Span;
use crate::model::{Metadata, NameAt, Status};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, general::BYTES_CHANGED};

/// An entry of any of the tables.
///
/// Filled in place, because it is expensive to move.
pub(super) struct Entry<'h, 'a> {
    pub(super) header: &'h Header,
    /// The table: [`EntryKind::SizeVar`], [`EntryKind::Metadata`] or [`EntryKind::Tensor`].
    pub(super) kind: EntryKind,
    pub(super) index: u32,
    /// Offset of the entry.
    pub(super) at: Word,
    name_len: Word,
    /// Offset of the fields after the name.
    pub(super) fields: Word,
    pub(super) tag: u32,
    pub(super) flags: u32,
    pub(super) extents: &'a [u8],
    /// Number of a tensor's elements; 0 if it exceeds 64 bits.
    pub(super) elements: u64,
    /// Byte range of the data or the value.
    pub(super) data: Span,
    /// Byte range of the quantisation; empty if there is none.
    pub(super) quant: Span,
    /// Whether the entry has no fault that makes its data unreadable.
    pub(super) sound: bool,
    /// Whether the entry ends the table because it does not fit, in a file that is not truncated.
    pub(super) broken: bool,
}

impl<'h, 'a> Entry<'h, 'a> {
    /// An empty entry of the table for `kind`.
    pub(super) fn of(header: &'h Header, kind: EntryKind) -> Self {
        Entry {
            header,
            kind,
            index: 0,
            at: 0,
            name_len: 0,
            fields: 0,
            tag: 0,
            flags: 0,
            extents: &[],
            elements: 0,
            data: Span::default(),
            quant: Span::default(),
            sound: false,
            broken: false,
        }
    }

    /// Location of the name.
    pub(super) fn name(&self) -> NameAt {
        if self.broken {
            return NameAt::default();
        }
        NameAt::plain(wide(self.at.wrapping_add(4)), wide(self.name_len))
    }

    pub(super) fn status(&self) -> Status {
        if self.sound { Status::Sound } else { Status::Broken }
    }

    /// The public form of metadata and sizevars.
    pub(super) fn meta(&self) -> Metadata {
        Metadata {
            kind: self.kind,
            index: self.index,
            offset: wide(self.at),
            key: self.name(),
            tag: self.tag,
            status: self.status(),
            stored: self.data,
        }
    }

    /// Reads the name with its padding, or returns the fault.
    #[inline(always)]
    fn read_name(&mut self, r: &mut Reader<'_, 'a>) -> Result<&'a [u8], Fault> {
        require(r, 8)?;
        let len = word(r.next_u32().into());
        let left = word(r.left());
        // Wraps only for lengths that exceed memory.
        let padded = (len.wrapping_add(11) & !7).wrapping_sub(4);
        if len > left || padded > left {
            return Err((rules::STR_LEN, self.at, 4, wide(left), wide(len)));
        }
        self.name_len = len;
        Ok(r.bytes(padded))
    }

    /// Reads the fields after the name, or returns the fault.
    #[inline(always)]
    fn read_fields(&mut self, r: &mut Reader<'_, 'a>) -> Result<(), Fault> {
        self.fields = r.here();
        let fixed = match self.kind {
            EntryKind::SizeVar => 8,
            EntryKind::Metadata => 24,
            _ => 12,
        };
        require(r, fixed)?;
        if self.kind == EntryKind::SizeVar {
            self.data = Span::new(wide(self.fields), 8);
            r.next_u64();
            return Ok(());
        }
        self.tag = r.next_u32();
        self.flags = r.next_u32();
        // The data and, from version 2 on, the quantisation.
        let mut spans = 1;
        if self.kind == EntryKind::Tensor {
            let rank = word(self.flags.into());
            self.flags = r.next_u32();
            spans = self.header.version;
            let trailer = word(spans.into()) << 4;
            let left = word(r.left());
            let room = (left.saturating_sub(trailer) >> 3).min(word(u64::from(u32::MAX) >> 3));
            if rank > room || left < trailer {
                let at = self.fields.wrapping_add(4);
                return Err((rules::TENSOR_NDIM, at, 4, wide(room), wide(rank)));
            }
            self.extents = r.bytes(rank << 3);
        }
        read_span(r, &mut self.data);
        if spans > 1 {
            read_span(r, &mut self.quant);
        }
        Ok(())
    }

    /// Reads and validates the entry at the cursor, and advances. Returns `false` after the
    /// last entry, if the rest of the table is unreadable, and if bytes are [missing](settle).
    pub(super) fn next(&mut self, r: &mut Reader<'_, 'a>, c: &mut Cursor) -> bool {
        let header = self.header;
        let table = match self.kind {
            EntryKind::SizeVar => 0,
            EntryKind::Metadata => 1,
            _ => 2,
        };
        let Some([section, next, ..]) = header.sections.get(table..) else { return false };
        let left = section.count.saturating_sub(c.index);
        self.index = c.index;
        r.region(wide(word(c.at).max(section.at)), wide(next.at), BYTES_CHANGED);
        // The tables lie next to each other and are read in order.
        r.read_ahead(header.data);
        r.about(self.kind, self.index);
        if left == 0 {
            return false;
        }
        // The file ends before the section does; this was reported with the header.
        let cut = next.at > word(r.source().len());
        self.at = r.here();
        let text = self.read_name(r).and_then(|text| self.read_fields(r).map(|()| text));
        let text = match text {
            Ok(text) => text,
            Err((rule, at, len, expected, found)) => {
                if !cut && !lacks(r) {
                    r.flag(rule, wide(at), len, expected, found);
                    self.broken = true;
                }
                return false;
            }
        };
        // Bytes between the last entry and the next section: padding up to the next multiple
        // of 8, then unused bytes.
        let end = r.here();
        let slack = if left == 1 && !cut { word(r.left()) } else { 0 };
        let padding = r.bytes(slack.min(end.wrapping_neg() & 7));
        if lacks(r) {
            return false;
        }
        c.advance(wide(end));
        self.validate(r, text);
        r.about(EntryKind::File, 0);
        validate_padding(r, rules::TABLE_SLACK, end, padding);
        let padded = word(widen(padding.len()));
        let gap = wide(slack.wrapping_sub(padded));
        if gap > 0 {
            r.flag(rules::TABLE_GAP, wide(end.wrapping_add(padded)), gap, 0, gap);
        }
        r.about(self.kind, self.index);
        true
    }

    // Not inlined where size matters: reading and validating compete for registers.
    fn validate(&mut self, r: &mut Reader<'_, '_>, text: &[u8]) {
        let at = self.at.wrapping_add(4);
        let len = usize::try_from(wide(self.name_len)).unwrap_or(0);
        let (name, padding) = text.split_at_checked(len).unwrap_or_default();
        if name.is_empty() {
            r.flag(rules::STR_EMPTY, wide(self.at), 4, 1, 0);
        }
        validate_bytes(r, rules::STR_CHARSET, at, name, is_no_name);
        validate_padding(r, rules::STR_PAD, at.wrapping_add(self.name_len), padding);
        match self.kind {
            EntryKind::SizeVar => self.sound = true,
            EntryKind::Metadata => self.validate_metadata(r),
            _ => self.validate_tensor(r),
        }
    }

    #[inline(always)]
    fn validate_metadata(&mut self, r: &mut Reader<'_, '_>) {
        let fields = wide(self.fields);
        if self.flags != 0 {
            r.flag(rules::META_FLAGS, fields.wrapping_add(4), 4, 0, self.flags.into());
        }
        self.sound = true;
        self.validate_place(r, self.fields.wrapping_add(8), &VALUE, Size::Right);
        match element_type(self.tag) {
            Some(dtype) => {
                let (size, found) = (size_of(dtype, 1), self.data.len);
                if self.sound && size != found {
                    r.flag(rules::META_SIZE, fields.wrapping_add(8), 8, size, found);
                    self.sound = false;
                }
            }
            None if matches!(self.tag, field::BITSET..=field::NDARRAY) => {}
            None => {
                r.flag(rules::META_TYPE, fields, 4, 25, self.tag.into());
                self.sound = false;
            }
        }
    }

    /// Validates that a payload lies in the data section and in the file. Its size and offset
    /// are recorded at `at`.
    pub(super) fn validate_place(
        &mut self,
        r: &mut Reader<'_, '_>,
        at: Word,
        rules: &PlaceRules,
        size: Size,
    ) {
        let stored = if rules.quant { &mut self.quant } else { &mut self.data };
        let Span { offset, len } = *stored;
        if size == Size::None {
            *stored = Span::default();
            // The size comes first; the finding covers whichever is not 0.
            let (at, bytes, found) = match (len, offset) {
                (0, 0) => return,
                (0, _) => (at.wrapping_add(8), 8, offset),
                (_, 0) => (at, 8, len),
                _ => (at, 16, len),
            };
            r.flag(rules.unused, wide(at), bytes, 0, found);
            return;
        }
        let at = wide(at).wrapping_add(8);
        if offset & 7 != 0 {
            r.flag(rules.align, at, 8, field::ALIGN, offset);
        }
        let Header { data, bound, .. } = *self.header;
        let (end, exceeds) = offset.overflowing_add(len);
        let (rule, expected, found) = if offset < data {
            (rules.before, data, offset)
        } else if size == Size::Wrong {
            self.sound = false;
            return;
        } else if exceeds {
            (rules.overflow, u64::MAX.saturating_sub(offset), len)
        } else if end > bound {
            (rules.bounds, bound, end)
        } else {
            // A truncated file was reported with the header.
            self.sound &= end <= r.source().len();
            return;
        };
        r.flag(rule, at, 8, expected, found);
        self.sound = false;
    }
}

/// The verdict on a payload's size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// There should be no payload.
    None,
    /// The size is wrong, so the end is not validated.
    Wrong,
    /// The size is valid.
    Right,
}

/// The rules for a payload's location.
pub(super) struct PlaceRules {
    /// The offset is a multiple of 8.
    pub(super) align: Rule,
    /// The offset is not before the data section.
    pub(super) before: Rule,
    /// The end is inside the file.
    pub(super) bounds: Rule,
    /// The end fits 64 bits.
    pub(super) overflow: Rule,
    /// There is no payload, so size and offset are 0.
    pub(super) unused: Rule,
    /// Whether the payload is quantisation.
    pub(super) quant: bool,
}

static VALUE: PlaceRules = PlaceRules {
    align: rules::META_ALIGN,
    before: rules::META_BEFORE,
    bounds: rules::META_BOUNDS,
    overflow: rules::META_OVERFLOW,
    unused: rules::META_SIZE,
    quant: false,
};

/// A fault: the rule, the offset and length of the bytes, the expected and the found value.
type Fault = (Rule, Word, u64, u64, u64);

/// Reads the size and offset of a payload.
fn read_span(r: &mut Reader<'_, '_>, span: &mut Span) {
    span.len = r.next_u64();
    span.offset = r.next_u64();
}

/// Checks that the section has `len` bytes left.
#[inline(always)]
fn require(r: &Reader<'_, '_>, len: u64) -> Result<(), Fault> {
    let left = r.left();
    if left < len { Err((rules::TABLE_OVERRUN, r.here(), left, len, left)) } else { Ok(()) }
}

/// Reports that `span` breaks `rule`, after which nothing more can be read.
#[cold]
pub(super) fn refuse(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    span: Span,
    expected: u64,
    found: u64,
) -> Result<(), Halt> {
    r.flag(rule, span.offset, span.len, expected, found);
    Err(Halt::refused(rule))
}

/// Whether bytes are missing. Always false for a file that is fully in memory, because this
/// module only reads inside the file.
pub(super) fn lacks(r: &Reader<'_, '_>) -> bool {
    WINDOWS && r.is_halted()
}

/// Returns an error if bytes are missing.
pub(super) fn settle(r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    if WINDOWS { r.settle() } else { Ok(()) }
}
