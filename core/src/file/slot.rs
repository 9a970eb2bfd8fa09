//! Working storage of the caller, and sorting it.

#[cfg(not(feature = "windows"))]
use crate::base::widen;
use crate::base::{Word, wide, word};
#[cfg(not(feature = "windows"))]
use crate::input::Source;
use crate::input::Span;
#[cfg(not(feature = "windows"))]
use crate::model::Name;
use crate::model::{NameAt, NameEncoding};
use crate::rule::EntryKind;
#[cfg(any(test, all(feature = "windows", not(feature = "sweep"))))]
use core::cell::Cell;

/// One entry of working storage that the caller provides, for each tensor or
/// each part of the file: 24 bytes, or 16 in a reader for 32 bits of files that
/// are in memory as a whole.
///
/// What it holds belongs to this crate; make slots with [`Slot::EMPTY`]. What is
/// called again after a [`Stop`](crate::Stop) takes slots up where it left them: with
/// others in their place, an audit may miss what it looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What is sorted by: the hash of a name, or an offset.
    pub(crate) key: Word,
    /// The offset of an entry, or a length.
    pub(crate) at: Word,
    /// Who it is: a position, with a table or a kind above it.
    pub(crate) who: u64,
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<Slot>() <= 24);

impl Slot {
    /// A slot that holds nothing.
    pub const EMPTY: Slot = Slot { key: 0, at: 0, who: 0 };

    /// Packs a position with what distinguishes its table.
    pub(crate) fn pack(entry: u32, above: u32) -> u64 {
        u64::from(entry) | (u64::from(above) << 32)
    }

    /// The position, and what distinguishes its table.
    pub(crate) fn unpack(&self) -> (u32, u32) {
        let low = u32::try_from(self.who & 0xFFFF_FFFF).unwrap_or(0);
        let high = u32::try_from(self.who >> 32).unwrap_or(0);
        (low, high)
    }

    /// The entry of something at `span` of the file that is `who`.
    pub(crate) fn part(span: Span, who: u64) -> Slot {
        Slot { key: word(span.offset), at: word(span.len), who }
    }

    /// Where that span ends, which is no further than the file.
    pub(crate) fn end(&self) -> Word {
        self.key.wrapping_add(self.at)
    }

    /// Whether it comes first in the order in which slots are sorted: by key, then
    /// by the rest.
    #[cfg(any(test, not(feature = "sweep")))]
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        (self.key, self.at, self.who) < (other.key, other.at, other.who)
    }

    /// The offset of the entry in a slot that was made for looking up.
    pub(crate) fn offset(&self) -> u64 {
        wide(self.at)
    }
}

#[cfg(feature = "windows")]
impl Slot {
    /// Entry `index` with the name at `name`, whose hash is `key`. No file is so
    /// long that an offset needs the byte where the kind is kept.
    pub(crate) fn named(key: u64, kind: EntryKind, index: u32, name: &NameAt) -> Slot {
        let code = u64::from(kind.code()) | (u64::from(name.encoding.code()) << 4);
        Slot { key, at: (name.offset & OFFSET) | (code << 56), who: Slot::pack(index, name.len) }
    }

    /// The name of an entry that was made by [`Slot::named`].
    pub(crate) fn name(&self) -> NameAt {
        let encoding = NameEncoding::of(u32::try_from(self.at >> 60).unwrap_or(0));
        NameAt { offset: self.at & OFFSET, len: self.unpack().1, encoding }
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> EntryKind {
        EntryKind::of(u32::try_from((self.at >> 56) & 0xF).unwrap_or(0))
    }
}

/// The bits of an offset.
#[cfg(feature = "windows")]
const OFFSET: u64 = u64::MAX >> 8;

#[cfg(not(feature = "windows"))]
impl Slot {
    /// Makes it entry `index` of `table` with the name at `name`. It stays as it is
    /// if the file gives the entry no name: one whose name is missing is broken for
    /// that reason, and equal to no other.
    pub(crate) fn set_name(&mut self, table: u8, kind: EntryKind, index: u32, name: &NameAt) {
        let at = word(name.offset);
        if at != 0 {
            let key = kind.code() | (name.encoding.code() << 4) | (u32::from(table) << 8);
            *self = Slot { key: word(key.into()), at, who: Slot::pack(index, name.len) };
        }
    }

    /// The table and the kind of an entry that was made by [`Slot::set_name`]: only
    /// where they are the same, names are compared.
    pub(crate) fn table(&self) -> usize {
        self.key & !0xF0
    }

    /// Where its name lies.
    pub(crate) fn name(&self) -> NameAt {
        NameAt { offset: widen(self.at), len: self.unpack().1, encoding: self.encoding() }
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
    pub(crate) fn kind(&self) -> EntryKind {
        EntryKind::of(u32::try_from(self.key & 0xF).unwrap_or(0))
    }
}

/// Sorts slots by key, then by the rest.
///
/// With the feature `sweep` this is the standard library's sort, which is about
/// six times as fast as the heap sort of hosts without it: that has no way to
/// panic. A reader of files that are in memory as a whole has a shorter one.
pub(crate) fn sort(slots: &mut [Slot]) {
    #[cfg(feature = "sweep")]
    #[allow(clippy::disallowed_methods, reason = "tuples of integers have one order")]
    slots.sort_unstable_by_key(|slot| (slot.key, slot.at, slot.who));
    #[cfg(all(feature = "windows", not(feature = "sweep")))]
    heap_sort(slots);
    #[cfg(not(feature = "windows"))]
    shell_sort(slots, &Slot::precedes);
}

/// Sorts slots in that order; two thirds of the code of a heap sort. With these
/// gaps (Knuth's) it takes at most in the order of n to the 1.5 comparisons,
/// whatever the order was.
#[cfg(any(test, not(feature = "windows")))]
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

/// Sorts slots by key, then by the rest, in the order of n log n steps whatever
/// the order was.
#[cfg(any(test, all(feature = "windows", not(feature = "sweep"))))]
fn heap_sort(slots: &mut [Slot]) {
    let mut end = slots.len();
    let mut root = end >> 1;
    // First every slot with children sinks, from the last to the first; then the
    // greatest is taken out again and again, and what took its place sinks.
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

#[cfg(any(test, all(feature = "windows", not(feature = "sweep"))))]
fn exchange(slots: &mut [Slot], a: usize, b: usize) {
    let slots = Cell::from_mut(slots).as_slice_of_cells();
    if let (Some(a), Some(b)) = (slots.get(a), slots.get(b)) {
        let kept = a.replace(b.get());
        b.set(kept);
    }
}

/// How many slots to ask for: what was declared, or one more than there was
/// room for when the declaration is lower.
pub(crate) fn room(declared: u32, filled: usize) -> u32 {
    let least = filled.saturating_add(1);
    u32::try_from(least).unwrap_or(u32::MAX).max(declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_sorts() {
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
