//! The caller's buffer as the window: filled once from start to end, or used as a ring.
//!
//! A block is contiguous, and so is everything that it may refer to, with one exception: a full
//! ring continues at its start, and the earlier bytes lie at its end (`older`). That takes the
//! window and room for two blocks. With less, the window is moved to the start instead.

use super::super::frame::BLOCK;
use super::Fault;
use super::bits::{narrow, wide};
use super::kernel::move_down;
use super::room::{MARGIN, Room};
use crate::base::widen;

/// Most bytes of a buffer that are used as a ring, and the furthest reach of a match: positions
/// have 32 bits. The reference encoder reaches no further.
pub(super) const FURTHEST: u64 = 1 << 31;

/// The write position in the buffer, and the bytes before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The next byte.
    pub(super) at: usize,
    /// End of the older bytes, which precede the first one; 0 if there are none.
    older: usize,
}

/// What a frame declares about its blocks, and its progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// How far back matches may refer.
    pub(super) window: u64,
    /// Number of bytes of the frame decoded so far.
    pub(super) written: u64,
    /// Number of bytes that it may still decode to.
    pub(super) left: u64,
    /// The fault if it exceeds `left`.
    pub(super) over: Fault,
}

impl Extent {
    /// Largest size of a block.
    pub(super) fn block(&self) -> u32 {
        u32::try_from(self.window).unwrap_or(BLOCK).min(BLOCK)
    }

    /// Room for one block.
    fn room(&self) -> u64 {
        u64::from(self.block()).saturating_add(widen(MARGIN)).min(self.left)
    }

    /// The smallest ring for the frame: the window and room for one block, or the whole
    /// frame.
    pub(super) fn least(&self) -> u64 {
        self.window.saturating_add(widen(MARGIN)).saturating_add(self.block().into()).min(self.left)
    }

    /// A ring in which nothing has to be moved: with room for a second block.
    pub(super) fn best(&self) -> u64 {
        let second = self.room();
        self.window.saturating_add(second).saturating_add(second).min(self.left)
    }
}

impl Ring {
    pub(super) const fn new() -> Self {
        Ring { at: 0, older: 0 }
    }

    /// Starts at the beginning of a buffer, or after the filled part.
    pub(super) fn begin(&mut self, at: usize) {
        *self = Ring { at, older: 0 };
    }

    /// Starts a frame, which refers to nothing before it.
    pub(super) fn forget(&mut self) {
        self.older = 0;
    }

    /// Whether the next block fits at the current position.
    pub(super) fn has_room(&self, buffer: &[u8], extent: &Extent) -> bool {
        widen(buffer.len().saturating_sub(self.at)) >= extent.room()
    }

    /// Makes room at the start of the ring.
    pub(super) fn turn(&mut self, buffer: &mut [u8], extent: &Extent) -> Result<(), Fault> {
        let kept = usize::try_from(extent.written.min(extent.window)).unwrap_or(usize::MAX);
        // The most that a room may take, even if less is left.
        let room = widen(MARGIN).saturating_add(extent.block().into());
        if kept == 0 {
            self.begin(0);
        } else if widen(self.at) >= extent.window.saturating_add(room) {
            *self = Ring { at: 0, older: self.at };
        } else {
            let from = self.at.checked_sub(kept).ok_or(Fault::Buffer)?;
            move_down(buffer, from, 0, kept).ok_or(Fault::Buffer)?;
            self.begin(kept);
        }
        Ok(())
    }

    /// The room for the next block. A buffer that is not a ring is cut to the bytes that matches
    /// may refer to.
    pub(super) fn room<'b>(
        &self,
        buffer: &'b mut [u8],
        extent: &Extent,
    ) -> Option<(usize, Room<'b>)> {
        let block = extent.block();
        let most = u32::try_from(extent.left).unwrap_or(block).min(block);
        let over = if most < block { extent.over } else { Fault::Malformed };
        let reach = extent.written.min(extent.window).min(FURTHEST);
        let (mut first, mut end) = (0, buffer.len());
        if widen(end) > FURTHEST {
            // Only a buffer that holds the whole output is that long.
            first = self.at.checked_sub(usize::try_from(reach).ok()?)?;
            end = end.min(self.at.saturating_add(wide(block)).saturating_add(MARGIN));
        }
        let bytes = buffer.get_mut(first..end)?;
        let at = narrow(self.at.checked_sub(first)?);
        let room = wide(at).saturating_add(wide(most)).saturating_add(MARGIN).min(bytes.len());
        let window = u32::try_from(extent.window.min(FURTHEST)).unwrap_or(u32::MAX);
        let (end, older) = (narrow(room), narrow(self.older));
        let reach = u32::try_from(reach).unwrap_or(u32::MAX);
        (end.checked_sub(at)? >= most).then_some(())?;
        Some((first, Room { bytes, at, end, most, over, reach, window, older }))
    }
}
