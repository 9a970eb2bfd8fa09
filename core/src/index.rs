//! Lookup by name over storage of the caller.

use crate::cursor::Cursor;
use crate::file::File;
use crate::finding::{Kind, Stop};
use crate::hash;
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::source::Source;
use crate::tensor::{Chunks, Status, Tensor};

/// One entry of working storage: 24 bytes that the caller provides, for each
/// tensor or each part of the file.
///
/// What it holds belongs to this crate; make slots with [`Slot::EMPTY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// What is sorted by: the hash of a name, or an offset.
    pub(crate) key: u64,
    /// The offset of an entry, or a length.
    pub(crate) at: u64,
    /// Who it is: a position, with a table or a kind above it.
    pub(crate) who: u64,
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<Slot>() == 24);

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

    /// Entry `index` with the name at `name`, whose hash is `key`. No file is so
    /// long that an offset needs the byte where the kind is kept.
    pub(crate) fn named(key: u64, kind: Kind, index: u32, name: &NameAt) -> Slot {
        let encoding = match name.encoding {
            NameEncoding::Plain => 0,
            NameEncoding::Number => 1,
            NameEncoding::Chunks => 2,
            NameEncoding::Json => 3,
        };
        let code = u64::from(kind.code()) | (encoding << 4);
        Slot { key, at: (name.at & OFFSET) | (code << 56), who: Slot::pack(index, name.len) }
    }

    /// The name of an entry that was made by [`Slot::named`].
    pub(crate) fn name(&self) -> NameAt {
        let encoding = match self.at >> 60 {
            0 => NameEncoding::Plain,
            1 => NameEncoding::Number,
            2 => NameEncoding::Chunks,
            _ => NameEncoding::Json,
        };
        NameAt { at: self.at & OFFSET, len: self.unpack().1, encoding }
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        Kind::of(u32::try_from((self.at >> 56) & 0xF).unwrap_or(0))
    }
}

/// The bits of an offset.
const OFFSET: u64 = u64::MAX >> 8;

/// Sorts slots by key, then by the rest.
///
/// Without the feature `sweep` this is a heap sort, which has no way to panic;
/// with it, the standard library's sort, which is about six times as fast.
pub(crate) fn sort(slots: &mut [Slot]) {
    #[cfg(feature = "sweep")]
    #[allow(clippy::disallowed_methods, reason = "tuples of integers have one order")]
    slots.sort_unstable_by_key(|slot| (slot.key, slot.at, slot.who));
    #[cfg(not(feature = "sweep"))]
    heap_sort(slots, &|a, b| (a.key, a.at, a.who) < (b.key, b.at, b.who));
}

/// Sorts slots so that none comes before one that `precedes` it.
#[cfg(any(test, not(feature = "sweep")))]
pub(crate) fn heap_sort(slots: &mut [Slot], precedes: &dyn Fn(&Slot, &Slot) -> bool) {
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
            let comes_before = |a, b| match (heap.get(a), heap.get(b)) {
                (Some(a), Some(b)) => precedes(a, b),
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

#[cfg(any(test, not(feature = "sweep")))]
fn exchange(slots: &mut [Slot], a: usize, b: usize) {
    if let Ok([a, b]) = slots.get_disjoint_mut([a, b]) {
        core::mem::swap(a, b);
    }
}

/// Slots of the caller that are filled one by one, then sorted, then looked at
/// in order; plain numbers, because the slots come anew with every call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sorting {
    pub(crate) filled: usize,
    sorted: bool,
    /// The slot that is looked at.
    next: usize,
    /// With how many before it, of the same key, it was compared.
    back: usize,
}

impl Sorting {
    /// Keeps `slot`, of which there will be `declared` or more.
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

    /// Keeps `slot`, if there is room.
    pub(crate) fn keep(&mut self, slots: &mut [Slot], slot: Slot) -> bool {
        let Some(free) = slots.get_mut(self.filled) else { return false };
        *free = slot;
        self.filled = self.filled.wrapping_add(1);
        true
    }

    /// What was kept, in order.
    pub(crate) fn sorted<'s>(&mut self, slots: &'s mut [Slot]) -> &'s [Slot] {
        let slots = slots.get_mut(..self.filled).unwrap_or_default();
        if !self.sorted {
            sort(slots);
            self.sorted = true;
        }
        slots
    }

    /// The slot that is looked at; `None` behind the last.
    pub(crate) fn current(&self, slots: &[Slot]) -> Option<Slot> {
        slots.get(self.next).copied()
    }

    /// Goes on to the next slot.
    pub(crate) fn pass(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.back = 0;
    }

    /// Two slots of one key that were not compared yet; `None` at the end.
    pub(crate) fn pair(&mut self, slots: &[Slot]) -> Option<(Slot, Slot)> {
        loop {
            let slot = self.current(slots)?;
            // Equal hashes of different names are next to impossible, so the
            // first comparison nearly always settles it.
            let before = self.next.wrapping_sub(self.back).wrapping_sub(1);
            match slots.get(before) {
                Some(other) if other.key == slot.key => return Some((*other, slot)),
                _ => self.pass(),
            }
        }
    }

    /// Goes on behind a pair that was compared.
    pub(crate) fn compared(&mut self, equal: bool) {
        if equal {
            self.pass();
        } else {
            self.back = self.back.wrapping_add(1);
        }
    }
}

/// Finds tensors by name in logarithmic time.
///
/// `S` is where it keeps its slots, one a tensor: a slice, an array, a
/// `heapless::Vec` filled to its capacity, or a `Vec`.
///
/// ```
/// # fn demo(file: weighbridge::File, source: &weighbridge::Source<'_>) -> Result<(), weighbridge::Stop> {
/// use weighbridge::{Index, Name, Slot};
/// let mut index = Index::new([Slot::EMPTY; 16], 0);
/// index.step(&file, source)?;
/// let bias = index.find(&file, source, &Name::from("bias"))?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Index<S> {
    slots: S,
    seed: u64,
    filled: usize,
    cursor: Cursor,
    sorted: bool,
}

impl<S: AsRef<[Slot]> + AsMut<[Slot]>> Index<S> {
    /// An empty index. Hosts that have randomness give a random `seed`, so
    /// that nobody can choose names that hash alike.
    pub const fn new(slots: S, seed: u64) -> Self {
        Index { slots, seed, filled: 0, cursor: Cursor::START, sorted: false }
    }

    /// Reads the tensors of `file`.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    /// [`Stop::Room`]: the file has more tensors than there are slots.
    pub fn step(&mut self, file: &File, source: &Source<'_>) -> Result<(), Stop> {
        while !self.cursor.done {
            self.sweep(file, source);
            let mut next = self.cursor;
            if let Some(tensor) = file.next_tensor(source, &mut next, &mut |_| {})? {
                let key = hash::name(self.seed, 0, &tensor.name(source)?);
                let Some(slot) = self.slots.as_mut().get_mut(self.filled) else {
                    // An entry takes a byte at least, whatever the header declares.
                    let declared = file.tensor_count().min(source.len());
                    let declared = u32::try_from(declared).unwrap_or(u32::MAX);
                    return Err(Stop::Room { needed: room(declared, self.filled) });
                };
                let broken = u32::from(tensor.status == Status::Broken);
                *slot = Slot { key, at: tensor.at, who: Slot::pack(tensor.index, broken) };
                self.filled = self.filled.saturating_add(1);
            }
            self.cursor = next;
        }
        if !self.sorted {
            if let Some(slots) = self.slots.as_mut().get_mut(..self.filled) {
                sort(slots);
            }
            self.sorted = true;
        }
        Ok(())
    }

    /// Reads tensors that nothing is wrong with, as long as there is room.
    fn sweep(&mut self, file: &File, source: &Source<'_>) {
        let Index { slots, seed, filled, cursor, .. } = self;
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        file.sweep(&mut reader, cursor, &mut |glance| {
            let Some(slot) = slots.as_mut().get_mut(*filled) else {
                return false;
            };
            let key = hash::name(*seed, 0, &glance.name);
            *slot = Slot { key, at: glance.at, who: Slot::pack(glance.index, 0) };
            *filled = filled.saturating_add(1);
            true
        });
    }

    /// The tensor with this name; the first of them if the file has several.
    /// Valid once [`step`](Self::step) has returned `Ok`.
    ///
    /// # Errors
    /// [`Stop::Absent`]: make the bytes resident and call again.
    pub fn find(
        &self,
        file: &File,
        source: &Source<'_>,
        name: &Name<'_>,
    ) -> Result<Option<Tensor>, Stop> {
        let key = hash::name(self.seed, 0, name);
        let slots = self.slots.as_ref().get(..self.filled).unwrap_or_default();
        let first = slots.partition_point(|slot| slot.key < key);
        for slot in slots.get(first..).unwrap_or_default() {
            if slot.key != key {
                break;
            }
            let (index, broken) = slot.unpack();
            if let Some(mut tensor) = file.tensor_at(source, slot.at, index)?
                && tensor.name(source)? == *name
            {
                // Alone, an entry does not tell what its neighbours contradict.
                if broken != 0 {
                    tensor.status = Status::Broken;
                    tensor.chunks = Chunks::None;
                }
                return Ok(Some(tensor));
            }
        }
        Ok(None)
    }

    /// How many tensors were read.
    pub const fn len(&self) -> usize {
        self.filled
    }

    /// Whether no tensor was read.
    pub const fn is_empty(&self) -> bool {
        self.filled == 0
    }
}

/// How many slots to ask for: what was declared, or one more than there was
/// room for when the declaration is lower.
fn room(declared: u32, filled: usize) -> u32 {
    let least = filled.saturating_add(1);
    u32::try_from(least).unwrap_or(u32::MAX).max(declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_sort_sorts() {
        let mut state = 1_u64;
        for len in 0..200 {
            let mut slots = std::vec::Vec::new();
            for i in 0..len {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                slots.push(Slot { key: state >> 60, at: state & 3, who: i });
            }
            let mut expected = slots.clone();
            expected.sort_by_key(|slot| (slot.key, slot.at, slot.who));
            heap_sort(&mut slots, &|a, b| (a.key, a.at, a.who) < (b.key, b.at, b.who));
            assert_eq!(slots, expected);
        }
    }
}
