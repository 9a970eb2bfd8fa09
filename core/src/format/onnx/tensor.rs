//! A tensor: its fields, and what must hold once all of them are read.

use super::external::{self, External};
use super::pair::{text, unread};
use super::rules;
use super::schema::{Kind, field};
use super::walk::{Frame, bit};
use super::{Cursor, node};
use crate::base::{limits::ONNX_TEXT, utf8};
use crate::input::Span;
use crate::model::{Chunks, DType, Encoding, NameAt, Status, Tensor, dims::Packed};
use crate::parse::Reader;
use crate::protobuf::{Field, Wire, varint::varint};
use crate::rule::{Halt, Rule};

/// The fields that store elements.
const DATA: [u32; 7] = [
    field::FLOAT_DATA,
    field::INT32_DATA,
    field::STRING_DATA,
    field::INT64_DATA,
    field::RAW_DATA,
    field::DOUBLE_DATA,
    field::UINT64_DATA,
];

/// A shape as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) packed: Packed,
    pub(super) rank: u32,
    /// The first extents.
    pub(super) first: [u64; 2],
    /// The product of all extents above 0.
    product: u64,
    zero: bool,
    pub(super) overflows: bool,
    /// The first extent that is negative or, of a sparse tensor, not positive: its value.
    pub(super) negative: Option<u64>,
}

impl Shape {
    pub(super) const START: Shape = Shape {
        packed: Packed::NONE,
        rank: 0,
        first: [0; 2],
        product: 1,
        zero: false,
        overflows: false,
        negative: None,
    };

    pub(super) fn push(&mut self, extent: u64) {
        if let Some(place) = usize::try_from(self.rank).ok().and_then(|i| self.first.get_mut(i)) {
            *place = extent;
        }
        self.rank = self.rank.saturating_add(1);
        self.packed.push(extent);
        self.zero |= extent == 0;
        if extent >= 1 << 63 {
            self.negative = self.negative.or(Some(extent));
        }
        match self.product.checked_mul(extent.max(1)) {
            Some(product) => self.product = product,
            None => self.overflows = true,
        }
    }

    /// Whether an extent is 0.
    pub(super) fn has_zero(&self) -> bool {
        self.zero
    }

    /// Number of elements.
    pub(super) fn elements(&self) -> u64 {
        if self.zero { 0 } else { self.product }
    }
}

/// The fields of a tensor, as far as they have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fields {
    pub(super) shape: Shape,
    code: Option<u64>,
    pub(super) name: Span,
    /// The data fields seen, a bit each.
    data: u32,
    /// The last piece of data, and the number of bytes and pieces in all.
    piece: Span,
    bytes: u64,
    pieces: u64,
    /// Some values are stored one by one.
    single: bool,
    segment: bool,
    pub(super) location: u64,
    pub(super) external: External,
    /// A field could not be read.
    pub(super) broken: bool,
}

impl Fields {
    pub(super) const START: Fields = Fields {
        shape: Shape::START,
        code: None,
        name: Span::new(0, 0),
        data: 0,
        piece: Span::new(0, 0),
        bytes: 0,
        pieces: 0,
        single: false,
        segment: false,
        location: 0,
        external: External::NONE,
        broken: false,
    };
}

/// The element type with this number, and the field that stores it if not raw.
pub(super) fn dtype(code: u64) -> Option<(DType, u32)> {
    let dtype = match code {
        1 => return Some((DType::F32, field::FLOAT_DATA)),
        14 => return Some((DType::C64, field::FLOAT_DATA)),
        11 => return Some((DType::F64, field::DOUBLE_DATA)),
        15 => return Some((DType::C128, field::DOUBLE_DATA)),
        7 => return Some((DType::I64, field::INT64_DATA)),
        12 => return Some((DType::U32, field::UINT64_DATA)),
        13 => return Some((DType::U64, field::UINT64_DATA)),
        8 => return Some((DType::Text, field::STRING_DATA)),
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        9 => DType::Bool,
        10 => DType::F16,
        16 => DType::BF16,
        17 => DType::F8E4M3,
        18 => DType::F8E4M3Fnuz,
        19 => DType::F8E5M2,
        20 => DType::F8E5M2Fnuz,
        21 => DType::U4,
        22 => DType::I4,
        23 => DType::F4,
        24 => DType::F8E8M0,
        25 => DType::U2,
        26 => DType::I2,
        27 => DType::F6E2M3,
        28 => DType::F6E3M2,
        _ => return None,
    };
    Some((dtype, field::INT32_DATA))
}

/// Reads extents, packed or not.
pub(super) fn dims(r: &mut Reader<'_, '_>, shape: &mut Shape, found: &Field) -> Result<(), Halt> {
    if found.wire == Wire::Varint {
        shape.push(found.value);
        return Ok(());
    }
    if found.data.len > ONNX_TEXT {
        unread(r, found.data);
        return Err(Halt::refused(rules::W_TEXT));
    }
    let mut read = *shape;
    r.limit(found.end(), rules::W_END);
    r.require(found.data.len)?;
    while r.left() > 0 {
        read.push(r.parse(|run| varint(run, rules::W_VARINT))?.value);
    }
    *shape = read;
    Ok(())
}

/// Reads a field of the tensor.
pub(super) fn field(r: &mut Reader<'_, '_>, c: &mut Cursor, found: &Field) -> Result<(), Halt> {
    let fields = &mut c.state.fields;
    match found.number {
        field::DIMS => {
            dims(r, &mut fields.shape, found)?;
            if let Some(extent) = fields.shape.negative {
                let span = found.span();
                r.flag(rules::T_DIM, span.offset, span.len, 0, extent);
                return Err(Halt::refused(rules::T_DIM));
            }
        }
        field::DATA_TYPE => fields.code = Some(found.value),
        field::SEGMENT => fields.segment = true,
        field::DATA_LOCATION => fields.location = found.value,
        field::NAME => {
            match text(r, found.data)? {
                Some(name) => {
                    r.check(utf8::is(name), rules::T_NAME_UTF8, found.data, 0, 0);
                    r.check(!name.contains(&0), rules::T_NAME_NUL, found.data, 0, 0);
                }
                None => unread(r, found.data),
            }
            fields.name = found.data;
        }
        field::EXTERNAL_DATA => external::entry(r, &mut fields.external, found)?,
        number if DATA.contains(&number) => {
            let again = number == field::RAW_DATA && fields.data & bit(number) != 0;
            if again {
                (fields.bytes, fields.pieces) = (0, 0);
            }
            fields.data |= bit(number);
            fields.piece = found.data;
            fields.pieces = fields.pieces.saturating_add(1);
            fields.bytes = fields.bytes.saturating_add(found.data.len);
            fields.single |= found.wire != Wire::Bytes;
        }
        _ => {}
    }
    Ok(())
}

/// Validates a tensor whose fields have all been read, and moves the cursor past it.
pub(super) fn finish(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    frame: &Frame,
    name: NameAt,
) -> Tensor {
    let holder = c.state.open.top().map(|top| top.kind);
    let fields = c.state.fields;
    let mut tensor = Tensor {
        index: c.index,
        offset: frame.at,
        name,
        dims: fields.shape.packed.dims(),
        ..Tensor::default()
    };
    let whole = Span::new(frame.at, frame.len());
    // The values of a sparse tensor carry its name; indices and attributes need none.
    let of_graph = match holder {
        Some(Kind::Sparse) => {
            let outer = c.state.open.parent().map(|outer| outer.kind);
            frame.field == 1 && outer == Some(Kind::Graph)
        }
        holder => holder == Some(Kind::Graph),
    };
    let unnamed = of_graph && fields.name.len == 0 && !fields.broken;
    r.check(!unnamed, rules::T_NAME, whole, 0, 0);
    if fields.broken {
        tensor.status = Status::Broken;
    } else if let Err(broken) = validate(r, &fields, whole, &mut tensor) {
        let Broken { rule, expected, found } = broken;
        r.flag(rule, whole.offset, whole.len, expected, found);
        tensor.status = Status::Broken;
        tensor.chunks = Chunks::None;
    }
    if holder == Some(Kind::Sparse) {
        c.state.sparse.add(&tensor, &fields.shape, frame.field);
    }
    let own = r.source().own_len();
    c.state.audited |= matches!(tensor.dtype, DType::F6E2M3 | DType::F6E3M2);
    c.state.beside |= matches!(tensor.chunks, Chunks::One(span) if span.offset >= own);
    c.phase = node::table(c);
    c.index = c.index.wrapping_add(1);
    tensor
}

/// Why a tensor cannot be used.
pub(super) struct Broken {
    pub(super) rule: Rule,
    pub(super) expected: u64,
    pub(super) found: u64,
}

/// The result for a tensor that cannot be used.
pub(super) fn broken<T>(rule: Rule, expected: u64, found: u64) -> Result<T, Broken> {
    Err(Broken { rule, expected, found })
}

/// Checks type, shape and the place of the data.
fn validate(
    r: &mut Reader<'_, '_>,
    fields: &Fields,
    whole: Span,
    tensor: &mut Tensor,
) -> Result<(), Broken> {
    let code = fields.code.unwrap_or(0);
    let Some((dtype, own)) = dtype(code) else { return broken(rules::T_TYPE, 0, code) };
    tensor.dtype = dtype;
    let elements = fields.shape.elements();
    let bytes = if dtype == DType::Text { Some(0) } else { dtype.bytes(elements) };
    let (Some(bytes), false) = (bytes, fields.shape.overflows) else {
        return broken(rules::T_PRODUCT, 0, elements);
    };
    tensor.elements = elements;
    if fields.shape.packed.is_cut() {
        r.flag(rules::T_RANK, whole.offset, whole.len, 0, fields.shape.rank.into());
    }
    if fields.segment {
        r.flag(rules::T_SEGMENT, whole.offset, whole.len, 0, 0);
        tensor.status = Status::Unsupported;
        return Ok(());
    }
    match fields.location {
        0 => {}
        1 if fields.data != 0 => return broken(rules::E_DATA, 0, 0),
        1 if dtype == DType::Text => return broken(rules::E_STRING, 0, 0),
        1 => {
            let found = external::finish(r, &fields.external, whole, bytes)?;
            if let Some(span) = found.filter(|span| !span.is_empty()) {
                tensor.chunks = Chunks::One(span);
            }
            return Ok(());
        }
        location => return broken(rules::E_FLAG, 1, location),
    }
    r.check(!fields.external.is_any(), rules::E_LEFT, whole, 0, 0);
    if fields.data.count_ones() > 1 {
        return broken(rules::T_KINDS, 1, fields.data.count_ones().into());
    }
    if fields.data == 0 {
        return if elements > 0 { broken(rules::T_NONE, elements, 0) } else { Ok(()) };
    }
    let raw = fields.data == bit(field::RAW_DATA);
    if (!raw || dtype == DType::Text) && fields.data != bit(own) {
        return broken(rules::T_FIELD, own.into(), fields.data.trailing_zeros().into());
    }
    data(r, fields, tensor, raw, bytes)
}

/// Checks the length of the data, and notes its place.
fn data(
    r: &mut Reader<'_, '_>,
    fields: &Fields,
    tensor: &mut Tensor,
    raw: bool,
    bytes: u64,
) -> Result<(), Broken> {
    let (elements, found) = (tensor.elements, fields.bytes);
    if tensor.dtype == DType::Text {
        return match fields.pieces == elements {
            true => Ok(()),
            false => broken(rules::T_COUNT, elements, fields.pieces),
        };
    }
    if elements == 0 {
        let span = fields.piece;
        r.check(found == 0, rules::T_EMPTY, span, 0, found);
        return Ok(());
    }
    if raw {
        if found < bytes {
            return broken(rules::T_SHORT, bytes, found);
        }
        let span = fields.piece;
        if found > bytes {
            r.flag(rules::T_LONG, span.offset, span.len, bytes, found);
        }
        tensor.chunks = Chunks::One(Span::new(span.offset, bytes));
        return Ok(());
    }
    let floats = fields.data & (bit(field::FLOAT_DATA) | bit(field::DOUBLE_DATA)) != 0;
    if floats && found != bytes {
        return broken(rules::T_COUNT, bytes, found);
    }
    if fields.pieces > 1 || fields.single {
        let span = fields.piece;
        r.flag(rules::T_SPLIT, span.offset, span.len, 1, fields.pieces);
        tensor.status = Status::Unsupported;
        return Ok(());
    }
    // A varint takes at least a byte; elements that share bytes share it.
    let least = if tensor.dtype.is_packed() { bytes } else { elements };
    if !floats && found < least {
        return broken(rules::T_COUNT, least, found);
    }
    if !floats {
        tensor.encoding = Encoding::Varints(tensor.dtype);
    }
    tensor.chunks = Chunks::One(fields.piece);
    Ok(())
}
