//! Marks of entries in the caller's working memory.

use super::{Cursor, File, Slot};
use crate::format::{Container, Marks};
#[cfg(feature = "sweep")]
use crate::format::{Memory, Words};
#[cfg(feature = "sweep")]
use crate::input::Source;
use crate::parse::Reader;
use crate::rule::Halt;

/// Number of marks in a slot.
const IN_SLOT: u32 = u64::BITS;

/// Marks in slots, 64 in each.
pub(crate) struct SlotMarks<'s>(pub(crate) &'s mut [Slot]);

impl SlotMarks<'_> {
    /// Number of slots that `count` marks take.
    pub(crate) fn slots(count: u32) -> u32 {
        count.saturating_add(IN_SLOT.wrapping_sub(1)).checked_div(IN_SLOT).unwrap_or(0)
    }

    fn place(entry: u32) -> (usize, u64) {
        let slot = entry.checked_div(IN_SLOT).unwrap_or(0);
        (usize::try_from(slot).unwrap_or(usize::MAX), 1_u64.wrapping_shl(entry))
    }
}

impl Marks for SlotMarks<'_> {
    fn most(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_mul(IN_SLOT)
    }

    fn has(&self, entry: u32) -> bool {
        let (slot, bit) = SlotMarks::place(entry);
        self.0.get(slot).is_some_and(|slot| slot.who & bit != 0)
    }

    fn set(&mut self, entry: u32) {
        let (slot, bit) = SlotMarks::place(entry);
        if let Some(slot) = self.0.get_mut(slot) {
            slot.who |= bit;
        }
    }

    fn clear(&mut self, count: u32) {
        let used = usize::try_from(SlotMarks::slots(count)).unwrap_or(usize::MAX);
        self.0.iter_mut().take(used).for_each(|slot| slot.who = 0);
    }
}

#[cfg(feature = "sweep")]
impl Memory for SlotMarks<'_> {
    #[inline]
    fn words(&mut self, place: usize) -> Option<Words<'_>> {
        let Slot { key, at, who } = self.0.get_mut(place)?;
        Some(Words { marks: who, starts: key, odd: at })
    }
}

#[cfg(feature = "sweep")]
impl File {
    /// Number of slots that [`prove`](Self::prove) takes; `None` if it would prove nothing.
    pub(crate) fn proof_slots(&self, source: &Source<'_>) -> Option<u32> {
        each!(self, header => header.proof_places(source), None)
    }

    /// Proves what [`Container::prove`] says. Leaves the start of the audit in `cursor`.
    pub(crate) fn prove(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
        slots: &mut [Slot],
    ) -> Option<u64> {
        let mut memory = SlotMarks(slots);
        each!(self, header => header.prove(reader, cursor.of(header), &mut memory), None)
    }
}

impl File {
    /// Number of entries that the audit can mark at the same time; 0 if it needs no memory for
    /// them.
    pub(crate) fn marks(&self) -> u32 {
        each!(self, header => Container::marks(header), 0)
    }

    /// [`audit`](Self::audit) with memory for marks.
    pub(crate) fn audit_marking(
        &self,
        reader: &mut Reader<'_, '_>,
        cursor: &mut Cursor,
        marks: &mut dyn Marks,
    ) -> Result<(), Halt> {
        if cursor.is_done() {
            return Ok(());
        }
        each!(self, header => header.audit_marking(reader, cursor.of(header), marks), Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_mark_of_its_own() {
        let mut slots = [Slot::EMPTY; 3];
        let mut marks = SlotMarks(&mut slots);
        marks.clear(u32::MAX);
        assert_eq!(marks.most(), 192);
        for entry in 0..192 {
            assert!(!marks.has(entry), "{entry}");
            marks.set(entry);
            assert!(marks.has(entry), "{entry}");
        }
        marks.set(192);
        assert!(!marks.has(192));
    }

    #[test]
    fn cleared_marks_are_those_of_the_first_entries() {
        let mut slots = [Slot::EMPTY; 3];
        let mut marks = SlotMarks(&mut slots);
        for entry in 0..192 {
            marks.set(entry);
        }
        marks.clear(65);
        assert!((0..128).all(|entry| !marks.has(entry)));
        assert!((128..192).all(|entry| marks.has(entry)));
    }
}
