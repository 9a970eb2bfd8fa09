//! Passes over valid tensors. Only hosts have this fast path; results do not depend on it.

use super::{Audit, start::Start};
use crate::audit::Stage;
use crate::base::features::SWEEP;
#[cfg(feature = "sweep")]
use crate::base::word;
use crate::file::{Cursor, File, Slot};
use crate::format::Glance;
use crate::model::name;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// What listing the tensors found for later stages.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Swept {
    /// The longest run of tensors that consecutive sweeps have passed over.
    from: u32,
    until: u32,
    pub(super) start: Start,
}

impl Swept {
    /// Notes where the listing of a table ended.
    pub(super) fn keep(&mut self, file: &File, stage: Stage, mut listed: Cursor) {
        if SWEEP && stage == Stage::Tensors {
            file.start_audit(&mut listed);
            self.start = Start::at(listed);
        }
    }

    /// Records a sweep.
    fn add(&mut self, from: u32, until: u32) {
        if from == self.until {
            self.until = until;
        } else if until.saturating_sub(from) > self.until.saturating_sub(self.from) {
            (self.from, self.until) = (from, until);
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
    /// Whether one pass proves what [`Container::prove`](crate::format::Container::prove) says, over a
    /// file that is resident as a whole.
    #[cfg(feature = "sweep")]
    pub(super) fn prove(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<bool, Halt> {
        let begun = self.cursor.index() > 0 || self.cursor.phase() > 0;
        if self.stage != Stage::Tensors || begun || self.incomplete || self.unproved {
            return Ok(false);
        }
        let Some(needed) = self.file.proof_slots(r.source()) else { return Ok(false) };
        let place = usize::try_from(needed).unwrap_or(usize::MAX);
        let slots = slots.get_mut(..place).ok_or_else(|| r.short_of(needed))?;
        let mut start = Cursor::START;
        let Some(end) = self.file.prove(r, &mut start, slots) else {
            self.unproved = true;
            return Ok(false);
        };
        self.proved_end = word(end);
        self.swept.start = Start::at(start);
        Ok(true)
    }

    /// Without the fast path nothing is proved.
    #[cfg(not(feature = "sweep"))]
    pub(super) fn prove(&mut self, _: &mut Reader<'_, '_>, _: &mut [Slot]) -> Result<bool, Halt> {
        Ok(false)
    }

    /// Passes over valid tensors. While names are in order, this needs the previous name, if
    /// there is one.
    pub(super) fn sweep(&mut self, r: &mut Reader<'_, '_>) {
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
    pub(super) fn sweep_names(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) {
        if !SWEEP || self.stage != Stage::TensorNames {
            return;
        }
        let Audit { file, cursor, seed, sorting, swept, .. } = self;
        // A sweep stays in one table.
        let table = cursor.phase();
        swept.again(file, r, cursor, &mut |glance| {
            let hash = name::hash(*seed, table, &glance.name);
            sorting.keep(slots, Slot::named(hash, EntryKind::Tensor, glance.index, &glance.name_at))
        });
    }
}
