//! Elements of types that are given by name.

use super::endianness;
use crate::pack::Pack;
use crate::values::Numbers;
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;
use weighbridge_core::DType;

/// The type with this name, ignoring its parameters.
pub(super) fn dtype(name: &str) -> DType {
    DType::by_name(name).unwrap_or_default()
}

/// How data of a type can be cut: elements and bytes that go together, and whether
/// they are numbers that `rawElements` returns. Zeros where the width is not fixed.
#[wasm_bindgen(js_name = rawUnit)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_unit(name: &str) -> Vec<u32> {
    let dtype = dtype(name);
    let (elements, bytes) = dtype.unit().unwrap_or_default();
    [elements, bytes, dtype.is_numeric().into()].to_vec()
}

/// Elements of `bytes`, at most `most` of them.
#[wasm_bindgen(js_name = rawElements)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_elements(name: &str, big: bool, bytes: &[u8], most: u64) -> Uint8Array {
    let mut pack = Pack::default();
    pack.numbers(&Numbers::of(dtype(name), bytes, most, endianness(big)));
    pack.done()
}
