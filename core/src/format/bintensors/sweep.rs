//! Passing over the valid part of the list.
//!
//! Nearly all lists are valid from the first entry to the last. This passes over entries
//! for which [`Header::tensor`] would report nothing; at anything else, such as an integer
//! that is not in its shortest form, the sweep ends and the entry is checked in full. That
//! takes a fifth of the time.

use super::{Cursor, Header, field, is_utf8, rules};
use crate::base::widen;
use crate::format::Glance;
use crate::model::{Name, NameAt, NameEncoding, dims::product};
use crate::parse::Reader;

/// State of a sweep.
pub(super) struct Brief<'a> {
    pub(super) name: &'a [u8],
    pub(super) dtype: u64,
    size: u64,
    start: u64,
    end: u64,
    /// Bytes left after the name.
    left: usize,
}

impl Header {
    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_while(r, c, |index, at, name_at, brief| {
            let name = Name::new(brief.name, NameEncoding::Plain);
            let name_at = NameAt::plain(name_at, widen(brief.name.len()));
            is_utf8(brief.name) && goes_on(&Glance { index, at, name_at, name })
        });
    }

    /// Passes over entries whose data lies where it should and for which
    /// `goes_on` holds, but never over the
    /// last one of the list: its end is compared with that of the file.
    /// It gets the position, the offsets of the entry and of its name, and what
    /// else is known of it.
    #[inline]
    pub(super) fn sweep_while<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        mut goes_on: impl FnMut(u32, u64, u64, &Brief<'a>) -> bool,
    ) {
        r.region(c.at.max(self.list_at.into()), self.data_at(), rules::F4);
        let (at, run) = (r.at(), r.resident());
        let data_len = self.data_len(r);
        let offset = |left: usize| at.saturating_add(widen(run.len().saturating_sub(left)));
        let mut rest = run;
        let mut swept = *c;
        for index in c.index..self.count.saturating_sub(1) {
            let Some((brief, after)) = brief(rest) else {
                break;
            };
            let sound = brief.start == swept.state.stated
                && brief.end.checked_sub(brief.start) == Some(brief.size)
                && brief.end <= data_len;
            let name_at = offset(brief.left).saturating_sub(widen(brief.name.len()));
            if !sound || !goes_on(index, offset(rest.len()), name_at, &brief) {
                break;
            }
            rest = after;
            swept.state.stated = brief.end;
            swept.index = index.saturating_add(1);
        }
        if swept.index > c.index {
            r.pass(rest);
            swept.state.shaped = swept.state.stated;
            *c = Cursor { at: r.at(), ..swept };
        }
    }
}

/// The entry at the start of `input`, and the rest; `None` if it needs the full check.
#[inline(always)]
fn brief(input: &[u8]) -> Option<(Brief<'_>, &[u8])> {
    let (len, rest) = int(input)?;
    let (name, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    let left = rest.len();
    let (dtype, rest) = int(rest)?;
    let (rank, mut rest) = int(rest)?;
    let mut elements = 1_u64;
    // Ends at the latest when the bytes do.
    for _ in 0..rank {
        let (extent, after) = int(rest)?;
        elements = product(elements, extent)?;
        rest = after;
    }
    let (start, rest) = int(rest)?;
    let (end, rest) = int(rest)?;
    let width = field::DTYPES.get(usize::try_from(dtype).ok()?)?.bits() >> 3;
    let size = product(elements, u64::from(width))?;
    Some((Brief { name, dtype, size, start, end, left }, rest))
}

/// The integer at the start of `input`, if it has its shortest form.
#[inline(always)]
fn int(input: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = input.split_first()?;
    if *first < field::TWO_BYTES {
        return Some((u64::from(*first), rest));
    }
    let (value, len) = wide(input);
    if len == 0 || len & OVERLONG != 0 {
        return None;
    }
    Some((value, input.get(usize::from(len)..)?))
}

/// Marks the length of an integer that fits a shorter form.
const OVERLONG: u8 = 0x80;

/// Reads an integer after a width tag: its value and its length, which is 0 if it cannot be
/// read. Not inlined, because it would be copied for each field; a pair of numbers fits in
/// registers.
#[inline(never)]
fn wide(input: &[u8]) -> (u64, u8) {
    let Some((tag, rest)) = input.split_first() else {
        return (0, 0);
    };
    let (value, least, len) = match (*tag, rest) {
        (field::TWO_BYTES, [a, b, ..]) => (u64::from(u16::from_le_bytes([*a, *b])), 251, 3),
        (field::FOUR_BYTES, [a, b, c, d, ..]) => {
            (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), 1 << 16, 5)
        }
        (field::EIGHT_BYTES, rest) => match rest.first_chunk() {
            Some(bytes) => (u64::from_le_bytes(*bytes), 1 << 32, 9),
            None => return (0, 0),
        },
        _ => return (0, 0),
    };
    (value, if value < least { len | OVERLONG } else { len })
}
