//! The order of the lists, and the padding after them.
//!
//! An entry and the previous one need not be resident together, so both are read again
//! after all were validated, by the functions of [`walk`]. For files that are in memory as
//! a whole, that happens during validation.

#[cfg(not(feature = "windows"))]
use super::fields::Entry;
use super::{Header, field, rules};
use crate::base::{wide, widen, word};
use crate::parse::Reader;
#[cfg(not(feature = "windows"))]
use crate::rule::Rule;
use crate::rule::{EntryKind, general::BYTES_CHANGED};

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
    #[cfg(not(feature = "windows"))]
    pub(super) fn follow(&self, r: &mut Reader<'_, '_>, at: u64) {
        self.pad(r, at);
        self.blank(r);
    }
}

/// Validates that entry `index` of a list sorts after the previous one; the first that does
/// not breaks `rule`.
#[cfg(not(feature = "windows"))]
pub(super) fn follow<'a>(r: &mut Reader<'_, 'a>, index: u32, entry: &Entry<'a>, rule: Rule) {
    let (ordered, dtype, name) = r.before;
    let (own_dtype, own) = (entry.dtype.value, entry.name);
    let comes_before = own_dtype > dtype || (own_dtype == dtype && own < name);
    if index > 0 && ordered && comes_before {
        let name = entry.name_span();
        r.flag(rule, name.offset, name.len, 0, 0);
    }
    r.before = (index == 0 || (ordered && !comes_before), own_dtype, own);
}

#[cfg(feature = "windows")]
mod walk;
