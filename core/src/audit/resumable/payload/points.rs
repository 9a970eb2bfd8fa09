//! Code points of text with four bytes each.

use crate::base::widen;
use crate::model::Endianness;

/// The last code point.
pub(super) const LAST: u32 = 0x10_FFFF;

/// Progress through text, in pieces that may divide a code point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    /// Number of bytes before the text that are still to come.
    lead: u64,
    /// Number of its bytes passed.
    passed: u64,
    endianness: Endianness,
    /// The last four bytes, as a number.
    last: u32,
}

impl Points {
    /// Text after `lead` bytes.
    pub(super) fn new(lead: u64, endianness: Endianness) -> Self {
        Points { lead, passed: 0, endianness, last: 0 }
    }

    /// Number of bytes of the text that were passed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The byte order from here on; no code point is begun.
    pub(super) fn turn(&mut self, endianness: Endianness) {
        self.endianness = endianness;
    }

    /// Passes the next bytes. Returns the position and the value of the first number that is no
    /// code point, and looks at nothing after it.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Option<(u64, u32)> {
        let skipped = self.lead.min(widen(piece.len()));
        self.lead = self.lead.saturating_sub(skipped);
        let mut rest = usize::try_from(skipped).ok().and_then(|at| piece.get(at..))?;
        loop {
            if self.passed & 3 == 0 {
                let (numbers, after) = rest.as_chunks::<4>();
                for number in numbers {
                    let found = match self.endianness {
                        Endianness::Little => u32::from_le_bytes(*number),
                        Endianness::Big => u32::from_be_bytes(*number),
                    };
                    if found > LAST {
                        return Some((self.passed, found));
                    }
                    self.passed = self.passed.wrapping_add(4);
                }
                rest = after;
            }
            let (byte, after) = rest.split_first()?;
            let byte = u32::from(*byte);
            self.last = match self.endianness {
                Endianness::Little => self.last >> 8 | byte << 24,
                Endianness::Big => self.last << 8 | byte,
            };
            self.passed = self.passed.wrapping_add(1);
            if self.passed & 3 == 0 && self.last > LAST {
                return Some((self.passed.wrapping_sub(4), self.last));
            }
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_bad(bytes: &[u8], lead: u64, order: Endianness, each: usize) -> Option<(u64, u32)> {
        let mut points = Points::new(lead, order);
        bytes.chunks(each).find_map(|piece| points.feed(piece))
    }

    #[test]
    fn number_beyond_last_code_point_is_found_in_pieces_of_any_size() {
        let numbers = [0x41, 0xD800, LAST, LAST + 1, u32::MAX];
        let little: std::vec::Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let big: std::vec::Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
        let led = [&[0xFF; 5], &little[..]].concat();
        let found = Some((12, LAST + 1));
        for each in 1..=led.len() {
            assert_eq!(first_bad(&little, 0, Endianness::Little, each), found, "{each}");
            assert_eq!(first_bad(&big, 0, Endianness::Big, each), found, "{each}");
            assert_eq!(first_bad(&led, 5, Endianness::Little, each), found, "{each}");
            assert_eq!(first_bad(&little[..12], 0, Endianness::Little, each), None, "{each}");
        }
    }
}
