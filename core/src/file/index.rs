//! Lookup by name, in the caller's memory.

use crate::base::word;
use crate::file::{
    Cursor, File, Slot,
    slot::{room, sort},
};
use crate::input::Source;
use crate::model::{Chunks, Entry, Name, Status, Tensor, name};
use crate::parse::{Reader, Stop};

/// Finds tensors by name in logarithmic time.
///
/// `S` stores one slot per tensor: a slice, an array, a `Vec` or, with the feature `heapless`,
/// the vector of `Index::bounded`.
///
/// ```
/// # fn demo(file: weighbridge_core::File, source: &weighbridge_core::Source<'_>) -> Result<(), weighbridge_core::Stop> {
/// use weighbridge_core::{Index, Name, Slot};
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

/// An index of up to `N` tensors in a `heapless::Vec`.
#[cfg(feature = "heapless")]
impl<const N: usize> Index<heapless::Vec<Slot, N>> {
    /// An empty index, which may be kept in a `static` or returned from a function.
    ///
    /// ```
    /// # fn demo(file: weighbridge_core::File, source: &weighbridge_core::Source<'_>) -> Result<(), weighbridge_core::Stop> {
    /// use weighbridge_core::{Index, Name, Slot, heapless};
    /// let mut index: Index<heapless::Vec<Slot, 16>> = Index::bounded(0);
    /// index.step(&file, source)?;
    /// let bias = index.find(&file, source, &Name::from("bias"))?;
    /// # Ok(()) }
    /// ```
    pub fn bounded(seed: u64) -> Self {
        Index::new(heapless::Vec::from_array([Slot::EMPTY; N]), seed)
    }
}

impl<S: AsRef<[Slot]> + AsMut<[Slot]>> Index<S> {
    /// An empty index. Hosts with a source of randomness pass a random `seed`, so that an
    /// attacker cannot choose colliding names.
    pub const fn new(slots: S, seed: u64) -> Self {
        Index { slots, seed, filled: 0, cursor: Cursor::START, sorted: false }
    }

    /// Reads the tensors of `file` into the index.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    /// [`Stop::NeedSlots`]: the file has more tensors than there are slots.
    pub fn step(&mut self, file: &File, source: &Source<'_>) -> Result<(), Stop> {
        while !self.cursor.is_done() {
            self.sweep(file, source);
            let mut next = self.cursor;
            let entry = file.next_tensor(source, &mut next, &mut |_| {});
            if entry.is_err() {
                self.cursor = next;
            }
            if let Some(Entry { tensor, name, .. }) = entry? {
                let key = word(name::hash(self.seed, 0, &name));
                let Some(slot) = self.slots.as_mut().get_mut(self.filled) else {
                    // An entry takes at least one byte, whatever the header declares.
                    let declared = file.tensor_count().min(source.len());
                    let declared = u32::try_from(declared).unwrap_or(u32::MAX);
                    return Err(Stop::NeedSlots { needed: room(declared, self.filled) });
                };
                let broken = u32::from(tensor.status == Status::Broken);
                *slot =
                    Slot { key, at: word(tensor.offset), who: Slot::pack(tensor.index, broken) };
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

    /// Adds valid tensors while slots are free.
    fn sweep(&mut self, file: &File, source: &Source<'_>) {
        let Index { slots, seed, filled, cursor, .. } = self;
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        file.sweep(&mut reader, cursor, &mut |glance| {
            let Some(slot) = slots.as_mut().get_mut(*filled) else {
                return false;
            };
            let key = word(name::hash(*seed, 0, &glance.name));
            *slot = Slot { key, at: word(glance.at), who: Slot::pack(glance.index, 0) };
            *filled = filled.saturating_add(1);
            true
        });
    }

    /// The tensor with this name, the first if there are several. Valid once
    /// [`step`](Self::step) has returned `Ok`.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn find(
        &self,
        file: &File,
        source: &Source<'_>,
        name: &Name<'_>,
    ) -> Result<Option<Tensor>, Stop> {
        let key = word(name::hash(self.seed, 0, name));
        let slots = self.slots.as_ref().get(..self.filled).unwrap_or_default();
        let first = slots.partition_point(|slot| slot.key < key);
        for slot in slots.get(first..).unwrap_or_default() {
            if slot.key != key {
                break;
            }
            let (index, broken) = slot.unpack();
            let mut tensor = file.tensor_at(source, slot.offset(), index)?;
            if !is_named(source, tensor.as_ref(), name)? {
                tensor = file.listed_tensor(source, index)?;
            }
            if let Some(mut tensor) = tensor
                && is_named(source, Some(&tensor), name)?
            {
                // A single entry does not reveal contradictions with its neighbours.
                if broken != 0 {
                    tensor.status = Status::Broken;
                    tensor.chunks = Chunks::None;
                }
                return Ok(Some(tensor));
            }
        }
        Ok(None)
    }

    /// Number of tensors read so far.
    pub const fn len(&self) -> usize {
        self.filled
    }

    /// Whether no tensor has been read.
    pub const fn is_empty(&self) -> bool {
        self.filled == 0
    }
}

/// Whether there is a tensor and it has this name.
fn is_named(source: &Source<'_>, tensor: Option<&Tensor>, name: &Name<'_>) -> Result<bool, Stop> {
    match tensor {
        Some(tensor) => Ok(tensor.name(source)? == *name),
        None => Ok(false),
    }
}
