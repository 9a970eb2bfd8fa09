//! Segments of a file in windows: each is checked by itself, and those with a wrong place are lost.

use super::{Found, Segments};
use crate::format::executorch::head::Head;
use crate::format::executorch::open::place_of;
use crate::format::executorch::{Header, rules};
use crate::format::flatbuffer::reads::entry::Scalar;
use crate::format::flatbuffer::reads::{Memo, Reads, Table};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// Multiple at which segments begin.
const ALIGNMENT: u64 = 16;

/// A segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    table: Table,
    offset: Scalar,
    size: Scalar,
}

impl Segments {
    /// The segment of this number.
    pub(in crate::format::executorch) fn find(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        index: u32,
    ) -> Result<Found, Halt> {
        let found = header.segments.read(reads, index)?;
        Ok(match found {
            None => Found::None,
            Some(segment) => header.span_of(reads.r, &segment).map_or(Found::Lost, Found::At),
        })
    }

    /// Reads segment `index`; `None` if there is none.
    fn read(&self, reads: &mut Reads<'_, '_, '_, '_>, index: u32) -> Result<Option<Segment>, Halt> {
        if index >= self.list.count {
            return Ok(None);
        }
        let table = reads.item(self.list, index)?;
        let offset = reads.scalar(&table, 0, 8, 0)?;
        let size = reads.scalar(&table, 1, 8, 0)?;
        Ok(Some(Segment { table, offset, size }))
    }
}

impl Header {
    /// Where segments begin; 0 if that is not known, or wrong.
    pub(in crate::format::executorch) fn base(&self) -> u64 {
        if self.base < self.end.into() { 0 } else { self.base }
    }

    /// Number of bytes that the header gives to segments.
    fn limit(&self, r: &Reader<'_, '_>) -> u64 {
        match (self.base, self.size) {
            (0, _) => 0,
            // A base past the end is reported by itself.
            (base, 0) => r.source().len().checked_sub(base).unwrap_or(u64::MAX),
            (_, size) => size,
        }
    }

    /// The bytes of a segment; `None` if its place is wrong, which opening has reported.
    fn span_of(&self, r: &Reader<'_, '_>, segment: &Segment) -> Option<Span> {
        let (offset, size) = (segment.offset.value, segment.size.value);
        let end = offset.checked_add(size).filter(|end| *end <= self.limit(r));
        let base = self.base();
        if base == 0 || end.is_none() {
            return (size == 0 && offset == 0).then_some(Span::new(base, 0));
        }
        let span = Span::new(base.checked_add(offset)?, size);
        span.end().filter(|end| *end <= r.source().len()).map(|_| span)
    }
}

/// Checks where the header lets segments begin and end.
pub(in crate::format::executorch) fn check_base(r: &mut Reader<'_, '_>, header: &Header) {
    let Head { end, base, size, .. } = header.head();
    let base_at = header.head().base_at();
    if base == 0 {
        return;
    }
    let place = Span::new(base_at, 8);
    r.check(base >= end.into(), rules::H_INSIDE, place, end.into(), base);
    let left = r.source().len().saturating_sub(base);
    let fits = base <= r.source().len() && size <= left;
    // The size follows the base.
    let place = if size == 0 { place } else { Span::new(base_at.saturating_add(8), 8) };
    r.check(fits, rules::H_DATA, place, left, size);
    let aligned = base & ALIGNMENT.wrapping_sub(1) == 0;
    let aligned = aligned || !fits || header.segments.list.count == 0;
    r.check(aligned, rules::S_ALIGN, Span::new(base_at, 8), ALIGNMENT, base);
}

/// What is known of the segments checked so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::executorch) struct Checked {
    /// Their number.
    count: u32,
    /// Where they end.
    end: u64,
    /// Each is inside, and after those before it.
    sorted: bool,
    /// That their size is not told was reported.
    told: bool,
}

impl Checked {
    pub(in crate::format::executorch) const START: Checked =
        Checked { count: 0, end: 0, sorted: true, told: false };
}

/// Checks the place of each segment.
pub(in crate::format::executorch) fn check_all(
    r: &mut Reader<'_, '_>,
    memo: &mut Memo,
    run: &mut Checked,
    header: &mut Header,
) -> Result<(), Halt> {
    let (list, limit) = (header.segments.list, header.limit(r));
    let head = header.head();
    let base_at = head.base_at();
    while run.count < list.count {
        let mut reads = Reads::new(r, memo);
        let Some(segment) = header.segments.read(&mut reads, run.count)? else {
            break;
        };
        memo.clear();
        run.count = run.count.saturating_add(1);
        let Segment { table, offset, size } = segment;
        let whole = table.span();
        if size.value > 0 && head.base == 0 {
            // Without a header, where its magic would be.
            let at = if base_at == 0 { Span::new(8, 4) } else { Span::new(base_at, 8) };
            r.flag(rules::H_BASE, at.offset, at.len, 0, 0);
            break;
        }
        if size.value > 0 && head.size == 0 && head.sized() && !run.told {
            run.told = true;
            r.flag(rules::H_SIZE, base_at.saturating_add(8), 8, 0, 0);
        }
        let end = offset.value.saturating_add(size.value);
        if offset.value.checked_add(size.value).is_none_or(|end| end > limit) {
            let outside = offset.value > limit;
            let at =
                if outside { place_of(offset.at, 8, whole) } else { place_of(size.at, 8, whole) };
            r.flag(rules::S_RANGE, at.offset, at.len, limit, end);
            run.sorted = false;
            continue;
        }
        if size.value == 0 {
            continue;
        }
        let at = place_of(offset.at, 8, whole);
        r.check(offset.value >= run.end, rules::S_ORDER, at, run.end, offset.value);
        run.sorted &= offset.value >= run.end;
        let aligned = offset.value & ALIGNMENT.wrapping_sub(1) == 0;
        r.check(aligned, rules::S_ALIGN, at, ALIGNMENT, offset.value);
        run.end = run.end.max(end);
    }
    header.sorted = run.sorted;
    Ok(())
}
