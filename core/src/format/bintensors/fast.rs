//! Skips the valid part of the list.
//!
//! Nearly all lists are valid from the first entry to the last. The sweep skips entries for
//! which [`Header::tensor`] would report nothing. It ends at anything else, such as an integer
//! that is not in its shortest form, and that entry is checked in full. Skipping takes a fifth
//! of the time.

use super::fields::Entry;
use super::{Cursor, Header, field, is_utf8, rules};
use crate::base::{ascii, widen};
use crate::format::Glance;
use crate::input::{Source, Span};
use crate::model::{Name, NameAt, NameEncoding, dims::product};
use crate::parse::Reader;
use crate::rule::EntryKind;

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

/// The order of the tensors, as found while listing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Listed {
    order: Order,
    /// Index, type and name of the previous entry or, if the order is broken, of the first entry
    /// out of order.
    index: u32,
    dtype: u64,
    name: Span,
    /// The end of the list, once reached.
    end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    Kept,
    Broken,
    Unknown,
}

impl Listed {
    pub(super) const START: Listed =
        Listed { order: Order::Kept, index: 0, dtype: u64::MAX, name: Span::new(0, 0), end: 0 };

    /// The name of the previous entry, if it is still needed and resident.
    fn before<'a>(&mut self, source: &Source<'a>) -> &'a [u8] {
        if self.order != Order::Kept {
            return &[];
        }
        source.get(self.name).unwrap_or_else(|_| {
            self.order = Order::Unknown;
            &[]
        })
    }

    /// Compares entry `index`, whose name is at `name_at`, with the previous name `before`.
    #[inline(always)]
    fn compare<'a>(
        &mut self,
        before: &mut &'a [u8],
        (index, dtype): (u32, u64),
        (name, name_at): (&'a [u8], u64),
    ) {
        if self.order == Order::Kept {
            if dtype > self.dtype || (dtype == self.dtype && name < *before) {
                self.order = Order::Broken;
            }
            (self.index, self.dtype, *before) = (index, dtype, name);
            self.name = Span::new(name_at, widen(name.len()));
        }
    }

    /// Adds entry `index`.
    pub(super) fn add(&mut self, r: &Reader<'_, '_>, index: u32, entry: &Entry<'_>) {
        let mut before = self.before(r.source());
        let name_at = entry.name_span().offset;
        self.compare(&mut before, (index, entry.dtype.value), (entry.name, name_at));
    }

    /// Records that the list ended at `end`.
    pub(super) fn finish(&mut self, end: u64) {
        self.end = end;
    }
}

impl Header {
    /// Reports the order found while listing and returns the end of the list; `None` if the
    /// list was not listed to its end or its order is unknown.
    pub(super) fn order_listed(&self, r: &mut Reader<'_, '_>, c: &Cursor) -> Option<u64> {
        let Listed { order, index, name, end, .. } = c.state.listed;
        if end == 0 || order == Order::Unknown {
            return None;
        }
        if order == Order::Broken {
            r.about(EntryKind::Tensor, index);
            r.flag(rules::C1, name.offset, name.len, 0, 0);
        }
        Some(end)
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        let mut listed = c.state.listed;
        // A muted reader reports nothing, so the order is not needed.
        if r.is_muted() {
            listed.order = Order::Unknown;
        }
        let mut before = listed.before(r.source());
        self.sweep_while(r, c, |index, at, name_at, brief| {
            let Brief { name: bytes, dtype, .. } = *brief;
            let name = Name::new(bytes, NameEncoding::Plain);
            let place = NameAt::plain(name_at, widen(bytes.len()));
            let sound = (ascii::is_ascii(bytes) || is_utf8(bytes))
                && goes_on(&Glance { index, at, name_at: place, name });
            if sound {
                listed.compare(&mut before, (index, dtype), (bytes, name_at));
            }
            sound
        });
        c.state.listed = listed;
    }

    /// Skips again the entries that [`sweep_sound`](Self::sweep_sound) has already skipped, up
    /// to `until`, reading only their names.
    pub(super) fn sweep_names<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        r.region(c.at.max(self.list_at.into()), self.data_at(), rules::F4);
        let (at, run) = (r.at(), r.resident());
        let offset = |left: usize| at.saturating_add(widen(run.len().saturating_sub(left)));
        let (mut last, mut rest, mut next) = (run, run, c.index);
        for index in c.index..until.min(self.count) {
            let Some((name, left, after)) = known(rest) else { break };
            let len = widen(name.len());
            let glance = Glance {
                index,
                at: offset(rest.len()),
                name_at: NameAt::plain(offset(left).saturating_sub(len), len),
                name: Name::new(name, NameEncoding::Plain),
            };
            if !goes_on(&glance) {
                break;
            }
            (last, rest, next) = (rest, after, index.saturating_add(1));
        }
        if next > c.index {
            // `None` only if the bytes have changed since; the names are kept anyway.
            let end = brief(last).map_or(Cursor::UNKNOWN, |(brief, _)| brief.end);
            r.pass(rest);
            (c.at, c.index) = (r.at(), next);
            (c.state.stated, c.state.shaped) = (end, end);
        }
    }

    /// Skips entries that are valid and in order, from the start of the list, or all valid
    /// entries if `compares` is false. Returns whether any were skipped.
    pub(super) fn sweep_in_order(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        compares: bool,
    ) -> bool {
        let from = c.index;
        if compares && from > 0 {
            return false;
        }
        let mut last: Option<(u64, &[u8])> = None;
        let mut before = c.state.before.offset;
        self.sweep_while(r, c, |_, at, _, brief| {
            let ascends = last.is_none_or(|(dtype, name)| {
                dtype > brief.dtype || (dtype == brief.dtype && name < brief.name)
            });
            let goes_on = ascends || !compares;
            if goes_on {
                last = Some((brief.dtype, brief.name));
                before = at;
            }
            goes_on
        });
        c.state.before.offset = before;
        c.index > from
    }

    /// Skips entries whose data lies where it should and for which `goes_on`
    /// returns true, but never the last entry of the list: its end is compared
    /// with that of the file. `goes_on` gets the index, the offsets of the entry
    /// and its name, and the entry itself.
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
    // Ends at the latest when the input does.
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

/// The name of the entry at the start of `input`, which is known to be sound, the number of
/// bytes after the name, and the input after the entry.
#[inline(always)]
fn known(input: &[u8]) -> Option<(&[u8], usize, &[u8])> {
    let (len, rest) = int(input)?;
    let (name, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    let left = rest.len();
    let (rank, mut rest) = int(past(rest)?)?;
    for _ in 0..rank {
        rest = past(rest)?;
    }
    Some((name, left, past(past(rest)?)?))
}

/// The input after the integer at its start.
#[inline(always)]
fn past(input: &[u8]) -> Option<&[u8]> {
    let wider = input.first()?.saturating_sub(field::ONE_BYTE);
    // One byte, or a tag before two, four or eight bytes.
    input.get(1_usize.wrapping_shl(wider.into()) | 1..)
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

/// Tags of four-byte and eight-byte integers.
const FOUR_BYTES: u8 = 252;
const EIGHT_BYTES: u8 = 253;

/// Reads an integer with a width tag. Returns its value and its length, which is 0 if it
/// cannot be read. Not inlined, because it would be copied for each field; a pair of numbers
/// fits in registers.
#[inline(never)]
fn wide(input: &[u8]) -> (u64, u8) {
    let Some((tag, rest)) = input.split_first() else {
        return (0, 0);
    };
    let (value, least, len) = match (*tag, rest) {
        (field::TWO_BYTES, [a, b, ..]) => (u64::from(u16::from_le_bytes([*a, *b])), 251, 3),
        (FOUR_BYTES, [a, b, c, d, ..]) => {
            (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), 1 << 16, 5)
        }
        (EIGHT_BYTES, rest) => match rest.first_chunk() {
            Some(bytes) => (u64::from_le_bytes(*bytes), 1 << 32, 9),
            None => return (0, 0),
        },
        _ => return (0, 0),
    };
    (value, if value < least { len | OVERLONG } else { len })
}
