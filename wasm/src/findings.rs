//! Findings, in file order.

use crate::sort;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{EntryKind, Finding, Tally};

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    /// Their order by offset, as far as they were sorted.
    order: Vec<u32>,
    /// All of them, counted.
    tally: Tally,
}

impl Findings {
    /// Takes note of a finding, and keeps it unless there are enough of its rule.
    pub fn push(&mut self, finding: Finding) {
        if self.tally.add(&finding) {
            self.kept.push(finding);
        }
    }

    /// Forgets all, for a second attempt at opening.
    pub fn clear(&mut self) {
        *self = Findings::default();
    }

    /// Findings `range` of those that are kept, by offset.
    pub fn sorted(&mut self, range: Range<usize>) -> Vec<Finding> {
        let Findings { kept, order, .. } = self;
        if order.len() != kept.len() {
            let key = |i: u32| {
                let finding = kept.get(i as usize);
                finding.map(|f| (f.offset, f.kind, f.entry, f.part))
            };
            *order = sort::sorted(kept.len(), &mut |a, b| key(a) < key(b));
        }
        let order = order.get(range).unwrap_or_default();
        order.iter().filter_map(|i| kept.get(*i as usize)).copied().collect()
    }

    /// Those that are kept, in any order.
    pub fn all(&self) -> &[Finding] {
        &self.kept
    }

    /// All findings, counted.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many findings are about each of `tensors` tensors.
    pub fn by_tensor(&self, tensors: usize) -> Vec<u32> {
        let mut counts = vec![0; tensors];
        for finding in &self.kept {
            if matches!(finding.kind, EntryKind::Tensor | EntryKind::Attribute)
                && let Some(count) = counts.get_mut(finding.entry as usize)
            {
                *count += 1;
            }
        }
        counts
    }
}
