//! Memory for the machine that follows pickles.

use alloc::vec::Vec;
use weighbridge_core::Absent;
use weighbridge_core::pickle::{PickleItem, PickleMemory, PickleStop};

/// A stack and a memo, which the pickles of a file share.
#[derive(Debug, Default)]
pub(in crate::check) struct Memory {
    stack: Vec<PickleItem>,
    memo: Vec<PickleItem>,
}

impl Memory {
    /// Forgets the memo of the last pickle.
    pub(in crate::check) fn clear(&mut self) {
        self.memo.clear();
    }

    /// What a step of a scan takes.
    pub(in crate::check) fn room(&mut self) -> PickleMemory<'_> {
        PickleMemory { stack: &mut self.stack, memo: &mut self.memo }
    }

    /// Makes room for the next step.
    ///
    /// # Errors
    /// Bytes of the file that are missing.
    pub(in crate::check) fn make(&mut self, stop: PickleStop) -> Result<(), Absent> {
        match stop {
            PickleStop::NeedBytes(absent) => return Err(absent),
            PickleStop::NeedStack(need) => grow(&mut self.stack, need),
            PickleStop::NeedMemo(need) => grow(&mut self.memo, need),
        }
        Ok(())
    }
}

/// Makes memory longer: at least by half, so that many small requests cost little.
fn grow(memory: &mut Vec<PickleItem>, need: usize) {
    let len = need.max(memory.len() + memory.len() / 2).max(64);
    memory.resize(len, PickleItem::EMPTY);
}
