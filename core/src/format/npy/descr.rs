//! The element type: `descr`, in the form of `dtype.str` or `dtype.descr`.

use super::header::Array;
use super::literal::Literal;
use super::rules;
use crate::base::limits;
use crate::input::Span;
use crate::model::{DType, Endianness, Status};
use crate::rule::Halt;

/// A type and its width.
#[derive(Clone, Copy, Default)]
struct Element {
    dtype: DType,
    /// Width in bytes; `None` if unknown.
    width: Option<u32>,
    big: bool,
    object: bool,
}

/// Reads the value of `descr`.
pub(super) fn read(l: &mut Literal<'_, '_, '_>, array: &mut Array) -> Result<(), Halt> {
    l.peek()?;
    let at = l.at();
    let element = element(l, 0)?;
    if element.width.is_some_and(|width| width > i32::MAX.unsigned_abs()) {
        return Err(l.refuse(rules::NPY_DESCR, at, 0));
    }
    array.width = element.width;
    array.dtype = element.dtype;
    array.endianness = if element.big { Endianness::Big } else { Endianness::Little };
    array.status = match element {
        Element { object: true, .. } => Status::Broken,
        Element { dtype: DType::Unknown, .. } => Status::Unsupported,
        _ => Status::Sound,
    };
    array.descr = Span::between(l.place.absolute(at), l.place.absolute(l.at()));
    Ok(())
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
    (b'f', 12, DType::Unknown),
    (b'f', 16, DType::Unknown),
    (b'c', 8, DType::C64),
    (b'c', 16, DType::C128),
    (b'c', 24, DType::Unknown),
    (b'c', 32, DType::Unknown),
    (b'm', 8, DType::Unknown),
    (b'M', 8, DType::Unknown),
    (b'S', ANY, DType::Unknown),
    (b'U', ANY, DType::Unknown),
    (b'V', ANY, DType::Unknown),
];

/// Reads a type: a name, a type with a shape, or a list of fields.
fn element(l: &mut Literal<'_, '_, '_>, depth: u32) -> Result<Element, Halt> {
    let byte = l.peek()?;
    let at = l.at();
    if depth > limits::NPY_DEPTH {
        l.flag(rules::NPY_DEPTH, at, limits::NPY_DEPTH.into(), 0);
        return Err(Halt::refused(rules::NPY_DEPTH));
    }
    let deeper = depth.saturating_add(1);
    match byte {
        b'\'' | b'"' | b'u' => {
            let text = l.string()?;
            named(l, at, text)
        }
        // NumPy does not read arrays whose elements are arrays without fields.
        b'(' if depth > 0 => {
            l.expect(b'(')?;
            let element = element(l, deeper)?;
            l.expect(b',')?;
            shaped(l, element)
        }
        b'[' => fields(l, deeper),
        _ => Err(l.refuse(rules::NPY_DESCR, at, 0)),
    }
}

/// Reads a list of fields: tuples of a name, a type and, for subarrays, a shape.
fn fields(l: &mut Literal<'_, '_, '_>, depth: u32) -> Result<Element, Halt> {
    let mut all = Element { width: Some(0), ..Element::default() };
    l.expect(b'[')?;
    while !l.eat(b']')? {
        l.expect(b'(')?;
        if l.eat(b'(')? {
            // A title and a name.
            l.string()?;
            l.expect(b',')?;
            l.string()?;
            l.expect(b')')?;
        } else {
            l.string()?;
        }
        l.expect(b',')?;
        let field = element(l, depth)?;
        let field = if l.eat(b',')? { shaped(l, field)? } else { closed(l, field)? };
        all.width = all.width.zip(field.width).map(|(all, field)| all.saturating_add(field));
        all.object |= field.object;
        if !l.eat(b',')? {
            l.expect(b']')?;
            break;
        }
    }
    Ok(all)
}

/// Reads the bracket that ends a tuple.
fn closed(l: &mut Literal<'_, '_, '_>, element: Element) -> Result<Element, Halt> {
    l.expect(b')')?;
    Ok(element)
}

/// Reads the shape of a subarray, if there is one, and the bracket after it.
fn shaped(l: &mut Literal<'_, '_, '_>, element: Element) -> Result<Element, Halt> {
    let mut all = Element { dtype: DType::Unknown, ..element };
    if l.peek()? == b')' {
        return closed(l, element);
    }
    if l.eat(b'(')? {
        while !l.eat(b')')? {
            times(l, &mut all)?;
            if !l.eat(b',')? {
                l.expect(b')')?;
                break;
            }
        }
    } else {
        times(l, &mut all)?;
    }
    l.eat(b',')?;
    closed(l, all)
}

fn times(l: &mut Literal<'_, '_, '_>, element: &mut Element) -> Result<(), Halt> {
    let factor = l.extent()?.and_then(|factor| u32::try_from(factor).ok()).unwrap_or(u32::MAX);
    element.width = element.width.map(|width| width.saturating_mul(factor));
    Ok(())
}

/// The type named by a string: byte order, kind, and width in bytes.
fn named(l: &mut Literal<'_, '_, '_>, at: usize, text: &[u8]) -> Result<Element, Halt> {
    let (order, name) = match text {
        [order @ (b'<' | b'>' | b'=' | b'|'), name @ ..] => (*order, name),
        name => (b'=', name),
    };
    if name.starts_with(b"O") || name.starts_with(b"obj") {
        l.flag(rules::NPY_OBJECT, at, 0, 0);
        return Ok(Element { object: true, width: None, ..Element::default() });
    }
    let Some((kind, mut rest)) = name.split_first() else {
        return Err(l.refuse(rules::NPY_DESCR, at, 0));
    };
    let mut size = None;
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        let digit = u32::from(digit.wrapping_sub(b'0'));
        size = Some(size.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
        rest = after;
    }
    let Some(size) = size.filter(|_| kind.is_ascii_alphabetic()) else {
        l.flag(rules::NPY_DESCR_FORM, at, 0, 0);
        return Ok(Element::default());
    };
    let known = KINDS
        .iter()
        .find(|(known, width, _)| known == kind && (u32::from(*width) == size || *width == ANY));
    let Some((_, _, dtype)) = known else { return Err(l.refuse(rules::NPY_DESCR, at, 0)) };
    let dtype = *dtype;
    let dated = matches!(kind, b'm' | b'M') && is_unit(rest);
    if !rest.is_empty() && !dated {
        return Err(l.refuse(rules::NPY_DESCR, at, 0));
    }
    let width = if *kind == b'U' { size.saturating_mul(4) } else { size };
    // Single bytes, byte strings and void have no byte order.
    let ordered = width > 1 && !matches!(kind, b'S' | b'V');
    if ordered && !matches!(order, b'<' | b'>') {
        l.flag(rules::NPY_BYTE_ORDER, at, 0, width.into());
    }
    Ok(Element { dtype, width: Some(width), big: order == b'>', object: false })
}

/// Whether this is a time unit in square brackets, possibly with a multiple or a divisor.
fn is_unit(text: &[u8]) -> bool {
    const UNITS: [&[u8]; 13] =
        [b"Y", b"M", b"W", b"D", b"h", b"m", b"s", b"ms", b"us", b"ns", b"ps", b"fs", b"as"];
    let Some(text) = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")) else {
        return false;
    };
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.get(digits(text)..).unwrap_or_default();
    let unit = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (unit, part) = text.split_at_checked(unit).unwrap_or_default();
    let whole = match part.split_first() {
        None => true,
        Some((b'/', part)) => !part.is_empty() && digits(part) == part.len(),
        _ => false,
    };
    UNITS.contains(&unit) && whole
}
