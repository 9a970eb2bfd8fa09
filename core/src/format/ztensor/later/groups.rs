//! Elements quantised in groups: whether codes, scales and zero points are as many as the shape and
//! the attributes make them.

use super::super::rules;
use super::layout::{Found, Known};
use super::part::Part;
use super::{Generation, node::Node};
use crate::base::division::div_rem;
use crate::model::{DType, dims::product};
use crate::parse::Reader;

/// The parts and attributes of an object whose sizes can be compared.
struct Groups {
    codes: Part,
    scales: Part,
    zeros: Part,
    /// Number of bits of a code, and of elements that share a scale.
    bits: u64,
    size: u64,
}

/// What a part takes, and what is due.
struct Takes {
    due: u64,
    found: u64,
}

/// Checks the sizes of the parts. If all are as due, the elements have the type of the scales. Parts
/// that are too small are reported, and so are attributes that leave the sizes open.
pub(super) fn check(r: &mut Reader<'_, '_>, known: &Known<'_, '_>) -> Found {
    let read = Groups::read(r, known);
    let sizes = read.as_ref().and_then(|groups| groups.sizes(known));
    let place = known.object.parts.unwrap_or_default().span();
    let all = sizes.iter().flatten();
    if let Some(short) = all.clone().find(|takes| takes.found < takes.due) {
        r.flag(rules::GROUP_SIZE, place.offset, place.len, short.due, short.found);
        return Found { broken: true, dtype: DType::Unknown };
    }
    let checked = sizes.is_some() && all.clone().all(|takes| takes.found == takes.due);
    if !checked {
        let place = known.object.layout.unwrap_or_default().span();
        r.flag(rules::OBJECT_GROUPS, place.offset, place.len, 0, 0);
    }
    let scales = read.filter(|_| checked).map(|groups| groups.scales.dtype);
    Found { broken: false, dtype: scales.unwrap_or(DType::Unknown) }
}

impl Groups {
    /// Reads an object before generation 2, whose profile no writer follows.
    fn read(r: &mut Reader<'_, '_>, known: &Known<'_, '_>) -> Option<Groups> {
        let Known { header, object, .. } = *known;
        let attributes = object.attributes.filter(|_| header.generation != Generation::Two)?;
        let number = |key: &str| attributes.get(key).and_then(|node| node.uint());
        let (bits, size) = (number("bits")?, number("group_size")?);
        let mut part = |role: &str| {
            let is = |(key, _): &(Node<'_>, Node<'_>)| key.text().is_some_and(|key| key == *role);
            let pair = object.parts().find(is)?;
            let part = r.quietly(|r| Part::read(header, r, pair, object.dtype));
            (!part.broken && !part.unknown).then_some(part)
        };
        let (codes, scales, zeros) = (part("packed_weight")?, part("scales")?, part("zeros")?);
        ((1..=32).contains(&bits) && size > 0).then_some(Groups {
            codes,
            scales,
            zeros,
            bits,
            size,
        })
    }

    /// The size of each part; `None` if one is not recorded, or groups do not divide the rows.
    fn sizes(&self, known: &Known<'_, '_>) -> Option<[Takes; 3]> {
        let shape = known.object.shape?;
        let row = shape.items().last()?.uint()?;
        let (_, 0) = div_rem(row, self.size)? else { return None };
        let (groups, _) = div_rem(known.shape?, self.size)?;
        let codes = packed(known.shape?, self.bits)?;
        let scales = self.scales.dtype.bytes(groups)?;
        let found = self.zeros.decoded?;
        // Zero points take an element each, or are packed as the codes are.
        let zeros = match packed(groups, self.bits)? {
            packed if packed == found => packed,
            _ => self.zeros.dtype.bytes(groups)?,
        };
        Some([
            Takes { due: codes, found: self.codes.decoded? },
            Takes { due: scales, found: self.scales.decoded? },
            Takes { due: zeros, found },
        ])
    }
}

/// Number of bytes of `count` codes of `bits` bits.
fn packed(count: u64, bits: u64) -> Option<u64> {
    let (whole, rest) = div_rem(product(count, bits)?, 8)?;
    whole.checked_add(u64::from(rest > 0))
}
