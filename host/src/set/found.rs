//! The findings of all files of a model, at offsets as if the files followed each other.

use super::{SetPart, named};
use crate::index::Index;
use crate::map::FileMap;
use crate::session::Session;
use crate::text::Text;
use alloc::vec::Vec;
use weighbridge_core::{EntryKind, Finding, Metadata, Tally};

/// A file of a model, as far as it was checked.
#[derive(Clone, Copy, Debug)]
pub struct SetFile<'f> {
    /// What was found in it.
    pub session: &'f Session<'f>,
    /// What it says of the set; of GGUF alone.
    pub stated: &'f SetPart,
    /// Its tensors.
    pub index: &'f Index,
    /// What lies where in it.
    pub map: &'f FileMap,
    /// Whether the data of some tensor has rules.
    pub is_ruled: bool,
    /// Its metadata entries, by which findings are named.
    pub metadata: &'f [Metadata],
}

/// Which file of a model it is, and what comes before it if the files follow each other.
#[derive(Clone, Copy, Debug)]
pub struct SetPlace<'n> {
    /// Its number, from 0.
    pub no: u32,
    /// Its name.
    pub name: &'n str,
    /// Where its bytes begin.
    pub base: u64,
    /// The position of its first tensor among all.
    pub first: u32,
    /// The position of its first metadata entry among all.
    pub first_entry: u32,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    /// What each is about.
    pub(super) names: Vec<Text>,
    /// All of them, kept or not.
    pub(super) tally: Tally,
}

impl Found {
    fn push(&mut self, finding: Finding, name: impl FnOnce() -> Text) {
        if self.tally.add(&finding) {
            self.names.push(name());
            self.findings.push(finding);
        }
    }

    /// Adds the findings of a file.
    pub(super) fn gather(&mut self, file: &SetFile<'_>, place: SetPlace<'_>) {
        for finding in file.session.findings() {
            let shifted = Finding {
                offset: finding.offset.saturating_add(place.base),
                entry: place.entry(finding.kind, finding.entry),
                ..*finding
            };
            self.push(shifted, || match finding.kind {
                EntryKind::Tensor | EntryKind::Attribute => {
                    named(&file.index.name(finding.entry as usize)).unwrap_or_default()
                }
                EntryKind::File => Text::default(),
                kind => file.session.key(file.metadata, kind, finding.entry),
            });
        }
        for count in file.session.tally().rules() {
            (count.kept..count.found).for_each(|_| _ = self.tally.add_rule(count.rule));
        }
    }

    /// What takes findings on the set, whose offsets are those of a file that begins at `base`.
    pub(super) fn taker(&mut self, base: u64) -> impl FnMut(Finding, &dyn Fn() -> Option<Text>) {
        move |finding, name| {
            let offset = finding.offset.saturating_add(base);
            self.push(Finding { offset, ..finding }, || name().unwrap_or_default());
        }
    }
}

impl SetPlace<'_> {
    /// The position of an entry among those of all files.
    pub(super) fn entry(&self, kind: EntryKind, entry: u32) -> u32 {
        let first = match kind {
            EntryKind::Tensor | EntryKind::Attribute => self.first,
            EntryKind::File => 0,
            _ => self.first_entry,
        };
        entry.saturating_add(first)
    }
}
