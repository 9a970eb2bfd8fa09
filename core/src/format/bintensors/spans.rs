//! Checks that a tensor's fields agree with one another, with the previous
//! tensor and with the file's length.

use super::fields::{self, Entry};
use super::{Cursor, Header, State, field, is_utf8, rules};
use crate::base::{Word, wide, widen, word};
use crate::input::Span;
use crate::model::Status;
use crate::parse::Reader;

/// Validates an entry's name, type and shape. Returns its status and, if that is
/// [`Status::Sound`], the length of its data.
pub(super) fn validate(r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> (Status, u64) {
    let (dtype, code) = (entry.dtype.at, entry.dtype.value);
    r.check(is_utf8(entry.name), rules::T2, entry.name_span(), 0, 0);
    let is_wide = entry.rank.at.wrapping_sub(dtype) == field::WIDE;
    r.check(!is_wide, rules::V3, Span::new(wide(dtype), wide(field::WIDE)), 0, code);
    // A 64-bit element type is overlong as well, but is reported only once.
    if !(is_wide && r.overlong.at == dtype) {
        fields::flag_overlong(r);
    }
    let known = code < widen(field::DTYPES.len());
    r.check(known, rules::T4, Span::new(wide(dtype), 1), 14, code);

    let wider = field::WIDER
        .iter()
        .fold(0_u32, |wider, first| wider.wrapping_add(u32::from(word(code) >= *first)));
    let dims = span(entry.dims_at, entry.start.at);
    if entry.overflows {
        r.flag(rules::S1, dims.offset, dims.len, 0, 0);
        return (Status::Broken, 0);
    }
    if !known {
        return (Status::Unsupported, 0);
    }
    // The width is a power of two, so the size has that many more bits.
    if entry.elements.leading_zeros() < wider {
        r.flag(rules::S2, dims.offset, dims.len, 0, entry.elements);
        return (Status::Broken, 0);
    }
    (Status::Sound, entry.elements.wrapping_shl(wider))
}

impl Header {
    /// Validates the data offsets of an entry, and records in the cursor where the data of
    /// the next should begin. The cursor already stands after the entry.
    pub(super) fn validate_place(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        entry: &Entry<'_>,
        (status, size): (Status, u64),
    ) -> Status {
        let starts = span(entry.start.at, entry.end.at);
        let ends = span(entry.end.at, word(c.at));
        let (start, end) = (entry.start.value, entry.end.value);
        let State { stated: state, shaped: extra, .. } = c.state;
        let unplaced = state == Cursor::UNKNOWN;
        let base = if unplaced || start == extra { start } else { state };
        let begins = start == base;
        let sized = status == Status::Sound;
        let mut shaped = if sized { base.saturating_add(size) } else { end };
        let (mut stated, mut sound) = (end, begins);
        // Only the start is wrong: the end is where the shape puts it.
        let start_alone = !begins && sized && shaped == end;
        if end < start && !start_alone {
            r.flag(rules::O2, ends.offset, ends.len, start, end);
            if !sized || shaped == u64::MAX {
                shaped = base;
            }
            (stated, sound) = (shaped, false);
        } else {
            if !begins {
                r.flag(rules::O1, starts.offset, starts.len, base, start);
            }
            if sized && !start_alone && start.saturating_add(size) != end {
                r.flag(rules::S3, ends.offset, ends.len, size, end.wrapping_sub(start));
                sound = false;
            }
        }
        // The next tensor may begin at the stated end or at the end that follows from
        // the shape.
        (c.state.stated, c.state.shaped) = (stated, shaped);

        let (len, data_at) = (self.data_len(r), self.data_at());
        let (reach, furthest) = (stated.min(shaped), stated.max(shaped));
        if reach > len {
            // Tensors after the first truncated one are broken without a finding.
            if state.min(extra) <= len {
                let file_end = data_at.saturating_add(reach);
                r.flag(rules::B2, ends.offset, ends.len, file_end, r.source().len());
            }
        } else if c.index >= self.count && furthest < len && r.source().is_exact() {
            let at = data_at.wrapping_add(furthest);
            r.flag(rules::B1, at, len.wrapping_sub(furthest), furthest, len);
        }
        if sound && end <= len { status } else { Status::Broken }
    }
}

/// The bytes from `from` to `to`.
fn span(from: Word, to: Word) -> Span {
    Span::between(wide(from), wide(to))
}
