//! External buffers: data in another file, which is not opened.

use super::graph;
use super::quant::{Known, PASS, go};
use super::reads::{Reads, Small, Vector, get};
use super::{Cursor, Header, list, rules};
use crate::base::limits::TFLITE_TEXT;
use crate::format::path::is_inside;
use crate::input::Span;
use crate::model::DType;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Compares the tensor's number with the next external buffer. The first one with that number is
/// checked; others are faults.
pub(super) fn step(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
) -> Result<(), Halt> {
    let Small { value: id, .. } = known.fields.external;
    let (id, at) = (u64::from(id), known.fields.external.at());
    let index = c.state.audit.run.level;
    if index >= header.list(list::EXTERNALS).count {
        r.check(c.state.audit.run.moved, rules::E_ID, Span::new(at, 4), 0, id);
        return over(c);
    }
    let mut reads = known.reads(r, &mut c.state.memo);
    let table = reads.item(header.list(list::EXTERNALS), index)?;
    if reads.scalar(&table, 0, 4, 0)?.value != id {
        return next(r, c);
    }
    if c.state.audit.run.moved {
        r.flag(rules::E_TWICE, table.at(), 4, 0, id);
        return next(r, c);
    }
    let len = reads.long(&table, 3)?;
    let place = table.span();
    let bytes = match known.dtype {
        DType::Text | DType::Unknown => None,
        dtype => dtype.bytes(c.state.shape.elements()),
    };
    let fits = known.fields.sparse || bytes.is_none_or(|bytes| bytes == len);
    r.check(fits, rules::E_LENGTH, place, bytes.unwrap_or(0), len);
    let whole = known.fields.table.span();
    r.flag(rules::E_UNCHECKED, whole.offset, whole.len, 0, len);
    c.state.audit.run.moved = true;
    next(r, c)
}

/// Checks the place of the next external buffer, whether a tensor uses it or not.
pub(super) fn buffers(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    r.about(EntryKind::File, 0);
    if run.entry >= header.list(list::EXTERNALS).count {
        graph::over(c);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.list(list::EXTERNALS), run.entry)?;
    let group = reads.scalar(&table, 1, 4, 0)?.value;
    let offset = reads.long(&table, 2)?;
    let len = reads.long(&table, 3)?;
    let (place, groups) = (table.span(), u64::from(header.list(list::GROUPS).count));
    r.check(group < groups, rules::E_GROUP, place, groups, group);
    r.check(offset.checked_add(len).is_some(), rules::E_RANGE, place, offset, len);
    c.state.memo.clear();
    run.next_entry();
    Ok(())
}

/// Checks the name of the next external file.
pub(super) fn groups(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    r.about(EntryKind::File, 0);
    if run.entry >= header.list(list::GROUPS).count {
        graph::over(c);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.list(list::GROUPS), run.entry)?;
    let name = reads.vector(&table, 0)?.span(1);
    let short = name.len <= TFLITE_TEXT;
    let inside = short && !name.is_empty() && is_inside(get(r, name)?);
    let place = if name.is_empty() { table.span() } else { name };
    r.check(inside, rules::E_PATH, place, 0, 0);
    c.state.memo.clear();
    run.next_entry();
    Ok(())
}

/// Goes to the next external buffer.
fn next(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    r.charge(4);
    c.state.audit.run.level = c.state.audit.run.level.saturating_add(1);
    c.state.memo.clear();
    Ok(())
}

fn over(c: &mut Cursor) -> Result<(), Halt> {
    (c.state.audit.run.level, c.state.audit.run.moved) = (0, false);
    go(c, PASS, Vector::NONE);
    Ok(())
}
