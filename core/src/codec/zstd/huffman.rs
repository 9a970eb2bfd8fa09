//! Huffman codes of literals: their description and their table
//! (RFC 8878 §4.2.1).

use super::Fault;
use super::bits::{Backwards, wide};
use super::fse::{Chances, Entry};
use super::streams;

/// Longest code in bits.
pub(super) const LONGEST: u32 = 11;
pub(super) const CODES: usize = 1 << LONGEST;
/// Largest weight; a code of weight w has `longest + 1 - w` bits.
const WEIGHTS: usize = 11;
/// Whether short rows of the table have loops of their own.
const FAST: bool = cfg!(feature = "sweep");
/// Widest state of weights that are coded themselves.
const WIDTH: u32 = 6;

/// The codes, indexed by the next 11 bits: the length in the low byte, the symbol in the
/// high byte.
pub(super) type Table = [u16; CODES];

/// The codes of a frame, once a block has described them.
pub(super) struct Huffman {
    table: Table,
    known: bool,
}

/// The weights of symbols; 0 for one that does not occur.
struct Weights {
    of: [u8; 256],
    count: usize,
}

impl Huffman {
    pub(super) const fn new() -> Self {
        Huffman { table: [0; CODES], known: false }
    }

    /// Begins a frame, which knows no codes yet.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// Reads the description of codes; returns the rest.
    pub(super) fn read<'s>(&mut self, bytes: &'s [u8]) -> Result<&'s [u8], Fault> {
        self.known = false;
        let (first, bytes) = bytes.split_first().ok_or(Fault::Malformed)?;
        let mut weights = Weights { of: [0; 256], count: 0 };
        let plain = first.checked_sub(127).filter(|count| *count > 0);
        let len = plain.map_or(*first, |count| count.div_ceil(2));
        let split = bytes.split_at_checked(usize::from(len));
        let (coded, rest) = split.ok_or(Fault::Malformed)?;
        match plain {
            None => weights.decode(coded)?,
            Some(count) => {
                let halves = coded.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                for weight in halves.take(usize::from(count)) {
                    weights.add(weight)?;
                }
            }
        }
        self.fill(weights)?;
        self.known = true;
        Ok(rest)
    }

    /// Literals in one stream or four.
    pub(super) fn decode(&self, bytes: &[u8], four: bool, out: &mut [u8]) -> Result<(), Fault> {
        match (self.known, four) {
            (true, false) => streams::one(&self.table, bytes, out),
            (true, true) => streams::four(&self.table, bytes, out),
            (false, _) => Err(Fault::Malformed),
        }
    }

    /// Literals in one stream or four, one at a time.
    pub(super) fn codes<'s>(
        &'s self,
        bytes: &'s [u8],
        four: bool,
        count: u32,
    ) -> Result<streams::Codes<'s>, Fault> {
        if !self.known {
            return Err(Fault::Malformed);
        }
        streams::Codes::new(&self.table, bytes, four, count)
    }

    fn fill(&mut self, mut weights: Weights) -> Result<(), Fault> {
        let (longest, counts) = weights.complete()?;
        // Codes ascend with the weight, then with the symbol.
        let mut places = [0_u8; WEIGHTS + 1];
        let mut all = 0_u16;
        for (place, count) in places.iter_mut().zip(counts).skip(1) {
            // There is no symbol after the 256th.
            *place = u8::try_from(all).unwrap_or(u8::MAX);
            all = all.wrapping_add(count);
        }
        let mut sorted = [0_u8; 256];
        for (symbol, weight) in (0_u8..=255).zip(weights.of) {
            let place = places.get_mut(usize::from(weight)).filter(|_| weight > 0);
            let Some(place) = place else { continue };
            if let Some(to) = sorted.get_mut(usize::from(*place)) {
                *to = symbol;
            }
            *place = place.wrapping_add(1);
        }
        let (mut symbols, mut table) = (sorted.as_slice(), self.table.as_mut_slice());
        for (weight, count) in (0_u32..).zip(counts).skip(1) {
            let length = longest.wrapping_add(1).wrapping_sub(weight);
            let codes;
            (codes, symbols) = symbols.split_at_checked(count.into()).ok_or(Fault::Malformed)?;
            // A code shorter than the maximum fills several entries.
            let places = 1_usize.wrapping_shl(LONGEST.wrapping_sub(length));
            let len = codes.len().wrapping_mul(places);
            let part;
            (part, table) = table.split_at_mut_checked(len).ok_or(Fault::Malformed)?;
            let entry =
                |symbol: &u8| (u16::from(*symbol) << 8) | u16::try_from(length).unwrap_or(0);
            match places {
                1 if FAST => rows::<1>(part, codes, entry),
                2 if FAST => rows::<2>(part, codes, entry),
                4 if FAST => rows::<4>(part, codes, entry),
                8 if FAST => rows::<8>(part, codes, entry),
                _ => {
                    let mut part = part;
                    for symbol in codes {
                        let row;
                        let split = part.split_at_mut_checked(places);
                        (row, part) = split.ok_or(Fault::Malformed)?;
                        row.fill(entry(symbol));
                    }
                }
            }
        }
        if table.is_empty() { Ok(()) } else { Err(Fault::Malformed) }
    }
}

fn rows<const N: usize>(table: &mut [u16], symbols: &[u8], entry: impl Fn(&u8) -> u16) {
    for (row, symbol) in table.as_chunks_mut::<N>().0.iter_mut().zip(symbols) {
        *row = [entry(symbol); N];
    }
}

impl Weights {
    /// The weight of the next symbol; one of the 256 is reserved for the last.
    fn add(&mut self, weight: u8) -> Result<(), Fault> {
        let place = self.of.get_mut(self.count).filter(|_| usize::from(weight) <= WEIGHTS);
        *place.ok_or(Fault::Malformed)? = weight;
        self.count = self.count.wrapping_add(1);
        Ok(())
    }

    /// Adds the last symbol, whose weight completes the sum to a power of two; returns the
    /// longest code and the number of symbols of each weight.
    fn complete(&mut self) -> Result<(u32, [u16; WEIGHTS + 1]), Fault> {
        let part = |weight: u8| 1_u32.wrapping_shl(u32::from(weight)) >> 1;
        let sum = self.of.iter().fold(0_u32, |sum, weight| sum.wrapping_add(part(*weight)));
        let longest = sum.checked_ilog2().ok_or(Fault::Malformed)?.wrapping_add(1);
        let left = 1_u32.wrapping_shl(longest).wrapping_sub(sum);
        if longest > LONGEST || !left.is_power_of_two() {
            return Err(Fault::Malformed);
        }
        self.add(u8::try_from(left.trailing_zeros().wrapping_add(1)).unwrap_or(u8::MAX))?;
        let mut counts = [0_u16; WEIGHTS + 1];
        for weight in self.of {
            if let Some(count) = counts.get_mut(usize::from(weight)) {
                *count = count.wrapping_add(1);
            }
        }
        // Codes of the greatest length come in pairs.
        let [_, longest_codes, ..] = counts;
        if longest_codes < 2 || longest_codes & 1 == 1 {
            return Err(Fault::Malformed);
        }
        Ok((longest, counts))
    }

    /// Weights that are coded themselves, by two states that take turns
    /// (§4.2.1.2).
    fn decode(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (chances, used) = Chances::read(bytes, WEIGHTS + 2, WIDTH)?;
        let mut table = [Entry::default(); 1 << WIDTH];
        chances.fill(&mut table, |weight| (weight.into(), 0));
        let mut bits = Backwards::new(bytes.get(used..).unwrap_or_default())?;
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
