//! Whether a tensor's fields agree with one another, with the tensor before
//! and with the length of the file.

use super::fields::{self, Entry};
use super::{Header, field, is_utf8, rules};
use crate::cursor::Cursor;
use crate::read::Reader;
use crate::slot::{Word, place, wide, word};
use crate::source::{Span, widen};
use crate::tensor::Status;

impl Header {
    /// Judges an entry. The cursor stands behind it already, and holds where
    /// its data should begin: `state`, or `extra` if that was in doubt.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn judge(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        entry: &Entry<'_>,
    ) -> Status {
        let Entry { dtype, rank, start, end, .. } = entry;
        r.check(is_utf8(entry.name), rules::T2, entry.name_span(), 0, 0);
        let is_wide = rank.at.wrapping_sub(dtype.at) == field::WIDE;
        r.check(!is_wide, rules::V3, Span::new(wide(dtype.at), wide(field::WIDE)), 0, dtype.value);
        // A type in 64 bits is longer than it must be as well; once is enough.
        if !(is_wide && r.overlong == dtype.at) {
            fields::flag_overlong(r);
        }
        let wider = field::WIDER.iter().filter(|first| dtype.value >= **first).count();
        let known = dtype.value < widen(field::DTYPES.len());
        r.check(known, rules::T4, Span::new(wide(dtype.at), 1), 14, dtype.value);

        let dims = span(entry.dims_at, start.at);
        let (starts, ends) = (span(start.at, end.at), span(end.at, word(c.at)));
        // What is beyond all that may be in memory stays so in all sums.
        let (begin, stated) = (place(start.value), place(end.value));
        let (state, extra) = (word(c.state), word(c.extra));
        let unplaced = c.state == Cursor::UNKNOWN;
        let base = if unplaced || begin == extra { begin } else { state };
        let begins = begin == base;
        // As many of the uppermost bits are lost as the width has zeros.
        let exceeds = known && usize::try_from(entry.elements.leading_zeros()).unwrap_or(0) < wider;
        let sized = known && !exceeds && !entry.overflows;
        let width = 1_usize.wrapping_shl(u32::try_from(wider).unwrap_or(0));
        let size = place(entry.elements).saturating_mul(word(widen(width)));
        let mut shaped = if sized { base.saturating_add(size) } else { stated };
        // Only the start is wrong: the end is where the shape puts it.
        let start_alone = !begins && sized && shaped == stated;
        let backwards = stated < begin && !start_alone;

        let mut sound = begins && !backwards;
        if backwards {
            r.flag(rules::O2, ends.at, ends.len, start.value, end.value);
        } else if !begins {
            r.flag(rules::O1, starts.at, starts.len, wide(base), start.value);
        }
        let len = wide(stated.saturating_sub(begin));
        if entry.overflows {
            r.flag(rules::S1, dims.at, dims.len, 0, 0);
            sound = false;
        } else if exceeds {
            r.flag(rules::S2, dims.at, dims.len, 0, entry.elements);
            sound = false;
        } else if sized && !backwards && !start_alone && begin.saturating_add(size) != stated {
            r.flag(rules::S3, ends.at, ends.len, wide(size), len);
            sound = false;
        }

        // The next tensor begins where this one says it ends or, if that is in
        // doubt, where its shape says so.
        let before = state.min(extra);
        let mut next = stated;
        if backwards {
            if !sized {
                shaped = base;
            }
            next = shaped;
        }
        (c.state, c.extra) = (wide(next), wide(shaped));

        let data_len = self.data_len(r);
        let (reach, furthest) = (next.min(shaped), next.max(shaped));
        let data_at = self.data_at();
        if reach > data_len {
            // Those behind the first that is cut are broken without a finding.
            if before <= data_len {
                let file_end = data_at.saturating_add(wide(reach));
                r.flag(rules::B2, ends.at, ends.len, file_end, r.source().len());
            }
        } else if c.index >= self.count && furthest < data_len && r.source().is_exact() && !unplaced
        {
            let rest = wide(data_len.wrapping_sub(furthest));
            let at = data_at.wrapping_add(wide(furthest));
            r.flag(rules::B1, at, rest, wide(furthest), wide(data_len));
        }
        match sound && stated <= data_len {
            false => Status::Broken,
            true if !known => Status::Unsupported,
            true => Status::Sound,
        }
    }
}

/// The bytes from `from` to `to`.
fn span(from: Word, to: Word) -> Span {
    Span::between(wide(from), wide(to))
}
