//! What opening reads: the magic number at the start and the length of the index
//! at the end (Container).

use super::{field, rules};
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::Span;

/// Phase of opening: the magic number was read.
pub(super) const MAGIC_SEEN: u8 = 1;
/// So was the length of the index.
pub(super) const LENGTH_SEEN: u8 = 2;
/// The file is of a later generation.
pub(super) const GENERATION_1: u8 = 3;

/// Reads the magic number; the phase that follows.
pub(super) fn magic(r: &mut Reader<'_, '_>, len: u64) -> Result<u8, Halt> {
    let found = Span::new(0, len.min(field::MAGIC_LEN));
    let magic = r.get(found)?;
    if magic == field::MAGIC {
        return Ok(MAGIC_SEEN);
    }
    if magic == field::MAGIC_1 {
        return Ok(GENERATION_1);
    }
    let known = magic == field::MAGIC_2;
    Err(refuse(r, if known { rules::GENERATION_2 } else { rules::FILE_MAGIC }, found, 0, 0))
}

/// Generations 1.0 and 1.1 share their magic; the latter ends with it as well.
pub(super) fn generation_1(r: &mut Reader<'_, '_>, len: u64) -> Halt {
    let at = len.saturating_sub(field::MAGIC_LEN);
    let again = match r.get(Span::new(at, field::MAGIC_LEN)) {
        Ok(tail) => at > 0 && tail == field::MAGIC_1,
        Err(halt) => return halt,
    };
    let rule = if again { rules::GENERATION_1_1 } else { rules::GENERATION_1_0 };
    refuse(r, rule, Span::new(0, field::MAGIC_LEN), 0, 0)
}

/// Reads the length of the index; where the index begins.
pub(super) fn length(r: &mut Reader<'_, '_>, len: u64) -> Result<u64, Halt> {
    if len < field::SMALLEST {
        return Err(refuse(r, rules::FILE_SIZE, Span::new(0, len), field::SMALLEST, len));
    }
    let index_end = len.saturating_sub(field::LENGTH_LEN);
    let tail = Span::new(index_end, field::LENGTH_LEN);
    r.region(index_end, len, rules::FILE_SIZE);
    let size = r.u64()?;
    let room = index_end.saturating_sub(field::MAGIC_LEN);
    match size {
        0 => Err(refuse(r, rules::INDEX_EMPTY, tail, 1, 0)),
        _ if size > room => Err(refuse(r, rules::INDEX_BOUNDS, tail, room, size)),
        _ => Ok(index_end.saturating_sub(size)),
    }
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
