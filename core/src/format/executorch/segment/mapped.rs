//! Segments of a program that is wholly in memory. It is not opened if the place of one is wrong, so
//! that all of them are inside, and a segment is found by addition.

use super::{Found, Segments};
use crate::base::{Word, place, wide, word};
use crate::format::executorch::head::{Head, refuse};
use crate::format::executorch::{Header, rules};
use crate::format::flatbuffer::reads::{Memo, Reads};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// What is known of the segments checked so far: nothing, since they are checked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::executorch) struct Checked;

impl Checked {
    pub(in crate::format::executorch) const START: Checked = Checked;
}

impl Segments {
    /// The segment of this number.
    #[inline(always)]
    pub(in crate::format::executorch) fn find(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        index: u32,
    ) -> Result<Found, Halt> {
        if index >= header.segments.list.count {
            return Ok(Found::None);
        }
        let (at, len) = bytes_of(header, reads, index)?;
        Ok(Found::At(Span::new(wide(at), wide(len))))
    }
}

/// Offset and length of a segment.
#[inline(never)]
fn bytes_of(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: u32,
) -> Result<(Word, Word), Halt> {
    let table = reads.item(header.segments.list, index)?;
    let offset = reads.long(&table, 0)?;
    Ok((word(header.base).wrapping_add(offset), reads.long(&table, 1)?))
}

/// Checks nothing: [`check_all`] does.
pub(in crate::format::executorch) fn check_base(_: &mut Reader<'_, '_>, _: &Header) {}

/// Checks where the header lets segments begin and end, and the place of each.
pub(in crate::format::executorch) fn check_all(
    r: &mut Reader<'_, '_>,
    memo: &mut Memo,
    _: &mut Checked,
    header: &mut Header,
) -> Result<(), Halt> {
    let Head { end, base, size, .. } = header.head();
    let (base, mut limit) = (place(base), place(size));
    let left = place(r.source().len()).checked_sub(base).filter(|left| limit <= *left);
    let at = header.head().base_at();
    let fault = if base == 0 {
        limit = 0;
        None
    } else if base < word(end.into()) {
        Some(rules::H_INSIDE)
    } else if let Some(left) = left {
        // A size of 0 is not told.
        limit = if limit == 0 { left } else { limit };
        None
    } else {
        Some(rules::H_DATA)
    };
    if let Some(rule) = fault {
        return refuse(r, rule, Span::new(at, 8), 0, 0);
    }
    let mut reached: Word = 0;
    let list = header.segments.list;
    for index in 0..list.count {
        let mut reads = Reads::new(r, memo);
        let table = reads.item(list, index)?;
        let offset = reads.long(&table, 0)?;
        let size = reads.long(&table, 1)?;
        let end = offset.checked_add(size).filter(|end| *end <= limit);
        let Some(end) = end else {
            let rule = if base == 0 && size != 0 { rules::H_BASE } else { rules::S_RANGE };
            return refuse(r, rule, table.span(), 0, 0);
        };
        if size != 0 {
            r.check(offset >= reached, rules::S_ORDER, table.span(), 0, 0);
            reached = reached.max(end);
        }
    }
    Ok(())
}
