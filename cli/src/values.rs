//! Numbers of a file as JSON values.

use crate::data;
use crate::report::within;
use crate::session::{Halt, Session};
use serde_json::{Number, Value, json};
use weighbridge::{DType, Element, Endianness, File, Format, Source, Span, Status, Stop, Tensor};

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
pub(crate) fn value(element: Element) -> Value {
    match element {
        Element::Int(value) => value.into(),
        Element::Uint(value) => value.into(),
        Element::Bool(value) => value.into(),
        Element::F32(value) => float(value.into()),
        Element::F64(value) => float(value),
        _ => Value::Null,
    }
}

pub(crate) fn float(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// A Boolean byte that is neither 0 nor 1, as the readers of the format take
/// it: those of zTensor for true. Others show what is stored.
fn truth(file: &File, dtype: DType, element: Element) -> Element {
    match (file.format(), dtype, element) {
        (Format::ZTensor, DType::Bool, Element::Uint(byte)) => Element::Bool(byte != 0),
        _ => element,
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

/// The first `limit` elements of a tensor in the order in which they are
/// stored, or entries of a sparse one; `None` if they cannot be read.
pub(crate) fn first(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    limit: u64,
) -> Result<Option<Vec<Value>>, Halt> {
    if tensor.elements == 0 && tensor.status == Status::Sound && tensor.dtype != DType::Unknown {
        return Ok(Some(Vec::new()));
    }
    let read = if data::is_plain(tensor) {
        let mut all = Vec::new();
        let (dtype, endianness) = (tensor.dtype, tensor.endianness);
        let count = tensor.elements.min(limit);
        let read = data::elements(session, file, tensor, count, |bytes, count| {
            let found = elements(dtype, bytes, count, endianness);
            all.extend(found.map(|element| value(truth(file, dtype, element))));
            Ok::<(), Halt>(())
        });
        // Of complex numbers, for one, there are no elements to show.
        read.map(|()| (count == 0 || !all.is_empty()).then_some(all))
    } else {
        data::entries(
            session,
            file,
            tensor,
            limit,
            |index, element| json!({ "index": index, "value": value(element) }),
        )
    };
    match read {
        // The audit names the rule.
        Err(Halt::Fault(_)) => Ok(None),
        read => read,
    }
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
