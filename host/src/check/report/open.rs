//! Violations that leave open what a reader of the file would do.
//!
//! The lenient profile accepts violations, so that the bytes can be read. A gate answers for more: what
//! such a violation leaves open was not checked, under any profile.

use super::{Report, Unchecked};
use alloc::collections::BTreeSet;
use weighbridge_core::Rule;
#[cfg(feature = "gguf")]
use weighbridge_core::format::gguf::rules;

#[cfg(feature = "gguf")]
const SET: &str = "the whole set: a part is missing, broken, or of another set";
#[cfg(feature = "gguf")]
const TEMPLATE: &str = "what the chat template runs through the internals of Python";

/// Rules, and what their breach leaves open.
const OPEN: &[(Rule, &str)] = &[
    #[cfg(feature = "gguf")]
    (rules::KEYS_TEMPLATE_ESCAPE, TEMPLATE),
    #[cfg(feature = "gguf")]
    (rules::KEYS_SPLIT_TYPE, SET),
    #[cfg(feature = "gguf")]
    (rules::KEYS_SPLIT_NO, SET),
    #[cfg(feature = "gguf")]
    (rules::KEYS_SPLIT_TENSORS, SET),
    #[cfg(feature = "gguf")]
    (rules::KEYS_SPLIT_KEYS, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_MISSING, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_OTHER, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_COUNT, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_INVALID, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_TWICE, SET),
    #[cfg(feature = "gguf")]
    (rules::SPLIT_TOTAL, SET),
];

impl Report {
    /// Records what violations leave open.
    pub(crate) fn leave_open(&mut self) {
        for what in self.open() {
            self.leave(Unchecked::new(None, what, true));
        }
    }

    /// Whether the file contradicts the set that it is a part of.
    #[cfg(all(feature = "gguf", feature = "std"))]
    pub(crate) fn contradicts_set(&self) -> bool {
        self.open().contains(SET)
    }

    /// What violations leave open. Ignored violations leave nothing open.
    fn open(&self) -> BTreeSet<&'static str> {
        let counted = self.tally.rules().filter(|count| !self.criteria.ignores(count.rule));
        let open =
            counted.flat_map(|count| OPEN.iter().filter(move |(rule, _)| *rule == count.rule));
        open.map(|(_, what)| *what).collect()
    }
}
