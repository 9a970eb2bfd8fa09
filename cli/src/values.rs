//! Numbers of a file as JSON values.

use crate::blocks::{self, RowView};
use crate::data::{self, Order};
use crate::report::within;
use crate::session::{Halt, Session, Stopped};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::{Number, Value};
use weighbridge_core::{
    DType, Element, Encoding, Endianness, File, Format, Layout, Source, Span, Status, Stop, Tensor,
};

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

/// Something that is shown of a tensor's data.
pub(crate) enum Shown<'a> {
    Element(Element),
    /// An entry of a sparse tensor: coordinates and value.
    Entry(&'a [u64], Element),
    /// A row of a column.
    Row(RowView<'a>),
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Shown::Element(element) => Json(*element).serialize(to),
            Shown::Entry(index, element) => {
                let mut entry = to.serialize_struct("Entry", 2)?;
                entry.serialize_field("index", index)?;
                entry.serialize_field("value", &Json(*element))?;
                entry.end()
            }
            Shown::Row(row) => row.serialize(to),
        }
    }
}

/// An element as [`value`] makes it, without making it.
pub(crate) struct Json(pub(crate) Element);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Element::Int(value) => to.serialize_i64(value),
            Element::Uint(value) => to.serialize_u64(value),
            element => value(element).serialize(to),
        }
    }
}

/// Whether the elements of a tensor, its rows or its entries can be shown. What is
/// stored encoded is decoded for that, as far as `limit` elements need it.
pub(crate) fn can_show(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    limit: u64,
) -> Result<bool, Halt> {
    if is_empty(tensor) {
        return Ok(true);
    }
    let read = if let File::Idv(header) = file {
        return blocks::can_show(session, header, tensor, limit);
    } else if !data::is_plain(tensor) {
        data::entries(session, file, tensor, limit, |_, _| Ok::<(), Halt>(()))
    } else if data::order(session, tensor)? == Order::Unknown {
        Ok(false)
    } else if tensor.encoding == Encoding::Raw {
        Ok(true)
    } else {
        let count = tensor.elements.min(limit);
        data::elements(session, file, tensor, count, |_, _| Ok::<(), Halt>(())).map(|()| true)
    };
    match read {
        // The audit names the rule.
        Err(Halt::Fault(_)) => Ok(false),
        read => read,
    }
}

/// Calls `take` with the first `limit` elements of a tensor that
/// [can be shown](can_show), in row-major order, with rows, or with entries in the
/// order of the file.
pub(crate) fn first(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    limit: u64,
    take: &mut dyn FnMut(&Shown<'_>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    if let File::Idv(header) = file {
        return blocks::first(session, header, tensor, limit, take);
    }
    if is_empty(tensor) {
        return Ok(());
    }
    if !data::is_plain(tensor) {
        let entry = |index: &[u64], element: Element| take(&Shown::Entry(index, element));
        return data::entries(session, file, tensor, limit, entry).map(|_| ());
    }
    let (dtype, endianness) = (tensor.dtype, tensor.endianness);
    let count = tensor.elements.min(limit);
    data::ordered(session, file, tensor, count, |bytes, count| {
        elements(dtype, bytes, count, endianness)
            .try_for_each(|element| take(&Shown::Element(truth(file, dtype, element))))
    })
}

fn is_empty(tensor: &Tensor) -> bool {
    tensor.elements == 0
        && tensor.status == Status::Sound
        && tensor.dtype != DType::Unknown
        && tensor.layout != Layout::Blocks
}

/// The bytes of a span, `limit` of them at most; empty where it does not lie
/// inside the file.
///
/// # Errors
/// [`Stop::NeedBytes`], to be passed on.
pub(crate) fn bytes<'a>(source: &Source<'a>, span: Span, limit: u64) -> Result<&'a [u8], Stop> {
    if !within(source, span) {
        return Ok(&[]);
    }
    Ok(source.get(Span::new(span.offset, span.len.min(limit)))?)
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
    fn what_is_written_is_what_is_made() {
        let floats = [0.1, -0.0, f64::NAN, f64::INFINITY, 1e300, 5e-324].map(Element::F64);
        let others = [Element::Int(-5), Element::Uint(u64::MAX), Element::Bool(true)];
        for element in floats.into_iter().chain(others).chain([Element::F32(0.1)]) {
            let written = serde_json::to_string(&Json(element)).expect("it is written");
            assert_eq!(written, value(element).to_string());
        }
    }

    #[test]
    fn a_boolean_that_is_neither_is_a_number() {
        let shown: Vec<_> = values(DType::Bool, &[0, 1, 2, 255], 9, Endianness::Little).collect();
        assert_eq!(Value::from(shown).to_string(), "[false,true,2,255]");
    }
}
