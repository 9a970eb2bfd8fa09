//! Values as JSON, as the command prints them, but without the formatting machinery.

use crate::text::push_decimal;
use alloc::string::String;
use weighbridge::Value;
use weighbridge::text::quote;

/// Writes a value.
pub fn push(value: &Value, out: &mut String) {
    match value {
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(value) => integer(*value, out),
        Value::Float(value) => out.push_str(&float(*value)),
        Value::Text(text) => quote(&text.lossy(), out),
        Value::List(items) => list(('[', ']'), items, push, out),
        Value::Map(members) => list(('{', '}'), members, member, out),
        Value::Pairs(pairs) => list(('[', ']'), pairs, pair, out),
        _ => out.push_str("null"),
    }
}

fn list<T>(
    (open, close): (char, char),
    items: &[T],
    each: impl Fn(&T, &mut String),
    out: &mut String,
) {
    out.push(open);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        each(item, out);
    }
    out.push(close);
}

fn member((name, value): &(String, Value), out: &mut String) {
    quote(name, out);
    out.push(':');
    push(value, out);
}

fn pair((key, value): &(Value, Value), out: &mut String) {
    out.push('[');
    push(key, out);
    out.push(',');
    push(value, out);
    out.push(']');
}

fn integer(value: i128, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    let size = value.unsigned_abs();
    match u64::try_from(size) {
        Ok(size) => push_decimal(size, out),
        // -2^64, which CBOR can store.
        Err(_) => {
            push_decimal((size / 10) as u64, out);
            push_decimal((size % 10) as u64, out);
        }
    }
}

/// A float, with a point or an exponent; one that is not finite as a string. JavaScript finds the
/// shortest digits.
#[cfg(target_arch = "wasm32")]
fn float(value: f64) -> String {
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(raw_module = "./unpack.js")]
    extern "C" {
        #[wasm_bindgen(js_name = jsonFloat)]
        fn json_float(value: f64) -> String;
    }
    json_float(value)
}

#[cfg(not(target_arch = "wasm32"))]
fn float(value: f64) -> String {
    alloc::string::ToString::to_string(&Value::Float(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use alloc::vec;

    #[test]
    fn json_float_matches_display() {
        let int =
            [0, -1, 7, i128::from(u64::MAX), i128::from(i64::MIN), -(1 << 64)].map(Value::Int);
        let float = [0.1, -0.0, 1e300, f64::NAN, f64::NEG_INFINITY].map(Value::Float);
        let value = Value::List(vec![
            Value::Null,
            Value::Bool(true),
            Value::List(int.to_vec()),
            Value::List(float.to_vec()),
            Value::Map(vec![("a\"".into(), Value::from("\u{202e}\\")), ("b".into(), Value::Null)]),
            Value::Pairs(vec![(Value::Int(1), Value::Bool(false)), (Value::Null, Value::from(""))]),
        ]);
        let mut json = String::new();
        push(&value, &mut json);
        assert_eq!(json, value.to_string());
    }
}
