//! Finite state entropy: symbol frequencies, and the state tables built from them (RFC 8878
//! §4.1).

use super::Fault;
use super::bits::{Forwards, wide};

/// Largest number of symbols in a table: that of match lengths.
pub(super) const SYMBOLS: usize = 53;
/// Most states of a table.
pub(super) const STATES: usize = 1 << 9;
/// Most states of the table of offsets.
pub(super) const OFFSETS: usize = 1 << 8;

/// A table entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// From the lowest bit: [`rest`](Entry::rest) (8 bits), the number of bits to add to the
    /// value (8), and the base of the next state (16).
    state: u32,
    /// The base of the value.
    value: u32,
}

impl Entry {
    pub(super) const NONE: Entry = Entry { state: 0, value: 0 };

    pub(super) fn new(value: u32, extra: u8, next: u32, width: u32) -> Self {
        let state = next.wrapping_shl(16) | (u32::from(extra) << 8) | (!width & 63);
        Entry { state, value }
    }

    /// The number of bits to add to the next state.
    pub(super) fn width(self) -> u32 {
        !self.state & 63
    }

    /// 63 less that number in the lowest six bits, for [`top`](super::bits::top).
    #[inline(always)]
    pub(super) fn rest(self) -> u32 {
        self.state
    }

    #[inline(always)]
    pub(super) fn extra(self) -> u32 {
        (self.state >> 8) & 0xFF
    }

    #[inline(always)]
    pub(super) fn next(self) -> u32 {
        self.state >> 16
    }

    #[inline(always)]
    pub(super) fn value(self) -> u32 {
        self.value
    }

    /// Whether both entries add no bits to the value.
    #[inline(always)]
    pub(super) fn are_plain(self, other: Entry) -> bool {
        (self.state | other.state) & 0xFF00 == 0
    }

    /// The sum of three rests.
    #[inline(always)]
    pub(super) fn rests(self, second: Entry, third: Entry) -> u32 {
        self.state.wrapping_add(second.state).wrapping_add(third.state) & 0xFF
    }
}

/// How often symbols occur: the number of states of each, -1 for one state of full width.
pub(super) struct Chances {
    pub(super) of: [i16; SYMBOLS],
    /// The width of a state in bits.
    pub(super) width: u32,
}

impl Chances {
    /// The predefined distributions.
    pub(super) fn known(known: &[i8], width: u32) -> Self {
        let mut of = [0; SYMBOLS];
        for (to, from) in of.iter_mut().zip(known) {
            *to = i16::from(*from);
        }
        Chances { of, width }
    }

    /// Reads a description of up to `symbols` symbols, in states of up to `most` bits;
    /// returns its length in bytes (§4.1.1).
    pub(super) fn read(bytes: &[u8], symbols: usize, most: u32) -> Result<(Self, usize), Fault> {
        let mut bits = Forwards::new(bytes);
        let width = bits.take(4).wrapping_add(5);
        if width > most {
            return Err(Fault::Malformed);
        }
        let mut of = [0; SYMBOLS];
        let mut rest = of.get_mut(..symbols).unwrap_or_default().iter_mut();
        let mut left = 1_u32.wrapping_shl(width);
        while left > 0 {
            // A number up to `left + 1`; the smaller ones take a bit less.
            let long = left.wrapping_add(1).checked_ilog2().unwrap_or(0).wrapping_add(1);
            let half = 1_u32.wrapping_shl(long) >> 1;
            let short = half.wrapping_mul(2).wrapping_sub(2).wrapping_sub(left);
            let value = bits.peek(long);
            let cut = value & half.wrapping_sub(1);
            let number = if cut < short {
                bits.pass(long.wrapping_sub(1));
                cut
            } else {
                bits.pass(long);
                if value >= half { value.wrapping_sub(short) } else { value }
            };
            let chance = i16::try_from(number).unwrap_or(0).wrapping_sub(1);
            *rest.next().ok_or(Fault::Malformed)? = chance;
            left = left.wrapping_sub(u32::from(chance.unsigned_abs()));
            if chance == 0 {
                // Further symbols that do not occur: runs of up to three.
                loop {
                    let run = bits.take(2);
                    for _ in 0..run {
                        rest.next().ok_or(Fault::Malformed)?;
                    }
                    if run < 3 {
                        break;
                    }
                }
            }
        }
        let used = bits.used().ok_or(Fault::Malformed)?;
        Ok((Chances { of, width }, used))
    }

    /// Fills a table with the states (§4.1.1): `value` returns the base value of a symbol
    /// and the number of bits to add.
    pub(super) fn fill(&self, table: &mut [Entry], value: fn(u8) -> (u32, u8)) {
        let width = self.width;
        let size = 1_u32.wrapping_shl(width);
        let mask = size.wrapping_sub(1);
        let mut symbols = [0_u8; STATES];
        // How many states of a symbol were numbered.
        let mut numbers = [0_u16; 64];
        let mut high = size;
        for ((symbol, chance), number) in (0_u8..).zip(self.of).zip(&mut numbers) {
            *number = chance.unsigned_abs();
            if chance < 0 {
                high = high.wrapping_sub(1);
                set(&mut symbols, high, symbol);
            }
        }
        let step = (size >> 1).wrapping_add(size >> 3).wrapping_add(3);
        let mut at = 0;
        for (symbol, chance) in (0_u8..).zip(self.of) {
            for _ in 0..chance.max(0) {
                set(&mut symbols, at, symbol);
                at = at.wrapping_add(step) & mask;
                // If all states are rare ones, no other place is left.
                while at >= high && high > 0 {
                    at = at.wrapping_add(step) & mask;
                }
            }
        }
        for (entry, symbol) in table.iter_mut().zip(symbols).take(wide(size)) {
            let Some(number) = numbers.get_mut(usize::from(symbol & 63)) else { return };
            let count = u32::from(*number);
            *number = number.wrapping_add(1);
            let bits = width.wrapping_sub(count.checked_ilog2().unwrap_or(0));
            let (value, extra) = value(symbol);
            *entry = Entry::new(value, extra, count.wrapping_shl(bits).wrapping_sub(size), bits);
        }
    }
}

fn set(symbols: &mut [u8; STATES], at: u32, symbol: u8) {
    if let Some(to) = symbols.get_mut(wide(at) & (STATES - 1)) {
        *to = symbol;
    }
}
