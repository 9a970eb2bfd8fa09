//! CBOR data items as JSON values.

use crate::text::{Text, hex};
use crate::values;
use serde_json::{Map, Value};
use weighbridge::Element;
use weighbridge::format::ztensor::{Item, Items};

/// How deep items nest before they are cut. Deeper ones are no use to a
/// reader, and the stack is finite.
const DEPTH: u32 = 32;

/// The kind of an item, as types of metadata are called, and its value. Arrays
/// and maps are `cbor`, with what their bytes hold as far as they go.
pub(crate) fn value(bytes: &[u8]) -> (&'static str, Value) {
    let mut items = Items::new(bytes);
    let Some(item) = items.next() else { return ("cbor", Value::Null) };
    let kind = match item {
        Item::Uint(_) => "u64",
        Item::Nint(_) => "i64",
        Item::Float(_) => "f64",
        Item::Text(_) => "string",
        Item::Simple(20 | 21) => "bool",
        _ => "cbor",
    };
    (kind, convert(item, &mut items, DEPTH))
}

fn convert(item: Item<'_>, rest: &mut Items<'_>, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return "…".into() };
    match item {
        Item::Uint(n) => n.into(),
        Item::Nint(n) => match i64::try_from(n) {
            Ok(n) => (-1 - n).into(),
            Err(_) => (-1.0 - n as f64).into(),
        },
        Item::Float(value) => values::value(Element::F64(value)),
        Item::Simple(20) => false.into(),
        Item::Simple(21) => true.into(),
        Item::Text(text) => Text::from(text).lossy().into(),
        Item::Bytes(bytes) => hex(&bytes.bytes().collect::<Vec<_>>()).into(),
        Item::Tag(_) => match rest.next() {
            Some(item) => convert(item, rest, depth),
            None => Value::Null,
        },
        Item::Array(count) => {
            let mut values = Vec::new();
            while let Some(item) = next(rest, count, values.len()) {
                values.push(convert(item, rest, depth));
            }
            values.into()
        }
        Item::Map(count) => {
            let mut object = Map::new();
            let mut pairs = 0;
            while let Some(key) = next(rest, count, pairs) {
                let key = match convert(key, rest, depth) {
                    Value::String(key) => key,
                    key => key.to_string(),
                };
                let value = rest.next().map_or(Value::Null, |item| convert(item, rest, depth));
                object.insert(key, value);
                pairs += 1;
            }
            object.into()
        }
        _ => Value::Null,
    }
}

/// The next item of an array or map that has given `done` so far.
fn next<'a>(rest: &mut Items<'a>, count: Option<u64>, done: usize) -> Option<Item<'a>> {
    match count {
        Some(count) if done as u64 >= count => None,
        Some(_) => rest.next(),
        None => rest.next().filter(|item| *item != Item::Break),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind() {
        let shown = |bytes: &[u8]| {
            let (kind, value) = value(bytes);
            format!("{kind} {value}")
        };
        assert_eq!(shown(b"\x1B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "u64 18446744073709551615");
        assert_eq!(shown(b"\x3B\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "i64 -9223372036854775808");
        assert_eq!(shown(b"\xF9\x3E\x00"), "f64 1.5");
        assert_eq!(shown(b"\xF9\x7E\x00"), "f64 \"NaN\"");
        assert_eq!(shown(b"\xF5"), "bool true");
        assert_eq!(shown(b"\xF6"), "cbor null");
        assert_eq!(shown(b"\x42\x01\xFF"), "cbor \"01ff\"");
        assert_eq!(shown(b"\x9F\x01\x82\x02\x03\xFF"), "cbor [1,[2,3]]");
        assert_eq!(shown(b"\xA2\x61a\x01\x05\xBF\xFF"), "cbor {\"a\":1,\"5\":{}}");
        assert_eq!(shown(b"\xC1\x07"), "cbor 7");
    }

    #[test]
    fn broken_and_deep_items_end() {
        assert_eq!(value(b""), ("cbor", Value::Null));
        assert_eq!(value(b"\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01").1.to_string(), "[1]");
        let deep = value(&[0x81; 60_000]).1.to_string();
        assert!(deep.contains('…') && deep.len() < 100);
    }
}
