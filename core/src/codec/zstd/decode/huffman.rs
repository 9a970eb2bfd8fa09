//! Huffman codes of literals: their description and their table
//! (RFC 8878 §4.2.1).

use super::Fault;
use super::bits::wide;
use super::codes::Codes;
use super::fse::{Chances, Entry, Values};
use super::kernel::{self, Backwards};

/// Longest code in bits.
pub(super) const LONGEST: u32 = 11;
pub(super) const CODES: usize = 1 << LONGEST;
/// Largest weight; a code of weight w has `longest + 1 - w` bits.
pub(super) const WEIGHTS: usize = 11;
/// Widest state of coded weights.
const WIDTH: u32 = 6;

/// The codes, indexed by the next 11 bits: the length in the low byte, the symbol in the
/// high byte.
pub(super) type Table = [u16; CODES];

/// The codes of a frame, once a block has described them.
pub(super) struct Huffman {
    pub(super) table: Table,
    pub(super) known: bool,
}

/// The weights of symbols; 0 for absent ones.
pub(super) struct Weights {
    pub(super) of: [u8; 256],
    count: usize,
    /// Number of symbols of each weight.
    pub(super) counts: [u16; WEIGHTS + 1],
}

impl Huffman {
    pub(super) const fn new() -> Self {
        Huffman { table: [0; CODES], known: false }
    }

    /// Starts a frame, for which no codes are known yet.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// Reads the description of codes; returns the rest.
    pub(super) fn read<'s>(&mut self, bytes: &'s [u8]) -> Result<&'s [u8], Fault> {
        self.known = false;
        let (first, bytes) = bytes.split_first().ok_or(Fault::Malformed)?;
        let mut weights = Weights { of: [0; 256], count: 0, counts: [0; WEIGHTS + 1] };
        let plain = first.checked_sub(127).filter(|count| *count > 0);
        let len = plain.map_or(*first, |count| count.div_ceil(2));
        let split = bytes.split_at_checked(usize::from(len));
        let (coded, rest) = split.ok_or(Fault::Malformed)?;
        match plain {
            None => weights.decode(coded)?,
            Some(count) => {
                for i in 0..count {
                    let byte = coded.get(usize::from(i >> 1)).copied().unwrap_or(0);
                    weights.add(if i & 1 == 0 { byte >> 4 } else { byte & 15 })?;
                }
            }
        }
        let longest = weights.complete()?;
        kernel::fill(&mut self.table, &weights, longest)?;
        self.known = true;
        Ok(rest)
    }

    /// Literals in one stream or four, one at a time.
    pub(super) fn codes<'s>(
        &'s self,
        bytes: &'s [u8],
        four: bool,
        count: u32,
    ) -> Result<Codes<'s>, Fault> {
        if !self.known {
            return Err(Fault::Malformed);
        }
        Codes::new(&self.table, bytes, four, count)
    }
}

impl Weights {
    /// Adds the weight of the next symbol; one of the 256 places is reserved for the last.
    fn add(&mut self, weight: u8) -> Result<(), Fault> {
        let place = self.of.get_mut(self.count).ok_or(Fault::Malformed)?;
        let count = self.counts.get_mut(usize::from(weight)).ok_or(Fault::Malformed)?;
        *place = weight;
        *count = count.wrapping_add(1);
        self.count = self.count.wrapping_add(1);
        Ok(())
    }

    /// Adds the last symbol, whose weight completes the sum to a power of two; returns the
    /// longest code.
    fn complete(&mut self) -> Result<u32, Fault> {
        let part = |weight: u8| 1_u32.wrapping_shl(u32::from(weight)) >> 1;
        let sum = self.of.iter().fold(0_u32, |sum, weight| sum.wrapping_add(part(*weight)));
        let longest = sum.checked_ilog2().ok_or(Fault::Malformed)?.wrapping_add(1);
        let left = 1_u32.wrapping_shl(longest).wrapping_sub(sum);
        if longest > LONGEST || !left.is_power_of_two() {
            return Err(Fault::Malformed);
        }
        self.add(u8::try_from(left.trailing_zeros().wrapping_add(1)).unwrap_or(u8::MAX))?;
        // Codes of the greatest length come in pairs.
        let [_, longest_codes, ..] = self.counts;
        if longest_codes < 2 || longest_codes & 1 == 1 {
            return Err(Fault::Malformed);
        }
        Ok(longest)
    }

    /// Reads weights that are coded themselves, by two alternating states (§4.2.1.2).
    fn decode(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (chances, rest) = Chances::read(bytes, WEIGHTS + 2, WIDTH)?;
        let mut table = [Entry::default(); 1 << WIDTH];
        chances.fill(&mut table, &Values { least: 0, added: &[] });
        let mut bits = Backwards::new(rest)?;
        let at = |state: u32| table.get(wide(state)).copied().unwrap_or_default();
        if bits.left() < wide(chances.width.wrapping_mul(2)) {
            return Err(Fault::Malformed);
        }
        let mut one = at(bits.take(chances.width));
        let mut two = at(bits.take(chances.width));
        loop {
            self.weight(one)?;
            if bits.left() < wide(one.width()) {
                return self.weight(two);
            }
            let next = at(one.next().wrapping_add(bits.take(one.width())));
            (one, two) = (two, next);
        }
    }

    fn weight(&mut self, state: Entry) -> Result<(), Fault> {
        // At most 255: the last of 256 symbols has no stored weight.
        if self.count == 255 {
            return Err(Fault::Malformed);
        }
        self.add(u8::try_from(state.value()).unwrap_or(u8::MAX))
    }
}
