//! Listing of tensor data: each key with its segment.

use super::open::place_of;
use super::place::{Data, put};
use super::segment::{Found, Segments};
use super::tensor::{Form, read_name};
use super::{Cursor, Header, State, rules, types};
use crate::format::flatbuffer::Kept;
use crate::format::flatbuffer::reads::{Reads, Vector};
use crate::format::flatbuffer::shape::Shape;
use crate::input::Span;
use crate::model::{DType, Status, Tensor, dims::Packed};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Reads and validates the next key. Data without a type is a row of bytes.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Tensor>, Halt> {
    let State { memo, shape, alone, .. } = &mut c.state;
    if !*alone && c.index >= header.named.count {
        c.finish();
        return Ok(None);
    }
    let mut reads = Reads::new(r, memo);
    let table = match *alone {
        true => reads.table(c.at)?,
        false => reads.item(header.named, c.index)?,
    };
    let key = reads.vector(&table, 0)?;
    let number = reads.small(&table, 1, 4)?;
    let form = match reads.inner(&table, 2)? {
        Some(layout) => Some(Form::read(&mut reads, layout, [0, 1, 2])?),
        None => None,
    };
    let segment = Segments::find(header, &mut reads, number.value)?;
    let shape = match &form {
        Some(form) => form.extents(r, shape)?,
        None => **shape,
    };
    r.about(EntryKind::Tensor, c.index);
    let name = read_name(r, key)?;
    r.check(key.count > 0, rules::N_KEY, table.span(), 1, 0);
    let mut tensor = Tensor {
        index: c.index,
        offset: table.at(),
        name,
        dims: shape.dims(form.as_ref().map_or(Vector::NONE, Form::listed)),
        ..Tensor::default()
    };
    let place = place_of(number.at(), 4, table.span());
    let (rule, count, found) = (rules::N_SEGMENT, header.segments.list.count, number.value.into());
    let data = match segment {
        Found::None => Data::Wrong { rule, place, count, found },
        Found::Lost => Data::Lost,
        Found::At(span) => Data::Exactly(span),
    };
    let (bytes, width) = match form {
        Some(form) => (form.check(r, &shape, &mut tensor), types::width(form.code.value)),
        None => (Some(blob(segment.span(), &mut tensor)), 1),
    };
    if bytes.and_then(|bytes| put(r, data, bytes, width, &mut tensor)).is_none() {
        tensor.status = Status::Broken;
    }
    c.state.memo.clear();
    c.state.shape = Kept::new(Shape::START);
    c.index = c.index.wrapping_add(1);
    Ok(Some(tensor))
}

/// Data without a type.
fn blob(span: Option<Span>, tensor: &mut Tensor) -> u64 {
    let len = span.map_or(0, |span| span.len);
    tensor.dtype = DType::U8;
    tensor.dims = Packed::of(len).dims();
    tensor.elements = len;
    len
}
