//! Listing: the tensors of all subgraphs, with their buffers.

use super::reads::{Reads, Small, Table, Vector};
use super::rules;
use super::shape::Shape;
use super::{Cursor, Header, State, list};
use crate::base::{Word, features::WINDOWS, limits::TFLITE_TEXT, wide, word};
use crate::format::flatbuffer::{Kept, text};
use crate::input::Span;
use crate::model::dims::scaled;
use crate::model::{Chunks, DType, Layout, NameAt, Status, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// The last type that the schema defines.
pub(super) const LAST: u32 = 22;

/// Numbers of types that have no data.
pub(super) const RESOURCE: u32 = 13;
pub(super) const VARIANT: u32 = 14;

/// The fields of a tensor that decide about its data.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) table: Table,
    pub(super) shape: Vector,
    pub(super) code: Small,
    pub(super) buffer: Small,
    pub(super) sparse: bool,
    pub(super) external: Small,
    pub(super) variable: bool,
    /// Its buffer; `None` if there is none with that number.
    pub(super) stored: Option<Stored>,
}

/// A buffer.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub(super) table: Table,
    /// Where its data is, and how many bytes; none if there is none.
    at: Word,
    len: Word,
    /// It has data inside, and a place outside.
    both: bool,
    /// Its size, if that comes without an offset; 0 otherwise.
    size: Word,
}

impl Stored {
    /// Its data; empty if there is none.
    pub(super) fn span(&self) -> Span {
        Span::new(wide(self.at), wide(self.len))
    }
}

/// The element type with this number; `None` for a resource or a variant.
pub(super) fn dtype(code: u32) -> Option<DType> {
    Some(match code {
        0 => DType::F32,
        1 => DType::F16,
        2 => DType::I32,
        3 => DType::U8,
        4 => DType::I64,
        5 => DType::Text,
        6 => DType::Bool,
        7 => DType::I16,
        8 => DType::C64,
        9 => DType::I8,
        10 => DType::F64,
        11 => DType::C128,
        12 => DType::U64,
        15 => DType::U32,
        16 => DType::U16,
        17 => DType::I4,
        18 => DType::BF16,
        19 => DType::I2,
        20 => DType::U4,
        21 => DType::F8E4M3,
        22 => DType::F8E5M2,
        _ => return None,
    })
}

/// Bytes of `elements` elements of a type with a width; `None` if their bits exceed 64 bits. Takes
/// less code than [`DType::bytes`], which knows the types of all formats.
pub(super) fn bytes(code: u32, elements: u64) -> Option<u64> {
    /// Widths of types in bits, as powers of two. Nothing asks for the other types.
    const WIDTHS: [u8; 23] = [5, 4, 5, 3, 6, 0, 3, 4, 6, 3, 6, 7, 6, 0, 0, 5, 4, 2, 4, 1, 2, 3, 3];
    let width = usize::try_from(code).ok().and_then(|code| WIDTHS.get(code)).copied();
    let bits = scaled(elements, 1_u32.wrapping_shl(width.unwrap_or(0).into()))?;
    bits.checked_add(7).map(|bits| bits >> 3)
}

/// Reads buffer `index`.
pub(super) fn stored(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: u32,
) -> Result<Option<Stored>, Halt> {
    if index >= header.list(list::BUFFERS).count {
        return Ok(None);
    }
    let table = reads.item(header.list(list::BUFFERS), index)?;
    let data = reads.vector(&table, 0)?;
    let offset = reads.long(&table, 1)?;
    let size = reads.long(&table, 2)?;
    let outside = offset > 1 && data.count == 0;
    let inside = (word(data.at.into()), word(data.count.into()));
    let (at, len) = if outside { (offset, size) } else { inside };
    let both = offset > 1 && data.count > 0;
    let size = if offset <= 1 { size } else { 0 };
    Ok(Some(Stored { table, at, len, both, size }))
}

/// Reports what is wrong with a buffer; false if its data cannot be read.
pub(super) fn check_stored(r: &mut Reader<'_, '_>, stored: &Stored) -> bool {
    let place = stored.table.span();
    r.check(!stored.both, rules::B_BOTH, place, 0, 0);
    r.check(stored.size == 0, rules::B_OFFSET, place, 0, wide(stored.size));
    // Data inside was verified with the flatbuffer.
    let len = r.source().len();
    let end = stored.at.checked_add(stored.len).filter(|end| *end <= word(len));
    r.check(end.is_some(), rules::B_RANGE, place, len, wide(stored.at));
    end.is_some()
}

impl Fields {
    /// Reads the fields of the tensor in `table`.
    pub(super) fn read(
        header: &Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: Table,
    ) -> Result<Fields, Halt> {
        let shape = reads.vector(&table, 0)?;
        let code = reads.small(&table, 1, 1)?;
        let buffer = reads.small(&table, 2, 4)?;
        let sparse = reads.field(&table, 6)? != 0;
        let external = reads.small(&table, 10, 4)?;
        let variable = reads.value(&table, 5, 1)? != 0;
        let stored = stored(header, reads, buffer.value)?;
        Ok(Fields { table, shape, code, buffer, sparse, external, variable, stored })
    }

    /// Its data; empty if it has none, and at 0 if no data was written either.
    pub(super) fn data(&self) -> Span {
        self.stored.map_or(Span::new(0, 0), |stored| stored.span())
    }
}

/// The table of the next tensor; `None` after the last.
pub(super) fn table(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Table>, Halt> {
    loop {
        let State { memo, place, alone, .. } = &mut c.state;
        let mut reads = Reads::new(r, memo);
        if *alone {
            return reads.table(c.at).map(Some);
        }
        if place.passed < place.tensors.count {
            return reads.item(place.tensors, place.passed).map(Some);
        }
        if place.subgraphs >= header.list(list::SUBGRAPHS).count {
            return Ok(None);
        }
        let subgraph = reads.item(header.list(list::SUBGRAPHS), place.subgraphs)?;
        place.tensors = reads.vector(&subgraph, 0)?;
        place.subgraphs = place.subgraphs.wrapping_add(1);
        place.passed = 0;
        memo.clear();
    }
}

/// Moves past a tensor.
pub(super) fn pass(c: &mut Cursor) {
    c.state.place.passed = c.state.place.passed.wrapping_add(1);
    c.state.memo.clear();
    c.state.shape = Kept::new(Shape::START);
    c.index = c.index.wrapping_add(1);
}

/// Reads and validates the next tensor.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Tensor>, Halt> {
    let Some(table) = table(header, r, c)? else {
        c.finish();
        return Ok(None);
    };
    let State { memo, place, shape, alone, .. } = &mut c.state;
    let mut reads = Reads::new(r, memo);
    // What was read above is known; in memory nothing has to be passed.
    if WINDOWS && *alone {
        reads.table(c.at)?;
    } else if WINDOWS {
        reads.item(place.tensors, place.passed)?;
    }
    let fields = Fields::read(header, &mut reads, table)?;
    let text = reads.vector(&table, 3)?;
    let mut local = Shape::START;
    let shape = shape.of(&mut local);
    shape.read(r, fields.shape, 0, 0)?;
    let shape = *shape;
    r.about(EntryKind::Tensor, c.index);
    // The caller reads the name. It would otherwise go back to where it came from, and a host
    // with a single window would never get here again.
    let name = read_name(r, text, rules::T_NAME_UTF8)?;
    let mut tensor = Tensor {
        index: c.index,
        offset: fields.table.at(),
        name,
        dims: shape.dims(fields.shape),
        ..Tensor::default()
    };
    if validate(header, r, &fields, &shape, &mut tensor).is_none() {
        tensor.status = Status::Broken;
        tensor.chunks = Chunks::None;
    }
    pass(c);
    Ok(Some(tensor))
}

/// Reads a name and checks it.
#[inline(always)]
pub(super) fn read_name(r: &mut Reader<'_, '_>, text: Vector, rule: Rule) -> Result<NameAt, Halt> {
    text::check(r, text, rule, (TFLITE_TEXT, rules::T_TEXT, text.span(1)))?;
    Ok(text::name_at(text, TFLITE_TEXT))
}

/// Reports why a tensor cannot be used.
fn broken(r: &mut Reader<'_, '_>, rule: Rule, span: Span, expected: u64, found: u64) -> Option<()> {
    r.flag(rule, span.offset, span.len, expected, found);
    None
}

/// Checks type, shape and buffer; `None` if the tensor is broken.
// A board copies the tensor to the caller from memory, not field by field.
#[cfg_attr(not(feature = "windows"), inline(never))]
fn validate(
    header: &Header,
    r: &mut Reader<'_, '_>,
    fields: &Fields,
    shape: &Shape,
    tensor: &mut Tensor,
) -> Option<()> {
    let whole = fields.table.span();
    let code = fields.code.value;
    if code > LAST {
        // A signed number of one byte.
        let signed = u8::try_from(code).unwrap_or(0).cast_signed();
        let found = i64::from(signed).cast_unsigned();
        return broken(r, rules::T_TYPE, Span::new(fields.code.at(), 1), LAST.into(), found);
    }
    if let Some((extent, at)) = shape.negative {
        let found = i64::from(extent).cast_unsigned();
        return broken(r, rules::T_DIM, Span::new(at.into(), 4), 0, found);
    }
    tensor.dtype = dtype(code).unwrap_or(DType::Unknown);
    let elements = shape.elements();
    // Texts vary in length, and resources have none.
    let bytes = match tensor.dtype {
        DType::Text | DType::Unknown => Some(0),
        dtype if WINDOWS => dtype.bytes(elements),
        _ => bytes(code, elements),
    };
    let (Some(bytes), false) = (bytes, shape.overflows) else {
        return broken(r, rules::T_PRODUCT, fields.shape.span(4), 0, elements);
    };
    tensor.elements = elements;
    let rank = shape.rank.into();
    r.check(!shape.is_cut(), rules::T_RANK, fields.shape.span(4), 0, rank);
    let Some(stored) = fields.stored else {
        let at = Span::new(fields.buffer.at(), 4);
        let (count, found) = (header.list(list::BUFFERS).count.into(), fields.buffer.value.into());
        return broken(r, rules::B_INDEX, at, count, found);
    };
    let span = stored.span();
    if !check_stored(r, &stored) {
        tensor.status = Status::Broken;
        return Some(());
    }
    // All of it belongs to the tensor, even if it is too long.
    tensor.extra = span;
    if matches!(code, RESOURCE | VARIANT) {
        r.check(span.is_empty(), rules::T_RESOURCE, whole, 0, span.len);
        return Some(());
    }
    if span.is_empty() {
        // A buffer may be empty; its tensor is one that an operator computes.
        return Some(());
    }
    r.check(!fields.variable, rules::T_VARIABLE, whole, 0, span.len);
    let external = fields.external.value;
    r.check(external == 0, rules::E_BOTH, whole, 0, external.into());
    if tensor.dtype == DType::Text {
        return Some(());
    }
    if fields.sparse {
        // The audit compares the length with the indices.
        tensor.layout = Layout::Sparse;
        tensor.chunks = Chunks::One(span);
        return Some(());
    }
    if span.len < bytes {
        return broken(r, rules::T_SHORT, span, bytes, span.len);
    }
    r.check(span.len == bytes, rules::T_LONG, span, bytes, span.len);
    tensor.chunks = Chunks::One(Span::new(span.offset, bytes));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_element_type() {
        for code in 0..=LAST {
            let Some(dtype) = dtype(code).filter(|dtype| *dtype != DType::Text) else { continue };
            for elements in [0, 1, 2, 3, 4, 5, 7, 8, 9, 1 << 32, (1 << 56) + 1] {
                assert_eq!(bytes(code, elements), dtype.bytes(elements), "{dtype:?} {elements}");
            }
        }
        assert_eq!(bytes(0, u64::MAX), None);
    }
}
