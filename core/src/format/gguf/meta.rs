//! Metadata entries and their values.

use super::head::{self, Entry};
use super::{Cursor, Header, field, rules};
use crate::base::{limits, wide, widen};
use crate::input::Span;
use crate::model::{DimsAt, Metadata, NameAt, Status, Value};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, general::BYTES_CHANGED};

impl Header {
    pub(super) fn next_meta(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        // Skip the list of the previous entry.
        r.about(EntryKind::Metadata, c.index.wrapping_sub(1));
        self.leap(c);
        match head::pass(r, c, self.big) {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(halt) => return Ok(end(r, c, halt)),
        }
        if c.index >= self.metas {
            c.finish();
            return Ok(None);
        }
        let at = c.at.max(field::HEADER);
        r.about(EntryKind::Metadata, c.index);
        let mut entry = Entry::default();
        let taken = c.step(|c| {
            c.at = at;
            head::entry(r, c, self.big, &mut entry)
        });
        match taken {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(halt) => return Ok(end(r, c, halt)),
        }
        let index = c.index;
        c.advance(c.at);
        let key_len = wide(entry.key_len);
        let named = key_len <= limits::GGUF_NAME;
        if named {
            validate_key(r, at.wrapping_add(8), entry.key);
        } else {
            r.flag(rules::KEY_LENGTH, at, 8, limits::GGUF_NAME, key_len);
        }
        let value_at = wide(entry.value_at);
        if entry.tag == field::ARRAY && entry.content.holds == field::ARRAY {
            r.flag(rules::ARRAY_NESTED, value_at, 4, 0, field::ARRAY.into());
        }
        if entry.key == field::ALIGNMENT_KEY {
            self.validate_alignment(r, at, index, &entry);
        }
        let end = if c.state.within == 0 { c.at } else { wide(self.tensors_at).max(c.at) };
        Ok(Some(Metadata {
            kind: EntryKind::Metadata,
            index,
            offset: at,
            key: if named { NameAt::plain(at.wrapping_add(8), key_len) } else { NameAt::default() },
            tag: entry.tag,
            status: if named { Status::Sound } else { Status::Broken },
            stored: Span::between(value_at, end),
        }))
    }

    fn validate_alignment(&self, r: &mut Reader<'_, '_>, at: u64, index: u32, entry: &Entry<'_>) {
        if index != self.align_entry {
            r.flag(rules::ALIGNMENT_TWICE, at, 8, 0, 0);
            return;
        }
        let (value_at, value) = (wide(entry.value_at), entry.number);
        if entry.tag != field::UINT32 {
            let type_at = value_at.wrapping_sub(4);
            r.flag(rules::ALIGNMENT_TYPE, type_at, 4, field::UINT32.into(), entry.tag.into());
        } else if !field::aligns(value) {
            r.flag(rules::ALIGNMENT_VALUE, value_at, 4, 0, value.into());
        } else if !value.is_power_of_two() {
            r.flag(rules::ALIGNMENT_POWER, value_at, 4, 0, value.into());
        } else if value < 8 {
            r.flag(rules::ALIGNMENT_MULTIPLE, value_at, 4, 8, value.into());
        } else if value > field::LARGEST_ALIGNMENT {
            let most = field::LARGEST_ALIGNMENT.into();
            r.flag(rules::ALIGNMENT_LIMIT, value_at, 4, most, value.into());
        }
    }

    /// The value of a metadata entry.
    pub(super) fn value_of(
        &self,
        r: &mut Reader<'_, '_>,
        meta: &Metadata,
    ) -> Result<Option<Value>, Halt> {
        let Span { offset: at, len } = meta.stored;
        Ok(Some(match meta.tag {
            field::STRING => {
                Value::Text(NameAt::plain(at.saturating_add(8), len.saturating_sub(8)))
            }
            field::ARRAY => {
                r.region(at, meta.stored.end().unwrap_or(0), BYTES_CHANGED);
                let items = head::u32(r, self.big);
                let count = head::u64(r, self.big);
                r.settle()?;
                let stored = Span::new(at.saturating_add(12), len.saturating_sub(12));
                match field::dtype(items) {
                    Some(dtype) => {
                        let dims = DimsAt { offset: at, lead: Some(count), ..DimsAt::default() };
                        Value::Array { dtype, dims, elements: count, stored }
                    }
                    None => Value::List { count, stored: meta.stored },
                }
            }
            tag => match field::dtype(tag) {
                Some(dtype) => Value::Scalar { dtype, stored: meta.stored },
                None => return Ok(None),
            },
        }))
    }
}

/// Ends the listing after a fault that stops reading.
fn end(r: &mut Reader<'_, '_>, c: &mut Cursor, halt: Halt) -> Option<Metadata> {
    r.refuse(halt);
    r.cut_short();
    c.finish();
    None
}

fn validate_key(r: &mut Reader<'_, '_>, at: u64, key: &[u8]) {
    if key.is_empty() {
        r.flag(rules::KEY_EMPTY, at.wrapping_sub(8), 8, 1, 0);
        return;
    }
    let mut before = b'.';
    let mut sound = true;
    for (i, byte) in (0_u64..).zip(key) {
        if !byte.is_ascii() {
            r.flag(rules::KEY_ASCII, at.wrapping_add(i), 1, 0, u64::from(*byte));
            return;
        }
        sound &= match byte {
            b'.' => before != b'.',
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => true,
            _ => false,
        };
        before = *byte;
    }
    if !sound || before == b'.' {
        r.flag(rules::KEY_FORM, at, widen(key.len()), 0, 0);
    }
}
