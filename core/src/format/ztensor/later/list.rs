//! The list of tensors: an entry for each object, and one for each part of an object that is not
//! dense.

use super::super::{Cursor, field, rules};
use super::attributes;
use super::layout::{self, Known};
use super::node::Node;
use super::object::{Kind, Object, Read};
use super::part::Part;
use super::{Generation, Header, types};
use crate::base::limits::ZTENSOR_PARTS;
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Encoding, Layout, NameAt, NameEncoding, Status, Tensor,
    dims::{Packed, product},
};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, Severity};

/// Where the list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Place {
    /// The key of the object before; 0 at the start.
    before: (u64, u64),
    /// Number of items left in the map of objects, once the list has begun.
    left: u32,
    begun: bool,
    /// The object whose parts are listed, and the next of them; empty between objects.
    owner: Span,
    part: u32,
    parts: u32,
}

impl Place {
    pub(super) const START: Place = Place {
        before: (0, 0),
        left: 0,
        begun: false,
        owner: Span { offset: 0, len: 0 },
        part: 0,
        parts: 0,
    };
}

/// The next entry.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Tensor>, Halt> {
    if header.manifest.is_empty() {
        c.finish();
        return Ok(None);
    }
    let mut place = c.state.later.place;
    // An entry read out of order has an offset, and the list has not begun.
    let alone = !place.begun && c.at > 0;
    // The cursor changes only once all bytes are there.
    let at = c.at.max(if place.begun { 0 } else { header.objects_at });
    if !place.begun {
        place.begun = true;
        place.left = if alone { 2 } else { header.left };
    }
    if alone && !is_key(r, at)? {
        // A part by itself: only a listing names it.
        c.finish();
        return Ok(None);
    }
    r.about(EntryKind::Tensor, c.index);
    if place.part < place.parts {
        let tensor = part(header, r, &mut place, c.index)?;
        c.index = c.index.wrapping_add(1);
        c.state.later.place = place;
        return Ok(Some(tensor));
    }
    let object = match Object::read(header, r, at, place.before, &mut place.left)? {
        Read::Object(object) => object,
        Read::End(_) => {
            r.about(EntryKind::File, 0);
            c.finish();
            return Ok(None);
        }
    };
    let tensor = whole(header, r, &object, c.index);
    place.before = (object.key.at, object.key.end);
    let owner = Span::between(object.key.at, object.end);
    (place.owner, place.part) = (owner, 0);
    place.parts = if object.has_entries() { object.part_count() } else { 0 };
    c.advance(object.end);
    c.state.later.place = place;
    Ok(Some(tensor))
}

/// Whether a text, such as the name of an object, begins at `at`.
fn is_key(r: &mut Reader<'_, '_>, at: u64) -> Result<bool, Halt> {
    let first = r.get(Span::new(at, 1))?.first().copied().unwrap_or(0);
    Ok(first >> 5 == crate::base::cbor::major::TEXT)
}

/// Part number `place.part` of the object `place.owner`.
fn part(
    header: &Header,
    r: &mut Reader<'_, '_>,
    place: &mut Place,
    index: u32,
) -> Result<Tensor, Halt> {
    let bytes = r.get(place.owner)?;
    let object = Object::of(header.generation, bytes, place.owner.offset);
    let wanted = usize::try_from(place.part).unwrap_or(usize::MAX);
    place.part = place.part.saturating_add(1);
    let (key, map) = object.parts().nth(wanted).unwrap_or_default();
    r.about(EntryKind::Tensor, index);
    let found = Part::read(header, r, (key, map), object.dtype);
    let named = Tensor { name: path(&object.key, &key), ..Tensor::NONE };
    let mut tensor = entry(&found, map.span(), index, named);
    if let (Some((_, false)), false) = (found.elements(), found.broken) {
        let bits = u64::from(found.dtype.bits());
        let decoded = found.decoded.unwrap_or(0);
        r.flag(rules::PART_ELEMENTS, map.at, 1, bits, decoded);
        (tensor.status, tensor.chunks) = (Status::Broken, Chunks::None);
    }
    // Even no elements take a frame.
    let is_empty = found.blob.is_some_and(|blob| blob.is_empty());
    if is_empty && found.encoding == Encoding::Zstd && !found.broken && !found.elsewhere {
        let none = found.decoded == Some(0);
        let rule = if none { rules::ZSTD_EMPTY } else { rules::ZSTD_TRUNCATED };
        r.flag(rule, map.at, 1, 0, 0);
        if rule.severity() == Severity::Fatal {
            (tensor.status, tensor.chunks) = (Status::Broken, Chunks::None);
        }
    }
    Ok(tensor)
}

/// The name of a part: that of its object and its role, which lie apart.
fn path(object: &Node<'_>, role: &Node<'_>) -> NameAt {
    let len = u32::try_from(role.end.saturating_sub(object.at)).unwrap_or(u32::MAX);
    NameAt { offset: object.at, len, encoding: NameEncoding::Path }
}

/// The entry of a part.
fn entry(part: &Part, map: Span, index: u32, named: Tensor) -> Tensor {
    let elements = part.elements();
    let mut tensor = Tensor {
        index,
        offset: map.offset,
        dtype: part.dtype,
        encoding: part.encoding,
        extra: map,
        ..named
    };
    if let Some((count, true)) = elements {
        tensor.elements = count;
        tensor.dims = Packed::of(count).dims();
    } else {
        tensor.dims = DimsAt { rank: 1, encoding: DimEncoding::External, ..DimsAt::default() };
        tensor.layout = Layout::Unknown;
    }
    tensor.status = match part {
        Part { broken: true, .. } | Part { blob: None, .. } => Status::Broken,
        Part { unknown: true, .. } => Status::Unsupported,
        _ if elements.is_none() => Status::Unsupported,
        _ => Status::Sound,
    };
    if let (Some(blob), false, false) = (part.blob, part.elsewhere, part.broken) {
        tensor.chunks = Chunks::One(blob);
    }
    tensor
}

/// What is known about an object while it is validated.
struct Whole<'w, 'r, 'a> {
    r: &'w mut Reader<'r, 'a>,
    broken: bool,
    tensor: Tensor,
}

impl Whole<'_, '_, '_> {
    fn flag(&mut self, rule: Rule, span: Span, expected: u64, found: u64) {
        self.broken |= rule.severity() == Severity::Fatal;
        self.r.flag(rule, span.offset, span.len, expected, found);
    }
}

/// The entry of an object, validated: its name, its shape, its layout, and its parts as far as
/// they depend on one another.
pub(super) fn whole(
    header: &Header,
    r: &mut Reader<'_, '_>,
    object: &Object<'_>,
    index: u32,
) -> Tensor {
    let two = header.generation == Generation::Two;
    let tensor = Tensor { index, offset: object.key.at, ..Tensor::NONE };
    let mut whole = Whole { r, broken: false, tensor };
    let head = Span::new(object.value.at, 1);
    match object.key.text() {
        None => whole.flag(rules::OBJECT_NAME, object.key.span(), 0, 0),
        Some(name) => {
            whole.tensor.name = object.key.text_at();
            if two && !attributes::is_name(&name) {
                whole.flag(rules::OBJECT_NAME_FORM, object.key.span(), 0, 0);
            } else if name.is_empty() {
                whole.flag(rules::NAME_EMPTY, object.key.span(), 0, 0);
            } else if name.bytes().any(|byte| byte == 0) {
                whole.flag(rules::NAME_NUL, object.key.span(), 0, 0);
            }
        }
    }
    if !object.value.is_map() {
        whole.flag(rules::OBJECT_MAP, head, 0, 0);
        whole.tensor.status = Status::Broken;
        return whole.tensor;
    }
    let shape = shape(&mut whole, object, two);
    if let Some(attributes) = &object.attributes {
        attributes::check(whole.r, header.generation, attributes);
    }
    match object.layout {
        Some(layout) if layout.text().is_some() => {}
        Some(layout) => whole.flag(rules::OBJECT_LAYOUT, layout.span(), 0, 0),
        None => whole.flag(rules::OBJECT_LAYOUT, head, 0, 0),
    }
    let dtype = object.dtype.and_then(|dtype| dtype.text());
    if header.generation == Generation::One0 && dtype.and_then(|name| types::long(&name)).is_none()
    {
        let place = object.dtype.map_or(head, |dtype| dtype.span());
        whole.flag(rules::PART_DTYPE, place, 0, 0);
    }
    let parts = object.parts.filter(|parts| parts.is_map() && object.part_count() > 0);
    let Some(parts) = parts else {
        let place = object.parts.map_or(head, |parts| parts.span());
        whole.flag(rules::OBJECT_PARTS, place, 0, 0);
        whole.tensor.status = Status::Broken;
        return whole.tensor;
    };
    if object.kind == Kind::Dense {
        dense(header, &mut whole, object, shape);
        return whole.tensor;
    }
    if let Some((key, _)) = object.parts().find(|(key, _)| key.text().is_none()) {
        whole.flag(rules::PART_NAME, key.span(), 0, 0);
    } else if !object.is_listed() {
        let count = u64::from(object.part_count());
        whole.flag(rules::OBJECT_PARTS_MANY, parts.span(), ZTENSOR_PARTS.into(), count);
    }
    whole.tensor.layout = match object.kind {
        Kind::Csr | Kind::Coo => Layout::Sparse,
        _ => Layout::Unknown,
    };
    let known = Known { header, object, shape, rank: whole.tensor.dims.rank };
    let faults = layout::check(whole.r, &known);
    whole.broken |= faults.broken;
    whole.tensor.dtype = faults.dtype;
    whole.tensor.status = match object.kind {
        _ if whole.broken => Status::Broken,
        _ if faults.dtype != DType::Unknown => Status::Sound,
        _ => Status::Unsupported,
    };
    whole.tensor
}

/// Validates the shape; returns the number of elements if it is valid.
fn shape(whole: &mut Whole<'_, '_, '_>, object: &Object<'_>, two: bool) -> Option<u64> {
    let head = Span::new(object.value.at, 1);
    let Some(node) = object.shape.filter(Node::is_array) else {
        let place = object.shape.map_or(head, |shape| shape.span());
        whole.flag(rules::OBJECT_SHAPE, place, 0, 0);
        return None;
    };
    let (mut rank, mut first, mut end) = (0_u32, 0, 0);
    // The product in order, as generation 2 has it, and that of the dims that are not 0.
    let (mut in_order, mut nonzero, mut zero) = (Some(1_u64), Some(1_u64), false);
    for dim in node.items() {
        let (Some(extent), true) = (dim.uint(), dim.at == dim.head_at) else {
            whole.flag(rules::OBJECT_SHAPE, dim.span(), 0, 0);
            return None;
        };
        first = if rank == 0 { dim.at } else { first };
        end = dim.end;
        rank = rank.saturating_add(1);
        in_order = in_order.and_then(|elements| product(elements, extent));
        zero |= extent == 0;
        nonzero = nonzero.and_then(|elements| product(elements, extent.max(1)));
    }
    let len = u32::try_from(end.saturating_sub(first)).unwrap_or(u32::MAX);
    let encoding = DimEncoding::Cbor;
    whole.tensor.dims = DimsAt { offset: first, len, rank, lead: None, encoding };
    if rank > field::RANK {
        let rule = if two { rules::OBJECT_RANK } else { rules::SHAPE_RANK };
        whole.flag(rule, node.span(), field::RANK.into(), rank.into());
    }
    let elements = if two { in_order } else { nonzero.map(|n| if zero { 0 } else { n }) };
    match elements {
        Some(elements) => whole.tensor.elements = elements,
        None => whole.flag(rules::SHAPE_OVERFLOW, node.span(), 0, 0),
    }
    elements
}

/// Validates a dense object, whose only part has the elements.
fn dense(header: &Header, whole: &mut Whole<'_, '_, '_>, object: &Object<'_>, shape: Option<u64>) {
    whole.tensor.status = Status::Broken;
    whole.broken |= layout::roles(whole.r, header, object);
    let is_data = |(key, _): &(Node<'_>, Node<'_>)| key.text().is_some_and(|key| key == *"data");
    let Some((key, map)) = object.parts().find(is_data) else { return };
    let part = Part::read(header, whole.r, (key, map), object.dtype);
    whole.broken |= part.broken;
    let tensor = &mut whole.tensor;
    (tensor.dtype, tensor.encoding, tensor.extra) = (part.dtype, part.encoding, map.span());
    if whole.broken {
        return;
    }
    let (Some(elements), Some(blob)) = (shape, part.blob) else { return };
    if part.dtype != DType::Unknown {
        let place = map.span();
        match (whole.tensor.bytes(), part.decoded) {
            (None, _) => whole.flag(rules::SHAPE_BYTES, place, u64::MAX, elements),
            (Some(bytes), Some(len)) if bytes != len => {
                let raw = part.encoding == Encoding::Raw;
                let rule = if raw { rules::SHAPE_SIZE } else { rules::PART_DECODED_SIZE };
                whole.flag(rule, place, bytes, len);
            }
            (Some(bytes), _) if part.encoding == Encoding::Zstd && blob.is_empty() => {
                let rule = if bytes == 0 { rules::ZSTD_EMPTY } else { rules::ZSTD_TRUNCATED };
                whole.flag(rule, place, 0, 0);
            }
            _ => {}
        }
    }
    if whole.broken {
        return;
    }
    let unknown = part.unknown || part.dtype == DType::Unknown;
    whole.tensor.status = if unknown { Status::Unsupported } else { Status::Sound };
    if !part.elsewhere {
        whole.tensor.chunks = Chunks::One(blob);
    }
}
