//! Findings, in file order.

use crate::sort;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge::{Finding, Kind, Profile, Severity};

/// Findings beyond this number are counted, not kept: a file can hold one in
/// every entry.
pub const MOST: usize = 100_000;

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    /// Their order by offset, as far as they were sorted.
    order: Vec<u32>,
    /// How many of each severity.
    counts: [u64; 4],
}

impl Findings {
    /// Takes note of a finding.
    pub fn push(&mut self, finding: Finding) {
        if let Some(count) = self.counts.get_mut(finding.severity() as usize) {
            *count += 1;
        }
        if self.kept.len() < MOST {
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
                finding.map(|f| (f.at, f.kind, f.entry, f.part))
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

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts.get(severity as usize).copied().unwrap_or(0)
    }

    /// How many were not kept.
    pub fn dropped(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.kept.len() as u64
    }

    /// The worst severity.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Fatal, Severity::Violation, Severity::Lint, Severity::Unchecked]
            .into_iter()
            .find(|severity| self.count(*severity) > 0)
    }

    /// Whether the file passes.
    pub fn accepted(&self, profile: Profile) -> bool {
        self.worst().is_none_or(|worst| profile.accepts(worst))
    }

    /// How many findings are about each of `tensors` tensors.
    pub fn by_tensor(&self, tensors: usize) -> Vec<u32> {
        let mut counts = vec![0; tensors];
        for finding in &self.kept {
            if matches!(finding.kind, Kind::Tensor | Kind::Attribute)
                && let Some(count) = counts.get_mut(finding.entry as usize)
            {
                *count += 1;
            }
        }
        counts
    }
}
