//! Heads of values, and passing over lists.
//!
//! A list tells how many items it has and not where it ends, so that its items
//! are passed over one by one. That happens when the entry behind it is asked
//! for, and may stop for absent bytes anywhere: the cursor then keeps how far it
//! is, in `at`, `inner` (items left, level by level) and `within`.

use super::{field, rules};
use crate::cursor::Cursor;
use crate::division::div_rem;
use crate::limits;
use crate::read::{Halt, Reader};
use crate::source::Span;

/// The least that the host is told to read ahead: a key of any length, and more.
pub(super) const AHEAD: u64 = limits::READ_AHEAD << 1;

/// Set in [`Cursor::within`] while the innermost list has texts.
pub(super) const TEXTS: u8 = 0x80;

/// What the bytes behind a head are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Numbers, or nothing.
    Numbers,
    /// Text, which should be UTF-8.
    Text,
    /// Boolean bytes.
    Booleans,
}

/// A value behind its head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    pub(super) holds: Holds,
    /// Number of bytes; 0 for lists, whose items the cursor is then within.
    pub(super) len: u64,
    /// The type of the items, for arrays.
    pub(super) items: u32,
}

/// A number of 32 bits in the byte order of the file.
pub(super) fn u32(r: &mut Reader<'_, '_>, big: bool) -> Result<u32, Halt> {
    let number = r.u32()?;
    Ok(if big { number.swap_bytes() } else { number })
}

/// A number of 64 bits in the byte order of the file.
pub(super) fn u64(r: &mut Reader<'_, '_>, big: bool) -> Result<u64, Halt> {
    let number = r.u64()?;
    Ok(if big { number.swap_bytes() } else { number })
}

/// The length of a text, whose bytes the file has.
pub(super) fn length(r: &mut Reader<'_, '_>, big: bool) -> Result<u64, Halt> {
    let len = u64(r, big)?;
    if len > r.left() {
        let (at, left) = (r.at().wrapping_sub(8), r.left());
        r.flag(rules::STRING_BOUNDS, at, 8, len, left);
        return Err(Halt::refused(rules::STRING_BOUNDS));
    }
    Ok(len)
}

/// Goes to an entry or an item at `at`. The host may read ahead as much again as
/// comes before it, because where a list ends is not known.
pub(super) fn go(r: &mut Reader<'_, '_>, at: u64) {
    r.region(at, u64::MAX, rules::TABLE_TRUNCATED);
    r.read_ahead(at.saturating_add(at.max(AHEAD)));
}

/// Reads the head of a value of type `tag`; of a list, the cursor is put within.
pub(super) fn head(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    tag: u32,
    big: bool,
) -> Result<Content, Halt> {
    let plain = |holds, len| Ok(Content { holds, len, items: 0 });
    match tag {
        field::STRING => plain(Holds::Text, length(r, big)?),
        field::ARRAY => array(r, c, big),
        _ => match field::width(tag) {
            Some(width) => {
                let holds = if tag == field::BOOL { Holds::Booleans } else { Holds::Numbers };
                plain(holds, width)
            }
            None => Err(refuse(r, rules::VALUE_TYPE, 4, 0, tag.into())),
        },
    }
}

fn array(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) -> Result<Content, Halt> {
    let items = u32(r, big)?;
    let least = match items {
        field::STRING => 8,
        field::ARRAY => 12,
        _ => match field::width(items) {
            Some(width) => width,
            None => return Err(refuse(r, rules::ARRAY_TYPE, 4, 0, items.into())),
        },
    };
    let count = u64(r, big)?;
    let most = r.left();
    let Some(len) = count.checked_mul(least).filter(|len| *len <= most) else {
        return Err(refuse(r, rules::ARRAY_BOUNDS, 8, room(most, least), count));
    };
    let mut content = Content { holds: Holds::Numbers, len: 0, items };
    if matches!(items, field::STRING | field::ARRAY) {
        let depth = c.within & !TEXTS;
        if depth >= limits::GGUF_DEPTH {
            return Err(refuse(r, rules::ARRAY_DEPTH, 12, limits::GGUF_DEPTH.into(), 0));
        }
        c.within = depth.wrapping_add(1);
        *left(c) = count;
        if items == field::STRING {
            c.within |= TEXTS;
        }
    } else {
        content.len = len;
        if items == field::BOOL {
            content.holds = Holds::Booleans;
        }
    }
    Ok(content)
}

/// How many entries of `least` bytes there is room for, as findings tell it.
pub(super) fn room(left: u64, least: u64) -> u64 {
    if cfg!(feature = "details") { div_rem(left, least).map_or(0, |(room, _)| room) } else { 0 }
}

/// Reports the `len` bytes that were read last.
#[cold]
fn refuse(
    r: &mut Reader<'_, '_>,
    rule: crate::rule::Rule,
    len: u64,
    expected: u64,
    found: u64,
) -> Halt {
    let at = r.at().wrapping_sub(len);
    r.flag(rule, at, len, expected, found);
    Halt::refused(rule)
}

/// How many items of the innermost list are left.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn left(c: &mut Cursor) -> &mut u64 {
    let [first, second, third, _] = &mut c.inner;
    match c.within & !TEXTS {
        1 => first,
        2 => second,
        _ => third,
    }
}

/// The next item of the lists that the cursor is within, its head read and the
/// cursor put behind that; `None` once they are over.
pub(super) fn item(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    big: bool,
) -> Result<Option<Content>, Halt> {
    while c.within != 0 {
        let texts = c.within & TEXTS != 0;
        let Some(after) = left(c).checked_sub(1) else {
            c.within = (c.within & !TEXTS).wrapping_sub(1);
            continue;
        };
        go(r, c.at);
        return c.step(|c| {
            *left(c) = after;
            let content = if texts {
                Content { holds: Holds::Text, len: length(r, big)?, items: 0 }
            } else {
                array(r, c, big)?
            };
            c.at = r.at();
            Ok(Some(content))
        });
    }
    Ok(None)
}

/// Passes over the rest of the lists that the cursor is within.
pub(super) fn pass(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) -> Result<(), Halt> {
    loop {
        if c.within & TEXTS != 0 {
            texts(r, c, big);
        }
        match item(r, c, big)? {
            Some(content) => c.at = c.at.wrapping_add(content.len),
            None => return Ok(()),
        }
    }
}

/// Passes over texts that are resident as a whole.
pub(super) fn texts(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) {
    go(r, c.at);
    let mut rest = r.resident();
    let mut count = *left(c);
    while count > 0
        && let Some((len, after)) = rest.split_first_chunk()
    {
        let len = if big { u64::from_be_bytes(*len) } else { u64::from_le_bytes(*len) };
        let Some(behind) = usize::try_from(len).ok().and_then(|len| after.get(len..)) else {
            break;
        };
        rest = behind;
        count = count.wrapping_sub(1);
    }
    r.pass(rest);
    c.at = r.at();
    *left(c) = count;
}

/// A metadata entry, as far as its head goes.
pub(super) struct Entry {
    /// Its key; no bytes if it is longer than any key may be.
    pub(super) key: Span,
    pub(super) key_len: u64,
    pub(super) tag: u32,
    /// Where the value begins, a head included.
    pub(super) value_at: u64,
    /// Where it goes on behind the head.
    pub(super) content_at: u64,
    pub(super) content: Content,
    /// A value of 32 bits, else 0.
    pub(super) number: u32,
}

/// Reads the entry at `c.at`, and goes behind it, or into its list. A text or an
/// array of numbers need not be resident.
pub(super) fn entry(r: &mut Reader<'_, '_>, c: &mut Cursor, big: bool) -> Result<Entry, Halt> {
    go(r, c.at);
    let key_len = length(r, big)?;
    let mut key = Span::new(r.at(), key_len);
    if key_len > limits::GGUF_NAME {
        key = Span::default();
        r.skip(key_len)?;
    } else {
        r.take(key_len)?;
    }
    let tag = u32(r, big)?;
    let value_at = r.at();
    c.step(|c| {
        let content = head(r, c, tag, big)?;
        let content_at = r.at();
        let number = if field::width(tag) == Some(4) { u32(r, big)? } else { 0 };
        c.at = content_at.wrapping_add(content.len);
        if field::width(tag).is_some() {
            // A number is taken with its entry.
            r.take(c.at.wrapping_sub(r.at()))?;
        }
        Ok(Entry { key, key_len, tag, value_at, content_at, content, number })
    })
}
