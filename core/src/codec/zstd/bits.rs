//! Bits, read from either end of a slice.

use super::Fault;

/// A stream that is read from its end: the highest bit set in its last byte marks the end,
/// and the first value is just below (RFC 8878 §4.1).
#[derive(Clone, Copy)]
pub(super) struct Backwards<'s> {
    bytes: &'s [u8],
    /// Number of bits left. Wraps to a huge number if too many were taken.
    left: usize,
}

impl<'s> Backwards<'s> {
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

    /// The next 56 bits or more at the top of a word, zeros after the last.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        let end = (self.left >> 3).wrapping_add(1);
        let word = match self.bytes.get(end.wrapping_sub(8)..end) {
            Some(bytes) => bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
            None => self.first(end),
        };
        let [used, ..] = (!self.left & 7).to_le_bytes();
        (word << 1).wrapping_shl(u32::from(used))
    }

    /// The first `end` bytes, fewer than eight, at the top of a word; 0 if too many bits were
    /// taken.
    #[cold]
    #[inline(never)]
    fn first(&self, end: usize) -> u64 {
        let bytes = self.bytes.get(..end).unwrap_or_default().iter();
        bytes.fold(0, |word, byte| (word >> 8) | (u64::from(*byte) << 56))
    }

    #[inline(always)]
    pub(super) fn pass(&mut self, width: u32) {
        self.left = self.left.wrapping_sub(wide(width));
    }

    /// Undoes a take.
    pub(super) fn unpass(&mut self, width: u32) {
        self.left = self.left.wrapping_add(wide(width));
    }

    /// The next `width` bits, at most 31.
    #[inline(always)]
    pub(super) fn take(&mut self, width: u32) -> u32 {
        let word = self.peek();
        self.pass(width);
        part(word, 0, width)
    }
}

/// Takes the top `width` bits off a word, at most 31.
#[inline(always)]
pub(super) fn top(word: &mut u64, width: u32) -> u32 {
    let value = part(*word, 0, width);
    *word = word.wrapping_shl(width);
    value
}

/// A number of up to 31 bits that lies `at` bits below the top of a word.
#[inline(always)]
pub(super) fn part(word: u64, at: u32, width: u32) -> u32 {
    // In two steps: the width may be 0, and a shift by 64 is a shift by 0.
    low((word.wrapping_shl(at) >> 1).wrapping_shr(!width))
}

/// The low half of a word.
#[inline(always)]
pub(super) fn low(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A number of 32 bits as a size: no target of this crate has fewer.
#[inline(always)]
pub(super) fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A size as a number of 32 bits, for sizes that are known to fit.
#[inline(always)]
pub(super) fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Bits from the lowest of the first byte on, zeros after the last.
pub(super) struct Forwards<'s> {
    bytes: &'s [u8],
    at: u32,
}

impl<'s> Forwards<'s> {
    pub(super) fn new(bytes: &'s [u8]) -> Self {
        Forwards { bytes, at: 0 }
    }

    /// The next `width` bits, 16 at most.
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

    /// Number of bytes begun; `None` if there are not as many.
    pub(super) fn used(&self) -> Option<usize> {
        let used = wide(self.at.saturating_add(7) >> 3);
        (used <= self.bytes.len()).then_some(used)
    }
}
