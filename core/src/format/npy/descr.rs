//! The element type: `descr`, in the form of `dtype.str` or `dtype.descr`.

use super::literal::{Literal, NONE};
use super::rules;
use crate::base::{limits, widen};
use crate::input::Span;
use crate::model::{
    DType, Endianness, Status, Width,
    texts::{Text, Texts},
};
use crate::rule::Rule;

/// Reads the value of `descr`; returns the width of an element, 0 if it is unknown.
pub(super) fn read(l: &mut Literal<'_, '_, '_>) -> u32 {
    l.peek();
    let (at, offset) = (l.token, l.here());
    (l.tensor.dtype, l.tensor.endianness) = (DType::Unknown, Endianness::Little);
    (l.tensor.status, l.unknown, l.texts) = (Status::Sound, false, Texts::NONE);
    let width = element(l, 0);
    if l.unknown {
        l.tensor.dtype = DType::Unknown;
        if l.tensor.status == Status::Sound {
            l.tensor.status = Status::Unsupported;
        }
    }
    l.tensor.width = Width::new(width);
    l.tensor.extra = Span::new(offset, widen(l.at.wrapping_sub(at)));
    if width > i32::MAX.unsigned_abs() && !l.unknown {
        l.refuse(rules::NPY_DESCR, at, 0, 0);
    } else if l.texts.any() && l.tensor.status == Status::Sound {
        if l.texts.is_over() {
            l.flag(rules::NPY_TEXT_FIELD, at, 0, 0);
        } else {
            l.tensor.width = l.tensor.width.with_texts();
        }
    }
    width
}

/// A placeholder for any width.
const ANY: u8 = u8::MAX;

/// NumPy kinds, their widths, and the corresponding tensor types.
const KINDS: [(u8, u8, DType); 23] = [
    (b'b', 1, DType::Bool),
    (b'i', 1, DType::I8),
    (b'i', 2, DType::I16),
    (b'i', 4, DType::I32),
    (b'i', 8, DType::I64),
    (b'u', 1, DType::U8),
    (b'u', 2, DType::U16),
    (b'u', 4, DType::U32),
    (b'u', 8, DType::U64),
    (b'f', 2, DType::F16),
    (b'f', 4, DType::F32),
    (b'f', 8, DType::F64),
    (b'f', 12, DType::LongDouble),
    (b'f', 16, DType::LongDouble),
    (b'c', 8, DType::C64),
    (b'c', 16, DType::C128),
    (b'c', 24, DType::LongComplex),
    (b'c', 32, DType::LongComplex),
    (b'm', 8, DType::TimeDelta64),
    (b'M', 8, DType::DateTime64),
    (b'S', ANY, DType::Bytes),
    (b'U', ANY, DType::Utf32),
    (b'V', ANY, DType::Void),
];

/// Reads a type: a name, a type with a shape, or a list of fields. Returns its width.
fn element(l: &mut Literal<'_, '_, '_>, depth: u32) -> u32 {
    match l.peek() {
        _ if depth > limits::NPY_DEPTH => {
            l.refuse(rules::NPY_DEPTH, l.token, limits::NPY_DEPTH.into(), 0);
        }
        b'\'' | b'"' | b'u' => {
            if let Some(width) = named(l, depth) {
                return width;
            }
        }
        // NumPy does not read arrays whose elements are arrays without fields.
        b'(' if depth > 0 => return tuple(l, depth, false),
        b'[' => {
            let (mut width, floor) = (0_u32, l.texts.mark());
            l.expect(b'[');
            let mut more = !l.eat(b']');
            while more {
                let mark = l.texts.mark();
                let field = tuple(l, depth, true);
                l.texts.shift(mark, width, floor);
                width = width.saturating_add(field);
                more = l.more(b']');
            }
            if depth == 0 {
                l.tensor.dtype = DType::Record;
            }
            return width;
        }
        _ => {}
    }
    l.refuse(rules::NPY_DESCR, l.token, 0, 0);
    0
}

/// Reads a type and, for a subarray, its shape, in brackets: a field, which has a name and
/// possibly a title, or a type with a shape. Returns its width.
fn tuple(l: &mut Literal<'_, '_, '_>, depth: u32, field: bool) -> u32 {
    l.expect(b'(');
    if field {
        let titled = l.eat(b'(');
        l.string();
        if titled {
            l.expect(b',');
            l.string();
            l.expect(b')');
        }
        l.expect(b',');
    }
    let mark = l.texts.mark();
    let width = element(l, depth.wrapping_add(1));
    if !l.eat(b',') {
        l.expect(if field { b')' } else { b',' });
        return width;
    }
    let mut factor = 1;
    if l.peek() != b')' {
        let start = l.at;
        if l.eat(b'(') {
            factor = l.extents();
            l.check_rank(start);
            factor = if l.zero { 0 } else { factor };
        } else {
            factor = l.extent();
        }
        l.eat(b',');
    }
    l.expect(b')');
    let factor = u32::try_from(factor).unwrap_or(u32::MAX);
    l.texts.repeat(mark, width, factor);
    width.saturating_mul(factor)
}

/// Reads the name of a type: byte order, kind, and width in bytes, which it returns. `None` if
/// there is no such type.
fn named(l: &mut Literal<'_, '_, '_>, depth: u32) -> Option<u32> {
    let text = l.string();
    let (order, name) = match text {
        [order @ (b'<' | b'>' | b'=' | b'|'), name @ ..] => (*order, name),
        name => (b'=', name),
    };
    let (&kind, rest) = name.split_first()?;
    if has_object(text) {
        l.tensor.status = Status::Broken;
        return unknown(l, rules::NPY_OBJECT);
    }
    // The rest is read again, up to the quote.
    let end = l.at;
    let ends = |l: &mut Literal<'_, '_, '_>| l.at.wrapping_add(1) == end;
    l.at = end.wrapping_sub(rest.len()).wrapping_sub(1);
    let size = l.digits();
    let closed = ends(l) || matches!(kind, b'm' | b'M') && is_unit(l) && ends(l);
    l.at = end;
    // NumPy reads a list of types in a text as well, but writes none.
    if size == NONE || !kind.is_ascii_alphabetic() || text.contains(&b',') {
        return unknown(l, rules::NPY_DESCR_FORM);
    }
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let known = KINDS
        .iter()
        .find(|(known, width, _)| *known == kind && (u32::from(*width) == size || *width == ANY));
    let (_, _, dtype) = known.filter(|_| closed)?;
    let width = if kind == b'U' { size.saturating_mul(4) } else { size };
    if kind == b'U' && depth > 0 && width > 0 {
        let endianness = if order == b'>' { Endianness::Big } else { Endianness::Little };
        let floor = l.texts.mark();
        l.texts.push(Text { start: 0, len: width, endianness }, floor);
    }
    // Single bytes, byte strings and void have no byte order.
    let ordered = width > 1 && !matches!(kind, b'S' | b'V');
    if ordered && !matches!(order, b'<' | b'>') {
        l.flag(rules::NPY_BYTE_ORDER, l.token, 0, width.into());
    }
    if depth == 0 {
        l.tensor.dtype = *dtype;
    }
    // A record is big-endian if any of its fields is.
    if order == b'>' && (depth == 0 || ordered) {
        l.tensor.endianness = Endianness::Big;
    }
    Some(width)
}

/// Whether a name without its byte order is that of objects: `O`, `object`, or `T`, the strings
/// of variable length, which `numpy.save` pickles as well.
fn is_object(name: &[u8]) -> bool {
    matches!(name, [b'O', ..] | [b'o', b'b', b'j', ..]) || name == b"T"
}

/// Whether a type in the form of a text has objects: `3O`, `(2,)O`, `i4,O`. Each of its items may
/// begin with a shape or a count, and each shape is in brackets.
fn has_object(text: &[u8]) -> bool {
    let (mut depth, mut starts) = (0_u32, true);
    let mut rest = text;
    while let [first, after @ ..] = rest {
        match first {
            b'(' => depth = depth.saturating_add(1),
            b')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            b',' => starts = true,
            b'0'..=b'9' | b' ' | b'<' | b'>' | b'=' | b'|' if starts => {}
            _ if starts => {
                let end = rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
                if is_object(rest.get(..end).unwrap_or_default()) {
                    return true;
                }
                starts = false;
            }
            _ => {}
        }
        rest = after;
    }
    false
}

/// Reports `rule`, which leaves the width of the type unknown.
fn unknown(l: &mut Literal<'_, '_, '_>, rule: Rule) -> Option<u32> {
    l.flag(rule, l.token, 0, 0);
    l.unknown = true;
    Some(0)
}

/// Skips a time unit in square brackets, possibly with a multiple or a divisor; returns whether
/// it was next and is one that NumPy reads.
fn is_unit(l: &mut Literal<'_, '_, '_>) -> bool {
    const MOST: u64 = (1 << 31) - 1;
    l.skip(b'[') && {
        let multiple = l.digits();
        let first = l.byte();
        l.at = l.at.wrapping_add(1);
        let small = l.skip(b's');
        let units: &[u8] = if small { b"munpfa" } else { b"YMWDhms" };
        let divided = !l.skip(b'/')
            || u32::try_from(l.digits()).is_ok_and(|divisor| divides(divisor, first, small));
        let counted = multiple == NONE || multiple <= MOST;
        units.contains(&first) && counted && divided && l.skip(b']')
    }
}

/// Whether NumPy reads a unit over `divisor`: it looks for a smaller unit, up to three steps down,
/// of which a whole number makes up the part.
fn divides(divisor: u32, unit: u8, small: bool) -> bool {
    // The last number of each unit is a multiple of the others, except of years.
    let parts: &[u32] = match unit {
        b'Y' => &[12, 52, 365],
        b'M' => &[720],
        // NumPy finds a part of a week for every divisor.
        b'W' => return (1..=i32::MAX.unsigned_abs()).contains(&divisor),
        b'D' => &[86_400],
        b'h' => &[3_600],
        b'm' if !small => &[60_000],
        b'f' => &[1_000],
        b'a' => &[1],
        _ => &[1_000_000],
    };
    parts.iter().any(|parts| parts.checked_rem(divisor) == Some(0))
}
