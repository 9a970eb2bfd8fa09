//! A compressed block: literals, then sequences (RFC 8878 §3.1.1.3).

use super::Fault;
use super::bits::{low, wide};
use super::huffman::Huffman;
use super::room::Room;
use super::sequences::Tables;

/// State that a frame keeps between blocks.
pub(super) struct State {
    pub(super) huffman: Huffman,
    pub(super) tables: Tables,
}

/// The header of the literals (§3.1.1.3.1.1).
pub(super) struct Header {
    /// 0: raw, 1: one repeated byte, 2: codes with their description, 3: codes described by an
    /// earlier block.
    pub(super) kind: u8,
    pub(super) four: bool,
    pub(super) count: u32,
    /// Number of stored bytes.
    stored: u32,
}

impl Header {
    fn read(block: &[u8]) -> Result<(Self, &[u8]), Fault> {
        let first = block.first().copied().ok_or(Fault::Malformed)?;
        let (kind, format) = (first & 3, (first >> 2) & 3);
        // One or two sizes follow the kind and the format: one of 5, 12 or 20 bits or, with
        // codes, two of 10, 14 or 18 bits.
        let (skip, width, bytes) = match (kind, format) {
            (0 | 1, 0 | 2) => (3, 5, 1),
            (0 | 1, 1) => (4, 12, 2),
            (0 | 1, _) => (4, 20, 3),
            (_, 0 | 1) => (4, 10, 3),
            (_, 2) => (4, 14, 4),
            _ => (4, 18, 5),
        };
        let (header, rest) = block.split_at_checked(bytes).ok_or(Fault::Malformed)?;
        let sizes = header.iter().rev().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
        let sizes = sizes.wrapping_shr(skip);
        let mask = 1_u32.wrapping_shl(width).wrapping_sub(1);
        let count = low(sizes) & mask;
        let stored = match kind {
            0 => count,
            1 => 1,
            _ => low(sizes.wrapping_shr(width)) & mask,
        };
        Ok((Header { kind, four: format != 0, count, stored }, rest))
    }

    /// The header, the stored literals, and the rest of the block.
    pub(super) fn split(block: &[u8]) -> Result<(Self, &[u8], &[u8]), Fault> {
        let (header, rest) = Header::read(block)?;
        let split = rest.split_at_checked(wide(header.stored));
        let (data, rest) = split.ok_or(Fault::Malformed)?;
        Ok((header, data, rest))
    }
}

impl State {
    pub(super) const fn new() -> Self {
        State { huffman: Huffman::new(), tables: Tables::new() }
    }

    /// Starts a frame.
    pub(super) fn forget(&mut self) {
        self.huffman.forget();
        self.tables.forget();
    }

    /// Decodes a block to the start of its room, and sets `to` to its end. Returns its number of
    /// sequences.
    ///
    /// # Errors
    /// The fault of the block. If the block is too long, its start is in the room.
    pub(super) fn block(
        &mut self,
        block: &[u8],
        room: &mut Room<'_>,
        to: &mut u32,
    ) -> Result<u32, Fault> {
        self.tables.keep();
        let decoded = self.whole(block, room, to);
        if decoded.is_err_and(|fault| room.is_over(fault)) {
            // The tables that the block describes are in place or will be.
            self.tables.again();
            *to = room.at;
            // Later faults do not matter: the block is too long before them.
            let _ = self.plainly(block, room, to, true);
        }
        decoded
    }
}
