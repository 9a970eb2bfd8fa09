//! Skips valid entries of the tensor table.
//!
//! Nearly every table is valid from the first entry to the last. The fast path accepts entries
//! for which [`Header::tensor`](super::Header) would report nothing and that have no quantisation.
//! Any other entry is read and checked in full, and so is the last one, because it ends where the
//! section does.

use super::tensor::count;
use super::text::is_no_name;
use super::{Cursor, Header, element_type, field, size_of};
use crate::base::{wide, widen};
use crate::format::{Glance, container::data_of};
use crate::input::Span;
use crate::model::{Name, NameAt, NameEncoding, Region};
use crate::parse::Reader;
use crate::rule::general::BYTES_CHANGED;

/// A valid entry without quantisation.
struct Brief<'a> {
    name: &'a [u8],
    /// Byte range of the data; empty if the tensor has none.
    data: Span,
    has_data: bool,
}

impl Header {
    /// Skips valid tensors while `goes_on` returns true.
    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        let (at, run) = self.rest_of_table(r, c);
        let end = self.end_of_data(r);
        let offset = |rest: &[u8]| at.saturating_add(widen(run.len().saturating_sub(rest.len())));
        let (mut rest, mut index) = (run, c.index);
        while index < self.last() {
            let Some((brief, after)) = self.brief(rest, end) else { break };
            let glance = Glance {
                index,
                at: offset(rest),
                name_at: NameAt::plain(offset(rest).saturating_add(4), widen(brief.name.len())),
                name: Name::new(brief.name, NameEncoding::Plain),
            };
            if !goes_on(&glance) {
                break;
            }
            rest = after;
            index = index.saturating_add(1);
        }
        pass(r, c, rest, index);
    }

    /// The data of the next tensor, if that is valid and has data.
    pub(super) fn next_data(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Option<Region> {
        let (_, run) = self.rest_of_table(r, c);
        let (index, last) = (c.index, self.last());
        let (brief, rest) = self.brief(run, self.end_of_data(r)).filter(|_| index < last)?;
        if !brief.has_data {
            return None;
        }
        pass(r, c, rest, index.saturating_add(1));
        Some(data_of(index, brief.data))
    }

    /// Number of tensors before the last one.
    fn last(&self) -> u32 {
        let [_, _, tensors, _] = self.sections;
        tensors.count.saturating_sub(1)
    }

    /// Where the next entry lies, and the resident bytes from there to the end of the table.
    #[inline]
    fn rest_of_table<'a>(&self, r: &mut Reader<'_, 'a>, c: &Cursor) -> (u64, &'a [u8]) {
        let [_, _, tensors, data] = self.sections;
        r.region(c.at.max(wide(tensors.at)), wide(data.at), BYTES_CHANGED);
        (r.at(), r.resident())
    }

    /// Where data ends at the latest.
    fn end_of_data(&self, r: &Reader<'_, '_>) -> u64 {
        self.bound.min(r.source().len())
    }

    /// The entry at the start of `input`, and the rest; `None` if the entry needs the full check.
    #[inline]
    fn brief<'a>(&self, input: &'a [u8], end: u64) -> Option<(Brief<'a>, &'a [u8])> {
        let (len, rest) = u32(input)?;
        let len = usize::try_from(len).ok()?;
        let (name, rest) = rest.split_at_checked(len)?;
        // Strings end at a multiple of 8 from their own start, which is 4 bytes earlier.
        let (padding, rest) = rest.split_at_checked(len.wrapping_add(4).wrapping_neg() & 7)?;
        let (tag, rest) = u32(rest)?;
        let (rank, rest) = u32(rest)?;
        let (flags, rest) = u32(rest)?;
        let extents = usize::try_from(rank).ok()?.checked_mul(8)?;
        let (extents, rest) = rest.split_at_checked(extents)?;
        let (data, mut rest) = span(rest)?;
        if self.version > 1 {
            let quant;
            (quant, rest) = span(rest)?;
            if quant != Span::default() {
                return None;
            }
        }
        let mut elements = 0;
        let plain = !name.is_empty()
            && !name.iter().any(|byte| is_no_name(*byte))
            && padding.iter().all(|byte| *byte == 0)
            && count(extents, &mut elements);
        let size = size_of(element_type(tag)?, elements);
        let has_data = flags == field::HAS_DATA;
        let placed = match has_data {
            true => {
                data.len == size
                    && data.offset >= self.data
                    && data.offset & field::ALIGN.wrapping_sub(1) == 0
                    && data.end().is_some_and(|reached| reached <= end)
            }
            false => flags == 0 && data == Span::default(),
        };
        (plain && placed).then_some((Brief { name, data, has_data }, rest))
    }
}

/// Moves to `rest`, where entry `index` begins.
#[inline]
fn pass<'a>(r: &mut Reader<'_, 'a>, c: &mut Cursor, rest: &'a [u8], index: u32) {
    if index > c.index {
        r.pass(rest);
        (c.at, c.index) = (r.at(), index);
    }
}

#[inline]
fn u32(input: &[u8]) -> Option<(u32, &[u8])> {
    let (bytes, rest) = input.split_first_chunk()?;
    Some((u32::from_le_bytes(*bytes), rest))
}

/// The size and the offset of a payload.
#[inline]
fn span(input: &[u8]) -> Option<(Span, &[u8])> {
    let (len, rest) = input.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    Some((Span::new(u64::from_le_bytes(*offset), u64::from_le_bytes(*len)), rest))
}
