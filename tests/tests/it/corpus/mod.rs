//! Conformance with the corpus of real and broken files, if present.

mod bintensors;
mod executorch;
mod idv;
mod manifest;
mod oinf;
mod onnx;
mod pytorch;
mod stb;
mod tflite;
mod ztensor;
mod ztensor_later;

use std::path::Path;
use weighbridge_core::Format;
use weighbridge_tests::survey::{Access, Host, survey, survey_whole};

/// Files up to this length are read with requests of every size.
const SMALL: u64 = 8 << 10;
/// Files up to this length are read in parts.
const LARGE: u64 = 1 << 20;

/// Checks that a file gives the same facts and findings however its bytes arrive.
fn check_in_parts(path: &Path, format: Format) {
    let bytes = std::fs::read(path).unwrap();
    let len = bytes.len() as u64;
    if len > LARGE {
        return;
    }
    let whole = survey_whole(&bytes, Some(format));
    let units: &[u64] = if len <= SMALL { &[1, 7, 64, 4096] } else { &[4096] };
    let ways = units.iter().map(|unit| Access::Rounded(*unit));
    for access in ways.chain([Access::Ahead, Access::Single(512)]) {
        match survey(&mut Host::new(&bytes, access), Some(format)) {
            Ok(parts) => assert_eq!(parts, whole, "{}, {access:?}", path.display()),
            Err(small) => assert!(small.needed > 512, "{}: {small:?}", path.display()),
        }
    }
}
