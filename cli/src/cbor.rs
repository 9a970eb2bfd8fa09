//! CBOR data items as JSON values.

use crate::text::{Text, hex};
use crate::values;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use weighbridge_core::Element;
use weighbridge_core::format::ztensor::{Item, Items};

/// How deep items nest before they are cut. Deeper ones are no use to a
/// reader, and the stack is finite.
const DEPTH: u32 = 32;

/// A value as JSON, of which some have no [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Json(Value),
    /// An integer that takes more than 64 bits.
    Long(i128),
    List(Vec<Tree>),
    /// Keys that are texts, and differ.
    Map(Vec<(String, Tree)>),
    /// Any other keys, in the order of the file: as JSON an array of arrays of two.
    Pairs(Vec<(Tree, Tree)>),
}

impl<T: Into<Value>> From<T> for Tree {
    fn from(value: T) -> Self {
        Tree::Json(value.into())
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Json(value) => value.serialize(to),
            Tree::Long(value) => value.serialize(to),
            Tree::List(values) => values.serialize(to),
            Tree::Map(members) => to.collect_map(members.iter().map(|(key, value)| (key, value))),
            Tree::Pairs(pairs) => pairs.serialize(to),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The kind of an item, as types of metadata are called, and its value. Arrays
/// and maps are `cbor`, with what their bytes hold as far as they go.
pub(crate) fn value(bytes: &[u8]) -> (&'static str, Tree) {
    let mut items = Items::new(bytes);
    let Some(item) = items.next() else { return ("cbor", Value::Null.into()) };
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

fn convert(item: Item<'_>, rest: &mut Items<'_>, depth: u32) -> Tree {
    let Some(depth) = depth.checked_sub(1) else { return "…".into() };
    match item {
        Item::Uint(n) => n.into(),
        Item::Nint(n) => match i64::try_from(n) {
            Ok(n) => (-1 - n).into(),
            Err(_) => Tree::Long(-1 - i128::from(n)),
        },
        Item::Float(value) => values::value(Element::F64(value)).into(),
        Item::Simple(20) => false.into(),
        Item::Simple(21) => true.into(),
        Item::Text(text) => Text::from(text).lossy().into(),
        Item::Bytes(bytes) => hex(&bytes.bytes().collect::<Vec<_>>()).into(),
        Item::Tag(_) => match rest.next() {
            Some(item) => convert(item, rest, depth),
            None => Value::Null.into(),
        },
        Item::Array(count) => {
            let mut values = Vec::new();
            while let Some(item) = next(rest, count, values.len()) {
                values.push(convert(item, rest, depth));
            }
            Tree::List(values)
        }
        Item::Map(count) => {
            let (mut pairs, mut texts) = (Vec::new(), true);
            while let Some(key) = next(rest, count, pairs.len()) {
                texts &= matches!(key, Item::Text(_));
                let key = convert(key, rest, depth);
                let value = rest.next();
                let value = value.map_or(Value::Null.into(), |item| convert(item, rest, depth));
                pairs.push((key, value));
            }
            map(pairs, texts)
        }
        _ => Value::Null.into(),
    }
}

/// A map, as an object if every key is one of its own there.
fn map(pairs: Vec<(Tree, Tree)>, texts: bool) -> Tree {
    let text = |key: &Tree| match key {
        Tree::Json(Value::String(key)) if texts => Some(key.clone()),
        _ => None,
    };
    let keys: Option<Vec<String>> = pairs.iter().map(|(key, _)| text(key)).collect();
    let Some(keys) = keys else { return Tree::Pairs(pairs) };
    if keys.iter().collect::<HashSet<_>>().len() < keys.len() {
        return Tree::Pairs(pairs);
    }
    Tree::Map(keys.into_iter().zip(pairs).map(|(key, (_, value))| (key, value)).collect())
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
        assert_eq!(shown(b"\xA2\x61a\x01\x05\xBF\xFF"), "cbor [[\"a\",1],[5,{}]]");
        assert_eq!(shown(b"\xA2\x61a\x01\x61b\xA0"), "cbor {\"a\":1,\"b\":{}}");
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
    fn broken_and_deep_items_end() {
        assert_eq!(value(b""), ("cbor", Value::Null.into()));
        assert_eq!(value(b"\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01").1.to_string(), "[1]");
        let deep = value(&[0x81; 60_000]).1.to_string();
        assert!(deep.contains('…') && deep.len() < 100);
    }
}
