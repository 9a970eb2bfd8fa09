//! Entries of the three tables: reading them, and what they have in common.

use super::{Header, element_type, field, rules, size_of};
use crate::cursor::Cursor;
use crate::dtype::DType;
use crate::finding::Kind;
use crate::name::NameAt;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::slot::{Word, wide, word};
use crate::source::{Span, widen};
use crate::tensor::{Meta, Status};

/// An entry of any of the tables.
///
/// It is filled where it lies, because it is large to be moved.
#[derive(Default)]
pub(super) struct Entry<'a> {
    /// Which table: [`Kind::SizeVar`], [`Kind::Metadata`] or [`Kind::Tensor`].
    pub(super) kind: Kind,
    pub(super) index: u32,
    /// Where it begins.
    pub(super) at: Word,
    /// Where its name begins; 0 if the entry could not be read.
    name_at: Word,
    name_len: Word,
    /// Where the fields behind the name begin.
    pub(super) fields: Word,
    pub(super) tag: u32,
    pub(super) flags: u32,
    pub(super) extents: &'a [u8],
    /// Type of a tensor's elements.
    pub(super) dtype: DType,
    /// Number of a tensor's elements; 0 if it exceeds 64 bits.
    pub(super) elements: u64,
    /// The data, the value.
    pub(super) data: Span,
    /// The quantisation; empty if there is none.
    pub(super) quant: Span,
    /// Whether no rule is broken that the data cannot be read without.
    pub(super) sound: bool,
    /// Whether it ends the table because it does not fit, in a file that is not
    /// cut off.
    pub(super) broken: bool,
}

/// What is wrong, and where.
type Fault = (Rule, Span, u64, u64);

impl<'a> Entry<'a> {
    /// No entry yet, of the table of this kind.
    pub(super) fn of(kind: Kind) -> Self {
        Entry { kind, ..Entry::default() }
    }

    /// Where its name lies.
    pub(super) fn name(&self) -> NameAt {
        NameAt::plain(wide(self.name_at), wide(self.name_len))
    }

    pub(super) fn status(&self) -> Status {
        if self.sound { Status::Sound } else { Status::Broken }
    }

    /// It as what is handed out of metadata and sizevars.
    pub(super) fn meta(&self) -> Meta {
        Meta {
            kind: self.kind,
            index: self.index,
            at: wide(self.at),
            key: self.name(),
            tag: self.tag,
            status: self.status(),
            stored: self.data,
        }
    }

    /// Reads the name. Returns the padding behind it, or what is wrong.
    #[inline(always)]
    fn read_name(&mut self, r: &mut Reader<'_, 'a>) -> Result<&'a [u8], Fault> {
        require(r, 8)?;
        let len = word(r.next_u32().into());
        let left = word(r.left());
        // Wraps for lengths only that are longer than anything in memory.
        let padded = (len.wrapping_add(11) & !7).wrapping_sub(4);
        if len > left || padded > left {
            return Err((rules::STR_LEN, Span::new(wide(self.at), 4), wide(left), wide(len)));
        }
        self.name_len = len;
        Ok(r.bytes(padded))
    }

    /// Reads what is behind the name.
    #[inline(always)]
    fn read_fields(&mut self, r: &mut Reader<'_, 'a>, version: u32) -> Result<(), Fault> {
        self.fields = r.here();
        let fixed = match self.kind {
            Kind::SizeVar => 8,
            Kind::Metadata => 24,
            _ => 12,
        };
        require(r, fixed)?;
        if self.kind == Kind::SizeVar {
            self.data = Span::new(wide(self.fields), 8);
            r.next_u64();
            return Ok(());
        }
        self.tag = r.next_u32();
        self.flags = r.next_u32();
        // The data, and from version 2 on the quantisation.
        let mut spans = 1;
        if self.kind == Kind::Tensor {
            let rank = word(self.flags.into());
            self.flags = r.next_u32();
            spans = version;
            let trailer = word(spans.into()) << 4;
            let left = word(r.left());
            let room = (left.saturating_sub(trailer) >> 3).min(word(u64::from(u32::MAX) >> 3));
            if rank > room || left < trailer {
                let span = Span::new(wide(self.fields).wrapping_add(4), 4);
                return Err((rules::TENSOR_NDIM, span, wide(room), wide(rank)));
            }
            self.extents = r.bytes(rank << 3);
        }
        read_span(r, &mut self.data);
        if spans > 1 {
            read_span(r, &mut self.quant);
        }
        Ok(())
    }
}

/// Size and offset of a payload.
#[cfg_attr(not(feature = "windows"), inline(never))]
fn read_span(r: &mut Reader<'_, '_>, span: &mut Span) {
    span.len = r.next_u64();
    span.at = r.next_u64();
}

/// The section has `len` bytes left.
#[cfg_attr(not(feature = "windows"), inline(always))]
fn require(r: &Reader<'_, '_>, len: u64) -> Result<(), Fault> {
    let left = r.left();
    if left < len {
        return Err((rules::TABLE_OVERRUN, Span::new(r.at(), left), len, left));
    }
    Ok(())
}

/// Whether bytes were lacking, which never are where all are in memory: nothing is
/// read here that was not proved to be in the file.
pub(super) fn lacks(r: &Reader<'_, '_>) -> bool {
    cfg!(feature = "windows") && r.is_halted()
}

/// The same, as what a step comes back with.
pub(super) fn settle(r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    if cfg!(feature = "windows") { r.settle() } else { Ok(()) }
}

impl Header {
    /// Reads and judges the entry that the cursor stands before, and goes behind
    /// it. `false` behind the last one, where the table cannot be read on, and
    /// where bytes are [lacking](settle).
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn entry<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        e: &mut Entry<'a>,
    ) -> bool {
        let table = match e.kind {
            Kind::SizeVar => 0,
            Kind::Metadata => 1,
            _ => 2,
        };
        let Some([section, next, ..]) = self.sections.get(table..) else { return false };
        let left = section.count.wrapping_sub(c.index);
        e.index = c.index;
        r.region(c.at.max(section.at), next.at, BYTES_CHANGED);
        // The tables lie next to each other and are read in order.
        r.read_ahead(self.data());
        r.about(e.kind, e.index);
        if c.index >= section.count {
            return false;
        }
        // The file ends before the section does, which was reported with the header.
        let cut = next.at > r.source().len();
        e.at = r.here();
        let read = match e.read_name(r) {
            Ok(text) => e.read_fields(r, self.version).map(|()| text),
            Err(fault) => Err(fault),
        };
        let text = match read {
            Ok(text) => text,
            Err((rule, span, expected, found)) => {
                if !cut && !lacks(r) {
                    r.flag(rule, span.at, span.len, expected, found);
                    (e.broken, e.name_len) = (true, 0);
                }
                return false;
            }
        };
        // What lies between the last entry and the next section.
        let end = r.here();
        let slack = if left == 1 && !cut { r.left() } else { 0 };
        let gap = slack >= field::ALIGN;
        let padding = r.bytes(if gap { 0 } else { word(slack) });
        if lacks(r) {
            return false;
        }
        c.advance(wide(end));
        self.judge(r, e, text);
        r.about(Kind::File, 0);
        if gap {
            r.flag(rules::TABLE_GAP, wide(end), slack, 0, slack);
        }
        judge_padding(r, rules::TABLE_SLACK, end, padding);
        r.about(e.kind, e.index);
        true
    }

    #[inline(always)]
    fn judge(&self, r: &mut Reader<'_, '_>, e: &mut Entry<'_>, text: &[u8]) {
        let at = e.at.wrapping_add(4);
        e.name_at = at;
        let (name, padding) = text.split_at_checked(name_len(e)).unwrap_or_default();
        if name.is_empty() {
            r.flag(rules::STR_EMPTY, wide(e.at), 4, 1, 0);
        }
        judge_bytes(r, rules::STR_CHARSET, at, name, is_no_name);
        judge_padding(r, rules::STR_PAD, at.wrapping_add(e.name_len), padding);
        match e.kind {
            Kind::SizeVar => e.sound = true,
            Kind::Metadata => self.judge_metadata(r, e),
            _ => self.judge_tensor(r, e),
        }
    }

    #[inline(always)]
    fn judge_metadata(&self, r: &mut Reader<'_, '_>, e: &mut Entry<'_>) {
        let fields = wide(e.fields);
        if e.flags != 0 {
            r.flag(rules::META_FLAGS, fields.wrapping_add(4), 4, 0, e.flags.into());
        }
        e.sound = self.judge_place(r, &e.data, fields.wrapping_add(16), &PLACE_META, true);
        match element_type(e.tag) {
            Some(dtype) => {
                let size = size_of(dtype, 1);
                if e.sound && size != e.data.len {
                    r.flag(rules::META_SIZE, fields.wrapping_add(8), 8, size, e.data.len);
                    e.sound = false;
                }
            }
            None if matches!(e.tag, field::BITSET..=field::NDARRAY) => {}
            None => {
                r.flag(rules::META_TYPE, fields, 4, 25, e.tag.into());
                e.sound = false;
            }
        }
    }

    /// Whether the payload lies in the data section and in the file. Its offset is
    /// recorded at `at`; `sized` tells whether its size is known to be right, and
    /// its end is not judged otherwise.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn judge_place(
        &self,
        r: &mut Reader<'_, '_>,
        stored: &Span,
        at: u64,
        rules: &PlaceRules,
        sized: bool,
    ) -> bool {
        let (offset, len) = (stored.at, stored.len);
        let [align, before, bounds, overflow] = *rules;
        if offset & 7 != 0 {
            r.flag(align, at, 8, field::ALIGN, offset);
        }
        let (end, exceeds) = offset.overflowing_add(len);
        let (rule, expected, found) = if offset < self.data() {
            (before, self.data(), offset)
        } else if !sized {
            return false;
        } else if exceeds {
            (overflow, u64::MAX.saturating_sub(offset), len)
        } else if end > self.bound {
            (bounds, self.bound, end)
        } else {
            // Bytes that a truncated file lacks were reported with the header.
            return end <= r.source().len();
        };
        r.flag(rule, at, 8, expected, found);
        false
    }
}

fn name_len(e: &Entry<'_>) -> usize {
    usize::try_from(e.name_len).unwrap_or(0)
}

/// What stands for an offset that is no multiple of 8, one before the data section,
/// an end behind the file, and one that exceeds 64 bits.
pub(super) type PlaceRules = [Rule; 4];

static PLACE_META: PlaceRules =
    [rules::META_ALIGN, rules::META_BEFORE, rules::META_BOUNDS, rules::META_OVERFLOW];

/// `len` rounded up to a multiple of 8; `u64::MAX`, which is none, if that exceeds
/// 64 bits.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(field::ALIGN).unwrap_or(u64::MAX)
}

/// The position of the first byte that is `bad`.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn first(bytes: &[u8], bad: fn(u8) -> bool) -> Option<usize> {
    bytes.iter().position(|byte| bad(*byte))
}

/// Reports `rule` for the first byte that is `bad`, of `bytes` at `at`.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn judge_bytes(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    at: Word,
    bytes: &[u8],
    bad: fn(u8) -> bool,
) {
    if let Some(i) = first(bytes, bad) {
        let byte = bytes.get(i).copied().unwrap_or(0);
        r.flag(rule, wide(at).wrapping_add(widen(i)), 1, 0, byte.into());
    }
}

/// Reports `rule` from the first byte on that is not zero.
#[cfg(feature = "details")]
pub(super) fn judge_padding(r: &mut Reader<'_, '_>, rule: Rule, at: Word, bytes: &[u8]) {
    if let Some(i) = first(bytes, |byte| byte != 0) {
        let byte = bytes.get(i).copied().unwrap_or(0);
        let len = widen(bytes.len().wrapping_sub(i));
        r.flag(rule, wide(at).wrapping_add(widen(i)), len, 0, byte.into());
    }
}

/// Reports `rule` from the first byte on that is not zero.
#[cfg(not(feature = "details"))]
pub(super) fn judge_padding(r: &mut Reader<'_, '_>, rule: Rule, at: Word, bytes: &[u8]) {
    judge_bytes(r, rule, at, bytes, |byte| byte != 0);
}

/// Whether the alphabet of names and string values lacks it.
pub(super) fn is_no_name(byte: u8) -> bool {
    // A bit for each: names are most of what is read of an index.
    let word = NAME_BYTES.get(usize::from(byte >> 5)).copied().unwrap_or(0);
    (word >> (byte & 31)) & 1 == 0
}

/// Bytes 0 to 31, `-`, `.` and digits, `_` and capitals, small letters.
const NAME_BYTES: [u32; 4] = [0, 0x03FF_6000, 0x87FF_FFFE, 0x07FF_FFFE];

#[cfg(test)]
mod tests {
    use super::is_no_name;

    #[test]
    fn the_alphabet_of_names() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            assert_eq!(is_no_name(byte), !expected, "{byte:#x}");
        }
    }
}
