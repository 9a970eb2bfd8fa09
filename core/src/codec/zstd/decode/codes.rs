//! Huffman codes one at a time (RFC 8878 §3.1.1.3.1.6).

use super::Fault;
use super::bits::wide;
use super::huffman::{CODES, LONGEST, Table};
use super::kernel::Backwards;

/// Fewest literals in four streams.
pub(super) const FEWEST: u32 = 6;

/// The literals of one stream or four.
pub(super) struct Codes<'s> {
    table: &'s Table,
    stream: Backwards<'s>,
    /// Number of literals left in the stream.
    count: u32,
    /// The streams still to come: their number, the lengths of all but the last, their bytes, the
    /// number of literals in all but the last, and the number of literals left.
    streams: u32,
    lengths: &'s [u8],
    bytes: &'s [u8],
    each: u32,
    left: u32,
    /// A stream did not end with its last literal.
    loose: bool,
}

impl<'s> Codes<'s> {
    pub(super) fn new(
        table: &'s Table,
        bytes: &'s [u8],
        four: bool,
        count: u32,
    ) -> Result<Self, Fault> {
        let (streams, split, each) = match four {
            true => (4, bytes.split_at_checked(6), count.wrapping_add(3) >> 2),
            false => (1, Some((Default::default(), bytes)), count),
        };
        let (lengths, bytes) = split.ok_or(Fault::Malformed)?;
        if four && count < FEWEST {
            return Err(Fault::Malformed);
        }
        let (stream, left, loose) = (Backwards::NONE, count, false);
        let mut codes =
            Codes { table, stream, count: 0, streams, lengths, bytes, each, left, loose };
        codes.open()?;
        Ok(codes)
    }

    /// Starts the next stream.
    fn open(&mut self) -> Result<(), Fault> {
        let split = match (self.streams, self.lengths.split_first_chunk()) {
            (0, _) => None,
            (1, _) | (_, None) => Some((self.bytes, Default::default())),
            (_, Some((len, rest))) => {
                self.lengths = rest;
                self.bytes.split_at_checked(usize::from(u16::from_le_bytes(*len)))
            }
        };
        let (stream, rest) = split.ok_or(Fault::Malformed)?;
        self.loose |= self.stream.left() != 0;
        self.stream = Backwards::new(stream)?;
        self.bytes = rest;
        self.streams = self.streams.wrapping_sub(1);
        self.count = self.each.min(self.left);
        self.left = self.left.wrapping_sub(self.count);
        Ok(())
    }

    /// Decodes the next literals; `to` advances past them.
    pub(super) fn fill(&mut self, out: &mut [u8], to: &mut u32) -> Result<(), Fault> {
        let mut out = out.iter_mut();
        while out.len() > 0 {
            if self.count == 0 {
                self.open()?;
            }
            // Two at a time, as long as their bits are certain to exist.
            while self.count > 1
                && out.len() > 1
                && self.stream.left() >= wide(2 * LONGEST)
                && let (Some(one), Some(two)) = (out.next(), out.next())
            {
                let bits = self.stream.next(2 * LONGEST);
                let [length, symbol] = self.code(bits >> LONGEST);
                *one = symbol;
                let passed = u32::from(length);
                let [length, symbol] = self.code(bits.wrapping_shl(passed) >> LONGEST);
                *two = symbol;
                self.stream.pass(passed.wrapping_add(length.into()));
                self.count = self.count.wrapping_sub(2);
                *to = to.wrapping_add(2);
            }
            if self.count > 0
                && let Some(cell) = out.next()
            {
                *cell = self.next()?;
                *to = to.wrapping_add(1);
            }
        }
        Ok(())
    }

    /// The length and the symbol of the code in the lowest bits.
    fn code(&self, bits: u32) -> [u8; 2] {
        self.table.get(wide(bits) & (CODES - 1)).copied().unwrap_or(0).to_le_bytes()
    }

    /// The next literal of the stream.
    fn next(&mut self) -> Result<u8, Fault> {
        let [length, symbol] = self.code(self.stream.next(LONGEST));
        self.stream.pass(length.into());
        self.count = self.count.wrapping_sub(1);
        if self.stream.is_over() { Err(Fault::Malformed) } else { Ok(symbol) }
    }

    /// Whether the remaining literals are valid, and each stream ends with its last one.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        loop {
            while self.count > 0 {
                self.next()?;
            }
            if self.streams == 0 {
                let loose = self.loose || self.stream.left() != 0;
                return if loose { Err(Fault::Malformed) } else { Ok(()) };
            }
            self.open()?;
        }
    }
}
