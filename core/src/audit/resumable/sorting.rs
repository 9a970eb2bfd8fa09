//! Slots that the audit fills, sorts and compares.

use crate::file::{
    Slot,
    slot::{room, sort},
};
use crate::model::{NameAt, NameEncoding};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The bits that hold an offset.
const OFFSET: u64 = u64::MAX >> 8;

impl Slot {
    /// Entry `index` with the name at `name`, whose hash is `key`. Offsets fit in 56 bits;
    /// the top byte holds the kind.
    pub(crate) fn named(key: u64, kind: EntryKind, index: u32, name: &NameAt) -> Slot {
        let code = u64::from(kind.code()) | (u64::from(name.encoding.code()) << 4);
        Slot { key, at: (name.offset & OFFSET) | (code << 56), who: Slot::pack(index, name.len) }
    }

    /// The name of an entry stored by [`Slot::named`].
    pub(crate) fn name(&self) -> NameAt {
        let encoding = NameEncoding::of(u32::try_from(self.at >> 60).unwrap_or(0));
        NameAt { offset: self.at & OFFSET, len: self.unpack().1, encoding }
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> EntryKind {
        EntryKind::of(u32::try_from((self.at >> 56) & 0xF).unwrap_or(0))
    }
}

/// The caller's slots, filled one by one, then sorted, then read in order; plain numbers, because
/// the slots are passed in with every call.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Sorting {
    pub(crate) filled: usize,
    sorted: bool,
    /// The current slot.
    next: usize,
    /// Number of previous slots with the same key that the current slot was compared with.
    back: usize,
}

impl Sorting {
    /// Stores `slot`; at least `declared` slots are expected.
    pub(crate) fn push(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        declared: u32,
        slot: Slot,
    ) -> Result<(), Halt> {
        match self.keep(slots, slot) {
            true => Ok(()),
            false => Err(r.short_of(room(declared, self.filled))),
        }
    }

    /// Stores `slot` if one is free; returns whether it did.
    pub(crate) fn keep(&mut self, slots: &mut [Slot], slot: Slot) -> bool {
        let Some(free) = slots.get_mut(self.filled) else { return false };
        *free = slot;
        self.filled = self.filled.wrapping_add(1);
        true
    }

    /// The filled slots, sorted.
    pub(crate) fn sorted<'s>(&mut self, slots: &'s mut [Slot]) -> &'s [Slot] {
        let slots = slots.get_mut(..self.filled).unwrap_or_default();
        if !self.sorted {
            sort(slots);
            self.sorted = true;
        }
        slots
    }

    /// The current slot; `None` after the last.
    pub(crate) fn current(&self, slots: &[Slot]) -> Option<Slot> {
        slots.get(self.next).copied()
    }

    /// Moves to the next slot.
    pub(crate) fn pass(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.back = 0;
    }

    /// Two slots with the same key that have not been compared yet; `None` at the end.
    pub(crate) fn pair(&mut self, slots: &[Slot]) -> Option<(Slot, Slot)> {
        loop {
            let slot = self.current(slots)?;
            // Different names almost never have equal hashes, so the first comparison
            // usually settles it.
            let before = self.next.wrapping_sub(self.back).wrapping_sub(1);
            match slots.get(before) {
                Some(other) if other.key == slot.key => return Some((*other, slot)),
                _ => self.pass(),
            }
        }
    }

    /// Moves on after a pair has been compared.
    pub(crate) fn compared(&mut self, equal: bool) {
        if equal {
            self.pass();
        } else {
            self.back = self.back.wrapping_add(1);
        }
    }
}
