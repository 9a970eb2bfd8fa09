//! The start of a block that exceeds its limit, handed out before the fault. This happens
//! once per stream, so every byte is copied by itself.

use super::Fault;
use super::bits::Backwards;
use super::block::{Header, State};
use super::room::{Room, chunk, store};
use super::sequences::{self, Sequence};
use super::streams::Codes;

/// Literals, one at a time.
enum Literals<'l> {
    Plain(core::slice::Iter<'l, u8>),
    Repeated(u8),
    Coded(Codes<'l>),
}

impl Literals<'_> {
    fn next(&mut self) -> Result<u8, Fault> {
        match self {
            Literals::Plain(bytes) => bytes.next().copied().ok_or(Fault::Malformed),
            Literals::Repeated(byte) => Ok(*byte),
            Literals::Coded(codes) => codes.next(),
        }
    }
}

impl State {
    /// Fills the room with the start of a block that is too long, or that was found invalid
    /// before that; returns where it ends. The tables that the block describes are or will
    /// be in place.
    #[cold]
    pub(super) fn cut(&mut self, block: &[u8], room: &mut Room<'_>) -> u32 {
        let mut to = room.at;
        // Whatever else is wrong further on, the block is too long first.
        let _ = self.copy(block, room, &mut to);
        to
    }

    fn copy(&mut self, block: &[u8], room: &mut Room<'_>, to: &mut u32) -> Result<(), Fault> {
        self.tables.again();
        let (header, mut data, rest) = Header::split(block)?;
        let (count, rest) = sequences::count(rest)?;
        if header.kind == 2 {
            data = self.huffman.read(data)?;
        }
        let mut literals = match header.kind {
            0 => Literals::Plain(data.iter()),
            1 => Literals::Repeated(data.first().copied().unwrap_or(0)),
            _ => Literals::Coded(self.huffman.codes(data, header.four, header.count)?),
        };
        let end = room.at.wrapping_add(room.most);
        let mut left = header.count;
        if count > 0 {
            let mut stream = Backwards::new(self.tables.read(rest)?)?;
            let mut states = self.tables.states(&mut stream);
            for after in (0..count).rev() {
                let mut one = [Sequence::default()];
                self.tables.decode(&mut stream, &mut states, &mut one, after == 0)?;
                let [Sequence { literals: count, len, offset }] = one;
                left = left.checked_sub(count).ok_or(Fault::Malformed)?;
                fill(&mut literals, count, room, to, end)?;
                let first = room.at.wrapping_sub(room.reach);
                if offset.wrapping_sub(1) >= to.wrapping_sub(first).min(room.window) {
                    return Err(Fault::Malformed);
                }
                for _ in 0..len {
                    if *to == end {
                        return Ok(());
                    }
                    let older = if offset > *to { room.older } else { 0 };
                    let from = to.wrapping_sub(offset).wrapping_add(older);
                    chunk::<1>(room.bytes, from, *to).ok_or(Fault::Malformed)?;
                    *to = to.wrapping_add(1);
                }
            }
        }
        fill(&mut literals, left, room, to, end)
    }
}

/// Copies literals into the room, as many as fit.
fn fill(
    literals: &mut Literals<'_>,
    count: u32,
    room: &mut Room<'_>,
    to: &mut u32,
    end: u32,
) -> Result<(), Fault> {
    for _ in 0..count.min(end.wrapping_sub(*to)) {
        store(room.bytes, *to, [literals.next()?]).ok_or(Fault::Malformed)?;
        *to = to.wrapping_add(1);
    }
    Ok(())
}
