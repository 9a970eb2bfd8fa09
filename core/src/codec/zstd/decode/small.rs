//! Decoding on small processors: little code, and bits in 32-bit words.

use super::Fault;
use super::bits::wide;
use super::block::State;
use super::fse::Entry;
use super::huffman::{LONGEST, Table, Weights};
use super::room::Room;
pub(super) use super::room::bytewise as move_down;
use super::sequences::{Sequence, Tables, repeat};

/// A stream that is read from its end: the highest set bit in its last byte marks the end, and
/// the first value is just below (RFC 8878 §4.1).
#[derive(Clone, Copy)]
pub(super) struct Backwards<'s> {
    bytes: &'s [u8],
    /// Number of bits left; wraps if too many were taken.
    left: usize,
}

impl<'s> Backwards<'s> {
    /// A stream without bits.
    pub(super) const NONE: Backwards<'static> = Backwards { bytes: &[], left: 0 };

    pub(super) fn new(bytes: &'s [u8]) -> Result<Self, Fault> {
        let last = bytes.last().and_then(|last| last.checked_ilog2()).ok_or(Fault::Malformed)?;
        let before = bytes.len().wrapping_sub(1).wrapping_mul(8);
        Ok(Backwards { bytes, left: before.wrapping_add(wide(last)) })
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Whether more bits were taken than there are.
    pub(super) fn is_over(&self) -> bool {
        self.left > self.bytes.len().wrapping_mul(8)
    }

    /// The next `width` bits, at most 25, with zeros after the last.
    #[inline(never)]
    pub(super) fn next(&self, width: u32) -> u32 {
        let end = self.left.wrapping_add(7) >> 3;
        let bytes = self.bytes.get(..end).unwrap_or_default();
        let word = match bytes.last_chunk() {
            Some(word) => u32::from_le_bytes(*word),
            None => bytes.iter().fold(0, |word, byte| (word >> 8) | (u32::from(*byte) << 24)),
        };
        let [used, ..] = (self.left.wrapping_neg() & 7).to_le_bytes();
        // In two steps: the number may be 0, and a shift by 32 is a shift by 0.
        (word.wrapping_shl(used.into()) >> 1).wrapping_shr(31_u32.wrapping_sub(width))
    }

    pub(super) fn pass(&mut self, width: u32) {
        self.left = self.left.wrapping_sub(wide(width));
    }

    /// The next `width` bits, at most 31.
    #[inline(never)]
    pub(super) fn take(&mut self, width: u32) -> u32 {
        let (mut high, mut low) = (0, width);
        if width > 16 {
            low = 16;
            high = self.next(width.wrapping_sub(low)) << 16;
            self.pass(width.wrapping_sub(low));
        }
        let value = high | self.next(low);
        self.pass(low);
        value
    }
}

impl State {
    /// Decodes a block.
    pub(super) fn whole(
        &mut self,
        block: &[u8],
        room: &mut Room<'_>,
        to: &mut u32,
    ) -> Result<u32, Fault> {
        self.plainly(block, room, to, false)
    }
}

impl Tables {
    /// Decodes the next sequences into `batch`; `last` means that they are the last of the block.
    pub(super) fn decode(
        &mut self,
        stream: &mut Backwards<'_>,
        states: &mut [u32; 3],
        batch: &mut [Sequence],
        last: bool,
    ) -> Result<(), Fault> {
        let mut left = stream.left;
        for sequence in batch {
            let tables: [&[Entry]; 3] = [&self.literals, &self.offsets, &self.matches];
            let mut entries = [Entry::NONE; 3];
            for ((entry, table), state) in entries.iter_mut().zip(tables).zip(*states) {
                *entry = table.get(wide(state)).copied().unwrap_or_default();
            }
            let [l, o, m] = entries;
            let mut value = |of: Entry| of.value().wrapping_add(stream.take(of.extra()));
            let (offset, len, literals) = (value(o), value(m), value(l));
            left = stream.left;
            let mut next = |of: Entry| of.next().wrapping_add(stream.take(of.width()));
            let (l, m, o) = (next(l), next(m), next(o));
            *states = [l, o, m];
            self.repeated = repeat(self.repeated, offset, literals);
            let [offset, ..] = self.repeated;
            *sequence = Sequence { literals, len, offset };
        }
        // No state follows the last sequence.
        if last {
            stream.left = left;
        }
        if stream.is_over() { Err(Fault::Malformed) } else { Ok(()) }
    }
}

/// Fills the table of codes; the longest has `longest` bits.
pub(super) fn fill(table: &mut Table, weights: &Weights, longest: u32) -> Result<(), Fault> {
    // Where the codes of each weight start: they ascend with the weight, then with the symbol.
    let mut at = 0_usize;
    for weight in 1..=longest {
        let places = 1_usize.wrapping_shl(weight.wrapping_add(LONGEST - 1).wrapping_sub(longest));
        let length = longest.wrapping_add(1).wrapping_sub(weight);
        for (symbol, of) in (0_u16..).zip(&weights.of) {
            if u32::from(*of) == weight {
                let end = at.wrapping_add(places);
                let row = table.get_mut(at..end).ok_or(Fault::Malformed)?;
                row.fill((symbol << 8) | u16::try_from(length).unwrap_or(0));
                at = end;
            }
        }
    }
    if at == table.len() { Ok(()) } else { Err(Fault::Malformed) }
}
