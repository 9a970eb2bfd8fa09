//! CBOR data items as numbers and texts, arrays and maps as JSON.

use crate::text::{hex, push_decimal};
use crate::values::Numbers;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::Name;
use weighbridge_core::format::ztensor::{Item, Items};

/// How deep items nest before they are cut. Deeper ones are no use to a
/// reader, and the stack is finite.
const DEPTH: u32 = 32;

/// What a data item holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A single number or truth value.
    Numbers(Numbers),
    /// Text.
    Text(Vec<u8>),
    /// Anything else, as JSON.
    Json(String),
}

/// The kind of the item that `bytes` begin with, as types of metadata are
/// called, and what it holds, as far as the bytes go.
pub fn value(bytes: &[u8]) -> (&'static str, Found) {
    let mut items = Items::new(bytes);
    let Some(item) = items.next() else { return ("cbor", Found::Json("null".to_string())) };
    match item {
        Item::Uint(n) => ("u64", Found::Numbers(Numbers::U64(vec![n]))),
        Item::Nint(n) if i64::try_from(n).is_ok() => {
            ("i64", Found::Numbers(Numbers::I64(vec![!(n as i64)])))
        }
        Item::Float(value) => ("f64", Found::Numbers(Numbers::F64(vec![value]))),
        Item::Simple(value @ (20 | 21)) => ("bool", Found::Numbers(Numbers::U8(vec![value - 20]))),
        Item::Text(text) => ("string", Found::Text(text.bytes().collect())),
        item => {
            let mut out = String::new();
            write(item, &mut items, DEPTH, &mut out);
            ("cbor", Found::Json(out))
        }
    }
}

fn write(item: Item<'_>, rest: &mut Items<'_>, depth: u32, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return out.push_str("\"…\"") };
    match item {
        Item::Uint(n) => push_decimal(n, out),
        Item::Nint(n) => {
            out.push('-');
            match n.checked_add(1) {
                Some(n) => push_decimal(n, out),
                None => out.push_str("18446744073709551616"),
            }
        }
        Item::Float(value) => float(value, out),
        Item::Simple(20) => out.push_str("false"),
        Item::Simple(21) => out.push_str("true"),
        Item::Text(text) => quoted(&text, out),
        Item::Bytes(bytes) => {
            out.push('"');
            out.push_str(&hex(&bytes.bytes().collect::<Vec<_>>()));
            out.push('"');
        }
        Item::Tag(_) => match rest.next() {
            Some(item) => write(item, rest, depth, out),
            None => out.push_str("null"),
        },
        Item::Array(count) => {
            out.push('[');
            let mut done = 0;
            while let Some(item) = next(rest, count, done) {
                out.push_str(if done == 0 { "" } else { "," });
                write(item, rest, depth, out);
                done += 1;
            }
            out.push(']');
        }
        Item::Map(count) => {
            let (mut pairs, mut texts) = (Vec::new(), true);
            while let Some(key) = next(rest, count, pairs.len() as u64) {
                texts &= matches!(key, Item::Text(_));
                let (mut name, mut value) = (String::new(), String::new());
                write(key, rest, depth, &mut name);
                match rest.next() {
                    Some(item) => write(item, rest, depth, &mut value),
                    None => value.push_str("null"),
                }
                pairs.push((name, value));
            }
            map(&pairs, texts, out);
        }
        _ => out.push_str("null"),
    }
}

/// A map: an object, if all keys are texts and differ; else an array of pairs, so
/// that no entry is lost.
fn map(pairs: &[(String, String)], texts: bool, out: &mut String) {
    let keys: BTreeSet<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    let (open, close, colon) =
        if texts && keys.len() == pairs.len() { ("{", "}", ":") } else { ("[", "]", ",") };
    out.push_str(open);
    for (i, (key, value)) in pairs.iter().enumerate() {
        let pair =
            if colon == "," { ["[", key, colon, value, "]"] } else { ["", key, colon, value, ""] };
        out.push_str(if i == 0 { "" } else { "," });
        out.extend(pair);
    }
    out.push_str(close);
}

pub(crate) fn float(value: f64, out: &mut String) {
    if value.is_finite() {
        let text = value.to_string();
        out.push_str(&text);
        out.push_str(if text.contains('.') { "" } else { ".0" });
    } else {
        let name = if value.is_nan() { "NaN" } else { "Infinity" };
        out.push('"');
        out.push_str(if value < 0.0 { "-" } else { "" });
        out.push_str(name);
        out.push('"');
    }
}

/// A text as JSON has it.
pub(crate) fn quoted(text: &Name<'_>, out: &mut String) {
    out.push('"');
    for c in text.chars().map(|c| c.unwrap_or('\u{FFFD}')) {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                out.push_str("\\u00");
                out.push_str(&hex(&[c as u8]));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The next item of an array or map that has given `done` so far.
fn next<'a>(rest: &mut Items<'a>, count: Option<u64>, done: u64) -> Option<Item<'a>> {
    match count {
        Some(count) if done >= count => None,
        Some(_) => rest.next(),
        None => rest.next().filter(|item| *item != Item::Break),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(bytes: &[u8]) -> String {
        match value(bytes) {
            ("cbor", Found::Json(json)) => json,
            found => unreachable!("{found:?}"),
        }
    }

    #[test]
    fn arrays_and_maps_are_json() {
        let map = b"\xa2\x61a\x83\x01\x20\xf9\x3e\x00\x02\x9f\xf5\xf6\x42\xff\x00\xff";
        assert_eq!(json(map), r#"[["a",[1,-1,1.5]],[2,[true,null,"ff00"]]]"#);
        assert_eq!(json(b"\xA2\x61a\x01\x61b\xA0"), r#"{"a":1,"b":{}}"#);
        assert_eq!(json(b"\xA2\x05\x01\x615\x02"), r#"[[5,1],["5",2]]"#);
        assert_eq!(json(b"\xA2\x61a\x01\x61a\x02"), r#"[["a",1],["a",2]]"#);
        assert_eq!(json(b"\x3B\x80\0\0\0\0\0\0\0"), "-9223372036854775809");
        assert_eq!(json(b"\x82\x63\"\\\n\x01"), r#"["\"\\\u000a",1]"#);
        assert_eq!(json(&[0x81; 99]).matches('[').count(), 32);
    }

    #[test]
    fn single_values_are_themselves() {
        assert_eq!(value(b"\x29"), ("i64", Found::Numbers(Numbers::I64(vec![-10]))));
        assert_eq!(value(b"\xf5"), ("bool", Found::Numbers(Numbers::U8(vec![1]))));
        assert_eq!(value(b"\x62hi"), ("string", Found::Text(b"hi".to_vec())));
    }
}
