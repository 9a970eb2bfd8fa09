//! What opening reads: the magic number at the start and the length of the index
//! at the end (Container).

use super::{field, rules};
use crate::cursor::Cursor;
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::slot::{Word, word};
use crate::source::Span;

/// Phase of opening: the magic number was read.
const MAGIC_SEEN: u8 = 1;
/// So was the length of the index.
const LENGTH_SEEN: u8 = 2;
/// The file is of a later generation.
const GENERATION_1: u8 = 3;

/// The position of the magic number that a file begins with in
/// [`MAGICS`](field::MAGICS).
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn generation(head: &[u8]) -> Option<usize> {
    field::MAGICS.iter().position(|magic| head.starts_with(magic))
}

/// Where the index begins.
///
/// The magic and the length lie apart, so each is passed before the next is
/// asked for: the cursor's phase tells how far this came, and its position where
/// the index begins.
#[inline]
pub(super) fn index(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Word, Halt> {
    let len = r.source().len();
    // Where all bytes are resident, nothing is taken up again.
    if cfg!(not(feature = "windows")) || c.phase == 0 {
        c.phase = magic(r, len)?;
    }
    if c.phase == GENERATION_1 {
        return Err(generation_1(r, len));
    }
    if cfg!(not(feature = "windows")) || c.phase == MAGIC_SEEN {
        c.at = length(r, len)?;
        c.phase = LENGTH_SEEN;
    }
    Ok(word(c.at))
}

/// Reads the magic number; the phase that follows.
#[inline]
fn magic(r: &mut Reader<'_, '_>, len: u64) -> Result<u8, Halt> {
    let found = Span::new(0, len.min(field::MAGIC_LEN));
    let rule = match generation(r.get(found)?) {
        Some(0) => return Ok(MAGIC_SEEN),
        Some(1) => return Ok(GENERATION_1),
        Some(_) => rules::GENERATION_2,
        None => rules::FILE_MAGIC,
    };
    Err(refuse(r, rule, found, 0, 0))
}

/// Generations 1.0 and 1.1 share their magic; the latter ends with it as well.
#[inline]
fn generation_1(r: &mut Reader<'_, '_>, len: u64) -> Halt {
    let at = len.saturating_sub(field::MAGIC_LEN);
    let again = match r.get(Span::new(at, field::MAGIC_LEN)) {
        Ok(tail) => at > 0 && generation(tail) == Some(1),
        Err(halt) => return halt,
    };
    let rule = if again { rules::GENERATION_1_1 } else { rules::GENERATION_1_0 };
    refuse(r, rule, Span::new(0, field::MAGIC_LEN), 0, 0)
}

/// Reads the length of the index; where the index begins.
#[inline]
fn length(r: &mut Reader<'_, '_>, len: u64) -> Result<u64, Halt> {
    if len < field::SMALLEST {
        return Err(refuse(r, rules::FILE_SIZE, Span::new(0, len), field::SMALLEST, len));
    }
    let index_end = len.saturating_sub(field::LENGTH_LEN);
    let tail = Span::new(index_end, field::LENGTH_LEN);
    r.region(index_end, len, rules::FILE_SIZE);
    let size = r.u64()?;
    let room = index_end.saturating_sub(field::MAGIC_LEN);
    if size == 0 {
        return Err(refuse(r, rules::INDEX_EMPTY, tail, 1, 0));
    }
    if size > room {
        return Err(refuse(r, rules::INDEX_BOUNDS, tail, room, size));
    }
    Ok(index_end.saturating_sub(size))
}

/// Reports what makes the file unreadable.
#[cold]
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn refuse(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    at: Span,
    expected: u64,
    found: u64,
) -> Halt {
    r.flag(rule, at.at, at.len, expected, found);
    Halt::refused(rule)
}
