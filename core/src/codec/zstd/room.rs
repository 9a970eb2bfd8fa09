//! Room for a block, and the bytes that its matches refer to.

use super::Fault;
use super::bits::wide;

/// Number of bytes after a block that copies in steps of 16 bytes may touch; it keeps
/// literals out of their reach.
pub(super) const MARGIN: usize = 96;

/// Room for one block in a buffer. Positions in the buffer have 32 bits.
pub(super) struct Room<'b> {
    /// Earlier output, the room, and perhaps more.
    pub(super) bytes: &'b mut [u8],
    /// Start of the block.
    pub(super) at: u32,
    /// End of the bytes that may be overwritten.
    pub(super) end: u32,
    /// Most bytes that the block may become; the room has as many.
    pub(super) most: u32,
    /// The fault of a block that becomes more.
    pub(super) over: Fault,
    /// Number of bytes before the block that matches may refer to.
    pub(super) reach: u32,
    /// Furthest reach of a match.
    pub(super) window: u32,
    /// End of the older bytes, which come before the first of the buffer, if it is a ring;
    /// otherwise 0.
    pub(super) older: u32,
}

impl Room<'_> {
    /// A slice of the buffer.
    pub(super) fn part(&mut self, at: u32, len: u32) -> Result<&mut [u8], Fault> {
        let part = self.bytes.get_mut(wide(at)..wide(at).wrapping_add(wide(len)));
        part.ok_or(Fault::Malformed)
    }

    /// The fault if a block becomes `len` bytes and that is too many.
    pub(super) fn bound(&self, len: u32) -> Result<(), Fault> {
        if len > self.most { Err(self.over) } else { Ok(()) }
    }
}

/// Copies `N` bytes within a buffer.
#[inline(always)]
pub(super) fn chunk<const N: usize>(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    store::<N>(bytes, to, load::<N>(bytes, from)?)
}

#[inline(always)]
pub(super) fn load<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.wrapping_add(N))?.first_chunk().copied()
}

#[inline(always)]
pub(super) fn store<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) -> Option<()> {
    *bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()? = value;
    Some(())
}

/// Copies `len` bytes, and up to `N - 1` more, to a place at least `N` bytes further on, or
/// anywhere before.
#[inline(always)]
pub(super) fn copy<const N: usize>(
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
    len: usize,
) -> Option<()> {
    let end = to.wrapping_add(len);
    loop {
        chunk::<N>(bytes, from, to)?;
        to = to.wrapping_add(N);
        from = from.wrapping_add(N);
        if to >= end {
            return Some(());
        }
    }
}

/// Moves `len` bytes to an earlier place, and touches nothing else.
#[inline(never)]
pub(super) fn move_down(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    let whole = len & !63;
    if whole > 0 {
        copy::<64>(bytes, from, to, whole)?;
    }
    for i in whole..len {
        chunk::<1>(bytes, from.wrapping_add(i), to.wrapping_add(i))?;
    }
    Some(())
}
