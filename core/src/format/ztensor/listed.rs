//! Tracks whether the listed blobs lie in order with only padding between them, which lets a
//! fast audit skip the stages that compare them.

use super::{Cursor, field};
use crate::base::features::SWEEP;
use crate::base::{Word, wide, word};
use crate::input::{Source, Span};

/// What a cursor knows about the blobs listed so far.
pub(super) mod cover {
    /// Only padding lies between them so far.
    pub(in super::super) const TIGHT: u8 = 0;
    /// Other bytes may lie between them.
    pub(in super::super) const LOOSE: u8 = 1;
    /// All blobs are listed, and only padding lies between them and before the index.
    pub(in super::super) const PROVED: u8 = 2;
}

/// Whether a blob begins before the end of the listed data. An entry that is read out of
/// order is not compared.
#[inline]
pub(super) fn is_before(c: &Cursor, blob: Span) -> bool {
    !blob.is_empty() && word(blob.offset) < c.state.data_end && c.state.data_end != Word::MAX
}

/// Updates the end of the listed data.
#[inline]
pub(super) fn pass_blob(source: &Source<'_>, c: &mut Cursor, blob: Span) {
    if blob.is_empty() {
        return;
    }
    if SWEEP
        && c.state.cover == cover::TIGHT
        && !is_padding(source, wide(c.state.data_end), blob.offset)
    {
        c.state.cover = cover::LOOSE;
    }
    // The largest number stands for "unknown", and `max` keeps it.
    c.state.data_end = c.state.data_end.max(word(blob.offset.wrapping_add(blob.len)));
}

/// Whether the bytes between the listed data and `at` are resident and zero, and no more than
/// alignment needs.
#[inline]
pub(super) fn is_padding(source: &Source<'_>, listed: u64, at: u64) -> bool {
    let from = listed.max(field::MAGIC_LEN);
    let gap = Span::between(from, at);
    from <= at
        && gap.len <= from.wrapping_neg() & field::ALIGN.wrapping_sub(1)
        && source.get(gap).is_ok_and(|bytes| bytes.iter().fold(0, |any, byte| any | byte) == 0)
}
