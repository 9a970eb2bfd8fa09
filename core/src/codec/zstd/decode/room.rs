//! Room for a block, and the bytes that its matches refer to.

use super::Fault;
use super::bits::wide;
use core::cell::Cell;

/// Number of bytes after a block that copies in 16-byte steps may touch; it keeps literals out of
/// their reach.
pub(super) const MARGIN: usize = 96;

/// Room for one block in a buffer. Positions in the buffer have 32 bits.
pub(super) struct Room<'b> {
    /// Earlier output, the room, and perhaps more.
    pub(super) bytes: &'b mut [u8],
    /// Start of the block.
    pub(super) at: u32,
    /// End of the bytes that may be overwritten.
    #[cfg_attr(not(feature = "sweep"), allow(dead_code, reason = "only literals are kept there"))]
    pub(super) end: u32,
    /// Most bytes that the block may decode to; the room has at least as many.
    pub(super) most: u32,
    /// The fault of a block that decodes to more.
    pub(super) over: Fault,
    /// Number of bytes before the block that matches may refer to.
    pub(super) reach: u32,
    /// Furthest reach of a match.
    pub(super) window: u32,
    /// End of the older bytes, which precede the first of the buffer, if it is a ring; otherwise
    /// 0.
    pub(super) older: u32,
}

impl Room<'_> {
    /// A slice of the buffer.
    pub(super) fn part(&mut self, at: u32, len: u32) -> Result<&mut [u8], Fault> {
        let part = self.bytes.get_mut(wide(at)..wide(at).wrapping_add(wide(len)));
        part.ok_or(Fault::Malformed)
    }

    /// Copies `len` bytes one by one; `to` advances past them.
    pub(super) fn copy(&mut self, from: u32, to: &mut u32, len: u32) -> Result<(), Fault> {
        bytewise(self.bytes, wide(from), wide(*to), wide(len)).ok_or(Fault::Malformed)?;
        *to = to.wrapping_add(len);
        Ok(())
    }

    /// The fault if a block that decodes to `len` bytes is too long.
    pub(super) fn bound(&self, len: u32) -> Result<(), Fault> {
        if len > self.most { Err(self.over) } else { Ok(()) }
    }

    /// Whether a fault means that a block exceeds its limit, but has a valid start.
    pub(super) fn is_over(&self, fault: Fault) -> bool {
        fault == self.over && fault != Fault::Malformed
    }
}

/// Copies `len` bytes from first to last: copying to a later place repeats those in between.
#[inline(never)]
pub(super) fn bytewise(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    if len == 0 {
        return Some(());
    }
    let cells = Cell::from_mut(bytes).as_slice_of_cells();
    let source = cells.get(from..from.wrapping_add(len));
    let target = cells.get(to..to.wrapping_add(len))?;
    target.iter().zip(source?).for_each(|(to, from)| to.set(from.get()));
    Some(())
}
