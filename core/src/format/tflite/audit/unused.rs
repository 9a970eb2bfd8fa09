//! Buffers that nothing uses, and the old list of metadata.

use super::graph::{self, found, is_inside};
use super::reads::{Reads, Vector, offsets};
use super::{Cursor, Header, Place, list, rules, tensor};
use crate::format::Marks;
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The steps of a pass over everything that refers to buffers.
const METADATA: u8 = 0;
const OLD: u8 = 1;
const TENSORS: u8 = 2;
const BUFFERS: u8 = 3;

/// Marks the buffers that are used, some at a time, and reports the others.
pub(super) fn step(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    r.about(EntryKind::File, 0);
    match c.state.audit.run.step {
        METADATA => metadata(header, r, c, marks),
        OLD => old(r, c, marks),
        TENSORS => tensors(header, r, c, marks),
        _ => buffers(header, r, c, marks),
    }
}

/// Marks a buffer.
fn mark(c: &Cursor, marks: &mut dyn Marks, index: u64) {
    let (run, most) = (&c.state.audit.run, marks.most());
    let place = u32::try_from(index).ok().and_then(|index| run.marked(index, most));
    if let Some(place) = place {
        marks.set(place);
    }
}

fn metadata(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if run.entry == 0 {
        // A pass begins.
        marks.clear(header.list(list::BUFFERS).count.saturating_sub(run.base));
    }
    if run.entry >= header.list(list::METADATA).count {
        run.go(OLD, header.list(list::OLD_METADATA));
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.list(list::METADATA), run.entry)?;
    let index = reads.scalar(&table, 1, 4, 0)?.value;
    c.state.memo.clear();
    run.entry = run.entry.saturating_add(1);
    mark(c, marks, index);
    Ok(())
}

fn old(r: &mut Reader<'_, '_>, c: &mut Cursor, marks: &mut dyn Marks) -> Result<(), Halt> {
    let Some((bytes, _)) = c.state.audit.run.items(r, 4)? else {
        c.state.audit.run.go(TENSORS, Vector::NONE);
        c.state.place = Place::START;
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<4>();
    for item in items {
        mark(c, marks, u32::from_le_bytes(*item).into());
    }
    c.state.audit.run.pass(items.len());
    Ok(())
}

fn tensors(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    if tensor::table(header, r, c)?.is_none() {
        let run = &mut c.state.audit.run;
        run.go(BUFFERS, Vector::NONE);
        run.entry = run.base;
        return Ok(());
    }
    let place = c.state.place;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(place.tensors, place.passed)?;
    let index = reads.scalar(&table, 2, 4, 0)?.value;
    tensor::pass(c);
    r.charge(4);
    mark(c, marks, index);
    Ok(())
}

fn buffers(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let count = header.list(list::BUFFERS).count;
    let place = run.marked(run.entry, marks.most()).filter(|_| run.entry < count);
    let Some(place) = place else {
        run.base = run.base.saturating_add(marks.most());
        if run.base >= count {
            graph::over(c);
            return Ok(());
        }
        run.entry = 0;
        run.go(METADATA, Vector::NONE);
        return Ok(());
    };
    let mut reads = Reads::new(r, &mut c.state.memo);
    let stored = tensor::stored(header, &mut reads, run.entry)?;
    if let Some(stored) = stored
        && !stored.span().is_empty()
    {
        let (whole, len) = (stored.table.span(), stored.span().len);
        r.check(run.entry > 0, rules::B_ZERO, whole, 0, len);
        let used = run.entry == 0 || marks.has(place);
        r.check(used, rules::B_UNUSED, whole, 0, len);
    }
    c.state.memo.clear();
    run.entry = run.entry.saturating_add(1);
    Ok(())
}

/// Checks the old list of metadata.
pub(super) fn old_metadata(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    r.about(EntryKind::File, 0);
    let run = &mut c.state.audit.run;
    if run.step == 0 {
        run.go(1, header.list(list::OLD_METADATA));
    }
    let Some((bytes, at)) = run.items(r, 4)? else {
        graph::over(c);
        return Ok(());
    };
    let count = header.list(list::BUFFERS).count;
    let (items, _) = bytes.as_chunks::<4>();
    for (item, at) in items.iter().zip(offsets(at, 4)) {
        let index = i32::from_le_bytes(*item);
        let place = Span::new(at, 4);
        r.check(is_inside(index, count), rules::M_OLD_METADATA, place, count.into(), found(index));
    }
    run.pass(items.len());
    Ok(())
}
