//! Execution of sequences: copies literals to their place, and matches from earlier output
//! (RFC 8878 §3.1.1.5).
//!
//! Copies go in steps of 16 bytes and may write up to 32 bytes too many into unused room.
//! Near the end of the room, and near literals that wait there, every byte is counted.

use super::Fault;
use super::bits::{Backwards, narrow, wide};
use super::room::{Room, chunk, copy, load, move_down, store};
use super::sequences::{Sequence, Tables};

/// Number of sequences that are decoded before they are executed. Two short loops hide more
/// memory latency than one long one.
const BATCH: usize = 64;
/// How far copies may go past the end of a match.
const SLACK: u32 = 32;

/// Number of literals from which larger steps pay off.
const LONG: u32 = 256;

/// Where the next byte goes, and where the next literal is.
#[derive(Clone, Copy)]
struct Place {
    to: u32,
    literal: u32,
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
    let mut place = Place { to: room.at, literal: room.end.wrapping_sub(literals) };
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
    let rest = room.end.wrapping_sub(place.literal);
    let end = place.to.wrapping_add(rest);
    room.bound(end.wrapping_sub(room.at))?;
    move_down(room.bytes, place.literal, place.to, rest).ok_or(Fault::Malformed)?;
    Ok(end)
}

#[inline(never)]
fn execute(batch: &[Sequence], place: Place, room: &mut Room<'_>) -> Result<Place, Fault> {
    let Place { mut to, mut literal } = place;
    // Hoist loop invariants: as far as the compiler knows, the written bytes could alias
    // these numbers.
    let Room { at, end: room_end, most, over, reach, window, older, .. } = *room;
    let bytes = &mut *room.bytes;
    let readable = narrow(bytes.len());
    // The position before the first byte that matches may refer to.
    let first = at.wrapping_sub(reach);
    // Literals left, and bytes that matches may still add.
    let mut left = room_end.wrapping_sub(literal);
    let mut spare = at.wrapping_add(most).wrapping_sub(to).wrapping_sub(left);
    for sequence in batch {
        let Sequence { literals: count, len, offset } = *sequence;
        let (middle, after) = (to.wrapping_add(count), literal.wrapping_add(count));
        let end = middle.wrapping_add(len);
        left = left.checked_sub(count).ok_or(Fault::Malformed)?;
        if offset.wrapping_sub(1) >= middle.wrapping_sub(first).min(window) {
            return Err(Fault::Malformed);
        }
        spare = spare.checked_sub(len).ok_or(over)?;
        let mut safe = end.wrapping_add(SLACK) <= after && after.wrapping_add(16) <= readable;
        let mut from = middle.wrapping_sub(offset);
        if offset > middle {
            // From the older part of a ring.
            from = from.wrapping_add(older);
            let left = older.saturating_sub(from);
            safe = safe && offset >= 16 && left >= len.wrapping_add(SLACK);
        }
        let place = Place { to, literal };
        let copied = match safe {
            true => fast(bytes, place, from, sequence),
            false => careful(bytes, place, (from, older), sequence),
        };
        copied.ok_or(Fault::Malformed)?;
        (to, literal) = (end, after);
    }
    Ok(Place { to, literal })
}

/// Copies with room to spare.
#[inline(always)]
fn fast(
    bytes: &mut [u8],
    Place { to, literal }: Place,
    from: u32,
    &Sequence { literals: count, len, offset }: &Sequence,
) -> Option<()> {
    let middle = to.wrapping_add(count);
    chunk::<16>(bytes, literal, to)?;
    if count > 16 {
        let (literal, to, rest) =
            (literal.wrapping_add(16), to.wrapping_add(16), count.wrapping_sub(16));
        match rest >= LONG {
            true => move_down(bytes, literal, to, rest)?,
            false => copy::<16>(bytes, literal, to, rest)?,
        }
    }
    if offset >= 16 {
        chunk::<16>(bytes, from, middle)?;
        chunk::<16>(bytes, from.wrapping_add(16), middle.wrapping_add(16))?;
        if len > 32 {
            let (from, to) = (from.wrapping_add(32), middle.wrapping_add(32));
            copy::<16>(bytes, from, to, len.wrapping_sub(32))?;
        }
        Some(())
    } else {
        repeat(bytes, from, middle, len)
    }
}

/// Copies where that does not hold: near the end, or from the older part of a ring.
#[cold]
#[inline(never)]
fn careful(
    bytes: &mut [u8],
    place: Place,
    (mut from, older): (u32, u32),
    &Sequence { literals: count, len, offset }: &Sequence,
) -> Option<()> {
    move_down(bytes, place.literal, place.to, count)?;
    let mut to = place.to.wrapping_add(count);
    let end = to.wrapping_add(len);
    if offset > to {
        while to < end && from < older {
            byte(bytes, &mut from, &mut to)?;
        }
        // The newer part begins where the older part ends.
        if from >= older {
            from = 0;
        }
    }
    // As far as the end is away, in steps as above.
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
fn byte(bytes: &mut [u8], from: &mut u32, to: &mut u32) -> Option<()> {
    chunk::<1>(bytes, *from, *to)?;
    *from = from.wrapping_add(1);
    *to = to.wrapping_add(1);
    Some(())
}

/// Repeats the bytes from `from` on, fewer than 16, and goes up to 7 bytes beyond
/// `len`.
#[inline(always)]
fn repeat(bytes: &mut [u8], from: u32, to: u32, len: u32) -> Option<()> {
    let end = to.wrapping_add(len);
    let offset = to.wrapping_sub(from);
    if offset == 1 {
        let byte = *bytes.get(wide(from))?;
        bytes.get_mut(wide(to)..wide(end))?.fill(byte);
        return Some(());
    }
    if offset >= 8 {
        return copy::<8>(bytes, from, to, len);
    }
    let mut word = u64::from_le_bytes(load::<8>(bytes, from)?);
    let mut bits = offset.wrapping_mul(8);
    word &= 1_u64.wrapping_shl(bits).wrapping_sub(1);
    while bits < 64 {
        word |= word.wrapping_shl(bits);
        bits = bits.wrapping_mul(2);
    }
    // As many bytes a step as whole repetitions fit into eight.
    let step = match offset {
        3 | 6 => 6,
        5 => 5,
        7 => 7,
        _ => 8,
    };
    let mut to = to;
    loop {
        store::<8>(bytes, to, word.to_le_bytes())?;
        to = to.wrapping_add(step);
        if to >= end {
            return Some(());
        }
    }
}
