//! Findings, in file order.

use crate::sort;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{EntryKind, Finding};

/// The order of findings by offset, as far as they were sorted.
#[derive(Debug, Default)]
pub struct Findings(Vec<u32>);

impl Findings {
    /// The positions of findings `range` of `all`, by offset.
    pub fn sorted(&mut self, all: &[Finding], range: Range<usize>) -> &[u32] {
        if self.0.len() != all.len() {
            let key = |i: u32| {
                let finding = all.get(i as usize);
                finding.map(|f| (f.offset, f.kind, f.entry, f.part))
            };
            self.0 = sort::sorted(all.len(), &mut |a, b| key(a) < key(b));
        }
        self.0.get(range).unwrap_or_default()
    }
}

/// How many findings are about each of `tensors` tensors.
pub fn by_tensor(all: &[Finding], tensors: usize) -> Vec<u32> {
    let mut counts = vec![0; tensors];
    for finding in all {
        if matches!(finding.kind, EntryKind::Tensor | EntryKind::Attribute)
            && let Some(count) = counts.get_mut(finding.entry as usize)
        {
            *count += 1;
        }
    }
    counts
}
