//! Values of metadata: their structure, and their bytes.
//!
//! | type | bytes |
//! |---|---|
//! | numbers, `bool` | one element; packed types in the low bits of one byte |
//! | STRING | as a name |
//! | BITSET | `u32` number of bits, `u32` number of bytes, the bytes, zeros up to a multiple of 8 |
//! | NDARRAY | `u32` element type, `u32` rank, `u64` extents, data, zeros up to a multiple of 8 |

use super::index::{is_name_byte, judge_padding, padded};
use super::scan::{self, Scan};
use super::{Header, element_type, field, quant, rules};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, Dims, DimsAt};
use crate::dtype::DType;
use crate::finding::Kind;
use crate::name::NameAt;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::Span;
use crate::tensor::{Status, Value};

/// A value whose structure holds.
pub(super) struct Shape {
    pub(super) value: Value,
    /// Its elements, characters or bits, without the padding.
    data: Span,
    dtype: DType,
    /// How many bits of the last byte are used; 0 if all are.
    used: u64,
}

/// Steps of the audit of one metadata entry, as phases of its cursor.
mod phase {
    pub(super) const ENTRY: u8 = 0;
    pub(super) const SHAPE: u8 = 1;
    pub(super) const DATA: u8 = 2;
    pub(super) const END: u8 = 3;
}

/// What is held of a value while its bytes are looked at.
#[derive(Clone, Copy)]
struct Held {
    data: Span,
    /// Where the value ends, padding included.
    end: u64,
    tag: u32,
    used: u64,
}

impl Held {
    fn pack(self, dtype: DType) -> [u64; 4] {
        // Of the element's type only two matter from here on.
        let kind = match dtype {
            DType::Bool => 1,
            DType::T2 => 2,
            _ => 0,
        };
        let more = (u64::from(self.tag) << 16) | (kind << 8) | self.used;
        [self.data.at, self.data.len, self.end, more]
    }

    fn unpack([at, len, end, more]: [u64; 4]) -> (Self, DType) {
        let dtype = match (more >> 8) & 0xFF {
            1 => DType::Bool,
            2 => DType::T2,
            _ => DType::Unknown,
        };
        let tag = u32::try_from(more >> 16).unwrap_or(0);
        (Held { data: Span::new(at, len), end, tag, used: more & 0xFF }, dtype)
    }
}

/// The structure of a value of type `tag`, judged; `None` if it is broken.
///
/// `size_at` is where the entry records the size, for findings about it.
pub(super) fn shape(
    r: &mut Reader<'_, '_>,
    tag: u32,
    stored: Span,
    size_at: u64,
) -> Result<Option<Shape>, Halt> {
    r.region(stored.at, stored.end().unwrap_or(0), BYTES_CHANGED);
    match tag {
        field::STRING => string(r, stored, size_at),
        field::BITSET => bits(r, stored, size_at),
        field::NDARRAY => array(r, stored, size_at),
        _ => Ok(element_type(tag).map(|dtype| Shape {
            value: Value::Scalar { dtype, stored },
            data: stored,
            dtype,
            used: used_bits(dtype, 1),
        })),
    }
}

/// The size that the entry records is not what the value takes.
#[cold]
fn wrong_size(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    size_at: u64,
    expected: u64,
    found: u64,
) -> Result<Option<Shape>, Halt> {
    r.flag(rule, size_at, 8, expected, found);
    Ok(None)
}

fn string(r: &mut Reader<'_, '_>, stored: Span, size_at: u64) -> Result<Option<Shape>, Halt> {
    if stored.len < 4 {
        return wrong_size(r, rules::META_STR_SIZE, size_at, 8, stored.len);
    }
    let len = u64::from(r.u32()?);
    let size = padded(len.saturating_add(4));
    if size != stored.len {
        return wrong_size(r, rules::META_STR_SIZE, size_at, size, stored.len);
    }
    if len == 0 {
        r.flag(rules::STR_EMPTY, stored.at, 4, 1, 0);
    }
    let at = stored.at.wrapping_add(4);
    let value = Value::Text(NameAt::plain(at, len));
    Ok(Some(Shape { value, data: Span::new(at, len), dtype: DType::Unknown, used: 0 }))
}

fn bits(r: &mut Reader<'_, '_>, stored: Span, size_at: u64) -> Result<Option<Shape>, Halt> {
    if stored.len < 8 {
        return wrong_size(r, rules::META_BITSET_SIZE, size_at, 8, stored.len);
    }
    let count = u64::from(r.u32()?);
    let bytes = u64::from(r.u32()?);
    let expected = count.saturating_add(7) >> 3;
    if bytes != expected {
        r.flag(rules::META_BITSET_COUNT, stored.at.wrapping_add(4), 4, expected, bytes);
        return Ok(None);
    }
    let size = padded(bytes.saturating_add(8));
    if size != stored.len {
        return wrong_size(r, rules::META_BITSET_SIZE, size_at, size, stored.len);
    }
    let data = Span::new(stored.at.wrapping_add(8), bytes);
    let value = Value::Bits { count, stored: data };
    Ok(Some(Shape { value, data, dtype: DType::U1, used: used_bits(DType::U1, count) }))
}

fn array(r: &mut Reader<'_, '_>, stored: Span, size_at: u64) -> Result<Option<Shape>, Halt> {
    if stored.len < 8 {
        return wrong_size(r, rules::META_ND_SIZE, size_at, 8, stored.len);
    }
    let tag = r.u32()?;
    let rank = r.u32()?;
    let Some(dtype) = element_type(tag) else {
        r.flag(rules::META_ND_ELEM, stored.at, 4, 25, u64::from(tag));
        return Ok(None);
    };
    let room = r.left();
    let dims_at = r.at();
    let dims_len = match u32::try_from(u64::from(rank).wrapping_mul(8)) {
        Ok(len) if u64::from(len) <= room => len,
        _ => {
            r.flag(rules::META_ND_NDIM, stored.at.wrapping_add(4), 4, room, u64::from(rank));
            return Ok(None);
        }
    };
    let extents = r.take(u64::from(dims_len))?;
    let elements = Dims::new(extents, rank, DimEncoding::U64).product();
    let before = u64::from(dims_len).wrapping_add(8);
    let len = elements.and_then(|count| dtype.bytes(count));
    let size = len
        .and_then(|len| len.checked_add(before))
        .and_then(|size| size.checked_next_multiple_of(field::ALIGN));
    let (Some(elements), Some(len), Some(size)) = (elements, len, size) else {
        r.flag(rules::META_ND_OVERFLOW, dims_at, u64::from(dims_len), u64::MAX, u64::MAX);
        return Ok(None);
    };
    if size != stored.len {
        return wrong_size(r, rules::META_ND_SIZE, size_at, size, stored.len);
    }
    let data = Span::new(stored.at.wrapping_add(before), len);
    let dims = DimsAt { at: dims_at, len: dims_len, rank, lead: None, encoding: DimEncoding::U64 };
    let value = Value::Array { dtype, dims, elements, stored: data };
    Ok(Some(Shape { value, data, dtype, used: used_bits(dtype, elements) }))
}

/// How many bits of the last byte hold elements, 0 if all do.
fn used_bits(dtype: DType, elements: u64) -> u64 {
    if dtype.is_packed() { elements.wrapping_mul(u64::from(dtype.bits())) & 7 } else { 0 }
}

impl Header {
    /// One step of the audit of metadata values.
    ///
    /// An entry and its value need not be resident together, so what is known
    /// of the value is held in the reader.
    // By itself: inlined into the audit it takes 0.7 kB more.
    #[inline(never)]
    pub(super) fn audit_values(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if c.phase == phase::ENTRY {
            return self.audit_entry(r, c);
        }
        r.about(Kind::Metadata, c.index.wrapping_sub(1));
        if c.phase == phase::SHAPE {
            let [at, len, tag, _] = r.held;
            let stored = Span::new(at, len);
            let tag = u32::try_from(tag).unwrap_or(0);
            // The entry ends with its size and its offset.
            let shape = shape(r, tag, stored, c.at.wrapping_sub(16))?;
            c.phase = phase::ENTRY;
            if let Some(Shape { data, dtype, used, .. }) = shape {
                let end = stored.end().unwrap_or(u64::MAX);
                r.held = Held { data, end, tag, used }.pack(dtype);
                c.state = 0;
                c.phase = phase::DATA;
            }
            return Ok(());
        }
        let (held, dtype) = Held::unpack(r.held);
        if c.phase == phase::DATA { audit_data(r, c, held, dtype) } else { audit_end(r, c, held) }
    }

    fn audit_entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut next = *c;
        r.mute();
        let meta = self.metadata_entry(r, &mut next);
        r.unmute();
        match meta? {
            Some(meta) => {
                *c = next;
                if meta.status == Status::Sound {
                    r.held = [meta.stored.at, meta.stored.len, u64::from(meta.tag), 0];
                    r.charge(meta.stored.len);
                    c.phase = phase::SHAPE;
                }
            }
            None => *c = Cursor { phase: quant::FIRST_PHASE, ..Cursor::default() },
        }
        Ok(())
    }
}

/// Looks at the bytes of a value whose type leaves some of them meaningless.
fn audit_data(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    held: Held,
    dtype: DType,
) -> Result<(), Halt> {
    let Held { data, tag, used, .. } = held;
    let array = tag == field::NDARRAY;
    let (rule, bad): (Rule, fn(&u8) -> bool) = match (tag, dtype) {
        (field::STRING, _) => (rules::STR_CHARSET, |byte| !is_name_byte(*byte)),
        (_, DType::Bool) if array => (rules::META_ND_BOOL, |byte| *byte > 1),
        (_, DType::Bool) => (rules::META_BOOL, |byte| *byte > 1),
        (_, DType::T2) if array => (rules::META_ND_T2, |byte| forbidden_ternary(*byte) != 0),
        (_, DType::T2) => (rules::META_T2, |byte| forbidden_ternary(*byte) != 0),
        _ => {
            c.phase = phase::END;
            return Ok(());
        }
    };
    match scan::step(r, c, data, 1, |run| run.iter().position(bad))? {
        Scan::More => {}
        Scan::Clean => c.phase = phase::END,
        Scan::Bad(at) => {
            let byte = r.get(Span::new(at, 1))?.first().copied().unwrap_or(0);
            // Codes in the unused bits of the last byte are no elements.
            let last = Some(at) == data.end().and_then(|end| end.checked_sub(1));
            if dtype != DType::T2 || !last || forbidden_ternary(byte) & mask(used) != 0 {
                r.flag(rule, at, 1, 0, u64::from(byte));
            }
            c.phase = phase::END;
        }
    }
    Ok(())
}

/// Looks at the unused bits of the last byte, and at the padding.
fn audit_end(r: &mut Reader<'_, '_>, c: &mut Cursor, held: Held) -> Result<(), Halt> {
    let Held { data, end, tag, used } = held;
    let data_end = data.end().unwrap_or(u64::MAX);
    let last = data_end.saturating_sub(u64::from(used != 0));
    let bytes = r.get(Span::between(last, end))?;
    let (tail, padding) = match bytes.split_first() {
        Some((first, rest)) if used != 0 => (first & !mask(used), rest),
        _ => (0, bytes),
    };
    let (tail_bits, pad) = match tag {
        field::BITSET => (rules::META_BITSET_TAILBITS, rules::META_BITSET_PAD),
        field::NDARRAY => (rules::META_ND_TAILBITS, rules::META_ND_PAD),
        _ => (rules::META_TAILBITS, rules::STR_PAD),
    };
    r.check(tail == 0, tail_bits, Span::new(last, 1), 0, u64::from(tail));
    judge_padding(r, pad, data_end, padding);
    c.phase = phase::ENTRY;
    Ok(())
}

/// The low `used` bits; all if `used` is 0.
fn mask(used: u64) -> u8 {
    let shift = u32::try_from(used).unwrap_or(0);
    match 1_u8.checked_shl(shift) {
        Some(bit) if shift != 0 => bit.wrapping_sub(1),
        _ => u8::MAX,
    }
}

/// The upper bits of the two-bit codes in a byte that are 10.
fn forbidden_ternary(byte: u8) -> u8 {
    byte & 0xAA & !((byte & 0x55) << 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_elements_are_told_from_elements() {
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
    fn one_ternary_code_is_forbidden() {
        for byte in 0..=u8::MAX {
            let codes = [byte & 3, (byte >> 2) & 3, (byte >> 4) & 3, byte >> 6];
            assert_eq!(forbidden_ternary(byte) != 0, codes.contains(&0b10), "{byte:#010b}");
        }
    }

    #[test]
    fn what_is_held_survives_packing() {
        let held = Held { data: Span::new(77, 5), end: 88, tag: field::NDARRAY, used: 6 };
        let (back, dtype) = Held::unpack(held.pack(DType::T2));
        assert_eq!(dtype, DType::T2);
        assert_eq!((back.data, back.end, back.tag, back.used), (held.data, 88, field::NDARRAY, 6));
    }
}
