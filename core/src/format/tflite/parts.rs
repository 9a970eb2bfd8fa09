//! The parts of the file: the objects of the flatbuffer, then the data of tensors and of metadata.

use super::open::Scan;
use super::reads::{Reads, Table};
use super::schema::table::OPERATOR;
use super::{Cursor, Header, State, extent, list, open, schema, tensor};
use crate::base::{features::WINDOWS, wide};
use crate::format::data_of;
use crate::format::flatbuffer::Object;
use crate::input::Span;
use crate::model::{Part, Region, Status};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The phases.
const HEAD: u8 = 0;
const OBJECTS: u8 = 1;
const TENSORS: u8 = 2;

/// The next part.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Region>, Halt> {
    match c.phase {
        HEAD => {
            // A reader of files in memory, which compares no parts, lists no objects.
            if WINDOWS {
                let mut local = Scan::START;
                c.state.scan.of(&mut local).walk = open::walk(r)?;
            }
            c.phase = if WINDOWS { OBJECTS } else { TENSORS };
            return Ok(Some(Region { part: Part::Header, ..table(Span::new(0, 8)) }));
        }
        OBJECTS => {
            if let Some(span) = object(r, c)? {
                return Ok(Some(table(span)));
            }
            c.next_phase();
        }
        _ => {}
    }
    if c.phase == TENSORS {
        if let Some(region) = data(header, r, c)? {
            return Ok(Some(region));
        }
        c.next_phase();
    }
    metadata(header, r, c)
}

/// An object of the flatbuffer.
fn table(span: Span) -> Region {
    Region { part: Part::Table, span, kind: EntryKind::File, entry: 0 }
}

/// Least length of the vtable of an operator whose options lie behind the flatbuffer.
const OPTIONS_OUTSIDE: u64 = 22;

/// The options of a custom operator behind the flatbuffer; an offset of 0 or 1 stands for none.
pub(super) fn large_options(
    reads: &mut Reads<'_, '_, '_, '_>,
    operator: &Table,
) -> Result<Span, Halt> {
    let offset = reads.long(operator, 9)?;
    let size = reads.long(operator, 10)?;
    Ok(Span::new(wide(offset), wide(size)))
}

/// The next object. Of the data of a buffer, only its count: the rest belongs to a tensor, or to
/// metadata.
fn object(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Span>, Halt> {
    let mut local = Scan::START;
    let State { scan, memo, .. } = &mut c.state;
    let scan = scan.of(&mut local);
    if let Some(span) = scan.pending.take() {
        return Ok(Some(span));
    }
    if let Some(at) = scan.operator {
        let mut reads = Reads::new(r, memo);
        let table = reads.table(at)?;
        let options = large_options(&mut reads, &table)?;
        memo.clear();
        scan.operator = None;
        // Those past the end are a fault of the operator.
        let inside = options.end().is_some_and(|end| end <= r.source().len());
        if options.offset > 1 && options.len > 0 && inside {
            return Ok(Some(options));
        }
    }
    let found = r.quietly(|r| scan.walk.next(r, &schema::MODEL, &schema::MODEL.rules))?;
    Ok(match found {
        Some(Object::Table { number, place, vtable }) => {
            let (span, vtable) = (place.span(), vtable.span());
            scan.pending = Some(vtable);
            let large = number == OPERATOR && vtable.len > OPTIONS_OUTSIDE;
            scan.operator = large.then_some(span.offset);
            // A wrong length of a table has been reported.
            let inside = span.end().is_some_and(|end| end <= extent(r.source()));
            Some(Span::new(span.offset, if inside { span.len } else { 4 }))
        }
        Some(Object::Vector(place)) if open::is_data(&scan.walk) => {
            Some(Span::new(place.span().offset, 4))
        }
        Some(Object::Vector(place) | Object::String(place)) => Some(place.span()),
        None => None,
    })
}

/// The data of the next tensor.
fn data(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
    while let Some(tensor) = r.quietly(|r| tensor::next(header, r, c))? {
        if tensor.status != Status::Broken && !tensor.extra.is_empty() {
            return Ok(Some(data_of(tensor.index, tensor.extra)));
        }
    }
    Ok(None)
}

/// The buffer of the next metadata.
fn metadata(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Region>, Halt> {
    while c.index < header.list(list::METADATA).count {
        let mut reads = Reads::new(r, &mut c.state.memo);
        let table = reads.item(header.list(list::METADATA), c.index)?;
        let index = reads.small(&table, 1, 4)?.value;
        let stored = tensor::stored(header, &mut reads, index)?;
        let entry = c.index;
        c.state.memo.clear();
        c.index = c.index.wrapping_add(1);
        let span = stored.map_or(Span::new(0, 0), |stored| stored.span());
        if !span.is_empty() && span.end().is_some_and(|end| end <= r.source().len()) {
            let kind = EntryKind::Metadata;
            return Ok(Some(Region { part: Part::Metadata, span, kind, entry }));
        }
    }
    c.finish();
    Ok(None)
}
