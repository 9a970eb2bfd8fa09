//! Values of metadata and of elements.

use crate::base::text::{Text, quote};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::{DType, Element, Endianness};

/// A value, such as a number with all its digits, a text or a list.
///
/// `Display` writes it as JSON, escaping characters that could mislead a reader.
///
/// ```
/// use weighbridge::Value;
///
/// let value = Value::List(vec![Value::Int(-1), Value::Float(f64::NAN), Value::from("a")]);
/// assert_eq!(value.to_string(), r#"[-1,"NaN","a"]"#);
/// assert_eq!(Value::Int(7).as_int(), Some(7));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// No value, or one that cannot be read.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// A float, widened if it has fewer bits.
    Float(f64),
    /// A text.
    Text(Text),
    /// A list of values.
    List(Vec<Value>),
    /// Values by name; all names are different.
    Map(Vec<(String, Value)>),
    /// Values by key, if the keys are not all texts or not all different.
    Pairs(Vec<(Value, Value)>),
}

impl Value {
    /// The integer, if it is one.
    ///
    /// ```
    /// use weighbridge::Value;
    ///
    /// assert_eq!(Value::Int(1 << 64).as_int(), Some(1 << 64));
    /// assert_eq!(Value::Float(1.0).as_int(), None);
    /// ```
    pub const fn as_int(&self) -> Option<i128> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    /// The number as a double, which may round it.
    ///
    /// ```
    /// use weighbridge::Value;
    ///
    /// assert_eq!(Value::Float(0.5).as_f64(), Some(0.5));
    /// assert_eq!(Value::Int(-3).as_f64(), Some(-3.0));
    /// ```
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The Boolean, if it is one.
    ///
    /// ```
    /// use weighbridge::Value;
    ///
    /// assert_eq!(Value::Bool(true).as_bool(), Some(true));
    /// assert_eq!(Value::Int(1).as_bool(), None);
    /// ```
    pub const fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// The text, if it is UTF-8.
    ///
    /// ```
    /// use weighbridge::Value;
    ///
    /// assert_eq!(Value::from("llama").as_str(), Some("llama"));
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = self { text.as_str() } else { None }
    }

    /// The items, if it is a list.
    ///
    /// ```
    /// use weighbridge::Value;
    ///
    /// let value: Value = [1, 2].map(Value::Int).into_iter().collect();
    /// assert_eq!(value.as_list().unwrap()[1].as_int(), Some(2));
    /// ```
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }
}

impl From<Element> for Value {
    fn from(element: Element) -> Self {
        match element {
            Element::Int(value) => Value::Int(value.into()),
            Element::Uint(value) => Value::Int(value.into()),
            Element::Bool(value) => Value::Bool(value),
            Element::F32(value) => Value::Float(value.into()),
            Element::F64(value) => Value::Float(value),
            _ => Value::Null,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Value::List(items.into_iter().collect())
    }
}

/// The elements in `bytes`, at most `count` of them.
pub(crate) fn elements(
    dtype: DType,
    bytes: &[u8],
    count: u64,
    endianness: Endianness,
) -> impl Iterator<Item = Element> {
    (0..count).map_while(move |i| dtype.element(bytes, i, endianness))
}

/// The text for a float that JSON has no number for.
pub(crate) fn special(value: f64) -> Option<&'static str> {
    if value.is_finite() {
        None
    } else if value.is_nan() {
        Some("NaN")
    } else if value > 0.0 {
        Some("Infinity")
    } else {
        Some("-Infinity")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(
            f: &mut fmt::Formatter<'_>,
            (open, close): (&str, &str),
            items: &[T],
            each: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
        ) -> fmt::Result {
            f.write_str(open)?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { "," })?;
                each(item, f)?;
            }
            f.write_str(close)
        }
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => match special(*value) {
                Some(special) => write!(f, "\"{special}\""),
                // With a point or an exponent; a positive exponent has a sign.
                None => match format!("{value:?}").split_once('e') {
                    Some((digits, power)) if !power.starts_with('-') => {
                        write!(f, "{digits}e+{power}")
                    }
                    _ => write!(f, "{value:?}"),
                },
            },
            Value::Text(text) => quoted(&text.lossy(), f),
            Value::List(items) => list(f, ("[", "]"), items, fmt::Display::fmt),
            Value::Map(members) => list(f, ("{", "}"), members, |(key, value), f| {
                quoted(key, f)?;
                write!(f, ":{value}")
            }),
            Value::Pairs(pairs) => {
                list(f, ("[", "]"), pairs, |(key, value), f| write!(f, "[{key},{value}]"))
            }
        }
    }
}

/// A text as a JSON string.
fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut json = String::new();
    quote(text, &mut json);
    f.write_str(&json)
}

#[cfg(feature = "serde")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_none(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => to.serialize_i64(value),
                (_, Ok(value)) => to.serialize_u64(value),
                _ => to.serialize_i128(*value),
            },
            Value::Float(value) => match special(*value) {
                Some(special) => to.serialize_str(special),
                None => to.serialize_f64(*value),
            },
            Value::Text(text) => to.serialize_str(&text.lossy()),
            Value::List(items) => items.serialize(to),
            Value::Map(members) => to.collect_map(members.iter().map(|(key, value)| (key, value))),
            Value::Pairs(pairs) => pairs.serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn numbers_keep_their_digits() {
        let shown = |e: Element| Value::from(e).to_string();
        assert_eq!(shown(Element::Uint(u64::MAX)), "18446744073709551615");
        assert_eq!(shown(Element::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(shown(Element::F32(0.1)), "0.10000000149011612");
        assert_eq!(shown(Element::F64(-0.0)), "-0.0");
        assert_eq!(shown(Element::F32(f32::NAN)), "\"NaN\"");
        assert_eq!(shown(Element::F32(f32::INFINITY)), "\"Infinity\"");
        assert_eq!(shown(Element::F64(f64::NEG_INFINITY)), "\"-Infinity\"");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn serialised_value_equals_shown_value() {
        let floats = [0.1, -0.0, f64::NAN, f64::INFINITY, 1e300, 5e-324, 1e16].map(Element::F64);
        let others = [Element::Int(-5), Element::Uint(u64::MAX), Element::Bool(true)];
        for element in floats.into_iter().chain(others).chain([Element::F32(0.1)]) {
            let value = Value::from(element);
            let written = serde_json::to_string(&value).expect("it is written");
            assert_eq!(written, value.to_string());
        }
        let text = Value::from("a\u{202e}\n\"\\\u{7f}é");
        let read: serde_json::Value =
            serde_json::from_str(&text.to_string()).expect("what is shown is JSON");
        assert_eq!(read, serde_json::to_value(&text).expect("it is written"));
    }

    #[test]
    fn bool_byte_other_than_0_or_1_is_number() {
        let shown = elements(DType::Bool, &[0, 1, 2, 255], 9, Endianness::Little);
        let shown: Value = shown.map(Value::from).collect();
        assert_eq!(shown.to_string(), "[false,true,2,255]");
    }
}
