//! Lists of metadata as JSON.

use crate::cbor::{float, quoted};
use crate::text::push_decimal;
use alloc::string::{String, ToString as _};
use weighbridge_core::Element;
use weighbridge_core::format::gguf::{Item, Items};

/// Adds the items as an array, as far as their bytes go, and returns how many
/// there were. The core bounds how deep they nest.
pub fn write(items: Items<'_>, out: &mut String) -> u64 {
    let mut count = 0;
    out.push('[');
    for item in items {
        out.push_str(if count == 0 { "" } else { "," });
        count += 1;
        match item {
            Item::Text(text) => quoted(&text, out),
            Item::Number(element) => number(element, out),
            Item::List(items) => {
                write(items, out);
            }
        }
    }
    out.push(']');
    count
}

fn number(element: Element, out: &mut String) {
    match element {
        Element::Uint(n) => push_decimal(n, out),
        Element::Int(n) => out.push_str(&n.to_string()),
        Element::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        element => float(element.to_f64(), out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge_core::Endianness;

    #[test]
    fn lists_are_json() {
        let head =
            |tag: u32, count: u64| [&tag.to_be_bytes()[..], &count.to_be_bytes()[..]].concat();
        let numbers = [head(1, 2), alloc::vec![0xFF, 7]].concat();
        let texts = [head(8, 1), alloc::vec![0, 0, 0, 0, 0, 0, 0, 2, b'"', b'a']].concat();
        let bytes = [head(9, 3), numbers, texts].concat();
        let mut json = String::new();
        assert_eq!(write(Items::new(&bytes, Endianness::Big), &mut json), 2);
        assert_eq!(json, r#"[[-1,7],["\"a"]]"#);
    }
}
