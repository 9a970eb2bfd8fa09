//! Where the tensors of a file in windows are: first all of it is read, then it is checked.

use super::inside;
use crate::format::executorch::open::place_of;
use crate::format::executorch::segment::{Found, Segments};
use crate::format::executorch::tensor::flag;
use crate::format::executorch::{Header, rules, types};
use crate::format::flatbuffer::reads::{Reads, Small, Table, Vector};
use crate::input::Span;
use crate::model::{Chunks, Tensor};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Where the data of a tensor is.
#[derive(Clone, Copy)]
pub(in crate::format::executorch) enum Data {
    /// It has none in this file.
    None,
    /// In another file.
    External,
    /// In a segment whose place is wrong, which was reported.
    Lost,
    /// Nowhere: an index breaks this rule.
    Wrong { rule: Rule, place: Span, count: u32, found: u64 },
    /// At the start of `room`, which ends with its segment. The offset is at `place`.
    Start { room: Span, place: Span, segment: u64 },
    /// All of these bytes.
    Exactly(Span),
}

/// The fields that say where a tensor is.
pub(in crate::format::executorch) struct Fields {
    table: Table,
    storage: Small,
    layout: Small,
    dynamism: Small,
    location: Option<Small>,
    pub(in crate::format::executorch) name: Vector,
    planned: Option<Planned>,
    data: Data,
}

impl Fields {
    pub(in crate::format::executorch) fn read(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: &Table,
        sizes: Vector,
    ) -> Result<Fields, Halt> {
        let storage = reads.small(table, 1, 4)?;
        let index = reads.small(table, 5, 4)?;
        let planned = match reads.inner(table, 6)? {
            Some(at) => Some(Planned::read(reads, at, sizes)?),
            None => None,
        };
        let layout = reads.small(table, 7, 1)?;
        let dynamism = reads.small(table, 8, 1)?;
        let (mut list, mut name, mut location) = ((0, 0), Vector::NONE, None);
        if let Some(extra) = reads.inner(table, 9)? {
            let number = reads.scalar(&extra, 0, 8, 0)?;
            list = (number.value, number.at);
            name = reads.vector(&extra, 1)?;
            location = Some(reads.small(&extra, 2, 1)?);
        }
        let external = location.is_some_and(|location| location.value == 1);
        let data = match (index.value, &planned) {
            _ if external => Data::External,
            (0, _) => Data::None,
            (_, None) => constant(header, reads, index, table.span())?,
            _ => initial(header, reads, index, list, table.span())?,
        };
        Ok(Fields { table: *table, storage, layout, dynamism, location, name, planned, data })
    }

    /// Checks them for a tensor of this many bytes, of elements of this width.
    pub(in crate::format::executorch) fn check(
        &self,
        r: &mut Reader<'_, '_>,
        (bytes, width): (u64, u32),
        alone: bool,
        tensor: &mut Tensor,
    ) -> Option<()> {
        let whole = self.table.span();
        let storage = self.storage.value;
        let found = i64::from(storage.cast_signed()).cast_unsigned();
        r.check(storage == 0, rules::T_STORAGE, place_of(self.storage.at(), 4, whole), 0, found);
        let (dynamism, layout) = (self.dynamism, self.layout);
        let place = place_of(dynamism.at(), 1, whole);
        let found = types::signed(dynamism.value);
        r.check(dynamism.value < 2, rules::T_DYNAMISM, place, 1, found);
        let place = place_of(layout.at(), 1, whole);
        r.check(layout.value == 0, rules::T_LAYOUT, place, 0, types::signed(layout.value));
        if let Some(location) = self.location.filter(|location| location.value > 1) {
            let place = place_of(location.at(), 1, whole);
            return flag(r, rules::T_LOCATION, place, 1, types::signed(location.value));
        }
        if let Some(planned) = self.planned.filter(|_| !alone) {
            planned.check(r, bytes)?;
        }
        if matches!(self.data, Data::External) {
            let named = self.name.count > 0;
            r.check(named, rules::T_KEY, whole, 1, 0);
            r.check(!named, rules::T_EXTERNAL, whole, 0, bytes);
        }
        put(r, self.data, bytes, width, tensor)
    }
}

/// Puts the data into a tensor of this many bytes; `None` if it has none that it should have.
pub(in crate::format::executorch) fn put(
    r: &mut Reader<'_, '_>,
    data: Data,
    bytes: u64,
    width: u32,
    tensor: &mut Tensor,
) -> Option<()> {
    let offset = match data {
        Data::None | Data::External => return Some(()),
        Data::Lost => return None,
        Data::Wrong { rule, place, count, found } => {
            return flag(r, rule, place, count.into(), found);
        }
        Data::Start { room, place, segment } => {
            if room.len < bytes {
                let found = segment.wrapping_sub(room.len).saturating_add(bytes);
                return flag(r, rules::T_RANGE, place, segment, found);
            }
            room.offset
        }
        Data::Exactly(span) => {
            if span.len < bytes {
                return flag(r, rules::T_SHORT, span, bytes, span.len);
            }
            r.check(span.len == bytes, rules::T_LONG, span, bytes, span.len);
            span.offset
        }
    };
    let span = Span::new(offset, bytes);
    tensor.chunks = Chunks::One(span);
    // A width is a power of two.
    let odd = offset & u64::from(width.wrapping_sub(1));
    r.check(odd == 0 || bytes == 0, rules::T_ALIGN, span, width.into(), offset);
    Some(())
}

/// Where a tensor is in planned memory.
#[derive(Clone, Copy)]
struct Planned {
    table: Table,
    id: Small,
    low: Small,
    high: u32,
    /// Number of buffers, and the bytes of this one; `None` if there is no such buffer.
    buffers: u32,
    size: Option<u64>,
}

impl Planned {
    fn read(
        reads: &mut Reads<'_, '_, '_, '_>,
        table: Table,
        sizes: Vector,
    ) -> Result<Planned, Halt> {
        let id = reads.small(&table, 0, 4)?;
        let low = reads.small(&table, 1, 4)?;
        let high = reads.small(&table, 2, 4)?.value;
        let size = match id.value {
            index if index > 0 && index < sizes.count => {
                Some(reads.number(sizes.place(index, 8), 8)?)
            }
            _ => None,
        };
        Ok(Planned { table, id, low, high, buffers: sizes.count, size })
    }

    /// Checks that this many bytes fit; `None` if they do not.
    fn check(&self, r: &mut Reader<'_, '_>, bytes: u64) -> Option<()> {
        let whole = self.table.span();
        let Some(size) = self.size else {
            let span = place_of(self.id.at(), 4, whole);
            return flag(r, rules::T_MEMORY, span, self.buffers.into(), self.id.value.into());
        };
        // A negative size is reported with the memory plan.
        let negative = size.cast_signed() < 0;
        let offset = u64::from(self.low.value) | u64::from(self.high) << 32;
        let end = offset.checked_add(bytes);
        if negative || end.is_some_and(|end| end <= size) {
            return Some(());
        }
        let span = place_of(self.low.at(), 4, whole);
        flag(r, rules::T_PLANNED, span, size, end.unwrap_or(u64::MAX))
    }
}

/// The data of a constant.
fn constant(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: Small,
    whole: Span,
) -> Result<Data, Halt> {
    let number = index.value;
    if number < header.buffers.count {
        let buffer = reads.item(header.buffers, number)?;
        let span = reads.vector(&buffer, 0)?.span(1);
        // Opening has verified the place, and the bytes may have changed.
        return Ok(inside(reads.r, span).map_or(Data::Lost, Data::Exactly));
    }
    if header.buffers.count > 0 || number >= header.offsets.count {
        let count = header.buffers.count.max(header.offsets.count);
        let place = place_of(index.at(), 4, whole);
        return Ok(Data::Wrong { rule: rules::T_INDEX, place, count, found: number.into() });
    }
    within(header, reads, header.constant, header.offsets, number)
}

/// The initial values of a mutable tensor, in the list of offsets with the number at `list`.
fn initial(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: Small,
    (list, at): (u64, u64),
    whole: Span,
) -> Result<Data, Halt> {
    let count = header.mutable.count;
    let Some(number) = u32::try_from(list).ok().filter(|number| *number < count) else {
        let place = place_of(at, 8, whole);
        return Ok(Data::Wrong { rule: rules::T_MUTABLE, place, count, found: list });
    };
    let table = reads.item(header.mutable, number)?;
    let segment = reads.small(&table, 0, 4)?.value;
    let offsets = reads.vector(&table, 1)?;
    if index.value >= offsets.count {
        let (place, count) = (place_of(index.at(), 4, whole), offsets.count);
        return Ok(Data::Wrong { rule: rules::T_INDEX, place, count, found: index.value.into() });
    }
    within(header, reads, segment, offsets, index.value)
}

/// The data at offset `number` of a segment.
fn within(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    segment: u32,
    offsets: Vector,
    number: u32,
) -> Result<Data, Halt> {
    let at = offsets.place(number, 8);
    let offset = reads.number(at, 8)?;
    // A number or an offset that is outside is reported with the list of offsets.
    let Found::At(segment) = Segments::find(header, reads, segment)? else {
        return Ok(Data::Lost);
    };
    let Some(left) = segment.len.checked_sub(offset) else { return Ok(Data::Lost) };
    let room = Span::new(segment.offset.wrapping_add(offset), left);
    Ok(Data::Start { room, place: Span::new(at, 8), segment: segment.len })
}
