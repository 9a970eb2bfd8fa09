//! Tensors of strings.

use super::quant::{Known, PASS, go};
use super::reads::{Vector, number, offsets};
use super::{Cursor, rules};
use crate::base::limits::TFLITE_TEXT;
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// The steps of a tensor of strings.
const OFFSETS: u8 = 33;

/// Continues with a tensor of strings: their number, the offset of each, that of the end, and the
/// bytes.
pub(super) fn step(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let data = known.fields.data();
    if c.state.audit.run.step == OFFSETS {
        return check_offsets(r, c, data);
    }
    if data.len < 4 {
        r.flag(rules::X_HEAD, data.offset, data.len, 8, data.len);
        go(c, PASS, Vector::NONE);
        return Ok(());
    }
    let count = number(r, data.offset, 4)?;
    // Numbers of 32 bits do not wrap in 64.
    let head = count.wrapping_mul(4).wrapping_add(8);
    let elements = c.state.shape.elements();
    r.check(count == elements, rules::X_COUNT, Span::new(data.offset, 4), elements, count);
    if head > data.len {
        r.flag(rules::X_HEAD, data.offset, data.len, head, data.len);
        go(c, PASS, Vector::NONE);
        return Ok(());
    }
    let at = data.offset.wrapping_add(4);
    let (at, count) = (u32::try_from(at), u32::try_from(count.wrapping_add(1)));
    let (Ok(at), Ok(count)) = (at, count) else {
        // Strings behind the part of the file that offsets reach.
        r.flag(rules::T_TEXT, data.offset, data.len, TFLITE_TEXT, data.len);
        go(c, PASS, Vector::NONE);
        return Ok(());
    };
    c.state.audit.run.previous = head;
    go(c, OFFSETS, Vector { at, count });
    Ok(())
}

/// Checks offsets: the first is after them all, and the last is the end.
fn check_offsets(r: &mut Reader<'_, '_>, c: &mut Cursor, data: Span) -> Result<(), Halt> {
    let mut run = c.state.audit.run;
    let Some((bytes, at)) = run.items(r, 4)? else {
        go(c, PASS, Vector::NONE);
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<4>();
    for (item, at) in items.iter().zip(offsets(at, 4)) {
        let offset = u64::from(u32::from_le_bytes(*item));
        let first = run.passed == 0;
        run.pass(1);
        let last = run.passed == run.list.count;
        let fits = offset >= run.previous
            && offset <= data.len
            && (!first || offset == run.previous)
            && (!last || offset == data.len);
        if !fits {
            r.flag(rules::X_OFFSET, at, 4, run.previous, offset);
            go(c, PASS, Vector::NONE);
            return Ok(());
        }
        run.previous = offset;
    }
    c.state.audit.run = run;
    Ok(())
}
