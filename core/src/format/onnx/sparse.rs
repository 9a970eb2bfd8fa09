//! Sparse tensors: values in one tensor, their places in another.

use super::rules;
use super::tensor::Shape;
use super::walk::Frame;
use super::{Cursor, rules::WIRE};
use crate::input::Span;
use crate::model::{Chunks, DType, Encoding, Status, Tensor, dims::Packed};
use crate::parse::Reader;
use crate::protobuf::varint::varint;
use crate::rule::{EntryKind, Halt};

/// The parts of a sparse tensor, as listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    /// Its own shape.
    pub(super) shape: Shape,
    /// Number of values; `None` without values in one dimension.
    values: Option<u64>,
    indices: Option<Part>,
    /// The indices are broken, which was reported.
    broken: bool,
    /// Structure and places were found valid.
    sound: bool,
}

/// The indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    index: u32,
    integers: bool,
    rank: u32,
    first: [u64; 2],
    /// Where they are; empty if they cannot be read.
    span: Span,
    varints: bool,
}

impl Parts {
    pub(super) const NONE: Parts =
        Parts { shape: Shape::START, values: None, indices: None, broken: false, sound: false };

    /// Adds a part that was listed.
    pub(super) fn add(&mut self, tensor: &Tensor, shape: &Shape, field: u8) {
        self.broken |= tensor.status == Status::Broken;
        if field == 1 {
            self.values = (shape.rank == 1).then_some(tensor.elements);
            return;
        }
        let span = match (tensor.chunks, tensor.status) {
            (Chunks::One(span), Status::Sound) => span,
            _ => Span::new(0, 0),
        };
        self.indices = Some(Part {
            index: tensor.index,
            integers: tensor.dtype == DType::I64,
            rank: shape.rank,
            first: shape.first,
            span,
            varints: tensor.encoding != Encoding::Raw,
        });
    }
}

/// Checks the structure of a sparse tensor that has ended.
pub(super) fn finish(r: &mut Reader<'_, '_>, c: &mut Cursor, frame: &Frame) {
    let parts = &mut c.state.sparse;
    let whole = Span::new(frame.at, frame.len());
    if parts.broken {
        return;
    }
    r.about(EntryKind::Tensor, c.index.saturating_sub(1));
    let shape = &parts.shape;
    if shape.has_zero() || shape.negative.is_some() || shape.rank == 0 {
        r.flag(rules::S_DIMS, whole.offset, whole.len, 1, shape.negative.unwrap_or(0));
        return;
    }
    let Some(values) = parts.values else {
        r.flag(rules::S_VALUES, whole.offset, whole.len, 0, 0);
        return;
    };
    let Some(indices) = parts.indices.filter(|indices| indices.integers) else {
        r.check(values == 0 && parts.indices.is_none(), rules::S_INDICES, whole, 0, 0);
        return;
    };
    let [rows, columns] = indices.first;
    let rank = u64::from(shape.rank);
    let fits = match indices.rank {
        1 => true,
        2 => columns == rank,
        _ => false,
    };
    let found = if indices.rank == 2 { columns } else { u64::from(indices.rank) };
    r.check(fits, rules::S_RANK, whole, rank, found);
    r.check(rows == values, rules::S_COUNT, whole, values, rows);
    if !fits || rows == 0 {
        return;
    }
    let plain = !shape.overflows && !shape.packed.is_cut() && !indices.span.is_empty();
    r.check(plain, rules::S_UNCHECKED, whole, 0, 0);
    parts.sound = plain;
}

/// Progress within the indices of a sparse tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Indices {
    /// What is left of them.
    at: u64,
    end: u64,
    varints: bool,
    /// The tensor of the indices.
    pub(super) owner: u32,
    /// The extents, those not yet used in this row, and how many they are.
    shape: Packed,
    rest: Packed,
    rank: u32,
    column: u32,
    /// Number of values before this one, its position, and the one before.
    row: u64,
    position: u64,
    before: Option<u64>,
    /// Positions that do not ascend were reported.
    disordered: bool,
}

impl Indices {
    pub(super) const NONE: Indices = Indices {
        at: 0,
        end: 0,
        varints: false,
        owner: 0,
        shape: Packed::NONE,
        rest: Packed::NONE,
        rank: 0,
        column: 0,
        row: 0,
        position: 0,
        before: None,
        disordered: false,
    };

    /// The indices of a sparse tensor; none if they cannot be checked.
    pub(super) fn of(parts: &Parts) -> Indices {
        let Some(part) = parts.indices.filter(|_| parts.sound) else { return Indices::NONE };
        let (shape, rank) = match part.rank {
            1 => (Packed::of(parts.shape.elements()), 1),
            _ => (parts.shape.packed, parts.shape.rank),
        };
        let end = part.span.end().unwrap_or(0);
        let Part { index: owner, varints, span, .. } = part;
        Indices { at: span.offset, end, varints, owner, shape, rest: shape, rank, ..Indices::NONE }
    }

    /// Whether indices are left.
    pub(super) fn is_due(&self) -> bool {
        self.at < self.end
    }
}

/// Checks the indices as far as they are resident, or asks for more if none is.
pub(super) fn check(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    number(r, c)?;
    while c.state.indices.is_due() {
        match number(r, c) {
            // The audit keeps the cursor only after a step.
            Err(halt) if halt.is_absent() => break,
            result => result?,
        }
    }
    Ok(())
}

/// Checks one number of the indices.
fn number(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let mut next = c.state.indices;
    r.region(next.at, next.end, rules::T_COUNT);
    r.about(EntryKind::Tensor, next.owner);
    let value = match next.varints {
        true => match r.parse(|run| varint(run, WIRE.varint)) {
            Ok(found) => found.value,
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => {
                // The audit reports it with the values.
                c.state.indices = Indices::NONE;
                return Ok(());
            }
        },
        false => r.u64()?,
    };
    let place = Span::between(next.at, r.at());
    next.at = r.at();
    let extent = next.rest.pop();
    if value >= extent {
        r.flag(rules::S_RANGE, place.offset, place.len, extent, value);
        c.state.indices = Indices::NONE;
        return Ok(());
    }
    // The product of the extents fits 64 bits, and so does every position.
    next.position = next.position.wrapping_mul(extent).wrapping_add(value);
    next.column = next.column.saturating_add(1);
    if next.column >= next.rank {
        if next.before.is_some_and(|before| before >= next.position) && !next.disordered {
            // An index after it may be outside.
            next.disordered = true;
            r.flag(rules::S_ORDER, place.offset, place.len, 0, next.row);
        }
        next.before = Some(next.position);
        next.row = next.row.saturating_add(1);
        (next.position, next.column, next.rest) = (0, 0, next.shape);
    }
    c.state.indices = next;
    Ok(())
}
