//! The parts of the file.

use super::open::Scan;
use super::schema::table;
use super::{Cursor, Header, meta, open};
use crate::base::features::WINDOWS;
use crate::format::data_of;
use crate::format::flatbuffer::{Object, Walk};
use crate::input::Span;
use crate::model::{Chunks, Part, Region, Status};
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
                c.state.scan.of(&mut local).walk = open::walk(r, &header.head())?;
            }
            c.phase = if WINDOWS { OBJECTS } else { TENSORS };
            return Ok(Some(Region {
                part: Part::Header,
                ..table(Span::new(0, header.head_len.into()))
            }));
        }
        OBJECTS => {
            if let Some(span) = object(header, r, c)? {
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
    if header.is_program() {
        while let Some(entry) = r.quietly(|r| meta::next(header, r, c))? {
            let span = entry.stored;
            if entry.tag == meta::tag::BYTES && !span.is_empty() {
                let (kind, entry) = (EntryKind::Metadata, entry.index);
                return Ok(Some(Region { part: Part::Metadata, span, kind, entry }));
            }
        }
    }
    c.finish();
    Ok(None)
}

/// An object of the flatbuffer.
fn table(span: Span) -> Region {
    Region { part: Part::Table, span, kind: EntryKind::File, entry: 0 }
}

/// Whether the vector that the walk has just returned is the data of a tensor or a delegate.
fn is_data(header: &Header, walk: &Walk) -> bool {
    let owns = |number| matches!(number, table::BUFFER | table::INLINE);
    header.is_program() && walk.path().last().is_some_and(|top| owns(top.number()))
}

/// The next object. Of data, only its count: the rest belongs to a tensor or a delegate.
fn object(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Span>, Halt> {
    let mut local = Scan::START;
    let scan = c.state.scan.of(&mut local);
    if let Some(span) = scan.pending.take() {
        return Ok(Some(span));
    }
    let schema = open::schema_of(&header.head());
    let found = r.quietly(|r| scan.walk.next(r, schema, &schema.rules))?;
    Ok(match found {
        Some(Object::Table { place, vtable, .. }) => {
            let (span, vtable) = (place.span(), vtable.span());
            scan.pending = Some(vtable);
            // A wrong length of a table has been reported.
            let inside = span.end().is_some_and(|end| end <= header.end.into());
            Some(Span::new(span.offset, if inside { span.len } else { 4 }))
        }
        Some(Object::Vector(place)) if is_data(header, &scan.walk) => {
            Some(Span::new(place.span().offset, 4))
        }
        Some(Object::Vector(place) | Object::String(place)) => Some(place.span()),
        None => None,
    })
}

/// The data of the next tensor.
fn data(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
    use crate::format::Container;
    while let Some(tensor) = r.quietly(|r| header.tensor(r, c))? {
        if tensor.status != Status::Broken
            && let Chunks::One(span) = tensor.chunks
            && !span.is_empty()
        {
            return Ok(Some(data_of(tensor.index, span)));
        }
    }
    Ok(None)
}
