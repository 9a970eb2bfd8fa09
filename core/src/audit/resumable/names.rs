//! Entries, and duplicate names among them.

use super::Audit;
use super::entries::Named;
use crate::audit::{Stage, resumable::twins::Twins};
use crate::base::build::SWEEP;
use crate::file::{Cursor, File, Slot};
use crate::format::Glance;
use crate::model::{NameAt, name};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The longest run of tensors that consecutive sweeps have passed over.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Swept {
    from: u32,
    until: u32,
}

impl Swept {
    /// Records a sweep.
    fn add(&mut self, from: u32, until: u32) {
        if from == self.until {
            self.until = until;
        } else if until.saturating_sub(from) > self.until.saturating_sub(self.from) {
            *self = Swept { from, until };
        }
    }

    /// Sweeps the same tensors again.
    pub(super) fn again<'a>(
        &self,
        file: &File,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if (self.from..self.until).contains(&c.index()) {
            file.sweep_again(r, c, self.until, goes_on);
        } else {
            file.sweep(r, c, goes_on);
        }
    }
}

impl Audit {
    /// Validates all entries, and checks whether their names ascend.
    #[inline(never)]
    pub(super) fn entries(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let mut phase = self.cursor.phase();
        loop {
            self.sweep(r);
            let mut next = self.cursor;
            let Some(entry) = self.kept(r, &mut next)? else {
                self.cursor = next;
                let tensors = self.stage == Stage::Tensors;
                self.covered = tensors && self.file.is_covered(&mut next);
                self.keep_listed(next);
                self.incomplete |= tensors && u64::from(self.counted) < self.file.tensor_count();
                return Ok(());
            };
            self.incomplete |= entry.broken;
            if self.ordered && entry.is_named() {
                self.ordered = self.previous.offset == 0
                    || next.phase() != phase
                    || self.follows(r, &entry.name);
                self.previous = entry.name;
            }
            phase = next.phase();
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

    /// Passes over valid tensors. While names are in order, this needs the previous name, if
    /// there is one. Only hosts have this fast path; results do not depend on it.
    fn sweep(&mut self, r: &mut Reader<'_, '_>) {
        if !SWEEP || self.stage != Stage::Tensors {
            return;
        }
        let mut last = self.previous.read(r.source()).ok();
        if self.ordered && self.counted > 0 && last.is_none() {
            return;
        }
        if self.counted == 0 {
            last = None;
        }
        let Audit { file, cursor, ordered, previous, counted, swept, .. } = self;
        let from = cursor.index();
        file.sweep(r, cursor, &mut |glance| {
            if *ordered {
                *ordered = last.is_none_or(|last| last.precedes(&glance.name));
                last = Some(glance.name);
                *previous = glance.name_at;
            }
            true
        });
        *counted = counted.saturating_add(cursor.index().saturating_sub(from));
        swept.add(from, cursor.index());
    }

    /// Stores the names of valid tensors while slots are free.
    fn sweep_names(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) {
        if !SWEEP || self.stage != Stage::TensorNames {
            return;
        }
        let Audit { file, cursor, seed, sorting, swept, .. } = self;
        swept.again(file, r, cursor, &mut |glance| {
            let hash = name::hash(*seed, 0, &glance.name);
            sorting.keep(slots, Slot::named(hash, EntryKind::Tensor, glance.index, &glance.name_at))
        });
    }

    /// Stores where the format's audit starts after all tensors were listed.
    #[cfg(feature = "sweep")]
    fn keep_listed(&mut self, mut listed: Cursor) {
        if self.stage == Stage::Tensors {
            self.file.start_audit(&mut listed);
            self.values = listed;
        }
    }

    #[cfg(not(feature = "sweep"))]
    fn keep_listed(&mut self, _: Cursor) {}

    /// The next entry, validated. If bytes are missing, progress within a list is kept.
    fn kept(&mut self, r: &mut Reader<'_, '_>, cursor: &mut Cursor) -> Result<Option<Named>, Halt> {
        let entry = self.named(r, cursor);
        if entry.is_err() && (self.cursor.is_inside() || cursor.is_inside()) {
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
            let mut twins = self.twins.unwrap_or(Twins::new(a, b));
            let equal = twins.equal(r.source());
            self.twins = equal.is_err().then_some(twins);
            let equal = equal.map_err(|absent| r.lack(absent))? && first.kind() == second.kind();
            if equal {
                let twin = (second.kind(), second.unpack().0, b);
                self.file.report_twin(r, twin, first.unpack().0, self.owner());
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
