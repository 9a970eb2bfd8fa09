//! The interface to `js/index.js`, which offers the public interface.
//!
//! Results are packed; arguments are numbers and texts. Numeric selectors are
//! described where they are used, and named in `js/`.

#[cfg(feature = "full")]
mod cells;
#[cfg(feature = "compute")]
mod compute;
#[cfg(feature = "full")]
mod decoder;
#[cfg(feature = "documents")]
mod document;
#[cfg(feature = "documents")]
mod entries;
#[cfg(feature = "compute")]
mod health;
#[cfg(feature = "full")]
mod joint;
#[cfg(feature = "summary")]
mod summary;
#[cfg(feature = "documents")]
mod tables;
#[cfg(feature = "documents")]
mod thrown;

use alloc::vec::Vec;
#[cfg(feature = "documents")]
use document::{Answer, RawDocument, answer, stopped};
use wasm_bindgen::prelude::wasm_bindgen;
use weighbridge_core::{DType, Endianness};

/// The type with this name, ignoring its parameters.
fn dtype(name: &str) -> DType {
    DType::by_name(name).unwrap_or_default()
}

fn endianness(big: bool) -> Endianness {
    if big { Endianness::Big } else { Endianness::Little }
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
