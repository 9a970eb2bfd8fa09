//! The order of the lists, and the padding after them.
//!
//! An entry and its predecessor need not be resident together, so [`walk`] reads both again
//! after all entries are validated, unless the order was already checked while the tensors
//! were listed. For files that are fully in memory, it is checked during validation.

use super::{Cursor, fields::Entry};
use super::{Header, field, rules};
use crate::base::{wide, widen, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Rule, general::BYTES_CHANGED};

impl Header {
    /// Moves to the padding at `at` and validates its length.
    fn pad(&self, r: &mut Reader<'_, '_>, at: u64) {
        r.region(at, self.data_at(), BYTES_CHANGED);
        r.about(EntryKind::File, 0);
        let length = word(self.data_at()).wrapping_sub(word(field::LENGTH));
        if length & word(field::ALIGN).wrapping_sub(1) != 0 {
            r.flag(rules::P1, 0, field::LENGTH, field::ALIGN, wide(length));
        }
        let padding = r.left();
        if padding >= field::ALIGN {
            r.flag(rules::P3, at, padding, field::ALIGN.wrapping_sub(1), padding);
        }
    }

    /// Validates resident padding; returns whether all of it is valid.
    fn blank(&self, r: &mut Reader<'_, '_>) -> bool {
        let padding = r.resident();
        let Some(first) = padding.iter().position(|byte| *byte != field::PADDING) else {
            return true;
        };
        let (skip, byte) = (widen(first), padding.get(first).copied().unwrap_or(0));
        let len = r.left().wrapping_sub(skip);
        let at = r.at().wrapping_add(skip);
        r.flag(rules::P2, at, len, field::PADDING.into(), byte.into());
        false
    }

    /// Validates the padding at `at`.
    pub(super) fn follow(&self, r: &mut Reader<'_, '_>, at: u64) {
        self.pad(r, at);
        self.blank(r);
    }
}

/// The previous entry, and whether the list is in order up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Before {
    /// Offset of the entry.
    pub(super) offset: u64,
    ordered: bool,
    dtype: u64,
    name: Span,
}

impl Before {
    /// The state before the first entry.
    pub(super) const NONE: Before =
        Before { offset: 0, ordered: true, dtype: u64::MAX, name: Span::new(0, 0) };
}

/// Checks that `entry` does not sort before the previous one; the first that does
/// breaks `rule`.
pub(super) fn follow(r: &mut Reader<'_, '_>, c: &mut Cursor, entry: &Entry<'_>, rule: Rule) {
    let Before { ordered, dtype, name, .. } = c.state.before;
    let (own_dtype, own) = (entry.dtype.value, entry.name_span());
    let before = r.source().get(name).unwrap_or_default();
    let comes_before = own_dtype > dtype || (own_dtype == dtype && entry.name < before);
    if ordered && comes_before {
        r.flag(rule, own.offset, own.len, 0, 0);
    }
    c.state.before =
        Before { offset: 0, ordered: ordered && !comes_before, dtype: own_dtype, name: own };
}

mod walk;
