//! Reading the heads of values, and skipping lists.
//!
//! A list records its item count but not its end, so its items are skipped one by one. That
//! happens when the next entry is requested, and may stop anywhere for absent bytes: the
//! cursor keeps its progress in `at`, `left` (items per level) and `within`.
//!
//! Numbers are read without individual checks. A missing number reads as 0, which has no
//! effect here; `settle` reports it at the end of the entry.

use super::{Cursor, field, rules};
use crate::base::features::{DETAILS, WINDOWS};
use crate::base::{Word, division::div_rem, limits, wide, word};
use crate::model::dims::times;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Minimum number of bytes that the host is asked to read ahead: longer than any key.
pub(super) const AHEAD: u64 = limits::READ_AHEAD << 1;

/// Set in `within` while the innermost list holds strings.
pub(super) const TEXTS: u8 = 0x80;

/// A value after its head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Content {
    /// The content of its bytes: [`field::STRING`] for a string, which should be UTF-8,
    /// [`field::BOOL`] for Boolean bytes, [`field::ARRAY`] for a list of lists,
    /// [`Content::OVER`] at the end, and any other value for numbers or no bytes.
    pub(super) holds: u32,
    /// Number of bytes; 0 for lists, which the cursor has then entered.
    pub(super) len: Word,
}

impl Content {
    /// The end of the items.
    pub(super) const OVER: u32 = u32::MAX;
}

/// Reads a 32-bit number in the file's byte order.
pub(super) fn u32(r: &mut Reader<'_, '_>, big: bool) -> u32 {
    let number = r.bytes(4).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    if big { number.swap_bytes() } else { number }
}

/// Reads a 64-bit number in the file's byte order.
pub(super) fn u64(r: &mut Reader<'_, '_>, big: bool) -> u64 {
    let number = r.bytes(8).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if big { number.swap_bytes() } else { number }
}

/// Reads the length of a string, which must fit in the file.
pub(super) fn length(r: &mut Reader<'_, '_>, big: bool) -> Word {
    let (len, left) = (u64(r, big), r.left());
    if len > left {
        refuse(r, rules::STRING_BOUNDS, 8, len, left);
        return 0;
    }
    word(len)
}

/// Reads a string and its length; the string is empty if the length is above `most`.
pub(super) fn text<'a>(r: &mut Reader<'_, 'a>, most: u64, big: bool) -> (&'a [u8], Word) {
    let len = length(r, big);
    if wide(len) > most {
        if let Err(halt) = r.skip(wide(len)) {
            r.halt(halt);
        }
        return (&[], len);
    }
    (r.bytes(len), len)
}

/// Moves to an entry or item at `at`. The host may read ahead by as many bytes as precede
/// it, because the end of a list is unknown.
pub(super) fn go(r: &mut Reader<'_, '_>, at: u64) {
    r.region(at, u64::MAX, rules::TABLE_TRUNCATED);
    r.read_ahead(at.saturating_add(at.max(AHEAD)));
}

/// Reads the head of a value of type `tag`; if it is a list, the cursor enters it.
fn head(r: &mut Reader<'_, '_>, c: &mut Cursor, tag: u32, big: bool) -> Content {
    let len = match tag {
        field::STRING => length(r, big),
        field::ARRAY => return array(r, c, big),
        _ => word(field::width(tag)),
    };
    if len == 0 && tag != field::STRING {
        refuse(r, rules::VALUE_TYPE, 4, 0, tag.into());
    }
    Content { holds: tag, len }
}

fn array(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) -> Content {
    let items = u32(r, big);
    let least = match items {
        field::STRING => 8,
        field::ARRAY => 12,
        _ => field::width(items),
    };
    if least == 0 {
        refuse(r, rules::ARRAY_TYPE, 4, 0, items.into());
        return Content::default();
    }
    let (count, most) = (u64(r, big), r.left());
    let len = times(count, least);
    if len > most {
        refuse(r, rules::ARRAY_BOUNDS, 8, room(most, least), count);
        return Content::default();
    }
    let depth = c.state.within & !TEXTS;
    if depth >= limits::GGUF_DEPTH {
        refuse(r, rules::ARRAY_DEPTH, 12, limits::GGUF_DEPTH.into(), 0);
        return Content::default();
    }
    if !matches!(items, field::STRING | field::ARRAY) {
        return Content { holds: items, len: word(len) };
    }
    c.state.within = depth.wrapping_add(1);
    *left(c) = count;
    if items == field::STRING {
        c.state.within |= TEXTS;
        return Content::default();
    }
    Content { holds: field::ARRAY, len: 0 }
}

/// Number of entries of `least` bytes that fit in `left`, for use in findings.
pub(super) fn room(left: u64, least: u64) -> u64 {
    if DETAILS { div_rem(left, least).map_or(0, |(room, _)| room) } else { 0 }
}

/// Reports the last `len` bytes, and stops reading the entry.
#[cold]
#[inline(never)]
pub(super) fn refuse(r: &mut Reader<'_, '_>, rule: Rule, len: u64, expected: u64, found: u64) {
    // Bytes that are not resident are not a fault.
    if !r.is_halted() {
        let at = r.at().wrapping_sub(len);
        r.flag(rule, at, len, expected, found);
        r.halt(Halt::refused(rule));
    }
}

/// Number of items left in the innermost list.
pub(super) fn left(c: &mut Cursor) -> &mut u64 {
    let [first, second, third] = &mut c.state.left;
    match c.state.within & !TEXTS {
        1 => first,
        2 => second,
        _ => third,
    }
}

/// Reads the head of the next item of the current lists, and moves the cursor after it.
pub(super) fn item(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    big: bool,
    content: &mut Content,
) -> Result<(), Halt> {
    while c.state.within != 0 {
        let texts = c.state.within & TEXTS != 0;
        let Some(after) = left(c).checked_sub(1) else {
            c.state.within = (c.state.within & !TEXTS).wrapping_sub(1);
            continue;
        };
        go(r, c.at);
        return c.step(|c| {
            *left(c) = after;
            let tag = if texts { field::STRING } else { field::ARRAY };
            *content = head(r, c, tag, big);
            c.at = r.at();
            r.settle()
        });
    }
    content.holds = Content::OVER;
    Ok(())
}

/// Skips the rest of the current lists.
pub(super) fn pass(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) -> Result<(), Halt> {
    let mut content = Content::default();
    while content.holds != Content::OVER {
        if WINDOWS && c.state.within & TEXTS != 0 {
            texts(r, c, big);
        }
        content.len = 0;
        item(r, c, big, &mut content)?;
        c.at = c.at.wrapping_add(wide(content.len));
    }
    Ok(())
}

/// Skips strings that are completely resident. A reader of mapped flash skips them one by
/// one instead.
pub(super) fn texts(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) {
    go(r, c.at);
    let mut rest = r.resident();
    let mut count = *left(c);
    while count > 0
        && let Some((len, after)) = rest.split_first_chunk()
    {
        let len = if big { u64::from_be_bytes(*len) } else { u64::from_le_bytes(*len) };
        let Some(following) = usize::try_from(len).ok().and_then(|len| after.get(len..)) else {
            break;
        };
        rest = following;
        count = count.wrapping_sub(1);
    }
    r.pass(rest);
    c.at = r.at();
    *left(c) = count;
}

/// A metadata entry up to the head of its value.
#[derive(Default)]
pub(super) struct Entry<'a> {
    /// Its key; empty if it is longer than any valid key.
    pub(super) key: &'a [u8],
    pub(super) key_len: Word,
    pub(super) tag: u32,
    /// Offset of the value, including its head.
    pub(super) value_at: Word,
    /// The value after its head; its bytes end at the cursor.
    pub(super) content: Content,
    /// The value if it is a 32-bit number, otherwise 0.
    pub(super) number: u32,
}

/// Reads the entry at `c.at`, and moves past it or into its list. A string or an array of
/// numbers need not be resident.
pub(super) fn entry<'a>(
    r: &mut Reader<'_, 'a>,
    c: &mut Cursor,
    big: bool,
    entry: &mut Entry<'a>,
) -> Result<(), Halt> {
    go(r, c.at);
    (entry.key, entry.key_len) = text(r, limits::GGUF_NAME, big);
    entry.tag = u32(r, big);
    entry.value_at = r.here();
    r.settle()?;
    c.step(|c| {
        entry.content = head(r, c, entry.tag, big);
        c.at = r.at().wrapping_add(wide(entry.content.len));
        if field::width(entry.tag) != 0 {
            // A number is read together with its entry.
            entry.number = match entry.content.len {
                4 => u32(r, big),
                len => {
                    r.bytes(len);
                    0
                }
            };
        }
        r.settle()
    })
}
