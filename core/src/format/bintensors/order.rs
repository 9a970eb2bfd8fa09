//! The order of the lists, and the padding after them.
//!
//! An entry and the previous one need not be resident together, so both are read again
//! after all were validated, by the functions of [`walk`], unless a host has followed the order
//! while it listed the tensors. For files that are in memory as a whole, that happens during
//! validation.

use super::{Cursor, fields::Entry};
use super::{Header, field, rules};
use crate::base::{wide, widen, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Rule, general::BYTES_CHANGED};

impl Header {
    /// Validates the length of the padding, which begins at `at`, and goes there.
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

/// The entry before, and whether the list was in order up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Before {
    /// Where it begins.
    pub(super) offset: u64,
    ordered: bool,
    dtype: u64,
    name: Span,
}

impl Before {
    /// There is none.
    pub(super) const NONE: Before =
        Before { offset: 0, ordered: true, dtype: u64::MAX, name: Span::new(0, 0) };
}

/// Validates whether entry `index` of a list comes after the one before; the first
/// that does not breaks `rule`.
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
