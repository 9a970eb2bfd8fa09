//! Listing: the tensors of all methods, with their data.

use super::open::place_of;
use super::place::{Fields, count_of};
use super::{Cursor, Header, State, enter, field, kind, rules, types};
use crate::base::{features::WINDOWS, limits::EXECUTORCH_TEXT};
use crate::format::flatbuffer::reads::{Reads, Small, Table, Vector, ready, slice};
use crate::format::flatbuffer::shape::Shape;
use crate::format::flatbuffer::{Kept, text};
use crate::input::Span;
use crate::model::dims::scaled;
use crate::model::{Layout, NameAt, Status, Tensor};
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

/// The fields that say what the elements are.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) table: Table,
    pub(super) code: Small,
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
        let code = reads.small(&table, code, 1)?;
        let sizes = reads.vector(&table, sizes)?;
        let order = reads.vector(&table, order)?;
        // Longer ones are refused for their length.
        let ordered = if order.count == sizes.count && order.count <= RANK {
            reads.recall(|r| ready(r, order, 1).map(|()| order_of(slice(r, order, 1))))?
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

    /// Checks them, sets what they say, and returns the number of bytes; `None` if one is wrong.
    pub(super) fn check(
        &self,
        r: &mut Reader<'_, '_>,
        shape: &Shape,
        tensor: &mut Tensor,
    ) -> Option<u64> {
        let whole = self.table.span();
        let code = self.code.value;
        let Some(dtype) = types::dtype(code) else {
            let span = place_of(self.code.at(), 1, whole);
            return flag(r, rules::T_TYPE, span, 0, types::signed(code));
        };
        tensor.dtype = dtype;
        let rank = self.sizes.count;
        if !self.sizes.is_present() || (rank == 0 && !self.order.is_present()) {
            return flag(r, rules::T_MISSING, whole, 0, 0);
        }
        if rank > RANK {
            let place = precise(count_of(self.sizes), whole);
            return flag(r, rules::T_RANK, place, RANK.into(), rank.into());
        }
        if let Some((extent, at)) = shape.negative {
            let found = i64::from(extent).cast_unsigned();
            return flag(r, rules::T_DIM, precise(Span::new(at.into(), 4), whole), 0, found);
        }
        let elements = shape.elements();
        let bytes = scaled(elements, types::width(code)).filter(|_| !shape.overflows);
        let Some(bytes) = bytes else {
            return flag(r, rules::T_PRODUCT, precise(self.sizes.span(4), whole), 0, elements);
        };
        tensor.elements = elements;
        tensor.layout = match self.ordered {
            ROWS => Layout::RowMajor,
            CHANNELS_LAST => Layout::ChannelsLast,
            COLUMNS => Layout::ColumnMajor,
            OTHER => Layout::Unknown,
            _ => {
                let last = rank.saturating_sub(1).into();
                let span = match self.order.count {
                    0 => whole,
                    count if count == rank => self.order.span(1),
                    _ => count_of(self.order),
                };
                return flag(
                    r,
                    rules::T_ORDER,
                    precise(span, whole),
                    last,
                    self.order.count.into(),
                );
            }
        };
        r.check(!shape.is_cut(), rules::T_SHAPE, self.sizes.span(4), 0, rank.into());
        Some(bytes)
    }
}

/// Where a fault of a tensor is: a board names the table.
#[inline(always)]
fn precise(span: Span, table: Span) -> Span {
    if WINDOWS { span } else { table }
}

/// What an order of dimensions is; an order of nothing is that of rows.
fn order_of(order: &[u8]) -> u64 {
    let rank = u8::try_from(order.len()).unwrap_or(0);
    let last = rank.wrapping_sub(1);
    let (mut seen, mut at) = (0_u32, 0_u8);
    let (mut rows, mut columns) = (true, true);
    let mut channels_last = (3..=5).contains(&rank);
    for dim in order {
        let bit = 1_u32.wrapping_shl((*dim).into());
        if *dim >= rank || seen & bit != 0 {
            return WRONG;
        }
        seen |= bit;
        rows &= *dim == at;
        columns &= *dim == last.wrapping_sub(at);
        at = at.wrapping_add(1);
        // 0, 2, 3 and so on, 1.
        let next = if at == rank { 1 } else { at };
        channels_last &= *dim == if at == 1 { 0 } else { next };
    }
    match (rows, columns, channels_last) {
        (true, ..) => ROWS,
        (_, true, _) => COLUMNS,
        (.., true) => CHANNELS_LAST,
        _ => OTHER,
    }
}

/// Reports why a tensor cannot be used.
pub(super) fn flag<T>(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    span: Span,
    expected: u64,
    found: u64,
) -> Option<T> {
    r.flag(rule, span.offset, span.len, expected, found);
    None
}

/// Reads a name and checks it.
#[inline(always)]
pub(super) fn read_name(r: &mut Reader<'_, '_>, text: Vector) -> Result<NameAt, Halt> {
    check_name(r, text).map(|()| text::name_at(text, EXECUTORCH_TEXT))
}

/// The same for a caller that does not need it.
pub(super) fn check_name(r: &mut Reader<'_, '_>, text: Vector) -> Result<(), Halt> {
    text::check(r, text, rules::N_UTF8, (EXECUTORCH_TEXT, rules::N_TEXT, count_of(text)))
}

/// Moves past a value.
fn pass(c: &mut Cursor) {
    c.state.place.passed = c.state.place.passed.wrapping_add(1);
    c.state.memo.clear();
    c.state.shape = Kept::new(Shape::START);
}

/// Reads the current value; `None` if it is no tensor.
fn value(reads: &mut Reads<'_, '_, '_, '_>, c: &super::Place) -> Result<Option<Table>, Halt> {
    let value = reads.item(c.list, c.passed)?;
    match reads.value(&value, 0, 1)? {
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
    // What was read above is known; in memory nothing has to be passed.
    if WINDOWS && *alone {
        reads.table(c.at)?;
    } else if WINDOWS {
        value(&mut reads, place)?;
    }
    let form = Form::read(&mut reads, table, [0, 2, 3])?;
    let fields = Fields::read(header, &mut reads, &table, place.sizes)?;
    let mut local = Shape::START;
    let shape = form.extents(r, shape.of(&mut local))?;
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
    let bytes = form.check(r, &shape, &mut tensor);
    let width = types::width(form.code.value);
    let sound = bytes.and_then(|bytes| fields.check(r, (bytes, width), alone, &mut tensor));
    if sound.is_none() {
        tensor.status = Status::Broken;
    }
    pass(c);
    c.index = c.index.wrapping_add(1);
    Ok(Some(tensor))
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
        for channels_last in [&[0, 2, 1][..], &[0, 2, 3, 1], &[0, 2, 3, 4, 1]] {
            assert_eq!(order_of(channels_last), CHANNELS_LAST, "{channels_last:?}");
        }
        assert_eq!(order_of(&[1, 0]), COLUMNS);
        for other in [&[1, 0, 2][..], &[0, 3, 2, 1], &[0, 2, 3, 4, 5, 1]] {
            assert_eq!(order_of(other), OTHER, "{other:?}");
        }
    }
}
