//! Checks of a compressed block that ruzstd omits.
//!
//! A block may store its literals in four streams of Huffman codes, the first three of which hold
//! a quarter each, rounded up (RFC 8878 §3.1.1.3.1.6). ruzstd compares only the sum: if one
//! stream holds fewer and another more, it decodes to different bytes than the reference decoder.
//! Therefore the streams are measured before a block is decoded, which takes only the code
//! lengths. In addition, a block may not have more literals than bytes, and two bits of the
//! sequences' header are reserved.

use crate::base::widen;

/// Longest code in bits (§4.2.1).
const LONGEST: usize = 11;
const CODES: usize = 1 << LONGEST;
/// States of the table that weights are coded with (§4.2.1.1).
const STATES: usize = 1 << 6;
/// Shortest match (§3.1.1.3.2.1.1).
const SHORTEST: u64 = 3;
/// Fewest literals that four streams can hold.
const FEWEST: usize = 6;

/// The lengths of the Huffman codes of a frame, once a block has described them.
pub(super) struct Strict {
    /// Indexed by the next 11 bits: the length of the first code (low byte), and of all codes
    /// that fit in them (high byte).
    lengths: [[u8; 2]; CODES],
    /// Number of those codes.
    counts: [u8; CODES],
    known: bool,
}

/// The block is malformed.
pub(super) struct Malformed;

impl Strict {
    pub(super) fn new() -> Self {
        Strict { lengths: [[0; 2]; CODES], counts: [0; CODES], known: false }
    }

    /// Validates a compressed block, which may decode to `most` bytes; returns its number
    /// of sequences.
    pub(super) fn check(&mut self, block: &[u8], most: u64) -> Result<u64, Malformed> {
        let first = block.first().copied().ok_or(Malformed)?;
        let (kind, format) = (first & 3, (first >> 2) & 3);
        // Sizes follow the kind and the format: one of 5 bits, or of 12 or 20 bits after two more
        // bits; with codes, two of 10, 14 or 18 bits.
        let (skip, width, bytes) = match (kind, format) {
            (0 | 1, 0 | 2) => (3, 5, 1),
            (0 | 1, 1) => (4, 12, 2),
            (0 | 1, _) => (4, 20, 3),
            (_, 0 | 1) => (4, 10, 3),
            (_, 2) => (4, 14, 4),
            _ => (4, 18, 5),
        };
        let (header, rest) = block.split_at_checked(bytes).ok_or(Malformed)?;
        let header = header.iter().rev().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
        let mask = 1_u64.wrapping_shl(width).wrapping_sub(1);
        let size = |value: u64| usize::try_from(value & mask).unwrap_or(usize::MAX);
        let literals = size(header.wrapping_shr(skip));
        let stored = match kind {
            0 => literals,
            1 => 1,
            _ => size(header.wrapping_shr(skip.wrapping_add(width))),
        };
        let (data, sequences) = rest.split_at_checked(stored).ok_or(Malformed)?;
        if widen(literals) > most {
            return Err(Malformed);
        }
        if kind >= 2 {
            let streams = match kind {
                2 => self.codes(data)?,
                _ if self.known => data,
                _ => return Err(Malformed),
            };
            match format {
                0 if Backwards::new(streams)?.finish(self) != Some(literals) => {
                    return Err(Malformed);
                }
                0 => {}
                _ => self.measure(streams, literals)?,
            }
        }
        // The number of sequences in one, two or three bytes, then the modes of
        // their codes and two reserved bits (§3.1.1.3.2.1).
        let first = sequences.first().copied().ok_or(Malformed)?;
        let (one, two) = (sequences.get(1).copied(), sequences.get(2).copied());
        let (one, two) = (u64::from(one.unwrap_or(0)), u64::from(two.unwrap_or(0)));
        let (count, modes) = match first {
            0 => return Ok(0),
            1..=127 => (u64::from(first), 1),
            128..=254 => (u64::from(first).wrapping_sub(128) << 8 | one, 2),
            255 => (one.wrapping_add(two << 8).wrapping_add(0x7F00), 3),
        };
        // Each copies at least three bytes.
        let least = widen(literals).wrapping_add(count.wrapping_mul(SHORTEST));
        match sequences.get(modes) {
            Some(modes) if modes & 3 == 0 && least <= most => Ok(count),
            _ => Err(Malformed),
        }
    }

    fn measure(&self, data: &[u8], literals: usize) -> Result<(), Malformed> {
        let Some(&[a0, a1, b0, b1, c0, c1]) = data.first_chunk() else { return Err(Malformed) };
        let data = data.get(6..).unwrap_or_default();
        let (first, data) = take(data, [a0, a1])?;
        let (second, data) = take(data, [b0, b1])?;
        let (third, fourth) = take(data, [c0, c1])?;
        let quarter = literals.wrapping_add(3) >> 2;
        let rest = literals.wrapping_sub(quarter.wrapping_mul(3));
        let mut streams = [
            Backwards::new(first)?,
            Backwards::new(second)?,
            Backwards::new(third)?,
            Backwards::new(fourth)?,
        ];
        // Interleaved, so that the processor can work on all four at once.
        while streams.iter().all(|stream| stream.left >= Backwards::BATCH) {
            streams.iter_mut().for_each(|stream| stream.batch(self));
        }
        let mut sound = literals >= FEWEST;
        for (stream, expected) in streams.iter_mut().zip([quarter, quarter, quarter, rest]) {
            sound &= stream.finish(self) == Some(expected);
        }
        if sound { Ok(()) } else { Err(Malformed) }
    }

    /// Reads the description of the codes; returns the streams after it.
    fn codes<'d>(&mut self, data: &'d [u8]) -> Result<&'d [u8], Malformed> {
        self.known = false;
        let (first, data) = data.split_first().ok_or(Malformed)?;
        // Number of symbols of each weight.
        let mut weights = [0_u16; LONGEST + 2];
        let rest = match first.checked_sub(127) {
            None | Some(0) => {
                let (coded, rest) = data.split_at_checked(usize::from(*first)).ok_or(Malformed)?;
                compressed_weights(coded, &mut weights)?;
                rest
            }
            Some(count) => {
                let bytes = usize::from(count).wrapping_add(1) >> 1;
                let (plain, rest) = data.split_at_checked(bytes).ok_or(Malformed)?;
                let halves = plain.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                for weight in halves.take(usize::from(count)) {
                    add(&mut weights, weight)?;
                }
                rest
            }
        };
        self.fill(&mut weights)?;
        self.known = true;
        Ok(rest)
    }

    /// Builds the tables from the number of symbols of each weight, without the last symbol,
    /// whose weight completes the sum to a power of two.
    fn fill(&mut self, weights: &mut [u16; LONGEST + 2]) -> Result<(), Malformed> {
        let mut sum = 0_u32;
        for (shift, count) in weights.iter().skip(1).enumerate() {
            let shift = u32::try_from(shift).unwrap_or(0);
            sum = sum.wrapping_add(u32::from(*count).wrapping_shl(shift));
        }
        let bits = sum.checked_ilog2().ok_or(Malformed)?.wrapping_add(1);
        let left = 1_u32.wrapping_shl(bits).wrapping_sub(sum);
        let longest = u32::try_from(LONGEST).unwrap_or(0);
        if bits > longest || !left.is_power_of_two() {
            return Err(Malformed);
        }
        add(weights, u8::try_from(left.trailing_zeros().wrapping_add(1)).unwrap_or(u8::MAX))?;
        // Codes ascend with the weight; each takes as many entries as its unused bits can count.
        let mut entries = self.lengths.iter_mut();
        for (weight, count) in (0_u32..).zip(weights.iter()).skip(1) {
            let length = u8::try_from(bits.wrapping_add(1).wrapping_sub(weight)).unwrap_or(0);
            let spare = longest.wrapping_sub(bits).wrapping_add(weight).wrapping_sub(1);
            let len = usize::from(*count).wrapping_shl(spare);
            entries.by_ref().take(len).for_each(|entry| *entry = [length, 0]);
        }
        // As many codes as fit in 11 bits are then passed in one step.
        for index in 0..CODES {
            let (mut total, mut count) = (0_usize, 0_u8);
            loop {
                let next = index.wrapping_shl(u32::try_from(total).unwrap_or(0)) & (CODES - 1);
                let [length, _] = self.lengths.get(next).copied().unwrap_or_default();
                let after = total.wrapping_add(usize::from(length));
                if length == 0 || after > LONGEST {
                    break;
                }
                total = after;
                count = count.wrapping_add(1);
            }
            if let (Some(entry), Some(counted)) =
                (self.lengths.get_mut(index), self.counts.get_mut(index))
            {
                let [_, all] = entry;
                *all = u8::try_from(total).unwrap_or(0);
                *counted = count;
            }
        }
        Ok(())
    }
}

/// Counts one more symbol of this weight.
fn add(weights: &mut [u16; LONGEST + 2], weight: u8) -> Result<(), Malformed> {
    let count = weights.get_mut(usize::from(weight)).ok_or(Malformed)?;
    *count = count.wrapping_add(1);
    Ok(())
}

/// Splits off a stream whose length is in the jump table.
fn take(data: &[u8], len: [u8; 2]) -> Result<(&[u8], &[u8]), Malformed> {
    data.split_at_checked(usize::from(u16::from_le_bytes(len))).ok_or(Malformed)
}

/// A stream of bits read from its end.
struct Backwards<'d> {
    bytes: &'d [u8],
    /// Number of bits left.
    left: usize,
    /// Number of codes passed.
    count: usize,
}

impl<'d> Backwards<'d> {
    /// Number of bits that one [`batch`](Self::batch) may use.
    const BATCH: usize = 5 * LONGEST;

    /// The highest set bit in the last byte marks the end.
    fn new(bytes: &'d [u8]) -> Result<Self, Malformed> {
        let last = bytes.last().and_then(|last| last.checked_ilog2()).ok_or(Malformed)?;
        let before = bytes.len().wrapping_sub(1).wrapping_mul(8);
        let left = before.wrapping_add(usize::try_from(last).unwrap_or(0));
        Ok(Backwards { bytes, left, count: 0 })
    }

    /// The next 57 or more bits at the top, with zeros after the last.
    fn peek(&self) -> u64 {
        let end = self.left.wrapping_add(7) >> 3;
        let spare = u32::try_from(end.wrapping_mul(8).wrapping_sub(self.left)).unwrap_or(0);
        let front = self.bytes.get(..end).unwrap_or_default();
        let bits = match front.last_chunk() {
            Some(last) => u64::from_le_bytes(*last),
            None => {
                let bits =
                    front.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
                let free = 8_usize.wrapping_sub(front.len()).wrapping_mul(8);
                bits.checked_shl(u32::try_from(free).unwrap_or(64)).unwrap_or(0)
            }
        };
        bits.wrapping_shl(spare)
    }

    /// The next `width` bits, with zeros after the last; 0 if `width` is 0.
    fn take(&mut self, width: u32) -> usize {
        let bits = self.peek().checked_shr(64_u32.wrapping_sub(width)).unwrap_or(0);
        self.left = self.left.wrapping_sub(usize::try_from(width).unwrap_or(0));
        usize::try_from(bits).unwrap_or(0)
    }

    /// Passes codes; at least [`BATCH`](Self::BATCH) bits must be left.
    #[inline]
    fn batch(&mut self, codes: &Strict) {
        let mut bits = self.peek();
        let mut used = 0_usize;
        for _ in 0..5 {
            let index = index(bits);
            let [_, all] = codes.lengths.get(index).copied().unwrap_or_default();
            let count = codes.counts.get(index).copied().unwrap_or_default();
            bits = bits.wrapping_shl(u32::from(all));
            used = used.wrapping_add(usize::from(all));
            self.count = self.count.wrapping_add(usize::from(count));
        }
        self.left = self.left.wrapping_sub(used);
    }

    /// Passes the rest; returns the number of codes if the stream ends with one.
    fn finish(&mut self, codes: &Strict) -> Option<usize> {
        while self.left >= Backwards::BATCH {
            self.batch(codes);
        }
        while self.left > 0 {
            let [length, _] = codes.lengths.get(index(self.peek()))?;
            self.left = self.left.checked_sub(usize::from(*length))?;
            self.count = self.count.wrapping_add(1);
        }
        Some(self.count)
    }
}

/// The top 11 bits.
fn index(bits: u64) -> usize {
    usize::try_from(bits >> (64 - LONGEST)).unwrap_or(0) & (CODES - 1)
}

/// Reads weights that are coded themselves, by two alternating states (§4.2.1.2).
fn compressed_weights(data: &[u8], weights: &mut [u16; LONGEST + 2]) -> Result<(), Malformed> {
    let mut table = [State::default(); STATES];
    let (width, header) = states(data, &mut table)?;
    let mut bits = Backwards::new(data.get(header..).unwrap_or_default())?;
    if bits.left < usize::try_from(width).unwrap_or(0).wrapping_mul(2) {
        return Err(Malformed);
    }
    let at = |state: usize| table.get(state).copied().ok_or(Malformed);
    let mut one = at(bits.take(width))?;
    let mut two = at(bits.take(width))?;
    // At most 255 symbols, the last of which is not coded.
    for _ in 0..254 {
        add(weights, one.symbol)?;
        let needed = u32::from(one.bits);
        if bits.left < usize::from(one.bits) {
            return add(weights, two.symbol);
        }
        let next = at(usize::from(one.base).wrapping_add(bits.take(needed)))?;
        one = core::mem::replace(&mut two, next);
    }
    Err(Malformed)
}

/// A state: its symbol, and how to find the next state.
#[derive(Clone, Copy, Default)]
struct State {
    symbol: u8,
    bits: u8,
    base: u8,
}

/// Reads a table of states (§4.1.1); returns the width of a state in bits, and the number of
/// bytes that the table took.
fn states(data: &[u8], table: &mut [State; STATES]) -> Result<(u32, usize), Malformed> {
    let mut bits = Forwards { bytes: data, at: 0 };
    let width = u32::try_from(bits.peek(4)).unwrap_or(0).wrapping_add(5);
    bits.at = 4;
    if width > 6 {
        return Err(Malformed);
    }
    let size = 1_usize.wrapping_shl(width);
    // Probabilities; `None` stands for "less than one".
    let mut chances = [Some(0_usize); LONGEST + 2];
    let mut symbol = 0_usize;
    let mut left = size;
    while left > 0 {
        // A value up to `left + 1`; smaller values take one bit less.
        let most = left.wrapping_add(1);
        let long = most.checked_ilog2().unwrap_or(0).wrapping_add(1);
        let short = long.wrapping_sub(1);
        let spare = (1_usize.wrapping_shl(long)).wrapping_sub(1).wrapping_sub(most);
        let low = bits.peek(short);
        let value = if low < spare {
            bits.at = bits.at.wrapping_add(usize::try_from(short).unwrap_or(0));
            low
        } else {
            let value = bits.peek(long);
            bits.at = bits.at.wrapping_add(usize::try_from(long).unwrap_or(0));
            let half = 1_usize.wrapping_shl(short);
            if value >= half { value.wrapping_sub(spare) } else { value }
        };
        let chance = value.checked_sub(1);
        *chances.get_mut(symbol).ok_or(Malformed)? = chance;
        symbol = symbol.wrapping_add(1);
        left = left.checked_sub(chance.unwrap_or(1)).ok_or(Malformed)?;
        if chance == Some(0) {
            // More symbols that do not occur: runs of up to three.
            loop {
                let run = bits.peek(2);
                bits.at = bits.at.wrapping_add(2);
                symbol = symbol.wrapping_add(run);
                if run < 3 {
                    break;
                }
            }
        }
    }
    let used = bits.at.wrapping_add(7) >> 3;
    if used > data.len() {
        return Err(Malformed);
    }
    spread(&chances, width, table.get_mut(..size).unwrap_or_default());
    Ok((width, used))
}

/// Distributes symbols over states, and numbers the states of each symbol.
fn spread(chances: &[Option<usize>], width: u32, table: &mut [State]) {
    let size = table.len();
    let mask = size.wrapping_sub(1);
    // Symbols with a chance below one take one state each, from the last down.
    let mut rare = table.iter_mut().rev();
    let mut high = size;
    for (symbol, chance) in (0_u8..).zip(chances) {
        if chance.is_none()
            && let Some(state) = rare.next()
        {
            *state = State { symbol, bits: u8::try_from(width).unwrap_or(0), base: 0 };
            high = high.wrapping_sub(1);
        }
    }
    let step = (size >> 1).wrapping_add(size >> 3).wrapping_add(3);
    let mut at = 0_usize;
    for (symbol, chance) in (0_u8..).zip(chances) {
        for _ in 0..chance.unwrap_or(0) {
            if let Some(state) = table.get_mut(at) {
                state.symbol = symbol;
            }
            at = at.wrapping_add(step) & mask;
            while at >= high && high > 0 {
                at = at.wrapping_add(step) & mask;
            }
        }
    }
    let mut next = [0_usize; LONGEST + 2];
    for (count, chance) in next.iter_mut().zip(chances) {
        *count = chance.unwrap_or(0);
    }
    for state in table.iter_mut().take(high) {
        let Some(count) = next.get_mut(usize::from(state.symbol)) else { return };
        let number = *count;
        *count = number.wrapping_add(1);
        let bits = width.wrapping_sub(number.checked_ilog2().unwrap_or(0));
        let base = number.wrapping_shl(bits).wrapping_sub(size);
        state.bits = u8::try_from(bits).unwrap_or(0);
        state.base = u8::try_from(base).unwrap_or(0);
    }
}

/// Bits from the least significant of the first byte; zeros after the end.
struct Forwards<'d> {
    bytes: &'d [u8],
    at: usize,
}

impl Forwards<'_> {
    /// The next `width` bits, at most 8.
    fn peek(&self, width: u32) -> usize {
        let byte = |i: usize| usize::from(self.bytes.get(i).copied().unwrap_or(0));
        let first = self.at >> 3;
        let shift = u32::try_from(self.at & 7).unwrap_or(0);
        let bits = byte(first) | (byte(first.wrapping_add(1)) << 8);
        bits.wrapping_shr(shift) & 1_usize.wrapping_shl(width).wrapping_sub(1)
    }
}
