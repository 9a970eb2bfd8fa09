//! Listing: the tensors of all methods, with their data.

use super::open::place_of;
use super::place::{Data, Planned, constant, count_of, initial};
use super::{Cursor, Header, State, enter, field, kind, rules, types};
use crate::base::{limits::EXECUTORCH_TEXT, utf8, widen};
use crate::format::flatbuffer::reads::{Reads, Scalar, Table, Vector, get, ready, slice};
use crate::format::flatbuffer::shape::Shape;
use crate::input::Span;
use crate::model::{Chunks, DType, Layout, NameAt, Status, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// Most dimensions that the runtime takes.
pub(super) const RANK: u32 = 16;

/// What the order of dimensions is.
const WRONG: u64 = 0;
const ROWS: u64 = 1;
const CHANNELS_LAST: u64 = 2;
const COLUMNS: u64 = 3;
const OTHER: u64 = 4;

/// Why a tensor cannot be used.
#[derive(Clone, Copy)]
pub(super) struct Broken {
    pub(super) rule: Rule,
    pub(super) span: Span,
    pub(super) expected: u64,
    pub(super) found: u64,
}

/// The fields that say what the elements are.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) table: Table,
    pub(super) code: Scalar,
    pub(super) sizes: Vector,
    pub(super) order: Vector,
    /// What the order is.
    pub(super) ordered: u64,
}

impl Form {
    /// Reads type, extents and order, which are in these fields.
    pub(super) fn read(
        reads: &mut Reads<'_, '_, '_, '_>,
        table: Table,
        [code, sizes, order]: [u8; 3],
    ) -> Result<Form, Halt> {
        let code = reads.scalar(&table, code, 1, 0)?;
        let sizes = reads.vector(&table, sizes)?;
        let order = reads.vector(&table, order)?;
        // Longer ones are refused for their length.
        let ordered = if order.count == sizes.count && order.count <= RANK {
            reads.recall(|r| Ok(order_of(get(r, order.span(1))?)))?
        } else {
            WRONG
        };
        Ok(Form { table, code, sizes, order, ordered })
    }

    /// Reads the extents, unless there are too many.
    pub(super) fn extents(&self, r: &mut Reader<'_, '_>, shape: &mut Shape) -> Result<Shape, Halt> {
        if self.sizes.count <= RANK {
            shape.read(r, self.sizes, 0, 0)?;
        }
        Ok(*shape)
    }

    /// The extents that are listed: none if there are too many.
    pub(super) fn listed(&self) -> Vector {
        if self.sizes.count <= RANK { self.sizes } else { Vector::NONE }
    }

    /// Checks them, sets what they say, and returns the number of bytes.
    pub(super) fn check(
        &self,
        r: &mut Reader<'_, '_>,
        shape: &Shape,
        tensor: &mut Tensor,
    ) -> Result<u64, Broken> {
        let whole = self.table.span();
        let Some(dtype) = types::dtype(self.code.value) else {
            let span = place_of(self.code, 1, whole);
            return broken(rules::T_TYPE, span, 0, types::signed(self.code.value));
        };
        tensor.dtype = dtype;
        let rank = self.sizes.count;
        if rank > RANK {
            let place = count_of(self.sizes);
            return broken(rules::T_RANK, place, RANK.into(), rank.into());
        }
        if let Some((extent, at)) = shape.negative {
            let found = i64::from(extent).cast_unsigned();
            return broken(rules::T_DIM, Span::new(at.into(), 4), 0, found);
        }
        let elements = shape.elements();
        let bytes = dtype.bytes(elements).filter(|_| !shape.overflows);
        let Some(bytes) = bytes else {
            return broken(rules::T_PRODUCT, self.sizes.span(4), 0, elements);
        };
        tensor.elements = elements;
        if self.ordered == WRONG {
            let last = rank.saturating_sub(1).into();
            let span = match self.order.count {
                0 => whole,
                count if count == rank => self.order.span(1),
                _ => count_of(self.order),
            };
            return broken(rules::T_ORDER, span, last, self.order.count.into());
        }
        tensor.layout = match self.ordered {
            ROWS => Layout::RowMajor,
            CHANNELS_LAST => Layout::ChannelsLast,
            COLUMNS => Layout::ColumnMajor,
            _ => Layout::Unknown,
        };
        r.check(!shape.is_cut(), rules::T_SHAPE, self.sizes.span(4), 0, rank.into());
        Ok(bytes)
    }
}

/// What an order of dimensions is; an order of nothing is that of rows.
fn order_of(order: &[u8]) -> u64 {
    let mut seen = 0_u32;
    for dim in order {
        let known = widen(order.len()) > u64::from(*dim);
        let bit = 1_u32.checked_shl((*dim).into()).filter(|_| known).unwrap_or(0);
        if bit == 0 || seen & bit != 0 {
            return WRONG;
        }
        seen |= bit;
    }
    if order.iter().copied().eq(0_u8..u8::try_from(order.len()).unwrap_or(0)) {
        return ROWS;
    }
    let reversed = order.iter().rev().copied();
    if reversed.eq(0_u8..u8::try_from(order.len()).unwrap_or(0)) {
        return COLUMNS;
    }
    match order {
        [0, 2, 1] | [0, 2, 3, 1] | [0, 2, 3, 4, 1] => CHANNELS_LAST,
        _ => OTHER,
    }
}

pub(super) fn broken<T>(rule: Rule, span: Span, expected: u64, found: u64) -> Result<T, Broken> {
    Err(Broken { rule, span, expected, found })
}

/// A name; none if it is empty or too long to be read.
pub(super) fn name_at(text: Vector) -> NameAt {
    match u64::from(text.count) {
        0 => NameAt::default(),
        len if len > EXECUTORCH_TEXT => NameAt::default(),
        len => NameAt::plain(text.at.into(), len),
    }
}

/// Reads a name and checks it.
pub(super) fn read_name(r: &mut Reader<'_, '_>, text: Vector) -> Result<NameAt, Halt> {
    let span = text.span(1);
    if span.len > EXECUTORCH_TEXT {
        r.flag(rules::N_TEXT, count_of(text).offset, 4, EXECUTORCH_TEXT, span.len);
    } else if span.len > 0 {
        ready(r, text, 1)?;
        r.check(utf8::is(slice(r, text, 1)), rules::N_UTF8, span, 0, 0);
    }
    Ok(name_at(text))
}

/// Puts the data into a tensor of this many bytes.
pub(super) fn put(
    r: &mut Reader<'_, '_>,
    data: Data,
    bytes: u64,
    tensor: &mut Tensor,
) -> Result<(), Broken> {
    let span = match data {
        Data::None | Data::External => return Ok(()),
        Data::Lost => {
            tensor.status = Status::Broken;
            return Ok(());
        }
        Data::Wrong(fault) => return Err(fault),
        Data::At { within, offset, place } => {
            let end = offset.saturating_add(bytes);
            // An offset outside is reported with the list of offsets.
            if offset > within.len {
                tensor.status = Status::Broken;
                return Ok(());
            }
            if end > within.len {
                return broken(rules::T_RANGE, place, within.len, end);
            }
            Span::new(within.offset.saturating_add(offset), bytes)
        }
        Data::Exactly(span) => {
            if span.len < bytes {
                return broken(rules::T_SHORT, span, bytes, span.len);
            }
            r.check(span.len == bytes, rules::T_LONG, span, bytes, span.len);
            Span::new(span.offset, bytes)
        }
    };
    tensor.chunks = Chunks::One(span);
    let width = tensor.dtype.bytes(1).unwrap_or(1).max(1);
    let odd = span.offset.checked_rem(width).unwrap_or(0);
    r.check(odd == 0 || bytes == 0, rules::T_ALIGN, span, width, span.offset);
    Ok(())
}

/// Moves past a value.
fn pass(c: &mut Cursor) {
    c.state.place.passed = c.state.place.passed.saturating_add(1);
    c.state.memo.clear();
    c.state.shape = Shape::START;
}

/// Reads the current value; `None` if it is no tensor.
fn value(reads: &mut Reads<'_, '_, '_, '_>, c: &super::Place) -> Result<Option<Table>, Halt> {
    let value = reads.item(c.list, c.passed)?;
    match reads.scalar(&value, 0, 1, 0)?.value {
        kind::TENSOR => reads.inner(&value, 1),
        _ => Ok(None),
    }
}

/// Reads and validates the next tensor of a program.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Tensor>, Halt> {
    let table = loop {
        if !c.state.alone && !enter(header, r, c, field::VALUES)? {
            c.finish();
            return Ok(None);
        }
        let State { memo, place, alone, .. } = &mut c.state;
        let mut reads = Reads::new(r, memo);
        if *alone {
            break reads.table(c.at)?;
        }
        match value(&mut reads, place)? {
            Some(table) => break table,
            None => pass(c),
        }
    };
    let State { memo, place, alone, shape, .. } = &mut c.state;
    let mut reads = Reads::new(r, memo);
    // What was read above is known.
    if *alone {
        reads.table(c.at)?;
    } else {
        value(&mut reads, place)?;
    }
    let form = Form::read(&mut reads, table, [0, 2, 3])?;
    let fields = Fields::read(header, &mut reads, &table, place.sizes)?;
    let shape = form.extents(r, shape)?;
    r.about(EntryKind::Tensor, c.index);
    // The caller reads the name. It would otherwise go back to where it came from, and a host
    // with a single window would never get here again.
    let name = read_name(r, fields.name)?;
    let mut tensor = Tensor {
        index: c.index,
        offset: table.at(),
        name,
        dims: shape.dims(form.listed()),
        ..Tensor::default()
    };
    let alone = *alone;
    let found = form.check(r, &shape, &mut tensor);
    let found = found.and_then(|bytes| fields.check(r, bytes, alone, &mut tensor));
    finish(r, found, &mut tensor);
    pass(c);
    c.index = c.index.wrapping_add(1);
    Ok(Some(tensor))
}

/// Reports why a tensor cannot be used.
pub(super) fn finish(r: &mut Reader<'_, '_>, found: Result<(), Broken>, tensor: &mut Tensor) {
    if let Err(Broken { rule, span, expected, found }) = found {
        r.flag(rule, span.offset, span.len, expected, found);
        tensor.status = Status::Broken;
    }
    if tensor.status == Status::Broken {
        tensor.chunks = Chunks::None;
        if tensor.dtype == DType::Unknown {
            tensor.elements = 0;
        }
    }
}

/// The fields that say where a tensor is.
struct Fields {
    table: Table,
    storage: Scalar,
    layout: Scalar,
    dynamism: Scalar,
    location: Scalar,
    name: Vector,
    planned: Option<Planned>,
    data: Data,
}

impl Fields {
    fn read(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: &Table,
        sizes: Vector,
    ) -> Result<Fields, Halt> {
        let storage = reads.scalar(table, 1, 4, 0)?;
        let index = reads.scalar(table, 5, 4, 0)?;
        let planned = match reads.inner(table, 6)? {
            Some(at) => Some(Planned::read(reads, at, sizes)?),
            None => None,
        };
        let layout = reads.scalar(table, 7, 1, 0)?;
        let dynamism = reads.scalar(table, 8, 1, 0)?;
        let absent = Scalar { value: 0, at: 0 };
        let (mut list, mut name, mut location) = (absent, Vector::NONE, absent);
        if let Some(extra) = reads.inner(table, 9)? {
            list = reads.scalar(&extra, 0, 8, 0)?;
            name = reads.vector(&extra, 1)?;
            location = reads.scalar(&extra, 2, 1, 0)?;
        }
        let data = match (location.value, index.value, &planned) {
            (1, ..) => Data::External,
            (_, 0, _) => Data::None,
            (_, _, None) => constant(header, reads, index, table.span())?,
            _ => initial(header, reads, index, list, table.span())?,
        };
        Ok(Fields { table: *table, storage, layout, dynamism, location, name, planned, data })
    }

    fn check(
        &self,
        r: &mut Reader<'_, '_>,
        bytes: u64,
        alone: bool,
        tensor: &mut Tensor,
    ) -> Result<(), Broken> {
        let whole = self.table.span();
        let storage = u32::try_from(self.storage.value).unwrap_or(0).cast_signed();
        let found = i64::from(storage).cast_unsigned();
        r.check(storage == 0, rules::T_STORAGE, place_of(self.storage, 4, whole), 0, found);
        let (dynamism, layout, location) = (self.dynamism, self.layout, self.location);
        let found = types::signed(dynamism.value);
        r.check(dynamism.value < 2, rules::T_DYNAMISM, place_of(dynamism, 1, whole), 1, found);
        let found = types::signed(layout.value);
        r.check(layout.value == 0, rules::T_LAYOUT, place_of(layout, 1, whole), 0, found);
        if location.value > 1 {
            let found = types::signed(location.value);
            return broken(rules::T_LOCATION, place_of(location, 1, whole), 1, found);
        }
        if let Some(planned) = self.planned.filter(|_| !alone) {
            planned.check(bytes)?;
        }
        if matches!(self.data, Data::External) {
            let named = self.name.count > 0;
            r.check(named, rules::T_KEY, whole, 1, 0);
            r.check(!named, rules::T_EXTERNAL, whole, 0, bytes);
        }
        put(r, self.data, bytes, tensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_dimensions_is_a_permutation() {
        for wrong in [&[1_u8][..], &[0, 0], &[0, 2], &[255, 0], &[0, 1, 3]] {
            assert_eq!(order_of(wrong), WRONG, "{wrong:?}");
        }
        for rows in [&[][..], &[0], &[0, 1, 2]] {
            assert_eq!(order_of(rows), ROWS, "{rows:?}");
        }
        assert_eq!(order_of(&[0, 2, 3, 1]), CHANNELS_LAST);
        assert_eq!(order_of(&[1, 0]), COLUMNS);
        assert_eq!(order_of(&[1, 0, 2]), OTHER);
    }
}
