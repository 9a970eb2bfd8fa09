//! Bits from the end of a slice, in 64-bit words.

use super::super::Fault;
use super::super::bits::{low, wide};

/// A stream that is read from its end: the highest set bit in its last byte marks the end, and
/// the first value is just below (RFC 8878 §4.1).
#[derive(Clone, Copy)]
pub(in super::super) struct Backwards<'s> {
    bytes: &'s [u8],
    /// Number of bits left, less [`WORD`]; an eighth of it is the offset of the next word. Wraps
    /// if fewer are left, or if too many were taken.
    at: usize,
}

/// Fewest bits in a 64-bit word whose first bit may lie anywhere in its last byte.
const WORD: usize = 57;
/// The sum of three rests of fields without bits.
pub(super) const RESTS: u32 = 3 * 63;

impl<'s> Backwards<'s> {
    /// A stream without bits.
    pub(in super::super) const NONE: Backwards<'static> =
        Backwards { bytes: &[], at: WORD.wrapping_neg() };

    pub(in super::super) fn new(bytes: &'s [u8]) -> Result<Self, Fault> {
        let last = bytes.last().and_then(|last| last.checked_ilog2()).ok_or(Fault::Malformed)?;
        let before = bytes.len().wrapping_sub(1).wrapping_mul(8);
        Ok(Backwards { bytes, at: before.wrapping_add(wide(last)).wrapping_sub(WORD) })
    }

    pub(in super::super) fn left(&self) -> usize {
        self.at.wrapping_add(WORD)
    }

    /// Whether more bits were taken than there are.
    pub(in super::super) fn is_over(&self) -> bool {
        self.left() > self.bytes.len().wrapping_mul(8)
    }

    /// The next 57 or more bits at the top of a word, with zeros after the last.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        let start = self.at >> 3;
        let word = match self.bytes.get(start..start.wrapping_add(8)) {
            Some(bytes) => bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
            None => first(self.bytes, self.left()),
        };
        let [used, ..] = (!self.at & 7).to_le_bytes();
        word.wrapping_shl(u32::from(used))
    }

    #[inline(always)]
    pub(in super::super) fn pass(&mut self, width: u32) {
        self.at = self.at.wrapping_sub(wide(width));
    }

    /// Passes three fields; `rests` is the sum of 63 less the width of each.
    #[inline(always)]
    pub(super) fn pass_three(&mut self, rests: u32) {
        self.at = self.at.wrapping_add(wide(rests)).wrapping_sub(wide(RESTS));
    }

    /// Undoes [`pass_three`](Self::pass_three).
    pub(super) fn unpass_three(&mut self, rests: u32) {
        self.at = self.at.wrapping_sub(wide(rests)).wrapping_add(wide(RESTS));
    }

    /// The next `width` bits, at most 31.
    pub(in super::super) fn next(&self, width: u32) -> u32 {
        top(&mut self.peek(), !width)
    }

    /// Takes the next `width` bits, at most 31.
    #[inline(always)]
    pub(in super::super) fn take(&mut self, width: u32) -> u32 {
        let mut word = self.peek();
        self.pass(width);
        top(&mut word, !width)
    }
}

/// The first `left` bits, fewer than 57, at the top of a word; 0 if too many were taken.
#[cold]
#[inline(never)]
fn first(bytes: &[u8], left: usize) -> u64 {
    let bytes = bytes.get(..left.wrapping_add(7) >> 3).unwrap_or_default().iter();
    bytes.fold(0, |word, byte| (word >> 8) | (u64::from(*byte) << 56))
}

/// Takes up to 31 bits off the top of a word. The lowest six bits of `rest` are 63 minus their
/// number.
#[inline(always)]
pub(super) fn top(word: &mut u64, rest: u32) -> u32 {
    // In two steps: the number may be 0, and a shift by 64 is a shift by 0.
    let half = *word >> 1;
    *word = half.rotate_right(rest);
    low(half.wrapping_shr(rest))
}
