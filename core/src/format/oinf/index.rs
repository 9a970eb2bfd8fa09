//! What the tables have in common, and the entries of sizevars and metadata.

use super::{Header, Table, element_type, field, is_aligned, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::name::NameAt;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::{Span, widen};
use crate::tensor::{Meta, Status};

/// A string with its padding, taken but not judged.
pub(super) struct Text<'a> {
    pub(super) at: NameAt,
    bytes: &'a [u8],
    padding: &'a [u8],
}

/// What follows the last entry of a table.
pub(super) enum Slack<'a> {
    /// Another entry, or nothing.
    None,
    /// Padding, and where it lies.
    Padding(u64, &'a [u8]),
    /// More than padding.
    Gap(Span),
}

impl Header {
    /// The next sizevar; `None` behind the last one.
    pub(super) fn sizevar_entry(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let table = self.sizevars;
        if !self.enter(r, c, table, Kind::SizeVar) {
            return Ok(None);
        }
        let index = c.index;
        let at = r.at();
        let broken =
            Meta { kind: Kind::SizeVar, index, at, status: Status::Broken, ..Meta::default() };
        let taken = self.string(r, table).and_then(|name| {
            self.require(r, table, 8)?;
            let stored = Span::new(r.at(), 8);
            r.u64()?;
            let end = r.at();
            Ok((name, stored, end, self.slack(r, c, table)?))
        });
        let (name, stored, end, slack) = match taken {
            Ok(taken) => taken,
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) if is_cut(r, table) => return Ok(None),
            Err(_) => {
                c.next_phase();
                return Ok(Some(broken));
            }
        };
        c.advance(end);
        judge_text(r, &name);
        slack.judge(r);
        Ok(Some(Meta { key: name.at, status: Status::Sound, stored, ..broken }))
    }

    /// The next metadata entry; `None` behind the last one, and where the table
    /// cannot be read on.
    pub(super) fn metadata_entry(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let table = self.metadata;
        if !self.enter(r, c, table, Kind::Metadata) {
            return Ok(None);
        }
        let index = c.index;
        let at = r.at();
        let taken = self.string(r, table).and_then(|key| {
            self.require(r, table, 24)?;
            let fields = r.at();
            let (tag, flags) = (r.u32()?, r.u32()?);
            let (nbytes, offset) = (r.u64()?, r.u64()?);
            let end = r.at();
            let slack = self.slack(r, c, table)?;
            Ok((key, fields, tag, flags, Span::new(offset, nbytes), end, slack))
        });
        let (key, fields, tag, flags, stored, end, slack) = match taken {
            Ok(taken) => taken,
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => return Ok(None),
        };
        c.advance(end);
        judge_text(r, &key);
        let mut sound = true;
        let flags_at = Span::new(fields.wrapping_add(4), 4);
        r.check(flags == 0, rules::META_FLAGS, flags_at, 0, u64::from(flags));
        let scalar = element_type(tag);
        let known = scalar.is_some() || matches!(tag, field::BITSET..=field::NDARRAY);
        if !known {
            r.flag(rules::META_TYPE, fields, 4, 25, u64::from(tag));
            sound = false;
        }
        let place = Place {
            stored,
            offset_at: fields.wrapping_add(16),
            align: rules::META_ALIGN,
            before: rules::META_BEFORE,
            bounds: rules::META_BOUNDS,
            overflow: rules::META_OVERFLOW,
        };
        let placed = place.judge(r, self, true);
        if let Some(size) = scalar.and_then(|dtype| dtype.bytes(1))
            && placed
            && size != stored.len
        {
            r.flag(rules::META_SIZE, fields.wrapping_add(8), 8, size, stored.len);
            sound = false;
        }
        slack.judge(r);
        let status = if sound && placed { Status::Sound } else { Status::Broken };
        Ok(Some(Meta { kind: Kind::Metadata, index, at, key: key.at, tag, status, stored }))
    }

    /// Empty sections that are not empty.
    pub(super) fn judge_empty_tables(&self, r: &mut Reader<'_, '_>) {
        for table in [self.sizevars, self.metadata, self.tensors] {
            let gap = Span::between(table.at.max(field::HEADER), table.end.min(r.source().len()));
            if table.count == 0 && gap.len >= field::ALIGN {
                r.flag(rules::TABLE_GAP, gap.at, gap.len, 0, gap.len);
            }
        }
    }

    /// Goes to the entry that the cursor stands before; `false` if there is
    /// none.
    pub(super) fn enter(
        &self,
        r: &mut Reader<'_, '_>,
        c: &Cursor,
        table: Table,
        kind: Kind,
    ) -> bool {
        r.region(c.at.max(table.at), table.end, BYTES_CHANGED);
        // The tables lie next to each other and are read in order.
        r.read_ahead(self.data);
        r.about(kind, c.index);
        c.index < table.count
    }

    /// Reports that what follows does not fit into the table's section, unless
    /// that is because the file is cut off.
    #[cold]
    pub(super) fn overrun<O>(
        &self,
        r: &mut Reader<'_, '_>,
        table: Table,
        rule: Rule,
        span: Span,
        [expected, found]: [u64; 2],
    ) -> Result<O, Halt> {
        if !is_cut(r, table) {
            r.flag(rule, span.at, span.len, expected, found);
        }
        Err(Halt::refused(rule))
    }

    /// The section has `len` bytes left.
    pub(super) fn require(
        &self,
        r: &mut Reader<'_, '_>,
        table: Table,
        len: u64,
    ) -> Result<(), Halt> {
        let left = r.left();
        if len > left {
            let span = Span::new(r.at(), left);
            return self.overrun(r, table, rules::TABLE_OVERRUN, span, [len, left]);
        }
        Ok(())
    }

    /// A string and its padding.
    pub(super) fn string<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        table: Table,
    ) -> Result<Text<'a>, Halt> {
        self.require(r, table, 8)?;
        let len_at = Span::new(r.at(), 4);
        let len = u64::from(r.u32()?);
        let padded = padded(len.saturating_add(4)).saturating_sub(4);
        let left = r.left();
        if padded > left {
            return self.overrun(r, table, rules::STR_LEN, len_at, [left, len]);
        }
        let at = NameAt::plain(r.at(), len);
        let bytes = r.take(len)?;
        let padding = r.take(padded.wrapping_sub(len))?;
        Ok(Text { at, bytes, padding })
    }

    /// What lies between the entry that was just taken and the next section.
    pub(super) fn slack<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &Cursor,
        table: Table,
    ) -> Result<Slack<'a>, Halt> {
        if c.index.saturating_add(1) < table.count || is_cut(r, table) {
            return Ok(Slack::None);
        }
        let at = r.at();
        let left = r.left();
        if left >= field::ALIGN {
            return Ok(Slack::Gap(Span::new(at, left)));
        }
        Ok(Slack::Padding(at, r.take(left)?))
    }
}

impl Slack<'_> {
    pub(super) fn judge(&self, r: &mut Reader<'_, '_>) {
        r.about(Kind::File, 0);
        match *self {
            Slack::None => {}
            Slack::Gap(gap) => r.flag(rules::TABLE_GAP, gap.at, gap.len, 0, gap.len),
            Slack::Padding(at, bytes) => judge_padding(r, rules::TABLE_SLACK, at, bytes),
        }
    }
}

/// Whether the file ends before the table's section does, which was reported
/// with the header.
fn is_cut(r: &Reader<'_, '_>, table: Table) -> bool {
    table.end > r.source().len()
}

/// `len` rounded up to a multiple of 8; all callers add to 32-bit lengths.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(field::ALIGN).unwrap_or(u64::MAX)
}

/// Rules of every string (guide, Strings).
pub(super) fn judge_text(r: &mut Reader<'_, '_>, text: &Text<'_>) {
    let NameAt { at, len, .. } = text.at;
    if len == 0 {
        r.flag(rules::STR_EMPTY, at.wrapping_sub(4), 4, 1, 0);
    }
    if let Some((i, byte)) = text.bytes.iter().enumerate().find(|(_, byte)| !is_name_byte(**byte)) {
        r.flag(rules::STR_CHARSET, at.wrapping_add(widen(i)), 1, 0, u64::from(*byte));
    }
    judge_padding(r, rules::STR_PAD, at.wrapping_add(u64::from(len)), text.padding);
}

/// Reports `rule` from the first byte on that is not zero.
pub(super) fn judge_padding(r: &mut Reader<'_, '_>, rule: Rule, at: u64, bytes: &[u8]) {
    if let Some((i, byte)) = bytes.iter().enumerate().find(|(_, byte)| **byte != 0) {
        let len = widen(bytes.len().wrapping_sub(i));
        r.flag(rule, at.wrapping_add(widen(i)), len, 0, u64::from(*byte));
    }
}

/// The alphabet of names and string values.
pub(super) fn is_name_byte(byte: u8) -> bool {
    // A bit for each: names are most of what is read of an index.
    let word = NAME_BYTES.get(usize::from(byte >> 5)).copied().unwrap_or(0);
    (word >> (byte & 31)) & 1 == 1
}

/// Bytes 0 to 31, `-`, `.` and digits, `_` and capitals, small letters.
const NAME_BYTES: [u32; 4] = [0, 0x03FF_6000, 0x87FF_FFFE, 0x07FF_FFFE];

/// The offset and size of a payload as an entry records them, and the rules
/// that stand for what can be wrong with them.
pub(super) struct Place {
    pub(super) stored: Span,
    /// Where the entry records the offset.
    pub(super) offset_at: u64,
    pub(super) align: Rule,
    pub(super) before: Rule,
    pub(super) bounds: Rule,
    pub(super) overflow: Rule,
}

impl Place {
    /// Whether the payload lies in the data section and in the file.
    ///
    /// `sized` tells whether the size is known to be right; the end is not
    /// judged otherwise.
    pub(super) fn judge(&self, r: &mut Reader<'_, '_>, header: &Header, sized: bool) -> bool {
        let Span { at, len } = self.stored;
        let offset_at = Span::new(self.offset_at, 8);
        let mut sound = sized;
        r.check(is_aligned(at), self.align, offset_at, field::ALIGN, at);
        if at < header.data {
            r.check(false, self.before, offset_at, header.data, at);
            sound = false;
        } else if sized {
            match self.stored.end() {
                None => {
                    r.check(false, self.overflow, offset_at, u64::MAX.saturating_sub(at), len);
                    sound = false;
                }
                Some(end) if end > header.bound => {
                    r.check(false, self.bounds, offset_at, header.bound, end);
                    sound = false;
                }
                Some(_) => {}
            }
        }
        // Bytes that a truncated file lacks were reported with the header.
        sound && self.stored.end().is_some_and(|end| end <= r.source().len())
    }
}

#[cfg(test)]
mod tests {
    use super::is_name_byte;

    #[test]
    fn the_alphabet_of_names() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            assert_eq!(is_name_byte(byte), expected, "{byte:#x}");
        }
    }
}
