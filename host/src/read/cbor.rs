//! CBOR data items as values.

use crate::base::sort::sorted;
use crate::base::text::{Text, hex};
use crate::base::value::Value;
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::Name;
use weighbridge_core::format::ztensor::{Item, Items};

/// Depth at which nested items are cut. Deeper ones are of no use to a reader, and the stack is
/// finite.
const DEPTH: u32 = 32;

/// The kind of an item, named like the types of metadata, and its value. Arrays and maps are
/// `cbor`, with the items that their bytes contain.
pub(crate) fn value(bytes: &[u8]) -> (&'static str, Value) {
    let mut items = Items::new(bytes);
    let Some(item) = items.next() else { return ("cbor", Value::Null) };
    let kind = match item {
        Item::Uint(_) => "u64",
        Item::Nint(n) if i64::try_from(n).is_ok() => "i64",
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
        Item::Uint(n) => Value::Int(n.into()),
        Item::Nint(n) => Value::Int(-1 - i128::from(n)),
        Item::Float(value) => Value::Float(value),
        Item::Simple(20) => Value::Bool(false),
        Item::Simple(21) => Value::Bool(true),
        Item::Text(text) => lossy(text).as_str().into(),
        Item::Bytes(bytes) => hex(&bytes.bytes().collect::<Vec<_>>()).as_str().into(),
        Item::Tag(_) => match rest.next() {
            Some(item) => convert(item, rest, depth),
            None => Value::Null,
        },
        Item::Array(count) => {
            let mut values = Vec::new();
            while let Some(item) = next(rest, count, values.len()) {
                values.push(convert(item, rest, depth));
            }
            Value::List(values)
        }
        Item::Map(count) => {
            let (mut pairs, mut texts) = (Vec::new(), true);
            while let Some(key) = next(rest, count, pairs.len()) {
                texts &= matches!(key, Item::Text(_));
                let key = convert(key, rest, depth);
                let value = rest.next().map_or(Value::Null, |item| convert(item, rest, depth));
                pairs.push((key, value));
            }
            map(pairs, texts)
        }
        _ => Value::Null,
    }
}

/// A text with bytes that are not UTF-8 replaced.
fn lossy(text: Name<'_>) -> String {
    Text::from(text).lossy().into_owned()
}

/// A map by name if all keys are distinct texts, otherwise pairs.
fn map(pairs: Vec<(Value, Value)>, texts: bool) -> Value {
    let text = |key: &Value| key.as_str().filter(|_| texts).map(str::to_owned);
    let keys: Option<Vec<String>> = pairs.iter().map(|(key, _)| text(key)).collect();
    let Some(keys) = keys else { return Value::Pairs(pairs) };
    let key = |i: u32| &keys[i as usize];
    let order = sorted(keys.len(), &mut |a, b| key(a) < key(b));
    if order.array_windows().any(|[a, b]| key(*a) == key(*b)) {
        return Value::Pairs(pairs);
    }
    Value::Map(keys.into_iter().zip(pairs).map(|(key, (_, value))| (key, value)).collect())
}

/// The next item of an array or map that has returned `done` items so far.
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
    use alloc::format;
    use alloc::string::ToString as _;

    #[test]
    fn cbor_of_every_kind_is_shown() {
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
        assert_eq!(shown(b"\xA2\x61a\x01\x05\xBF\xFF"), "cbor [[\"a\",1],[5,{}]]");
        assert_eq!(shown(b"\xA2\x61a\x01\x61b\xA0"), "cbor {\"a\":1,\"b\":{}}");
        assert_eq!(shown(b"\xA2\x61b\x01\x61a\x02"), "cbor {\"b\":1,\"a\":2}");
        assert_eq!(shown(b"\xA2\x61a\x01\x61a\x02"), "cbor [[\"a\",1],[\"a\",2]]");
        assert_eq!(shown(b"\xC1\x07"), "cbor 7");
        assert_eq!(
            shown(&[0x3B, 0xFF, 255, 255, 255, 255, 255, 255, 255]),
            "cbor -18446744073709551616"
        );
        assert_eq!(shown(b"\x3B\x80\0\0\0\0\0\0\0"), "cbor -9223372036854775809");
        // No entry is lost.
        assert_eq!(shown(b"\xA2\x05\x01\x615\x02"), "cbor [[5,1],[\"5\",2]]");
        assert_eq!(shown(b"\xA2\x61a\x01\x61a\x02"), "cbor [[\"a\",1],[\"a\",2]]");
    }

    #[test]
    fn broken_or_deep_cbor_ends() {
        assert_eq!(value(b""), ("cbor", Value::Null));
        assert_eq!(value(b"\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01").1.to_string(), "[1]");
        let deep = value(&[0x81; 60_000]).1.to_string();
        assert!(deep.contains('…') && deep.len() < 100);
    }
}
