//! Types of elements by name.

use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;
use weighbridge_core::DType;

/// The type with this name, ignoring its parameters.
pub(super) fn dtype(name: &str) -> DType {
    DType::by_name(name).unwrap_or_default()
}

/// How data of a type can be cut: elements and bytes that go together, and whether
/// they are numbers that `rawElements` gives. Zeros where the width is not fixed.
#[wasm_bindgen(js_name = rawUnit)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_unit(name: &str) -> Vec<u32> {
    let dtype = dtype(name);
    let (elements, bytes) = dtype.unit().unwrap_or_default();
    [elements, bytes, dtype.is_numeric().into()].to_vec()
}
