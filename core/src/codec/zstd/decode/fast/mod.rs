//! Decoding on hosts: four literal streams in parallel, sequences in batches, copies in steps.

mod bits;
mod copies;
mod execute;
mod huffman;
mod sequences;
mod table;

use super::Fault;
use super::block::{Header, State};
use super::room::Room;
pub(super) use bits::Backwards;
pub(super) use copies::move_down;
pub(super) use table::fill;

impl State {
    /// Decodes a block and sets `to` to its end. Returns its number of sequences.
    pub(super) fn whole(
        &mut self,
        block: &[u8],
        room: &mut Room<'_>,
        to: &mut u32,
    ) -> Result<u32, Fault> {
        let (Header { kind, four, count, .. }, mut data, rest) = Header::split(block)?;
        let (sequences, rest) = super::sequences::count(rest)?;
        room.bound(count)?;
        if kind == 2 {
            data = self.huffman.read(data)?;
        }
        // Without sequences the literals are the block. Otherwise they are kept at the end of the
        // room, which the output reaches only after they are used.
        let at = match sequences {
            0 => room.at,
            _ => room.end.wrapping_sub(count),
        };
        let part = room.part(at, count)?;
        match kind {
            0 => part.iter_mut().zip(data).for_each(|(to, from)| *to = *from),
            1 => part.fill(data.first().copied().unwrap_or(0)),
            _ => self.huffman.decode(data, four, part)?,
        }
        *to = if sequences > 0 {
            let stream = self.tables.read(rest)?;
            execute::run(&mut self.tables, stream, sequences, count, room)?
        } else if rest.is_empty() {
            room.at.wrapping_add(count)
        } else {
            return Err(Fault::Malformed);
        };
        Ok(sequences)
    }
}
