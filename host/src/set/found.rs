//! The findings of all files of a model, at offsets as if the files were concatenated.

use super::named;
use crate::base::text::Text;
use crate::check::session::Session;
use crate::list::areas::FileMap;
use crate::list::index::Index;
use crate::list::part::SetPart;
use alloc::vec::Vec;
use weighbridge_core::{EntryKind, Finding, Metadata, Tally};

/// A checked file of a model.
#[derive(Clone, Copy, Debug)]
pub struct SetFile<'f> {
    /// The session that checked it.
    pub session: &'f Session<'f>,
    /// What it states about the set; GGUF only.
    pub stated: &'f SetPart,
    /// Its tensors.
    pub index: &'f Index,
    /// The layout of its contents.
    pub map: &'f FileMap,
    /// Whether the data of some tensor is subject to rules.
    pub is_ruled: bool,
    /// Its metadata entries, used to name findings.
    pub metadata: &'f [Metadata],
}

/// A file's place in a model, as if the files were concatenated.
#[derive(Clone, Copy, Debug)]
pub struct SetPlace<'n> {
    /// Its number, from 0.
    pub no: u32,
    /// Its name.
    pub name: &'n str,
    /// Offset of its first byte.
    pub base: u64,
    /// Position of its first tensor among those of all files.
    pub first: u32,
    /// Position of its first metadata entry among those of all files.
    pub first_entry: u32,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    /// The subject of each finding.
    pub(super) names: Vec<Text>,
    /// Counts of all findings, kept or not.
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

    /// Returns a sink for findings on the set, at offsets relative to `base`.
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
