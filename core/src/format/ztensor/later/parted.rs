//! Sparse objects whose indices are compressed: their parts, which the payload stage decodes.

use super::layout::Sparse;
use super::object::{Kind, Object, Read};
use super::part::Part;
use super::{Generation, Header};
use crate::model::{Chunk, Encoding, Layout, Tensor, parted::Parted};
use crate::parse::Reader;
use crate::rule::Halt;

/// Most dimensions of coordinates that are followed.
const RANK: usize = 64;

/// The parts of the sparse object `tensor`, if they must be decoded.
pub(super) fn read(
    header: &Header,
    r: &mut Reader<'_, '_>,
    tensor: &Tensor,
) -> Result<Option<Parted>, Halt> {
    if tensor.layout != Layout::Sparse {
        return Ok(None);
    }
    let Read::Object(object) = Object::read(header, r, tensor.offset, (0, 0), &mut 2)? else {
        return Ok(None);
    };
    if !object.is_listed() {
        return Ok(None);
    }
    let parts = Sparse::of(header, r, &object);
    Ok(of(header, &object, &parts))
}

/// The parts of `object`, if they must be decoded and can be.
pub(super) fn of(header: &Header, object: &Object<'_>, parts: &Sparse) -> Option<Parted> {
    let (indices, values) = (parts.indices.as_ref()?, parts.values.as_ref()?);
    let raw = |part: &Part| part.encoding == Encoding::Raw;
    if raw(indices) && parts.pointers.as_ref().is_none_or(raw) && values.decoded.is_some() {
        return None;
    }
    let rank = object.shape?.items().take(RANK.saturating_add(1)).count();
    let values_here = values.decoded.is_some() || is_here(values);
    let here = is_here(indices) && parts.pointers.as_ref().is_none_or(is_here) && values_here;
    if rank > RANK || !here {
        return None;
    }
    Some(Parted {
        pointers: parts.pointers.as_ref().map(chunk),
        indices: chunk(indices),
        values: chunk(values),
        width: u8::try_from(indices.plain.bits() >> 3).ok()?.clamp(1, 8),
        ascends: object.kind == Kind::Csr && header.generation == Generation::Two,
    })
}

/// Whether the data of a part is in this file, raw or in an encoding that can be decoded.
fn is_here(part: &Part) -> bool {
    let known = matches!(part.encoding, Encoding::Raw | Encoding::Zstd);
    known && part.blob.is_some() && !part.broken && !part.elsewhere
}

fn chunk(part: &Part) -> Chunk {
    let Part { decoded, encoding, .. } = *part;
    let stored = part.blob.unwrap_or_default();
    Chunk { stored, decoded, encoding, row: 0, elements: 0, lead: 0 }
}
