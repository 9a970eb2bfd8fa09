//! Finite state entropy: symbol frequencies, and the state tables built from them (RFC 8878
//! §4.1).

use super::Fault;
use super::bits::{Forwards, narrow, wide};

/// Largest number of symbols in a table: that of match lengths.
pub(super) const SYMBOLS: usize = 53;
/// Most states of a table.
pub(super) const STATES: usize = 1 << 9;
/// Most states of the table of offsets.
pub(super) const OFFSETS: usize = 1 << 8;

/// A table entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// From the lowest bit: 63 less the width of the next state (8 bits), the number of bits to
    /// add to the value (8), and the base of the next state (16).
    pub(super) state: u32,
    /// The base of the value.
    value: u32,
}

impl Entry {
    pub(super) const NONE: Entry = Entry { state: 0, value: 0 };

    fn new(value: u32, extra: u32, next: u32, width: u32) -> Self {
        let state = next.wrapping_shl(16) | (extra << 8) | (!width & 63);
        Entry { state, value }
    }

    /// The number of bits to add to the next state.
    pub(super) fn width(self) -> u32 {
        !self.state & 63
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
}

/// The values of codes: the range of each starts where the previous one ends.
pub(super) struct Values {
    /// Start of the first range.
    pub(super) least: u32,
    /// The number of bits to add to each; none for codes beyond the end.
    pub(super) added: &'static [u8],
}

impl Values {
    fn extra(&self, code: u8) -> u8 {
        self.added.get(usize::from(code)).copied().unwrap_or(0)
    }

    /// The state of a table with one code.
    pub(super) fn only(&self, code: u8) -> Entry {
        let value = self.added.iter().take(code.into());
        let value = value.fold(self.least, |value, extra| after(value, *extra));
        Entry::new(value, self.extra(code).into(), 0, 0)
    }
}

/// End of the range that starts at `value`.
fn after(value: u32, extra: u8) -> u32 {
    value.wrapping_add(1_u32.wrapping_shl(extra.into()))
}

/// How often symbols occur: the number of states of each, -1 for one state of full width.
pub(super) struct Chances {
    pub(super) of: [i16; SYMBOLS],
    /// The width of a state in bits.
    pub(super) width: u32,
}

impl Chances {
    /// A predefined distribution.
    pub(super) fn known((known, width): (&[i8], u32)) -> Self {
        let mut of = [0; SYMBOLS];
        for (to, from) in of.iter_mut().zip(known) {
            *to = i16::from(*from);
        }
        Chances { of, width }
    }

    /// Reads a description of up to `symbols` symbols, in states of up to `most` bits;
    /// returns the rest (§4.1.1).
    pub(super) fn read(bytes: &[u8], symbols: usize, most: u32) -> Result<(Self, &[u8]), Fault> {
        let mut bits = Forwards::new(bytes);
        let width = bits.take(4).wrapping_add(5);
        if width > most {
            return Err(Fault::Malformed);
        }
        let mut of = [0; SYMBOLS];
        let mut rest = of.get_mut(..symbols).unwrap_or_default().iter_mut();
        let mut left = 1_u32.wrapping_shl(width);
        while left > 0 {
            // A number up to `left + 1`; smaller ones take one bit less.
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
        let rest = bits.rest().ok_or(Fault::Malformed)?;
        Ok((Chances { of, width }, rest))
    }

    /// Fills a table with the states (§4.1.1).
    pub(super) fn fill(&self, table: &mut [Entry], values: &Values) {
        let width = self.width;
        let size = 1_usize.wrapping_shl(width);
        let mask = size.wrapping_sub(1);
        let step = (size >> 1).wrapping_add(size >> 3).wrapping_add(3);
        // The states of rare symbols are the last ones.
        let high = size.wrapping_sub(self.of.iter().filter(|chance| **chance < 0).count());
        let (mut at, mut rare) = (0, size);
        let mut value = values.least;
        // Number of states of each symbol numbered so far.
        let mut numbers = [0_u16; 64];
        for ((symbol, chance), number) in (0_u8..).zip(self.of).zip(&mut numbers) {
            *number = chance.unsigned_abs();
            let extra = values.extra(symbol);
            // Until states are numbered, the symbol is stored in place of the next state.
            let entry = Entry::new(value, extra.into(), symbol.into(), 0);
            value = after(value, extra);
            if chance < 0 {
                rare = rare.wrapping_sub(1);
                set(table, rare, entry);
            }
            for _ in 0..chance {
                set(table, at, entry);
                at = at.wrapping_add(step) & mask;
                // If all states are those of rare symbols, no other place is left.
                while at >= high && high > 0 {
                    at = at.wrapping_add(step) & mask;
                }
            }
        }
        for entry in table.iter_mut().take(size) {
            let Some(number) = numbers.get_mut(wide(entry.next() & 63)) else { return };
            let count = u32::from(*number);
            *number = number.wrapping_add(1);
            let bits = width.wrapping_sub(count.checked_ilog2().unwrap_or(0));
            let next = count.wrapping_shl(bits).wrapping_sub(narrow(size));
            *entry = Entry::new(entry.value(), entry.extra(), next, bits);
        }
    }
}

fn set(table: &mut [Entry], at: usize, entry: Entry) {
    if let Some(to) = table.get_mut(at) {
        *to = entry;
    }
}
