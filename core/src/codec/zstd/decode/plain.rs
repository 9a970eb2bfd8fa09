//! Decodes a block byte by byte: on small processors every block, and on hosts the start of a
//! block that exceeds its limit, which is returned before the fault.

use super::Fault;
use super::bits::wide;
use super::block::{Header, State};
use super::codes::Codes;
use super::kernel::Backwards;
use super::room::Room;
use super::sequences::{self, Sequence};

/// Number of sequences that are decoded before they are executed. It is the same on hosts,
/// because it decides whether a block that is both malformed and too long is reported as one or
/// the other.
pub(super) const BATCH: usize = 64;

/// The remaining literals of a block.
enum Literals<'l> {
    Plain(&'l [u8]),
    Repeated(u8),
    Coded(Codes<'l>),
}

impl Literals<'_> {
    /// Writes the next literals to the room, starting at `to`.
    fn fill(&mut self, count: u32, room: &mut Room<'_>, to: &mut u32) -> Result<(), Fault> {
        let part = room.part(*to, count)?;
        match self {
            Literals::Plain(bytes) => {
                let (these, rest) = bytes.split_at_checked(part.len()).ok_or(Fault::Malformed)?;
                part.iter_mut().zip(these).for_each(|(to, from)| *to = *from);
                *bytes = rest;
            }
            Literals::Repeated(byte) => part.fill(*byte),
            Literals::Coded(codes) => return codes.fill(part, to),
        }
        *to = to.wrapping_add(count);
        Ok(())
    }

    /// Whether the remaining literals are valid, and the last one ends its stream.
    fn finish(&mut self) -> Result<(), Fault> {
        match self {
            Literals::Coded(codes) => codes.finish(),
            _ => Ok(()),
        }
    }
}

impl State {
    /// Decodes a block or, if `cut`, as much of it as there is room for; `to` advances with the
    /// output from the start of the room. Returns the number of sequences.
    pub(super) fn plainly(
        &mut self,
        block: &[u8],
        room: &mut Room<'_>,
        to: &mut u32,
        cut: bool,
    ) -> Result<u32, Fault> {
        let (header, mut data, rest) = Header::split(block)?;
        let (all, rest) = sequences::count(rest)?;
        if !cut {
            room.bound(header.count)?;
        }
        if header.kind == 2 {
            data = self.huffman.read(data)?;
        }
        let mut literals = match header.kind {
            0 => Literals::Plain(data),
            1 => Literals::Repeated(data.first().copied().unwrap_or(0)),
            _ => Literals::Coded(self.huffman.codes(data, header.four, header.count)?),
        };
        let (first, end) = (room.at.wrapping_sub(room.reach), room.at.wrapping_add(room.most));
        let mut left = header.count;
        let mut whole = rest.is_empty();
        if all > 0 {
            let mut stream = Backwards::new(self.tables.read(rest)?)?;
            let mut states = self.tables.states(&mut stream);
            let mut batch = [Sequence::default(); BATCH];
            let mut sequences = wide(all);
            while sequences > 0 {
                // If the block is cut, all sequences before an invalid one are executed.
                let len = if cut { 1 } else { BATCH.min(sequences) };
                let batch = batch.get_mut(..len).unwrap_or_default();
                sequences = sequences.wrapping_sub(batch.len());
                self.tables.decode(&mut stream, &mut states, batch, sequences == 0)?;
                for Sequence { literals: count, len, offset } in batch {
                    left = left.checked_sub(*count).ok_or(Fault::Malformed)?;
                    let middle = to.wrapping_add(*count);
                    let reach = middle.wrapping_sub(first).min(room.window);
                    let is_far = offset.wrapping_sub(1) >= reach;
                    // The block ends after all of its literals.
                    let after = middle.wrapping_add(*len).wrapping_add(left);
                    if !cut && !is_far && after > end {
                        literals.finish()?;
                        return Err(room.over);
                    }
                    literals.fill((*count).min(end.wrapping_sub(*to)), room, to)?;
                    if is_far {
                        return Err(Fault::Malformed);
                    }
                    let len = (*len).min(end.wrapping_sub(*to));
                    // The part of the match that lies in the older part of a ring.
                    let older = offset.saturating_sub(*to).min(len);
                    let from = to.wrapping_sub(*offset);
                    room.copy(from.wrapping_add(room.older), to, older)?;
                    room.copy(from.wrapping_add(older), to, len.wrapping_sub(older))?;
                    if cut && *to == end {
                        return Ok(all);
                    }
                }
            }
            whole = stream.left() == 0;
        }
        literals.fill(left.min(end.wrapping_sub(*to)), room, to)?;
        if !cut {
            literals.finish()?;
        }
        if whole { Ok(all) } else { Err(Fault::Malformed) }
    }
}
