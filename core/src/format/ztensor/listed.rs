//! Whether the listed blobs follow one another, which lets a fast audit skip the stages
//! that compare them.

use super::{Cursor, field};
use crate::base::build::SWEEP;
use crate::input::{Source, Span};

/// What a cursor knows of the blobs that were listed.
pub(super) mod cover {
    /// Nothing but padding lies between them so far.
    pub(in super::super) const TIGHT: u8 = 0;
    /// Something may.
    pub(in super::super) const LOOSE: u8 = 1;
    /// The index ended, and nothing but padding lies before it.
    pub(in super::super) const PROVED: u8 = 2;
}

/// Whether a blob begins before the end of the listed data. An entry that is read out of
/// order is compared with nothing.
#[inline]
pub(super) fn is_before(c: &Cursor, blob: Span) -> bool {
    !blob.is_empty() && blob.offset < c.state.data_end && c.state.data_end != Cursor::UNKNOWN
}

/// Notes the end of the listed data.
#[inline]
pub(super) fn pass_blob(source: &Source<'_>, c: &mut Cursor, blob: Span) {
    if blob.is_empty() {
        return;
    }
    if SWEEP && c.state.cover == cover::TIGHT && !is_padding(source, c.state.data_end, blob.offset)
    {
        c.state.cover = cover::LOOSE;
    }
    // Beyond the largest number, which stands for "unknown", nothing ends.
    c.state.data_end = c.state.data_end.max(blob.offset.wrapping_add(blob.len));
}

/// Whether the bytes between the listed data and `at` are padding, as far as they are
/// resident.
#[inline]
pub(super) fn is_padding(source: &Source<'_>, listed: u64, at: u64) -> bool {
    let from = listed.max(field::MAGIC_LEN);
    let gap = Span::between(from, at);
    from <= at
        && gap.len <= from.wrapping_neg() & field::ALIGN.wrapping_sub(1)
        && source.get(gap).is_ok_and(|bytes| bytes.iter().fold(0, |any, byte| any | byte) == 0)
}
