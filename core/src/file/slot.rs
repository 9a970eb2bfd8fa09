//! The caller's working memory, and sorting it.

use crate::base::features::{SWEEP, WINDOWS};
use crate::base::{Word, wide, word};
use crate::input::{Source, Span};
use crate::model::Name;
use crate::model::{NameAt, NameEncoding};
use crate::rule::EntryKind;
use core::cell::Cell;

/// An entry of the caller's working memory, one for each tensor or each part of the file: 24
/// bytes, or 16 in a 32-bit reader of files that are wholly in memory.
///
/// Its contents belong to this crate; create slots with [`Slot::EMPTY`]. After a
/// [`Stop`](crate::Stop), pass the slots unchanged to the next call: otherwise an audit may miss
/// faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The sort key: the hash of a name, or an offset.
    pub(crate) key: Word,
    /// The offset of an entry, or a length.
    pub(crate) at: Word,
    /// The owner: a position, with a table or a kind in the upper half.
    pub(crate) who: u64,
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<Slot>() <= 24);

impl Slot {
    /// An empty slot.
    pub const EMPTY: Slot = Slot { key: 0, at: 0, who: 0 };

    /// Packs a position with the number of its table.
    pub(crate) fn pack(entry: u32, above: u32) -> u64 {
        u64::from(entry) | (u64::from(above) << 32)
    }

    /// The position, and the number of its table.
    pub(crate) fn unpack(&self) -> (u32, u32) {
        let low = u32::try_from(self.who & 0xFFFF_FFFF).unwrap_or(0);
        let high = u32::try_from(self.who >> 32).unwrap_or(0);
        (low, high)
    }

    /// A slot for the bytes at `span`, which belong to `who`.
    pub(crate) fn part(span: Span, who: u64) -> Slot {
        Slot { key: word(span.offset), at: word(span.len), who }
    }

    /// End of that span, which is inside the file.
    pub(crate) fn end(&self) -> Word {
        self.key.wrapping_add(self.at)
    }

    /// Whether it sorts before `other`: by key, then by the rest.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        (self.key, self.at, self.who) < (other.key, other.at, other.who)
    }

    /// The offset of the entry in a slot of an index.
    pub(crate) fn offset(&self) -> u64 {
        wide(self.at)
    }
}

/// Entries as the audit of a file wholly in memory stores them.
impl Slot {
    /// Stores entry `index` of `table` with the name at `name`. Leaves the slot unchanged if the
    /// entry has no name: such an entry is broken, and equal to no other.
    pub(crate) fn set_name(&mut self, table: u8, kind: EntryKind, index: u32, name: &NameAt) {
        let at = word(name.offset);
        if at != 0 {
            let key = kind.code() | (name.encoding.code() << 4) | (u32::from(table) << 8);
            *self = Slot { key: word(key.into()), at, who: Slot::pack(index, name.len) };
        }
    }

    /// The table and kind of an entry stored by [`Slot::set_name`]; only names with the same
    /// table and kind are compared.
    pub(crate) fn table(&self) -> Word {
        self.key & !0xF0
    }

    /// Where its name is stored.
    pub(crate) fn whole_name(&self) -> NameAt {
        NameAt { offset: wide(self.at), len: self.unpack().1, encoding: self.encoding() }
    }

    /// Its name.
    pub(crate) fn read<'a>(&self, source: &Source<'a>) -> Name<'a> {
        let len = usize::try_from(self.unpack().1).unwrap_or(usize::MAX);
        Name::new(source.piece(self.at, len).unwrap_or_default(), self.encoding())
    }

    fn encoding(&self) -> NameEncoding {
        NameEncoding::of(u32::try_from((self.key >> 4) & 0xF).unwrap_or(0))
    }

    /// Whether it holds neither a name nor a part of the file.
    pub(crate) fn is_empty(&self) -> bool {
        self.at == 0 && self.who == 0
    }

    /// Its kind.
    pub(crate) fn whole_kind(&self) -> EntryKind {
        EntryKind::of(u32::try_from(self.key & 0xF).unwrap_or(0))
    }
}

/// Sorts slots by key, then by the rest.
///
/// With the feature `sweep` this is the standard library's sort, about six times as fast as the
/// heap sort of other hosts, which has no panic path. A reader of files wholly in memory uses a
/// shorter sort.
pub(crate) fn sort(slots: &mut [Slot]) {
    if SWEEP {
        #[allow(clippy::disallowed_methods, reason = "tuples of integers have one order")]
        slots.sort_unstable_by_key(|slot| (slot.key, slot.at, slot.who));
    } else if WINDOWS {
        heap_sort(slots);
    } else {
        shell_sort(slots, &Slot::precedes);
    }
}

/// Sorts slots by `precedes`, in two thirds of the code of a heap sort. With these gaps (Knuth's)
/// it takes at most O(n^1.5) comparisons.
pub(crate) fn shell_sort(slots: &mut [Slot], precedes: &dyn Fn(&Slot, &Slot) -> bool) {
    let mut gap = 1_usize;
    while gap < slots.len() {
        gap = gap.wrapping_mul(3).wrapping_add(1);
    }
    while gap > 0 {
        let mut next = gap;
        while next < slots.len() {
            let mut at = next;
            while let Some(before) = at.checked_sub(gap)
                && let Some((head, tail)) = slots.split_at_mut_checked(at)
                && let (Some(a), Some(b)) = (head.get_mut(before), tail.first_mut())
                && precedes(b, a)
            {
                core::mem::swap(a, b);
                at = before;
            }
            next = next.wrapping_add(1);
        }
        gap = gap.checked_div(3).unwrap_or(0);
    }
}

/// Sorts slots by key, then by the rest, in at most O(n log n) steps.
fn heap_sort(slots: &mut [Slot]) {
    let mut end = slots.len();
    let mut root = end >> 1;
    // First every slot with children sinks, from the last to the first. Then the greatest
    // is repeatedly taken out, and its replacement sinks.
    while end > 1 {
        match root.checked_sub(1) {
            Some(before) => root = before,
            None => {
                end = end.wrapping_sub(1);
                exchange(slots, 0, end);
            }
        }
        let heap = slots.get_mut(..end).unwrap_or_default();
        let mut parent = root;
        loop {
            let left = parent.wrapping_mul(2).wrapping_add(1);
            let right = left.wrapping_add(1);
            let comes_before = |a, b| match (heap.get::<usize>(a), heap.get::<usize>(b)) {
                (Some(a), Some(b)) => a.precedes(b),
                _ => false,
            };
            let child = if comes_before(left, right) { right } else { left };
            if !comes_before(parent, child) {
                break;
            }
            exchange(heap, parent, child);
            parent = child;
        }
    }
}

fn exchange(slots: &mut [Slot], a: usize, b: usize) {
    let slots = Cell::from_mut(slots).as_slice_of_cells();
    if let (Some(a), Some(b)) = (slots.get(a), slots.get(b)) {
        let kept = a.replace(b.get());
        b.set(kept);
    }
}

/// Number of slots to request: the declared number, or one more than are filled if that is
/// greater.
pub(crate) fn room(declared: u32, filled: usize) -> u32 {
    let least = filled.saturating_add(1);
    u32::try_from(least).unwrap_or(u32::MAX).max(declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_orders_slots() {
        let mut state = 1_u64;
        for len in 0..200 {
            let mut slots = std::vec::Vec::new();
            for i in 0..len {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                slots.push(Slot { key: word(state >> 60), at: word(state & 3), who: i });
            }
            let mut expected = slots.clone();
            expected.sort_by_key(|slot| (slot.key, slot.at, slot.who));
            let mut others = slots.clone();
            heap_sort(&mut slots);
            assert_eq!(slots, expected);
            shell_sort(&mut others, &Slot::precedes);
            assert_eq!(others, expected);
        }
    }
}
