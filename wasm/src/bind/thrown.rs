//! Thrown errors: an `Error` with the rule the file breaks, and where.

use alloc::string::String;
use js_sys::Error;
use wasm_bindgen::prelude::*;
use weighbridge_core::Rule;

#[wasm_bindgen(raw_module = "./unpack.js")]
extern "C" {
    /// The id of a rule: the modules contain no rule texts.
    #[wasm_bindgen(js_name = ruleId)]
    fn rule_id(code: u16) -> String;
}

#[wasm_bindgen]
extern "C" {
    /// An `Error` with these properties; the offset is a BigInt.
    #[wasm_bindgen(extends = Error)]
    #[derive(Clone, Debug)]
    type Thrown;

    #[wasm_bindgen(method, setter)]
    fn set_rule(this: &Thrown, id: &str);

    #[wasm_bindgen(method, setter)]
    fn set_offset(this: &Thrown, offset: u64);
}

/// An error of this package, about the byte at `offset` if there is one.
pub(super) fn error(message: &str, offset: Option<u64>) -> Error {
    let thrown: Thrown = Error::new(message).unchecked_into();
    thrown.set_name("WeighbridgeError");
    if let Some(offset) = offset {
        thrown.set_offset(offset);
    }
    thrown.into()
}

/// The error for a broken rule.
pub(super) fn broken(rule: Rule, offset: Option<u64>) -> Error {
    let id = rule_id(rule.code());
    let mut message = String::from("the file breaks ");
    message.push_str(&id);
    let thrown: Thrown = error(&message, offset).unchecked_into();
    thrown.set_rule(&id);
    thrown.into()
}
