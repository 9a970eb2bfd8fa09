//! Opening: the magic number at the start and the index length at the end
//! (Container).

use super::{Cursor, Header, field, rules};
use crate::base::features::WINDOWS;
use crate::base::{Word, wide, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Phase of opening: the magic number was read.
const MAGIC_SEEN: u8 = 1;
/// The index length was read as well.
const LENGTH_SEEN: u8 = 2;
/// The file is of generation 1.x.
const GENERATION_1: u8 = 3;
/// The index has no count, so its elements are being counted.
const COUNTING: u8 = 4;

/// Index of the file's magic number in [`MAGICS`](field::MAGICS).
pub(super) fn generation(head: &[u8]) -> Option<usize> {
    let head = head.first_chunk()?;
    field::MAGICS.iter().position(|magic| magic == head)
}

/// The bytes of `span`, which lies inside the file, so none are missing if the whole file is
/// resident.
#[inline]
pub(super) fn look<'a>(r: &mut Reader<'_, 'a>, span: Span) -> Result<&'a [u8], Halt> {
    if WINDOWS { r.get(span) } else { Ok(r.source().run(span.offset)) }
}

/// Returns the start of the index.
///
/// The magic and the length lie apart, so they are requested separately: the cursor's phase
/// is the progress, and its position the start of the index.
#[inline]
pub(super) fn index(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Word, Halt> {
    let len = r.source().len();
    // If the whole file is resident, opening is never resumed.
    let resumed = WINDOWS;
    if !resumed || c.phase == 0 {
        let head = Span::new(0, len.min(field::MAGIC_LEN));
        let rule = match generation(look(r, head)?) {
            Some(0) => None,
            Some(1) if !resumed => Some(generation_1(r, len)?),
            Some(1) => {
                c.phase = GENERATION_1;
                None
            }
            Some(_) => Some(rules::GENERATION_2),
            None => Some(rules::FILE_MAGIC),
        };
        if let Some(rule) = rule {
            return Err(refuse(r, rule, head, 0, 0));
        }
        c.phase = c.phase.max(MAGIC_SEEN);
    }
    if resumed && c.phase == GENERATION_1 {
        let rule = generation_1(r, len)?;
        return Err(refuse(r, rule, Span::new(0, field::MAGIC_LEN), 0, 0));
    }
    if !resumed || c.phase == MAGIC_SEEN {
        c.at = length(r, len)?;
        c.phase = LENGTH_SEEN;
    }
    Ok(word(c.at))
}

/// Distinguishes generations 1.0 and 1.1, which share a magic; 1.1 ends with it as well.
#[inline]
fn generation_1(r: &mut Reader<'_, '_>, len: u64) -> Result<Rule, Halt> {
    let tail = Span::new(len.saturating_sub(field::MAGIC_LEN), field::MAGIC_LEN);
    let again = tail.offset > 0 && generation(look(r, tail)?) == Some(1);
    Ok(if again { rules::GENERATION_1_1 } else { rules::GENERATION_1_0 })
}

/// Reads the index length and returns the start of the index.
#[inline]
fn length(r: &mut Reader<'_, '_>, len: u64) -> Result<u64, Halt> {
    if len < field::SMALLEST {
        return Err(refuse(r, rules::FILE_SIZE, Span::new(0, len), field::SMALLEST, len));
    }
    let index_end = len.wrapping_sub(field::LENGTH_LEN);
    let room = index_end.wrapping_sub(field::MAGIC_LEN);
    let tail = Span::new(index_end, field::LENGTH_LEN);
    let size = look(r, tail)?.first_chunk().map_or(0, |size| u64::from_le_bytes(*size));
    match size {
        0 => Err(refuse(r, rules::INDEX_EMPTY, tail, 1, 0)),
        _ if size > room => Err(refuse(r, rules::INDEX_BOUNDS, tail, room, size)),
        _ => Ok(index_end.wrapping_sub(size)),
    }
}

/// Offset of the first element of an index whose elements are being counted.
pub(super) fn counting(c: &Cursor) -> Option<Word> {
    (WINDOWS && c.phase == COUNTING).then_some(c.state.first)
}

/// Starts counting elements; the first is at `first`.
pub(super) fn begin_counting(c: &mut Cursor, first: Word) {
    c.phase = COUNTING;
    (c.state.first, c.state.next, c.index) = (first, wide(first), 0);
}

/// Counts the elements of an index that a break ends. One that cannot be read is the last.
#[inline(never)]
pub(super) fn elements(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<u32, Halt> {
    let mut listed = Cursor { at: c.state.next, index: c.index, ..Cursor::START };
    // Faults in elements are reported when they are listed.
    let result = r.quietly(|r| {
        while !listed.done && listed.at < wide(header.index_end) {
            match header.next(r, &mut listed) {
                Ok(_) => {}
                Err(halt) if halt.is_absent() => return Err(halt),
                Err(_) => {
                    listed.index = listed.index.saturating_add(1);
                    break;
                }
            }
        }
        Ok(())
    });
    (c.state.next, c.index) = (listed.at, listed.index);
    result.map(|()| c.index)
}

/// Reports why the file cannot be read.
#[cold]
pub(super) fn refuse(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    at: Span,
    expected: u64,
    found: u64,
) -> Halt {
    r.flag(rule, at.offset, at.len, expected, found);
    Halt::refused(rule)
}
