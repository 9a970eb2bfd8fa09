//! Bits from the start of a slice, and 32-bit numbers.

/// The low half of a word.
#[inline(always)]
pub(super) fn low(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A 32-bit number as a size: no target of this crate has smaller ones.
#[inline(always)]
pub(super) fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A size as a 32-bit number, for sizes that are known to fit.
#[inline(always)]
pub(super) fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Bits from the lowest of the first byte, with zeros after the last.
pub(super) struct Forwards<'s> {
    bytes: &'s [u8],
    at: u32,
}

impl<'s> Forwards<'s> {
    pub(super) fn new(bytes: &'s [u8]) -> Self {
        Forwards { bytes, at: 0 }
    }

    /// The next `width` bits, at most 16.
    pub(super) fn peek(&self, width: u32) -> u32 {
        let first = wide(self.at >> 3);
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(self.bytes.get(first..).unwrap_or_default()) {
            *to = *from;
        }
        let mask = 1_u32.wrapping_shl(width).wrapping_sub(1);
        u32::from_le_bytes(bytes).wrapping_shr(self.at & 7) & mask
    }

    pub(super) fn pass(&mut self, width: u32) {
        self.at = self.at.saturating_add(width);
    }

    pub(super) fn take(&mut self, width: u32) -> u32 {
        let value = self.peek(width);
        self.pass(width);
        value
    }

    /// The bytes of which no bit was passed; `None` if more bits were passed than there are.
    pub(super) fn rest(&self) -> Option<&'s [u8]> {
        self.bytes.get(wide(self.at.saturating_add(7) >> 3)..)
    }
}
