//! Metadata: methods, named data, delegates and operators.

use super::open::place_of;
use super::place::{count_of, inside};
use super::segment::{Found, Segments};
use super::tensor::read_name;
use super::{Cursor, Header, Place, enter, field, library, rules, types};
use crate::base::{features::WINDOWS, limits::EXECUTORCH_TEXT, utf8};
use crate::format::flatbuffer::reads::{Reads, Small, Table, get};
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

/// What an entry is made of.
#[derive(Clone, Copy)]
struct Entry {
    table: Table,
    name: NameAt,
    tag: u32,
    stored: Span,
}

/// The next entry.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    if !WINDOWS {
        return of_program(header, r, c);
    }
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
    if c.state.part > NAMED {
        c.state.place.passed = c.state.place.passed.saturating_add(1);
    }
    Ok(Some(listed(c, entry)))
}

/// The next entry of a program in memory: a method, or named data. The audit validates the others.
fn of_program(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    let entry = match c.index.checked_sub(header.plans.count) {
        None => method(header, r, c)?,
        Some(named) if named < header.named.count => data(header, r, c)?,
        _ => {
            c.finish();
            return Ok(None);
        }
    };
    Ok(Some(listed(c, entry)))
}

/// The entry at the cursor, which moves past it.
fn listed(c: &mut Cursor, entry: Entry) -> Metadata {
    let Entry { table, name, tag, stored } = entry;
    let metadata = Metadata {
        kind: EntryKind::Metadata,
        index: c.index,
        offset: table.at(),
        key: name,
        tag,
        stored,
        ..Metadata::default()
    };
    c.state.memo.clear();
    c.index = c.index.wrapping_add(1);
    metadata
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
    let name = read_name(r, key)?;
    r.check(key.count > 0, rules::P_NAME, table.span(), 1, 0);
    let stored = inside(r, sizes.span(8)).unwrap_or(Span::new(table.at(), 0));
    Ok(Entry { table, name, tag: tag::SIZES, stored })
}

/// Named data. That of tensor data is listed as tensors.
fn data(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let index = c.index.saturating_sub(header.plans.count);
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.named, index)?;
    let key = reads.vector(&table, 0)?;
    let number = reads.small(&table, 1, 4)?;
    let segment = Segments::find(header, &mut reads, number.value)?;
    r.about(EntryKind::Metadata, c.index);
    // Otherwise a listing of tensors reports what is wrong.
    let is_program = header.is_program();
    let name = match is_program {
        true => read_name(r, key)?,
        false => r.quietly(|r| read_name(r, key))?,
    };
    if is_program {
        r.check(key.count > 0, rules::N_KEY, table.span(), 1, 0);
        let place = place_of(number.at(), 4, table.span());
        let count = header.segments.list.count.into();
        r.check(segment.exists(), rules::N_SEGMENT, place, count, number.value.into());
    }
    let stored = segment.span().unwrap_or(Span::new(table.at(), 0));
    Ok(Entry { table, name, tag: tag::BYTES, stored })
}

/// A delegate: its name, and its data.
fn delegate(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Entry, Halt> {
    let place = c.state.place;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(place.list, place.passed)?;
    let key = reads.vector(&table, 0)?;
    let processed = match reads.inner(&table, 1)? {
        Some(processed) => Some(Processed::read(header, &mut reads, processed)?),
        None => None,
    };
    r.about(EntryKind::Metadata, c.index);
    let name = read_name(r, key)?;
    r.check(key.count > 0, rules::D_ID, table.span(), 1, 0);
    let span = match processed {
        Some(processed) => processed.check(r),
        None => {
            r.flag(rules::D_DATA, table.at(), 4, 1, 0);
            None
        }
    };
    let stored = span.unwrap_or(Span::new(table.at(), 0));
    if span.is_some() {
        r.flag(rules::D_UNCHECKED, table.at(), 4, 0, stored.len);
    }
    Ok(Entry { table, name, tag: tag::BYTES, stored })
}

/// Where the data of a delegate is.
struct Processed {
    table: Table,
    location: Small,
    index: Small,
    /// How many there are to choose from, and the bytes of this one.
    count: u32,
    data: Found,
}

impl Processed {
    fn read(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: Table,
    ) -> Result<Processed, Halt> {
        let location = reads.small(&table, 0, 1)?;
        let index = reads.small(&table, 1, 4)?;
        let (count, data) = match location.value {
            0 if index.value < header.inline.count => {
                let data = reads.item(header.inline, index.value)?;
                let bytes = reads.vector(&data, 0)?.span(1);
                (header.inline.count, inside(reads.r, bytes).map_or(Found::Lost, Found::At))
            }
            0 => (header.inline.count, Found::None),
            1 => (header.segments.list.count, Segments::find(header, reads, index.value)?),
            _ => (0, Found::None),
        };
        Ok(Processed { table, location, index, count, data })
    }

    /// Checks location and index; returns the bytes, if they are in the file.
    fn check(&self, r: &mut Reader<'_, '_>) -> Option<Span> {
        let (location, index, whole) = (self.location, self.index, self.table.span());
        let known = location.value < 2;
        let place = place_of(location.at(), 1, whole);
        r.check(known, rules::D_LOCATION, place, 1, types::signed(location.value));
        let place = place_of(index.at(), 4, whole);
        let exists = self.data.exists() || !known;
        r.check(exists, rules::D_INDEX, place, self.count.into(), index.value.into());
        self.data.span()
    }
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
    let name = read_name(r, key)?;
    // The name is resident, because it has just been read.
    let known = library::is_known(get(r, name.span())?);
    r.check(short, rules::N_TEXT, count_of(overload), EXECUTORCH_TEXT, text.len);
    r.check(sound == 1, rules::N_UTF8, text, 0, 0);
    r.check(key.count > 0, rules::O_NAME, table.span(), 1, 0);
    r.check(known || key.count == 0, rules::O_UNKNOWN, table.span(), 0, 0);
    let stored = if short && sound == 1 { text } else { Span::new(table.at(), 0) };
    Ok(Entry { table, name, tag: tag::TEXT, stored })
}
