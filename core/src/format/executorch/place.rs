//! Where tensors are: in planned memory, in segments, in the flatbuffer.

use super::open::place_of;
use super::tensor::{Broken, broken};
use super::{Header, rules};
use crate::format::flatbuffer::reads::{Reads, Scalar, Table, Vector};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// Where the data of a tensor is.
#[derive(Clone, Copy)]
pub(super) enum Data {
    /// It has none in this file.
    None,
    /// In another file.
    External,
    /// In a segment whose place is wrong, which was reported.
    Lost,
    /// Nowhere, for this reason.
    Wrong(Broken),
    /// From `offset` of `within` on.
    At { within: Span, offset: u64, place: Span },
    /// All of these bytes.
    Exactly(Span),
}

/// Where a tensor is in planned memory.
#[derive(Clone, Copy)]
pub(super) struct Planned {
    table: Table,
    id: Scalar,
    low: Scalar,
    offset: u64,
    /// Number of buffers, and the bytes of this one; `None` if there is no such buffer.
    buffers: u32,
    size: Option<u64>,
}

impl Planned {
    pub(super) fn read(
        reads: &mut Reads<'_, '_, '_, '_>,
        table: Table,
        sizes: Vector,
    ) -> Result<Planned, Halt> {
        let id = reads.scalar(&table, 0, 4, 0)?;
        let low = reads.scalar(&table, 1, 4, 0)?;
        let high = reads.scalar(&table, 2, 4, 0)?.value;
        let index = u32::try_from(id.value).ok();
        let index = index.filter(|index| (1..sizes.count).contains(index));
        let size = match index {
            Some(index) => Some(reads.number(sizes.place(index, 8), 8)?),
            None => None,
        };
        Ok(Planned { table, id, low, offset: low.value | high << 32, buffers: sizes.count, size })
    }

    /// Checks that this many bytes fit.
    pub(super) fn check(&self, bytes: u64) -> Result<(), Broken> {
        let whole = self.table.span();
        let Some(size) = self.size else {
            let span = place_of(self.id, 4, whole);
            return broken(rules::T_MEMORY, span, self.buffers.into(), self.id.value);
        };
        // A negative size is reported with the memory plan.
        let negative = i64::try_from(size).is_err();
        let end = self.offset.checked_add(bytes);
        if negative || end.is_some_and(|end| end <= size) {
            return Ok(());
        }
        let span = place_of(self.low, 4, whole);
        broken(rules::T_PLANNED, span, size, end.unwrap_or(u64::MAX))
    }
}

/// The data of a constant.
pub(super) fn constant(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: Scalar,
    whole: Span,
) -> Result<Data, Halt> {
    let number = u32::try_from(index.value).unwrap_or(u32::MAX);
    if header.buffers.count > 0 && number < header.buffers.count {
        let buffer = reads.item(header.buffers, number)?;
        let span = reads.vector(&buffer, 0)?.span(1);
        // Opening has verified the place, and the bytes may have changed.
        return Ok(inside(reads.r, span).map_or(Data::Lost, Data::Exactly));
    }
    if header.buffers.count > 0 || number >= header.offsets.count {
        let expected = header.buffers.count.max(header.offsets.count).into();
        let span = place_of(index, 4, whole);
        return Ok(Data::Wrong(Broken {
            rule: rules::T_INDEX,
            span,
            expected,
            found: index.value,
        }));
    }
    within(header, reads, header.constant.into(), header.offsets, number)
}

/// The initial values of a mutable tensor.
pub(super) fn initial(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: Scalar,
    list: Scalar,
    whole: Span,
) -> Result<Data, Halt> {
    let number = u32::try_from(list.value).ok().filter(|at| *at < header.mutable.count);
    let Some(number) = number else {
        let (span, expected) = (place_of(list, 8, whole), header.mutable.count.into());
        return Ok(Data::Wrong(Broken {
            rule: rules::T_MUTABLE,
            span,
            expected,
            found: list.value,
        }));
    };
    let table = reads.item(header.mutable, number)?;
    let segment = reads.scalar(&table, 0, 4, 0)?.value;
    let offsets = reads.vector(&table, 1)?;
    let number = u32::try_from(index.value).unwrap_or(u32::MAX);
    if number >= offsets.count {
        let (span, expected) = (place_of(index, 4, whole), offsets.count.into());
        return Ok(Data::Wrong(Broken {
            rule: rules::T_INDEX,
            span,
            expected,
            found: index.value,
        }));
    }
    within(header, reads, segment, offsets, number)
}

/// The data at offset `number` of a segment.
fn within(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    segment: u64,
    offsets: Vector,
    number: u32,
) -> Result<Data, Halt> {
    let at = offsets.place(number, 8);
    let offset = reads.number(at, 8)?;
    let segment = header.segments.read(reads, segment)?;
    // A number that is outside is reported with the list of offsets.
    let within = segment.and_then(|segment| header.span_of(reads.r, &segment));
    Ok(match within {
        Some(within) => Data::At { within, offset, place: Span::new(at, 8) },
        None => Data::Lost,
    })
}

/// These bytes, if the file has them.
pub(super) fn inside(r: &Reader<'_, '_>, span: Span) -> Option<Span> {
    span.end().filter(|end| *end <= r.source().len()).map(|_| span)
}

/// The bytes of the count before the items of a vector.
pub(super) fn count_of(vector: Vector) -> Span {
    Span::new(u64::from(vector.at).saturating_sub(4), 4)
}
