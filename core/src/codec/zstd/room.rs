//! Where a block goes: room for it, and what its matches refer to.

use super::Fault;
use super::bits::{narrow, wide};

/// Bytes beyond a block that copies may touch, as they go by 16 bytes, and that
/// keep literals away from them.
pub(super) const MARGIN: usize = 96;

/// Room for one block in a buffer. Positions in the buffer have 32 bits.
pub(super) struct Room<'b> {
    /// What was decoded before, the room, and perhaps more.
    pub(super) bytes: &'b mut [u8],
    /// Where the block begins.
    pub(super) at: u32,
    /// The end of what may be overwritten.
    pub(super) end: u32,
    /// Most bytes that the block may become; they fit.
    pub(super) most: u32,
    /// What is wrong with a block that becomes more.
    pub(super) over: Fault,
    /// Bytes before the block that matches may refer to.
    pub(super) reach: u32,
    /// How far back a match may refer at all.
    pub(super) window: u32,
    /// Where the bytes end that come before the first of the buffer, if there
    /// are any: the buffer is a ring then.
    pub(super) older: u32,
}

impl Room<'_> {
    /// A slice of the buffer.
    pub(super) fn part(&mut self, at: u32, len: u32) -> Result<&mut [u8], Fault> {
        let part = self.bytes.get_mut(wide(at)..wide(at).wrapping_add(wide(len)));
        part.ok_or(Fault::Malformed)
    }

    /// The fault of a block that becomes `len` bytes, if that is too many.
    pub(super) fn bound(&self, len: u32) -> Result<(), Fault> {
        if len > self.most { Err(self.over) } else { Ok(()) }
    }
}

/// Copies `N` bytes within a buffer.
#[inline(always)]
pub(super) fn chunk<const N: usize>(bytes: &mut [u8], from: u32, to: u32) -> Option<()> {
    store::<N>(bytes, to, load::<N>(bytes, from)?)
}

#[inline(always)]
pub(super) fn load<const N: usize>(bytes: &[u8], at: u32) -> Option<[u8; N]> {
    let at = wide(at);
    bytes.get(at..at.wrapping_add(N))?.first_chunk().copied()
}

#[inline(always)]
pub(super) fn store<const N: usize>(bytes: &mut [u8], at: u32, value: [u8; N]) -> Option<()> {
    let at = wide(at);
    *bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()? = value;
    Some(())
}

/// Copies `len` bytes, and up to `N - 1` more, to a place at least `N` bytes on,
/// or anywhere before.
#[inline(always)]
pub(super) fn copy<const N: usize>(
    bytes: &mut [u8],
    mut from: u32,
    mut to: u32,
    len: u32,
) -> Option<()> {
    let (step, end) = (narrow(N), to.wrapping_add(len));
    loop {
        chunk::<N>(bytes, from, to)?;
        to = to.wrapping_add(step);
        from = from.wrapping_add(step);
        if to >= end {
            return Some(());
        }
    }
}

/// Moves `len` bytes to a place before, and touches nothing else.
#[inline(never)]
pub(super) fn move_down(bytes: &mut [u8], from: u32, to: u32, len: u32) -> Option<()> {
    let whole = len & !63;
    if whole > 0 {
        copy::<64>(bytes, from, to, whole)?;
    }
    for i in whole..len {
        chunk::<1>(bytes, from.wrapping_add(i), to.wrapping_add(i))?;
    }
    Some(())
}
