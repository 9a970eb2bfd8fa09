//! Entries, and whether two of them have one name.

use super::{Audit, Pause, Stage};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::hash;
use crate::index::{Slot, room, sort};
use crate::name::{Name, NameAt};
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::tensor::Status;
use crate::twins::Twins;

/// Where the search for equal names stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// Slots that are filled.
    pub(super) filled: usize,
    pub(super) sorted: bool,
    /// The slot that is compared with those of equal hash before it.
    pub(super) next: usize,
    /// The first slot with its hash.
    run: usize,
    /// The one among them that it is compared with.
    pub(super) other: usize,
    /// The two entries, as far as they were read: they need not be resident
    /// together.
    pair: [Option<Named>; 2],
    /// Their comparison, once begun.
    pub(super) twins: Option<Twins>,
}

/// An entry that has a name.
#[derive(Clone, Copy, Debug)]
struct Named {
    kind: Kind,
    index: u32,
    at: u64,
    name: NameAt,
    broken: bool,
}

impl Named {
    /// Whether the file gives the entry a name; one whose name is missing is
    /// broken for that reason, and equal to no other.
    fn is_named(&self) -> bool {
        self.name.at != 0
    }
}

impl Audit {
    pub(super) fn metadata(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Pause> {
        self.entries(r, false)
    }

    pub(super) fn tensors(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Pause> {
        self.entries(r, true)
    }

    /// Judges all entries, and looks whether their names ascend.
    fn entries(&mut self, r: &mut Reader<'_, '_>, tensors: bool) -> Result<(), Pause> {
        let mut last: Option<Name<'_>> = None;
        let mut phase = self.cursor.phase;
        loop {
            if tensors {
                self.sweep(r, &mut last);
            }
            let mut next = self.cursor;
            let Some(entry) = self.named(r, &mut next, tensors)? else {
                self.cursor = next;
                self.covered = tensors && self.file.is_covered(&next);
                let count = u64::from(self.counted);
                self.incomplete |= tensors && count < self.file.tensor_count();
                return Ok(());
            };
            self.incomplete |= entry.broken;
            if self.ordered && entry.is_named() {
                // With a single small window the name before may be gone; then
                // the order is taken as unknown, which only costs slots.
                let name = entry.name.read(r.source()).ok();
                let first = self.previous == NameAt::default();
                if last.is_none() && !first {
                    last = self.previous.read(r.source()).ok();
                }
                self.ordered = first
                    || next.phase != phase
                    || matches!((last, name), (Some(a), Some(b)) if a.precedes(&b));
                last = name;
                self.previous = entry.name;
            }
            phase = next.phase;
            self.counted = self.counted.saturating_add(1);
            self.cursor = next;
        }
    }

    /// Passes over tensors that nothing is wrong with. While names are in order,
    /// that takes the name before, unless there is none.
    fn sweep<'a>(&mut self, r: &mut Reader<'_, 'a>, last: &mut Option<Name<'a>>) {
        if self.ordered && self.counted > 0 && last.is_none() {
            return;
        }
        let Audit { file, cursor, ordered, previous, counted, .. } = self;
        file.sweep(r, cursor, &mut |glance| {
            if *ordered && last.is_some_and(|last| !last.precedes(&glance.name)) {
                return false;
            }
            *last = Some(glance.name);
            *previous = glance.name_at;
            *counted = counted.saturating_add(1);
            true
        });
    }

    /// The next entry, judged.
    fn named(
        &self,
        r: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
        tensors: bool,
    ) -> Result<Option<Named>, Halt> {
        Ok(if tensors {
            self.file.tensor(r, cursor)?.map(|tensor| Named {
                kind: Kind::Tensor,
                index: tensor.index,
                at: tensor.at,
                name: tensor.name,
                broken: tensor.status == Status::Broken,
            })
        } else {
            self.file.meta(r, cursor)?.map(|meta| Named {
                kind: meta.kind,
                index: meta.index,
                at: meta.at,
                name: meta.key,
                broken: meta.status == Status::Broken,
            })
        })
    }

    /// The rule that equal names of this kind break.
    fn duplicate(&self, kind: Kind) -> Option<Rule> {
        let policy = self.file.policy();
        match kind {
            Kind::Tensor => policy.duplicate_tensor,
            Kind::SizeVar => policy.duplicate_size,
            _ => policy.duplicate_meta,
        }
    }

    /// Sorts the names by hash and compares those of equal hash.
    pub(super) fn names(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        r.mute();
        let result = self.find_equal(r, slots);
        r.unmute();
        result
    }

    fn find_equal(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Pause> {
        let tensors = self.stage == Stage::TensorNames;
        while !self.cursor.done {
            if tensors {
                let Audit { file, cursor, search, seed, .. } = self;
                let phase = cursor.phase;
                file.sweep(r, cursor, &mut |glance| {
                    let Some(slot) = slots.get_mut(search.filled) else {
                        return false;
                    };
                    let key = hash::name(*seed, phase, &glance.name);
                    *slot = Slot {
                        key,
                        at: glance.at,
                        who: Slot::pack(glance.index, u32::from(phase)),
                    };
                    search.filled = search.filled.saturating_add(1);
                    true
                });
            }
            let mut next = self.cursor;
            let entry = self.named(r, &mut next, tensors)?;
            if let Some(entry) = entry.filter(Named::is_named) {
                let name = entry.name.read(r.source()).map_err(|absent| r.lack(absent))?;
                let key = hash::name(self.seed, next.phase, &name);
                let Some(slot) = slots.get_mut(self.search.filled) else {
                    return Err(Pause::Room(room(u64::from(self.counted), self.search.filled)));
                };
                *slot =
                    Slot { key, at: entry.at, who: Slot::pack(entry.index, u32::from(next.phase)) };
                self.search.filled = self.search.filled.saturating_add(1);
            }
            self.cursor = next;
        }
        let slots = slots.get_mut(..self.search.filled).unwrap_or_default();
        if !self.search.sorted {
            sort(slots);
            self.search.sorted = true;
        }
        while let Some(slot) = slots.get(self.search.next) {
            if slots.get(self.search.run).is_none_or(|first| first.key != slot.key) {
                self.search.run = self.search.next;
                self.search.other = self.search.next;
            }
            // Equal hashes of different names are next to impossible, so the
            // first comparison nearly always settles it.
            while self.search.other < self.search.next {
                let Some(other) = slots.get(self.search.other) else { break };
                let equal = self.compare(r, other, slot, tensors)?;
                self.search.pair = [None; 2];
                self.search.twins = None;
                if equal {
                    break;
                }
                self.search.other = self.search.other.saturating_add(1);
            }
            self.search.next = self.search.next.saturating_add(1);
            self.search.other = self.search.run;
        }
        Ok(())
    }

    /// Compares two entries' names, and reports if they are equal.
    fn compare(
        &mut self,
        r: &mut Reader<'_, '_>,
        first: &Slot,
        second: &Slot,
        tensors: bool,
    ) -> Result<bool, Pause> {
        let [a, b] = self.search.pair;
        let a = match a {
            Some(a) => a,
            None => self.again(r, first, tensors)?,
        };
        self.search.pair = [Some(a), b];
        let b = match b {
            Some(b) => b,
            None => self.again(r, second, tensors)?,
        };
        self.search.pair = [Some(a), Some(b)];
        let mut twins = self.search.twins.unwrap_or(Twins::new(a.name, b.name));
        let equal = twins.equal(r.source());
        self.search.twins = Some(twins);
        if !equal.map_err(|absent| r.lack(absent))? {
            return Ok(false);
        }
        if let Some(rule) = self.duplicate(b.kind) {
            let NameAt { at, len, .. } = b.name;
            r.unmute();
            r.about(b.kind, b.index);
            r.flag(rule, at, u64::from(len), u64::from(a.index), u64::from(b.index));
            r.mute();
        }
        Ok(true)
    }

    /// The entry of a slot, read again.
    fn again(&self, r: &mut Reader<'_, '_>, slot: &Slot, tensors: bool) -> Result<Named, Halt> {
        let (index, phase) = slot.unpack();
        let phase = u8::try_from(phase).unwrap_or(0);
        let mut cursor = Cursor { phase, ..Cursor::before(slot.at, index) };
        self.named(r, &mut cursor, tensors)?.ok_or(Halt::Broken(BYTES_CHANGED))
    }
}
