//! Entries, and duplicate names among them.

use super::Audit;
use super::entries::Named;
use crate::audit::{Stage, resumable::compare_names::NamePair};
use crate::base::features::SWEEP;
use crate::file::{Cursor, Slot};
use crate::model::{NameAt, name};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

impl Audit {
    /// Validates all entries, and checks whether their names ascend.
    #[inline(never)]
    pub(super) fn entries(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        loop {
            self.sweep(r);
            let mut next = self.cursor;
            let Some(entry) = self.kept(r, &mut next)? else {
                self.cursor = next;
                let tensors = self.stage == Stage::Tensors;
                self.covered = tensors && self.file.is_covered(&mut next);
                self.swept.keep(&self.file, self.stage, next);
                self.incomplete |= tensors && u64::from(self.counted) < self.file.tensor_count();
                return Ok(());
            };
            self.incomplete |= entry.broken;
            if self.ordered && entry.is_named() {
                self.ordered = self.previous.offset == 0 || self.follows(r, &entry.name);
                self.previous = entry.name;
            }
            self.counted = self.counted.wrapping_add(1);
            self.cursor = next;
        }
    }

    /// Whether a name comes after the previous one.
    ///
    /// With a single small window the previous name may be gone; the order then counts as
    /// unknown, which only costs slots.
    pub(super) fn follows(&self, r: &Reader<'_, '_>, name: &NameAt) -> bool {
        match (self.previous.read(r.source()), name.read(r.source())) {
            (Ok(before), Ok(name)) => before.precedes(&name),
            _ => false,
        }
    }

    /// The next entry, validated. If bytes are missing, progress towards it is kept.
    fn kept(&mut self, r: &mut Reader<'_, '_>, cursor: &mut Cursor) -> Result<Option<Named>, Halt> {
        let entry = self.named(r, cursor);
        // Names are compared only within a table.
        if cursor.phase() != self.cursor.phase() {
            // A table that goes on after one within it: its names have not all been compared.
            self.ordered &= cursor.phase() > self.cursor.phase();
            self.previous = NameAt::default();
        }
        if entry.is_err() {
            self.cursor = *cursor;
        }
        entry
    }

    /// The next entry, validated.
    pub(super) fn named(
        &self,
        r: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
    ) -> Result<Option<Named>, Halt> {
        if matches!(self.stage, Stage::Tensors | Stage::TensorNames) {
            self.file.named_tensor(r, cursor)
        } else {
            self.file.named_meta(r, cursor)
        }
    }

    /// Sorts the names by hash and compares those with equal hashes.
    #[inline(never)]
    pub(super) fn names(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        if SWEEP && self.are_distinct(r, slots) {
            return Ok(());
        }
        while !self.cursor.is_done() {
            self.sweep_names(r, slots);
            let mut next = self.cursor;
            if let Some(entry) = self.kept(r, &mut next)?.filter(Named::is_named) {
                let slot = self.slot(r, next.phase(), entry.kind, entry.index, &entry.name)?;
                self.sorting.push(r, slots, self.counted, slot)?;
            }
            self.cursor = next;
        }
        self.equal_names(r, slots)
    }

    /// The slot of an entry whose name is compared with others of its `table`.
    pub(super) fn slot(
        &self,
        r: &mut Reader<'_, '_>,
        table: u8,
        kind: EntryKind,
        index: u32,
        name: &NameAt,
    ) -> Result<Slot, Halt> {
        let read = r.name(name)?;
        Ok(Slot::named(name::hash(self.seed, table, &read), kind, index, name))
    }

    /// Compares the names of slots with equal hashes, and reports equal names.
    #[inline(never)]
    pub(super) fn equal_names(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Halt> {
        let slots = self.sorting.sorted(slots);
        while let Some((first, second)) = self.sorting.pair(slots) {
            let (a, b) = (first.name(), second.name());
            let mut pair = self.pair.unwrap_or(NamePair::new(a, b));
            let equal = pair.equal(r.source());
            self.pair = equal.is_err().then_some(pair);
            let equal = equal.map_err(|absent| r.lack(absent))? && first.kind() == second.kind();
            if equal {
                let duplicate = (second.kind(), second.unpack().0, b);
                self.file.report_duplicate(r, duplicate, first.unpack().0, self.owner());
            }
            self.sorting.compared(equal);
        }
        Ok(())
    }

    /// The tensor whose metadata entries are validated.
    fn owner(&self) -> Option<u32> {
        self.hand.as_ref().map(|tensor| tensor.index)
    }
}
