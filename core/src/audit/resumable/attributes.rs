//! Metadata entries of tensors, and duplicate keys within a tensor.

use super::Audit;
use super::sorting::Sorting;
use crate::file::{Cursor, Slot};
use crate::model::{Metadata, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Progress within one tensor.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Attributes {
    cursor: Cursor,
    /// The entries are validated; now keys are compared.
    validated: bool,
}

impl Audit {
    #[inline(never)]
    pub(super) fn attributes(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Halt> {
        // A tensor that was started is finished first, however its bytes arrive.
        while (self.hand.is_some() || !r.is_spent()) && self.take_in_hand(r)? {
            let Some(tensor) = self.hand else { break };
            if !self.attributes.validated {
                loop {
                    match &self.file.attribute(r, &tensor, &mut self.attributes.cursor) {
                        Ok(Some(meta)) => self.count(r, meta),
                        Ok(None) => break,
                        Err(halt) => return Err(*halt),
                    }
                }
                self.attributes = Attributes { validated: true, ..Attributes::default() };
            }
            if !self.ordered {
                r.mute();
                self.equal_keys(r, &tensor, slots)?;
                r.unmute();
            }
            self.attributes = Attributes::default();
            self.sorting = Sorting::default();
            self.ordered = true;
            self.counted = 0;
            self.hand = None;
        }
        Ok(())
    }

    /// Counts an entry, and notes whether keys still ascend.
    fn count(&mut self, r: &Reader<'_, '_>, meta: &Metadata) {
        if meta.kind != EntryKind::Attribute {
            return;
        }
        if self.counted > 0 && self.ordered {
            self.ordered = self.follows(r, &meta.key);
        }
        self.previous = meta.key;
        self.counted = self.counted.wrapping_add(1);
    }

    /// Sorts the keys of one tensor by hash and compares those with equal hashes.
    #[inline(never)]
    fn equal_keys(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        slots: &mut [Slot],
    ) -> Result<(), Halt> {
        while !self.attributes.cursor.is_done() {
            let mut next = self.attributes.cursor;
            let meta = self.file.attribute(r, tensor, &mut next);
            if meta.is_err() {
                // Keep the progress made so far.
                self.attributes.cursor = next;
            }
            if let Some(meta) = &meta? {
                let slot = self.slot(r, 0, EntryKind::Attribute, meta.index, &meta.key)?;
                self.sorting.push(r, slots, self.counted, slot)?;
            }
            self.attributes.cursor = next;
        }
        self.equal_names(r, slots)
    }
}
