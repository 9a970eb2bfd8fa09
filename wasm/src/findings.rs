//! Findings, in file order.

use alloc::vec::Vec;
use core::ops::Range;
use weighbridge::table::by_offset;
use weighbridge_core::Finding;

/// Positions of findings by offset, sorted again when their number changes.
#[derive(Debug, Default)]
pub struct Findings(Vec<u32>);

impl Findings {
    /// The positions of findings `range` of `all`, by offset.
    pub fn sorted(&mut self, all: &[Finding], range: Range<usize>) -> &[u32] {
        if self.0.len() != all.len() {
            self.0 = by_offset(all);
        }
        self.0.get(range).unwrap_or_default()
    }
}
