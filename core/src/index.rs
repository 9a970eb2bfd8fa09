//! Lookup by name over storage of the caller.

use crate::cursor::Cursor;
use crate::file::File;
use crate::finding::Stop;
use crate::hash;
use crate::name::Name;
use crate::read::Reader;
use crate::source::{Source, widen};
use crate::tensor::Tensor;

/// One entry of working storage: 24 bytes that the caller provides, for each
/// tensor or each part of the file.
///
/// What it holds belongs to this crate; make slots with [`Slot::EMPTY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// Sorts slots by key, then by the rest.
///
/// Without the feature `std` this is a heap sort, which has no way to panic;
/// with it, the standard library's sort, which is about six times as fast.
pub(crate) fn sort(slots: &mut [Slot]) {
    #[cfg(feature = "std")]
    #[allow(clippy::disallowed_methods, reason = "the order of slots is total")]
    slots.sort_unstable();
    #[cfg(not(feature = "std"))]
    heap_sort(slots);
}

#[cfg(any(test, not(feature = "std")))]
fn heap_sort(slots: &mut [Slot]) {
    let len = slots.len();
    for root in (0..len >> 1).rev() {
        sift(slots, root, len);
    }
    for end in (1..len).rev() {
        exchange(slots, 0, end);
        sift(slots, 0, end);
    }
}

/// Restores the heap below `root`, of which the first `end` slots are part.
#[cfg(any(test, not(feature = "std")))]
fn sift(slots: &mut [Slot], mut root: usize, end: usize) {
    loop {
        let left = root.wrapping_mul(2).wrapping_add(1);
        let right = left.wrapping_add(1);
        let Some(heap) = slots.get(..end) else { return };
        let Some(mut largest) = heap.get(left) else {
            return;
        };
        let mut child = left;
        if let Some(other) = heap.get(right)
            && other > largest
        {
            largest = other;
            child = right;
        }
        match heap.get(root) {
            Some(parent) if parent < largest => exchange(slots, root, child),
            _ => return,
        }
        root = child;
    }
}

#[cfg(any(test, not(feature = "std")))]
fn exchange(slots: &mut [Slot], a: usize, b: usize) {
    if let (Some(&first), Some(&second)) = (slots.get(a), slots.get(b)) {
        if let Some(slot) = slots.get_mut(a) {
            *slot = second;
        }
        if let Some(slot) = slots.get_mut(b) {
            *slot = first;
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
                    return Err(Stop::Room { needed: room(file.tensor_count(), self.filled) });
                };
                *slot = Slot { key, at: tensor.at, who: Slot::pack(tensor.index, 0) };
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
            let (index, _) = slot.unpack();
            if let Some(tensor) = file.tensor_at(source, slot.at, index)?
                && tensor.name(source)? == *name
            {
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
pub(crate) fn room(declared: u64, filled: usize) -> u32 {
    let least = widen(filled).saturating_add(1);
    u32::try_from(declared.max(least)).unwrap_or(u32::MAX)
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
            expected.sort();
            heap_sort(&mut slots);
            assert_eq!(slots, expected);
        }
    }
}
