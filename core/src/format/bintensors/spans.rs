//! Whether a tensor's fields agree with one another, with the tensor before
//! and with the length of the file.

use super::fields::{self, Entry};
use super::{Header, dtype, field, is_utf8, rules};
use crate::cursor::Cursor;
use crate::dtype::DType;
use crate::read::Reader;
use crate::source::{Span, widen};
use crate::tensor::Status;

/// What judging an entry came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    pub(super) dtype: DType,
    pub(super) status: Status,
}

impl Header {
    /// Judges an entry. The cursor stands behind it already, and holds where
    /// its data should begin: `state`, or `extra` if that was in doubt.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn judge(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        at: u64,
        entry: &Entry<'_>,
    ) -> Verdict {
        let dtype = dtype(entry.dtype);
        let size = entry.elements.and_then(|n| dtype.bytes(n));
        let data_len = self.data_len(r);
        let sound = (entry.start == c.state || c.state == Cursor::UNKNOWN)
            && size.is_some()
            && entry.end.checked_sub(entry.start) == size
            && entry.end <= data_len
            && (entry.end == data_len || c.index < self.count)
            && entry.overlong.is_none()
            && is_utf8(entry.name);
        if sound {
            c.state = entry.end;
            c.extra = entry.end;
            return Verdict { dtype, status: Status::Sound };
        }
        self.judge_closely(r, c, at, entry, size)
    }

    /// Says what is wrong with an entry.
    #[cold]
    #[inline(never)]
    fn judge_closely(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        at: u64,
        entry: &Entry<'_>,
        size: Option<u64>,
    ) -> Verdict {
        let dtype = dtype(entry.dtype);
        r.check(is_utf8(entry.name), rules::T2, span(at, entry.name_at(), entry.dtype_at), 0, 0);
        let dtype_span = span(at, entry.dtype_at, entry.dims_at);
        let wide = self.is_wide(r, dtype_span);
        r.check(!wide, rules::V3, Span::new(dtype_span.at, 9), 0, entry.dtype);
        // A type in 64 bits is longer than it must be as well; once is enough.
        if !(wide && entry.overlong == Some(entry.dtype_at)) {
            fields::flag_overlong(r, at, entry.overlong);
        }
        let known = dtype != DType::Unknown;
        r.check(known, rules::T4, Span::new(dtype_span.at, 1), 14, entry.dtype);

        let sound = self.judge_span(r, c, at, entry, size);
        let resident = entry.end <= self.data_len(r);
        let status = match (sound && resident, known) {
            (false, _) => Status::Broken,
            (true, false) => Status::Unsupported,
            (true, true) => Status::Sound,
        };
        Verdict { dtype, status }
    }

    /// Judges where the data lies, and leaves in the cursor where the next
    /// tensor's should begin. Whether this one's is where it should be, and as
    /// long.
    fn judge_span(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        at: u64,
        entry: &Entry<'_>,
        size: Option<u64>,
    ) -> bool {
        let Entry { start, end, .. } = *entry;
        let start_span = span(at, entry.start_at, entry.end_at);
        let end_span = span(at, entry.end_at, entry.len);
        let dims_span = span(at, entry.dims_at, entry.start_at);

        let unplaced = c.state == Cursor::UNKNOWN;
        let begins = unplaced || start == c.state || start == c.extra;
        let base = if start == c.extra { c.extra } else { c.state };
        let by_shape = size.and_then(|size| base.checked_add(size));
        // Only the start is wrong: the end is where the shape puts it.
        let start_alone = !begins && by_shape == Some(end);

        let backwards = end < start && !start_alone;
        let len = end.saturating_sub(start);
        let known = dtype(entry.dtype) != DType::Unknown;
        let mut sound = begins && !backwards;
        if backwards {
            r.flag(rules::O2, end_span.at, end_span.len, start, end);
        } else if !begins {
            r.flag(rules::O1, start_span.at, start_span.len, base, start);
        }
        if entry.elements.is_none() {
            r.flag(rules::S1, dims_span.at, dims_span.len, 0, 0);
            sound = false;
        } else if size.is_none() && known {
            let elements = entry.elements.unwrap_or(0);
            r.flag(rules::S2, dims_span.at, dims_span.len, 0, elements);
            sound = false;
        } else if let Some(size) = size
            && size != len
            && !backwards
            && !start_alone
        {
            r.flag(rules::S3, end_span.at, end_span.len, size, len);
            sound = false;
        }

        // The next tensor begins where this one says it ends or, if that is in
        // doubt, where its shape says so.
        let before = c.state.min(c.extra);
        let (stated, shaped) = match (sound, by_shape) {
            (true, _) => (end, end),
            (false, Some(by_shape)) if backwards => (by_shape, by_shape),
            (false, None) if backwards => (base, base),
            (false, by_shape) => (end, by_shape.unwrap_or(end)),
        };
        c.state = stated;
        c.extra = shaped;

        let data_len = self.data_len(r);
        let reach = stated.min(shaped);
        if reach > data_len && (before <= data_len || unplaced) {
            let file_end = self.data_at.saturating_add(reach);
            r.flag(rules::B2, end_span.at, end_span.len, file_end, r.source().len());
        }
        let furthest = stated.max(shaped);
        if c.index >= self.count && furthest < data_len && r.source().is_exact() && !unplaced {
            let at = self.data_at.saturating_add(furthest);
            let len = data_len.saturating_sub(furthest);
            r.flag(rules::B1, at, len, furthest, data_len);
        }
        sound
    }

    /// Whether an element type begins with the tag of a 64-bit integer. The
    /// bytes are those that were read just now.
    fn is_wide(&self, r: &Reader<'_, '_>, dtype: Span) -> bool {
        r.source().run(dtype.at).first() == Some(&field::EIGHT_BYTES)
    }
}

/// The bytes from `from` to `to` of the entry at `entry`.
fn span(entry: u64, from: usize, to: usize) -> Span {
    let Span { at, .. } = fields::span(entry, from, 0);
    Span::new(at, widen(to.saturating_sub(from)))
}
