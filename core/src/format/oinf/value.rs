//! Metadata values: their structure and their bytes.
//!
//! | type | bytes |
//! |---|---|
//! | numbers, `bool` | one element; packed types in the low bits of one byte |
//! | STRING | like a name, but may be empty |
//! | BITSET | `u32` number of bits, `u32` number of bytes, the bytes, zeros up to a multiple of 8 |
//! | NDARRAY | `u32` element type, `u32` rank, `u64` extents, data, zeros up to a multiple of 8 |

use super::entry::{Entry, refuse, settle};
use super::tensor::count;
use super::text::{first, validate_padding};
use super::text::{is_no_name, padded};
use super::{element_type, field, rules, size_of};
use crate::base::{place, wide, widen, word};
use crate::input::Span;
use crate::model::{DType, DimEncoding, DimsAt, Metadata, NameAt, Value};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The structure of a value.
#[derive(Default)]
pub(super) struct Shape {
    /// Length of the counts and dims before the data.
    before: u64,
    /// Length of the elements, characters or bits, without the padding.
    pub(super) len: u64,
    /// Type of the elements.
    pub(super) dtype: DType,
    /// Number of elements.
    elements: u64,
    /// Number of dims.
    rank: u32,
    /// Number of used bits in the last byte; 0 if all are used.
    pub(super) used: u32,
}

impl Shape {
    /// Byte range of the data of the value stored at `at`.
    pub(super) fn data(&self, at: u64) -> Span {
        Span::new(at.wrapping_add(self.before), self.len)
    }
}

/// Reads and validates the structure of a value of type `tag`, and leaves the reader before
/// the data. A broken value is reported and refused.
///
/// `size_at` is the offset of the entry's size field, for findings about it.
pub(super) fn shape(
    r: &mut Reader<'_, '_>,
    tag: u32,
    stored: &Span,
    size_at: u64,
    shape: &mut Shape,
) -> Result<(), Halt> {
    let Span { offset: at, len: size } = *stored;
    r.within(place(at), place(size));
    let (head, rule) = match tag {
        field::STRING => (4, rules::META_STR_SIZE),
        field::BITSET => (8, rules::META_BITSET_SIZE),
        field::NDARRAY => (8, rules::META_ND_SIZE),
        _ => {
            shape.dtype = element_type(tag).unwrap_or_default();
            shape.len = size;
            shape.used = used_bits(shape.dtype, 1);
            return Ok(());
        }
    };
    let size_at = Span::new(size_at, 8);
    if size < head {
        return refuse(r, rule, size_at, 8, size);
    }
    let number = r.next_u32();
    let second = if tag == field::STRING { 0 } else { r.next_u32() };
    settle(r)?;
    let second_at = Span::new(at.wrapping_add(4), 4);
    shape.before = head;
    shape.len = number.into();
    if tag == field::BITSET {
        let expected = (number >> 3).wrapping_add(u32::from(number & 7 != 0));
        if second != expected {
            let rule = rules::META_BITSET_COUNT;
            return refuse(r, rule, second_at, expected.into(), second.into());
        }
        (shape.dtype, shape.elements) = (DType::U1, number.into());
        shape.len = second.into();
    } else if tag == field::NDARRAY {
        let Some(dtype) = element_type(number) else {
            return refuse(r, rules::META_ND_ELEM, Span::new(at, 4), 25, number.into());
        };
        let room = word(r.left());
        let rank = word(second.into());
        if rank > (room >> 3).min(word(u64::from(u32::MAX) >> 3)) {
            return refuse(r, rules::META_ND_NDIM, second_at, wide(room), wide(rank));
        }
        let extents = r.bytes(rank << 3);
        settle(r)?;
        (shape.dtype, shape.rank) = (dtype, second);
        shape.before = head.wrapping_add(widen(extents.len()));
        shape.len = u64::MAX;
        if count(extents, &mut shape.elements) {
            shape.len = size_of(dtype, shape.elements);
        }
    }
    let expected = padded(shape.len.saturating_add(shape.before));
    if expected == u64::MAX {
        let extents = Span::new(at.wrapping_add(8), shape.before.wrapping_sub(8));
        return refuse(r, rules::META_ND_OVERFLOW, extents, u64::MAX, u64::MAX);
    }
    if expected != size {
        return refuse(r, rule, size_at, expected, size);
    }
    shape.used = used_bits(shape.dtype, shape.elements);
    Ok(())
}

/// The value of a metadata entry; `None` if it is broken.
pub(super) fn value(r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
    let stored = meta.stored;
    let mut found = Shape::default();
    match shape(r, meta.tag, &stored, 0, &mut found) {
        Ok(()) => {}
        Err(halt) if halt.is_absent() => return Err(halt),
        Err(_) => return Ok(None),
    }
    let Shape { dtype, elements, rank, .. } = found;
    let data = found.data(stored.offset);
    Ok(Some(match meta.tag {
        field::STRING => Value::Text(NameAt::plain(data.offset, data.len)),
        field::BITSET => Value::Bits { count: elements, stored: data },
        field::NDARRAY => {
            let at = stored.offset.wrapping_add(8);
            let encoding = DimEncoding::U64;
            let dims = DimsAt { offset: at, len: rank << 3, rank, lead: None, encoding };
            Value::Array { dtype, dims, elements, stored: data }
        }
        _ if dtype == DType::Unknown => return Ok(None),
        _ => Value::Scalar { dtype, stored },
    }))
}

/// Number of bits in the last byte that hold elements; 0 if all do.
fn used_bits(dtype: DType, elements: u64) -> u32 {
    // Only the lowest three bits of the product matter.
    let elements = u32::try_from(elements & 7).unwrap_or(0);
    elements.wrapping_mul(dtype.bits()) & 7
}

/// A rule for the bytes of a value, and a test for the bytes that break it.
pub(super) type Content = (Rule, fn(u8) -> bool);

/// The rule and test for the bytes of a value; `None` if every byte is valid.
pub(super) fn content(tag: u32, dtype: DType) -> Option<Content> {
    let array = tag == field::NDARRAY;
    Some(match (tag, dtype) {
        (field::STRING, _) => (rules::STR_CHARSET, is_no_name),
        (_, DType::Bool) if array => (rules::META_ND_BOOL, is_no_bool),
        (_, DType::Bool) => (rules::META_BOOL, is_no_bool),
        (_, DType::T2) if array => (rules::META_ND_T2, is_no_ternary),
        (_, DType::T2) => (rules::META_T2, is_no_ternary),
        _ => return None,
    })
}

/// The rules for unused bits in the last byte and for the padding.
pub(super) fn rest(tag: u32) -> (Rule, Rule) {
    match tag {
        field::BITSET => (rules::META_BITSET_TAILBITS, rules::META_BITSET_PAD),
        field::NDARRAY => (rules::META_ND_TAILBITS, rules::META_ND_PAD),
        _ => (rules::META_TAILBITS, rules::STR_PAD),
    }
}

/// Validates the value of an entry.
#[inline(never)]
pub(super) fn audit(r: &mut Reader<'_, '_>, e: &Entry<'_, '_>) {
    let mut found = Shape::default();
    // Type and flags come before the size.
    let size_at = wide(e.fields).wrapping_add(8);
    if shape(r, e.tag, &e.data, size_at, &mut found).is_err() {
        return;
    }
    let at = r.here();
    let data = r.bytes(word(found.len));
    let (end, padding) = (r.here(), r.resident());
    let used = mask(found.used);
    let last = data.last().copied().unwrap_or(0);
    if let Some((rule, bad)) = content(e.tag, found.dtype)
        && let Some(i) = first(data, bad)
    {
        let bad_at = at.wrapping_add(word(widen(i)));
        // Codes in the unused bits of the last byte are not elements.
        if bad_at.wrapping_add(1) != end || bad(last & used) {
            let byte = data.get(i).copied().unwrap_or(0);
            r.flag(rule, wide(bad_at), 1, 0, byte.into());
        }
    }
    let (tail_bits, pad) = rest(e.tag);
    let tail = last & !used;
    if tail != 0 {
        r.flag(tail_bits, wide(end).wrapping_sub(1), 1, 0, tail.into());
    }
    validate_padding(r, pad, end, padding);
}

/// Mask of the low `used` bits; all bits if `used` is 0.
pub(super) fn mask(used: u32) -> u8 {
    match 1_u8.checked_shl(used) {
        Some(bit) if used != 0 => bit.wrapping_sub(1),
        _ => u8::MAX,
    }
}

fn is_no_bool(byte: u8) -> bool {
    byte > 1
}

/// Whether one of the byte's two-bit codes is 10.
fn is_no_ternary(byte: u8) -> bool {
    byte & 0xAA & !((byte & 0x55) << 1) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_bits_are_found() {
        assert_eq!(used_bits(DType::I4, 3), 4);
        assert_eq!(used_bits(DType::I4, 4), 0);
        assert_eq!(used_bits(DType::T2, 5), 2);
        assert_eq!(used_bits(DType::U1, 9), 1);
        assert_eq!(used_bits(DType::U8, 9), 0);
        // The product exceeds 64 bits; only its lowest three matter.
        assert_eq!(used_bits(DType::I4, u64::MAX), 4);
        assert_eq!([mask(0), mask(1), mask(4), mask(7)], [0xFF, 1, 0xF, 0x7F]);
    }

    #[test]
    fn forbidden_ternary_code_is_found() {
        for byte in 0..=u8::MAX {
            let codes = [byte & 3, (byte >> 2) & 3, (byte >> 4) & 3, byte >> 6];
            assert_eq!(is_no_ternary(byte), codes.contains(&0b10), "{byte:#010b}");
        }
    }
}
