//! Metadata: methods, named data, delegates and operators.

use super::head::Kind;
use super::open::place_of;
use super::place::{count_of, inside};
use super::tensor::{name_at, read_name};
use super::{Cursor, Header, Place, enter, field, operators, rules};
use crate::base::{limits::EXECUTORCH_TEXT, utf8};
use crate::format::flatbuffer::reads::{Reads, Table, Vector, get};
use crate::input::Span;
use crate::model::{DType, Metadata, NameAt, Value, dims::Packed};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// What the number in [`Metadata::tag`] means.
pub(super) mod tag {
    /// Sizes of memory buffers.
    pub(crate) const SIZES: u32 = 0;
    /// Bytes of a segment, or of the flatbuffer.
    pub(crate) const BYTES: u32 = 1;
    /// Text.
    pub(crate) const TEXT: u32 = 2;
}

/// The tables.
const METHODS: u8 = 0;
const NAMED: u8 = 1;
const DELEGATES: u8 = 2;
const OPERATORS: u8 = 3;

/// What an entry has besides its key.
#[derive(Clone, Copy)]
struct Entry {
    table: Table,
    key: Vector,
    tag: u32,
    stored: Span,
}

/// The next entry.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    let entry = loop {
        let named = c.index.checked_sub(header.plans.count);
        let part = c.state.part;
        let more = match part {
            METHODS => c.index < header.plans.count,
            NAMED => named.is_some_and(|named| named < header.named.count),
            DELEGATES => enter(header, r, c, field::DELEGATES)?,
            OPERATORS => enter(header, r, c, field::OPERATORS)?,
            _ => {
                c.finish();
                return Ok(None);
            }
        };
        if !more {
            c.state.part = part.saturating_add(1);
            c.state.place = Place::START;
            continue;
        }
        break match part {
            METHODS => method(header, r, c)?,
            NAMED => data(header, r, c)?,
            DELEGATES => delegate(header, r, c)?,
            _ => operator(r, c)?,
        };
    };
    let Entry { table, key, tag, stored } = entry;
    let metadata = Metadata {
        kind: EntryKind::Metadata,
        index: c.index,
        offset: table.at(),
        key: name_at(key),
        tag,
        stored,
        ..Metadata::default()
    };
    c.state.memo.clear();
    if c.state.part > NAMED {
        c.state.place.passed = c.state.place.passed.saturating_add(1);
    }
    c.index = c.index.wrapping_add(1);
    Ok(Some(metadata))
}

/// The value of an entry.
pub(super) fn value(meta: &Metadata) -> Value {
    let stored = meta.stored;
    let array = |dtype, elements| {
        let dims = Packed::of(elements).dims();
        Value::Array { dtype, dims, elements, stored }
    };
    match meta.tag {
        tag::SIZES => array(DType::I64, stored.len >> 3),
        tag::TEXT => Value::Text(NameAt::plain(stored.offset, stored.len)),
        _ => array(DType::U8, stored.len),
    }
}

/// A method: its name, and the sizes of its memory buffers.
fn method(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.plans, c.index)?;
    let key = reads.vector(&table, 0)?;
    let sizes = reads.vector(&table, field::SIZES)?;
    r.about(EntryKind::Metadata, c.index);
    read_name(r, key)?;
    r.check(key.count > 0, rules::P_NAME, table.span(), 1, 0);
    let stored = inside(r, sizes.span(8)).unwrap_or(Span::new(table.at(), 0));
    Ok(Entry { table, key, tag: tag::SIZES, stored })
}

/// Named data. That of tensor data is listed as tensors.
fn data(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let index = c.index.saturating_sub(header.plans.count);
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.named, index)?;
    let key = reads.vector(&table, 0)?;
    let number = reads.scalar(&table, 1, 4, 0)?;
    let segment = header.segments.read(&mut reads, number.value)?;
    let span = segment.as_ref().and_then(|segment| header.span_of(reads.r, segment));
    r.about(EntryKind::Metadata, c.index);
    // Otherwise a listing of tensors reports what is wrong.
    let is_program = header.kind == Kind::Program;
    match is_program {
        true => read_name(r, key)?,
        false => r.quietly(|r| read_name(r, key))?,
    };
    if is_program {
        r.check(key.count > 0, rules::N_KEY, table.span(), 1, 0);
        let place = place_of(number, 4, table.span());
        let count = header.segments.list.count.into();
        r.check(segment.is_some(), rules::N_SEGMENT, place, count, number.value);
    }
    let stored = span.unwrap_or(Span::new(table.at(), 0));
    Ok(Entry { table, key, tag: tag::BYTES, stored })
}

/// A delegate: its name, and its data.
fn delegate(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let place = c.state.place;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(place.list, place.passed)?;
    let key = reads.vector(&table, 0)?;
    let processed = reads.inner(&table, 1)?;
    let (mut location, mut number, mut whole) = (None, None, table.span());
    // How many there are to choose from, and the bytes of this one.
    let (mut count, mut span, mut exists) = (0, None, false);
    if let Some(processed) = processed {
        whole = processed.span();
        let kind = reads.scalar(&processed, 0, 1, 0)?;
        let index = reads.scalar(&processed, 1, 4, 0)?;
        (location, number) = (Some(kind), Some(index));
        if kind.value == 0 {
            count = header.inline.count;
            let index = u32::try_from(index.value).ok().filter(|index| *index < count);
            if let Some(index) = index {
                let data = reads.item(header.inline, index)?;
                let bytes = reads.vector(&data, 0)?.span(1);
                span = inside(reads.r, bytes);
            }
            exists = index.is_some();
        } else if kind.value == 1 {
            count = header.segments.list.count;
            let segment = header.segments.read(&mut reads, index.value)?;
            span = segment.as_ref().and_then(|own| header.span_of(reads.r, own));
            exists = segment.is_some();
        }
    }
    r.about(EntryKind::Metadata, c.index);
    read_name(r, key)?;
    r.check(key.count > 0, rules::D_ID, table.span(), 1, 0);
    if let (Some(location), Some(number)) = (location, number) {
        let found = super::types::signed(location.value);
        let known = location.value < 2;
        r.check(known, rules::D_LOCATION, place_of(location, 1, whole), 1, found);
        let at = place_of(number, 4, whole);
        r.check(exists || !known, rules::D_INDEX, at, count.into(), number.value);
    } else {
        r.flag(rules::D_DATA, whole.offset, whole.len, 1, 0);
    }
    let stored = span.unwrap_or(Span::new(table.at(), 0));
    if span.is_some() {
        r.flag(rules::D_UNCHECKED, table.at(), 4, 0, stored.len);
    }
    Ok(Entry { table, key, tag: tag::BYTES, stored })
}

/// An operator: its name and its overload.
fn operator(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let place = c.state.place;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(place.list, place.passed)?;
    let key = reads.vector(&table, 0)?;
    let overload = reads.vector(&table, 1)?;
    let text = overload.span(1);
    let short = text.len <= EXECUTORCH_TEXT;
    let sound = match short && text.len > 0 {
        true => reads.recall(|r| Ok(utf8::is(get(r, text)?).into()))?,
        false => 1,
    };
    r.about(EntryKind::Metadata, c.index);
    read_name(r, key)?;
    let name = key.span(1);
    // The name is resident, because it has just been read.
    let known = name.len <= EXECUTORCH_TEXT && operators::is_known(get(r, name)?);
    r.check(short, rules::N_TEXT, count_of(overload), EXECUTORCH_TEXT, text.len);
    r.check(sound == 1, rules::N_UTF8, text, 0, 0);
    r.check(key.count > 0, rules::O_NAME, table.span(), 1, 0);
    r.check(known || key.count == 0, rules::O_UNKNOWN, table.span(), 0, 0);
    let stored = if short && sound == 1 { text } else { Span::new(table.at(), 0) };
    Ok(Entry { table, key, tag: tag::TEXT, stored })
}
