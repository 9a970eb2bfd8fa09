//! Numbers of a file as JSON values.

use crate::report::within;
use crate::session::{Halt, Session};
use crate::windows::ReadError;
use serde_json::{Number, Value};
use weighbridge::{DType, Element, Encoding, Endianness, Source, Span, Status, Stop, Tensor};

/// The elements that `bytes` hold, `count` of them at most, as JSON values.
pub(crate) fn values(
    dtype: DType,
    bytes: &[u8],
    count: u64,
    endianness: Endianness,
) -> impl Iterator<Item = Value> {
    elements(dtype, bytes, count, endianness).map(value)
}

/// An element as JSON: numbers with all their digits, and what JSON has no
/// number for as text.
fn value(element: Element) -> Value {
    match element {
        Element::Int(value) => value.into(),
        Element::Uint(value) => value.into(),
        Element::Bool(value) => value.into(),
        Element::F32(value) => float(value.into()),
        Element::F64(value) => float(value),
        _ => Value::Null,
    }
}

fn float(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// The elements that `bytes` hold, `count` of them at most.
pub(crate) fn elements(
    dtype: DType,
    bytes: &[u8],
    count: u64,
    endianness: Endianness,
) -> impl Iterator<Item = Element> {
    (0..count).map_while(move |i| dtype.element(bytes, i, endianness))
}

/// Where the elements of a tensor lie, if they can be read where they are.
pub(crate) fn plain(tensor: &Tensor) -> Option<Span> {
    let span = tensor.raw()?;
    let sound = tensor.status == Status::Sound && tensor.encoding == Encoding::Raw;
    let fits = tensor.bytes().is_some_and(|bytes| bytes <= span.len);
    (sound && fits && tensor.dtype.bits() > 0 && tensor.dtype.bits() <= 64).then_some(span)
}

/// Calls `take` with the bytes of the first `count` elements of a tensor that
/// is [`plain`], piece by piece, and how many elements each piece holds.
pub(crate) fn pieces<E: From<ReadError>>(
    session: &mut Session<'_>,
    tensor: &Tensor,
    span: Span,
    count: u64,
    mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let len = tensor.dtype.bytes(count).unwrap_or(0).min(span.len);
    let mut left = count;
    session.stream(span.at, len, |piece| {
        // Pieces are a power of two long, so no element lies in two of them.
        let holds = piece.len() as u64 * 8 / u64::from(tensor.dtype.bits().max(1));
        let here = holds.min(left);
        left -= here;
        take(piece, here)
    })
}

/// The first `limit` elements of a tensor in the order in which they are
/// stored; `None` if they cannot be read where they are.
pub(crate) fn first(
    session: &mut Session<'_>,
    tensor: &Tensor,
    limit: u64,
) -> Result<Option<Vec<Value>>, Halt> {
    if tensor.elements == 0 && tensor.status == Status::Sound && tensor.dtype != DType::Unknown {
        return Ok(Some(Vec::new()));
    }
    let Some(span) = plain(tensor) else { return Ok(None) };
    let mut all = Vec::new();
    let (dtype, endianness) = (tensor.dtype, tensor.endianness);
    let count = tensor.elements.min(limit);
    pieces(session, tensor, span, count, |bytes, count| {
        all.extend(values(dtype, bytes, count, endianness));
        Ok::<(), Halt>(())
    })?;
    Ok(Some(all))
}

/// The bytes of a span, `limit` of them at most; empty where it does not lie
/// inside the file.
///
/// # Errors
/// [`Stop::Absent`], to be passed on.
pub(crate) fn bytes<'a>(source: &Source<'a>, span: Span, limit: u64) -> Result<&'a [u8], Stop> {
    if !within(source, span) {
        return Ok(&[]);
    }
    Ok(source.get(Span::new(span.at, span.len.min(limit)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let shown = |e: Element| value(e).to_string();
        assert_eq!(shown(Element::Uint(u64::MAX)), "18446744073709551615");
        assert_eq!(shown(Element::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(shown(Element::F32(0.1)), "0.10000000149011612");
        assert_eq!(shown(Element::F64(-0.0)), "-0.0");
        assert_eq!(shown(Element::F32(f32::NAN)), "\"NaN\"");
        assert_eq!(shown(Element::F32(f32::INFINITY)), "\"Infinity\"");
        assert_eq!(shown(Element::F64(f64::NEG_INFINITY)), "\"-Infinity\"");
    }

    #[test]
    fn a_boolean_that_is_neither_is_a_number() {
        let shown: Vec<_> = values(DType::Bool, &[0, 1, 2, 255], 9, Endianness::Little).collect();
        assert_eq!(Value::from(shown).to_string(), "[false,true,2,255]");
    }
}
