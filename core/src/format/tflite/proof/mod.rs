//! Proves in one pass over a model in memory that nothing is wrong with its tensors, its operators,
//! its buffers, and the places of all objects.
//!
//! The pass visits each object of the flatbuffer once for each offset that leads to it. A tensor is
//! checked when its table is visited, an operator too; a subgraph's tensors come before its
//! operators, and all subgraphs before the buffers. Whatever is rare ends the proof: sparse tensors,
//! texts, other kinds of quantisation, data outside the flatbuffer, operators that call subgraphs. A
//! model with one of these is validated entry by entry, as is a model in which something is wrong.

mod operator;
mod tensor;

use super::schema::{self, table};
use super::{Cursor, Header, audit::ALIGN, extent, list, open, reads::Vector, rules};
use crate::base::widen;
use crate::format::Memory;
use crate::format::flatbuffer::{Direct, Found, Items, Place, Visit};
use crate::format::taken::{self, Taken};
use crate::input::Source;
use crate::parse::Reader;
use crate::rule::EntryKind;

/// Most pages of the file for each tensor and operator. A file with more is nearly all data: marking its
/// pages would take the time that the proof saves.
const PAGES: u64 = 256;
/// Number of pages whose bits find room beside those of tensors, operators and buffers.
const SPARE: u64 = 16;
/// Most entries of the old list of metadata.
const OLD: usize = 16;

/// A model in memory, and what is known of it.
struct Proof<'a, 'm, M> {
    bytes: Direct<'a>,
    header: &'a Header,
    taken: Taken<'m, M>,
    /// Where the marks of written tensors begin in memory.
    written: usize,
    /// Where the marks of used buffers begin.
    used: usize,
    /// The old list of metadata.
    old: Items,
    /// Where the last data ends that only the old list uses. An audit does not count it as a part of the
    /// file.
    loose: usize,
    /// Number of tensors of the current subgraph.
    tensors: usize,
    /// Number of its tensors visited.
    tensor: usize,
    /// Number of buffers visited.
    buffer: usize,
    /// Number of tensors of all subgraphs visited.
    entry: u32,
    /// The first tensor whose data is not aligned, and where that is.
    misaligned: Option<(u32, u64)>,
}

/// Number of places for a mark of each of `count` entries.
fn marks(count: u32) -> u64 {
    u64::from(count).wrapping_add(63) >> 6
}

/// The places in memory of one proof: where the marks of tensors begin, those of buffers, and what is
/// free.
fn layout(header: &Header, len: u64) -> [u64; 3] {
    let written = taken::directory(len);
    let used = written.saturating_add(marks(header.tensors));
    [written, used, used.saturating_add(marks(header.list(list::BUFFERS).count))]
}

/// Number of places in memory for a proof; `None` if none is tried.
pub(super) fn places(header: &Header, source: &Source<'_>) -> Option<u32> {
    let len = extent(source);
    source.piece(0, usize::try_from(len).ok()?).filter(|_| len == source.len())?;
    let entries = u64::from(header.tensors).saturating_add(header.operators.into());
    let pages = taken::pages(len);
    // A buffer has its table in one page, and its data from that page to another.
    let buffers = u64::from(header.list(list::BUFFERS).count).saturating_mul(2);
    let bits = pages.min(entries.saturating_add(buffers).saturating_add(SPARE));
    let [.., free] = layout(header, len);
    let places = free.saturating_add(bits.saturating_mul(taken::BLOCK)).max(8);
    u32::try_from(places).ok().filter(|_| pages <= entries.saturating_mul(PAGES))
}

/// Proves that a model is sound. Returns the end of its last object.
pub(super) fn prove(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    memory: &mut impl Memory,
) -> Option<u64> {
    let len = extent(r.source());
    let bytes = Direct(r.source().piece(0, usize::try_from(len).ok()?)?);
    let [written, used, free] = layout(header, len).map(|place| usize::try_from(place).ok());
    let (written, used) = (written?, used?);
    let mut proof = Proof {
        bytes,
        header,
        taken: Taken::new(memory, free?)?,
        written,
        used,
        old: Items::default(),
        loose: 0,
        tensors: 0,
        tensor: 0,
        buffer: 0,
        entry: 0,
        misaligned: None,
    };
    proof.begin()?;
    let walk = r.quietly(|r| open::walk(r)).ok()?;
    if !walk.is_sound(r, &schema::MODEL, &mut proof) || proof.loose == proof.taken.end {
        return None;
    }
    let (end, misaligned) = (widen(proof.taken.end), proof.misaligned);
    if let Some((entry, at)) = misaligned {
        r.about(EntryKind::Tensor, entry);
        r.flag(rules::B_ALIGN, at, 1, ALIGN, at & ALIGN.wrapping_sub(1));
    }
    c.state.audit.leave_out_proved();
    Some(end)
}

impl<M: Memory> Proof<'_, '_, M> {
    /// Marks the head of the file, and the buffers of metadata.
    fn begin(&mut self) -> Option<()> {
        self.taken.take(0, 8)?;
        self.old = items(self.header.list(list::OLD_METADATA));
        if self.old.count > OLD {
            return None;
        }
        let list = items(self.header.list(list::METADATA));
        for index in 0..list.count {
            let table = self.bytes.table(list, index)?;
            let buffer = self.bytes.number(self.bytes.open(table)?.field(1))?;
            // A wrong number has been reported.
            if buffer < self.header.list(list::BUFFERS).count {
                self.mark(self.used, usize::try_from(buffer).ok()?)?;
            }
        }
        Some(())
    }

    /// Marks an entry, whose marks begin at `base`. Returns whether it was marked before.
    #[inline]
    fn mark(&mut self, base: usize, entry: usize) -> Option<bool> {
        let marks = self.taken.memory.words(base.wrapping_add(entry >> 6))?.marks;
        let bit = 1 << (entry & 63);
        let before = *marks & bit != 0;
        *marks |= bit;
        Some(before)
    }

    /// Whether an entry is marked.
    #[inline]
    fn is_marked(&mut self, base: usize, entry: usize) -> Option<bool> {
        let marks = self.taken.memory.words(base.wrapping_add(entry >> 6))?.marks;
        Some(*marks & (1 << (entry & 63)) != 0)
    }

    /// The data of a buffer with these fields, which is inside the flatbuffer.
    #[inline]
    fn data(&self, [data, offset, size]: [usize; 3]) -> Option<Items> {
        let bytes = self.bytes;
        let is_outside = bytes.long(offset)? | bytes.long(size)? != 0;
        if is_outside { None } else { bytes.vector(data) }
    }

    /// Whether the lists are those that opening has found: the bytes may have changed.
    fn model(&self, found: &Found<'_>) -> Option<()> {
        for (field, list) in list::FIELDS.iter().zip(&self.header.lists) {
            let (now, then) = (self.bytes.vector(found.field(*field))?, items(*list));
            let is_same = now.count == then.count && (now.at == then.at || now.count == 0);
            is_same.then_some(())?;
        }
        Some(())
    }

    /// Begins a subgraph: its inputs count as written.
    fn subgraph(&mut self, found: &Found<'_>) -> Option<()> {
        let tensors = self.bytes.vector(found.field(0))?;
        let inputs = self.bytes.vector(found.field(1))?;
        let outputs = self.bytes.vector(found.field(2))?;
        let operators = self.bytes.vector(found.field(3))?;
        let needs_tensors = operators.count > 0 && tensors.count == 0;
        if operators.at == 0 || needs_tensors || widen(tensors.count) > self.header.tensors.into() {
            return None;
        }
        (self.tensors, self.tensor) = (tensors.count, 0);
        for place in 0..tensors.count.wrapping_add(63) >> 6 {
            *self.taken.memory.words(self.written.wrapping_add(place))?.marks = 0;
        }
        for index in self.bytes.items(inputs)? {
            let tensor = self.index(*index)?;
            self.mark(self.written, tensor)?;
        }
        for index in self.bytes.items(outputs)? {
            self.index(*index)?;
        }
        Some(())
    }

    /// The number of a tensor of the current subgraph; `None` if it has none with that number.
    #[inline]
    fn index(&self, index: [u8; 4]) -> Option<usize> {
        let index = usize::try_from(u32::from_le_bytes(index)).ok()?;
        (index < self.tensors).then_some(index)
    }

    /// Whether a buffer with data is used. The first has none.
    fn buffer(&mut self, found: &Found<'_>) -> Option<()> {
        let number = self.buffer;
        self.buffer = number.wrapping_add(1);
        let data = self.data([found.field(0), found.field(1), found.field(2)])?;
        if data.count == 0 {
            return Some(());
        }
        if number > 0 && self.is_marked(self.used, number)? {
            return Some(());
        }
        let number = u32::try_from(number).ok().filter(|number| *number > 0)?.to_le_bytes();
        self.loose = self.loose.max(data.at.wrapping_add(data.count));
        self.bytes.items(self.old)?.contains(&number).then_some(())
    }
}

/// A list of the model.
fn items(vector: Vector) -> Items {
    let at = usize::try_from(vector.at).unwrap_or(usize::MAX);
    Items { at, count: usize::try_from(vector.count).unwrap_or(usize::MAX) }
}

impl<M: Memory> Visit for Proof<'_, '_, M> {
    #[inline]
    fn table(&mut self, found: &Found<'_>) -> Option<()> {
        self.place(found.place())?;
        match found.number() {
            table::TENSOR => self.tensor(found),
            table::OPERATOR => self.operator(found),
            table::BUFFER => self.buffer(found),
            table::SUBGRAPH => self.subgraph(found),
            0 => self.model(found),
            _ => Some(()),
        }
    }

    fn vtable(&mut self, place: Place) -> Option<()> {
        self.place(place)
    }

    #[inline]
    fn vector(&mut self, place: Place, by: u8) -> Option<()> {
        if by != table::BUFFER {
            return self.place(place);
        }
        // Data is a part of the file of its own, which no other vector is.
        let (at, len) = (usize::try_from(place.at).ok()?, usize::try_from(place.len).ok()?);
        self.taken.take(at, 4)?;
        match len.wrapping_sub(4) {
            0 => Some(()),
            len => self.taken.take(at.wrapping_add(4), len),
        }
    }

    #[inline]
    fn string(&mut self, place: Place, _: u8) -> Option<()> {
        self.place(place)
    }
}

impl<M: Memory> Proof<'_, '_, M> {
    /// Marks the bytes of an object.
    #[inline]
    fn place(&mut self, place: Place) -> Option<()> {
        self.taken.take(usize::try_from(place.at).ok()?, usize::try_from(place.len).ok()?)
    }
}
