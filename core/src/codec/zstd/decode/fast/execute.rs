//! Execution of sequences: copies literals into place, and matches from earlier output (RFC 8878
//! §3.1.1.5).
//!
//! Copies go in 16-byte steps and may write up to 32 bytes too many into unused room. Near the
//! end of the room, and near the literals that are kept there, copies are exact.

use super::super::Fault;
use super::super::bits::{narrow, wide};
use super::super::plain::BATCH;
use super::super::room::Room;
use super::super::sequences::{Sequence, Tables};
use super::bits::Backwards;
use super::copies::{chunk, copy, load, move_down, store};

/// How far copies may go past the end of a match.
const SLACK: usize = 32;
/// Number of literals from which larger steps pay off.
const LONG: usize = 256;
/// Mask of a position: it shows the compiler that no sum of positions overflows.
const POSITION: usize = 0xFFFF_FFFF;

/// Where the next byte goes, and where the next literal is.
#[derive(Clone, Copy)]
struct Place {
    to: usize,
    literal: usize,
}

/// Executes the sequences of `stream`; returns the end of the block. Its literals are the last
/// `literals` bytes of the room.
pub(super) fn run(
    tables: &mut Tables,
    stream: &[u8],
    count: u32,
    literals: u32,
    room: &mut Room<'_>,
) -> Result<u32, Fault> {
    let mut stream = Backwards::new(stream)?;
    let mut states = tables.states(&mut stream);
    let literal = wide(room.end.wrapping_sub(literals));
    let mut place = Place { to: wide(room.at), literal };
    // Two short loops hide more memory latency than one long one.
    let mut batch = [Sequence::default(); BATCH];
    let mut left = wide(count);
    while left > 0 {
        let batch = batch.get_mut(..left.min(BATCH)).unwrap_or_default();
        left = left.wrapping_sub(batch.len());
        tables.decode(&mut stream, &mut states, batch, left == 0)?;
        place = execute(batch, place, room)?;
    }
    if stream.left() != 0 {
        return Err(Fault::Malformed);
    }
    let rest = wide(room.end).wrapping_sub(place.literal);
    let end = narrow(place.to.wrapping_add(rest));
    room.bound(end.wrapping_sub(room.at))?;
    move_down(room.bytes, place.literal, place.to, rest).ok_or(Fault::Malformed)?;
    Ok(end)
}

/// Bounds of the sequences of a block.
struct Bounds {
    /// End of the older part of a ring; otherwise 0.
    older: usize,
    /// Number of bytes between the output and the remaining literals, once the block is as long
    /// as it may be; the fault of a longer one.
    margin: usize,
    over: Fault,
}

#[inline(never)]
fn execute(batch: &[Sequence], mut place: Place, room: &mut Room<'_>) -> Result<Place, Fault> {
    let [window, older, end] = [room.window, room.older, room.end].map(wide);
    let first = wide(room.at).wrapping_sub(wide(room.reach));
    let margin = wide(room.end.wrapping_sub(room.at).wrapping_sub(room.most));
    let bounds = Bounds { older, margin, over: room.over };
    let clear = margin.max(SLACK);
    let bytes = &mut *room.bytes;
    for sequence in batch {
        let [count, len, offset] = [sequence.literals, sequence.len, sequence.offset].map(wide);
        let (to, literal) = (place.to & POSITION, place.literal & POSITION);
        let (middle, after) = (to.wrapping_add(count), literal.wrapping_add(count));
        let after_match = middle.wrapping_add(len);
        if after > end || offset.wrapping_sub(1) >= middle.wrapping_sub(first).min(window) {
            return Err(Fault::Malformed);
        }
        // These conditions show the compiler that all of it lies within the buffer.
        if after_match.wrapping_add(clear) <= after
            && after.wrapping_add(16) <= bytes.len()
            && let Some(from) = middle.checked_sub(offset)
        {
            literals(bytes, literal, to, count).ok_or(Fault::Malformed)?;
            matched(bytes, from, middle, len, offset).ok_or(Fault::Malformed)?;
        } else {
            elsewhere(bytes, Place { to, literal }, sequence, &bounds)?;
        }
        place = Place { to: after_match, literal: after };
    }
    Ok(place)
}

/// Copies near the literals or the end of the buffer, or from the older part of a ring.
#[inline(never)]
fn elsewhere(
    bytes: &mut [u8],
    Place { to, literal }: Place,
    sequence: &Sequence,
    bounds: &Bounds,
) -> Result<(), Fault> {
    let [count, len, offset] = [sequence.literals, sequence.len, sequence.offset].map(wide);
    let (middle, after) = (to.wrapping_add(count), literal.wrapping_add(count));
    let end = middle.wrapping_add(len);
    if end.wrapping_add(bounds.margin) > after {
        return Err(bounds.over);
    }
    let from = middle.wrapping_sub(offset).wrapping_add(bounds.older);
    let copied = if offset > middle
        && offset >= 16
        && from.wrapping_add(len).wrapping_add(SLACK) <= bounds.older
        && end.wrapping_add(SLACK) <= after
        && after.wrapping_add(16) <= bytes.len()
    {
        literals(bytes, literal, to, count).and_then(|()| matched(bytes, from, middle, len, offset))
    } else {
        careful(bytes, Place { to, literal }, bounds.older, sequence)
    };
    copied.ok_or(Fault::Malformed)
}

/// Copies literals with room to spare.
#[inline(always)]
fn literals(bytes: &mut [u8], from: usize, to: usize, count: usize) -> Option<()> {
    chunk::<16>(bytes, from, to)?;
    if count <= 16 {
        return Some(());
    }
    let (from, to, rest) = (from.wrapping_add(16), to.wrapping_add(16), count.wrapping_sub(16));
    match rest >= LONG {
        true => move_down(bytes, from, to, rest),
        false => copy::<16>(bytes, from, to, rest),
    }
}

/// Copies a match with room to spare.
#[inline(always)]
fn matched(bytes: &mut [u8], from: usize, to: usize, len: usize, offset: usize) -> Option<()> {
    if offset < 16 {
        return repeat(bytes, from, to, len);
    }
    chunk::<16>(bytes, from, to)?;
    chunk::<16>(bytes, from.wrapping_add(16), to.wrapping_add(16))?;
    if len <= 32 {
        return Some(());
    }
    let (from, to) = (from.wrapping_add(32), to.wrapping_add(32));
    copy::<16>(bytes, from, to, len.wrapping_sub(32))
}

/// Copies byte by byte where larger steps might overrun.
#[cold]
#[inline(never)]
fn careful(
    bytes: &mut [u8],
    Place { mut to, literal }: Place,
    older: usize,
    sequence: &Sequence,
) -> Option<()> {
    let [count, len, offset] = [sequence.literals, sequence.len, sequence.offset].map(wide);
    move_down(bytes, literal, to, count)?;
    to = to.wrapping_add(count);
    let end = to.wrapping_add(len);
    let mut from = to.wrapping_sub(offset);
    if offset > to {
        from = from.wrapping_add(older);
        while to < end && from < older {
            byte(bytes, &mut from, &mut to)?;
        }
        // The newer part starts where the older part ends.
        if from >= older {
            from = 0;
        }
    }
    // In steps as above, while the end is far enough away.
    let whole = end.wrapping_sub(to).saturating_sub(SLACK);
    if whole > 0 {
        match offset >= 16 {
            true => copy::<16>(bytes, from, to, whole)?,
            false => repeat(bytes, from, to, whole)?,
        }
        from = from.wrapping_add(whole);
        to = to.wrapping_add(whole);
    }
    while to < end {
        byte(bytes, &mut from, &mut to)?;
    }
    Some(())
}

#[inline(always)]
fn byte(bytes: &mut [u8], from: &mut usize, to: &mut usize) -> Option<()> {
    chunk::<1>(bytes, *from, *to)?;
    *from = from.wrapping_add(1);
    *to = to.wrapping_add(1);
    Some(())
}

/// Repeats the bytes from `from`, fewer than 16, and writes up to 7 bytes beyond `len`.
#[inline(always)]
fn repeat(bytes: &mut [u8], from: usize, mut to: usize, len: usize) -> Option<()> {
    let end = to.wrapping_add(len);
    let offset = to.wrapping_sub(from);
    if offset == 1 {
        let byte = *bytes.get(from)?;
        bytes.get_mut(to..end)?.fill(byte);
        return Some(());
    }
    if offset >= 8 {
        return copy::<8>(bytes, from, to, len);
    }
    let mut word = u64::from_le_bytes(load::<8>(bytes, from)?);
    let mut bits = narrow(offset.wrapping_mul(8));
    word &= 1_u64.wrapping_shl(bits).wrapping_sub(1);
    while bits < 64 {
        word |= word.wrapping_shl(bits);
        bits = bits.wrapping_mul(2);
    }
    // Each step writes as many bytes as whole repetitions fit into eight.
    let step = match offset {
        3 | 6 => 6,
        5 => 5,
        7 => 7,
        _ => 8,
    };
    loop {
        store::<8>(bytes, to, word.to_le_bytes())?;
        to = to.wrapping_add(step);
        if to >= end {
            return Some(());
        }
    }
}
