//! Runs a file as one format, or as the detected one.

use crate::walk::walk;
use weighbridge_core::{Format, Severity};

/// Runs a file as `format`.
pub fn format(format: Format, input: &[u8]) {
    walk(input, Some(format));
}

/// Runs a file of any format. The result with the detected format must equal
/// the result with that format given by name.
pub fn detect(input: &[u8]) {
    let found = Format::of_head(&input[..input.len().min(9)], input.len() as u64);
    let verdict = walk(input, None);
    match found {
        None => assert_eq!(verdict, None, "opened as nothing"),
        Some(format) => assert_eq!(verdict, walk(input, Some(format)), "{format}"),
    }
    if verdict.is_some_and(|worst| worst < Severity::Violation) {
        for other in Format::ALL.iter().filter(|format| Some(**format) != found) {
            walk(input, Some(*other));
        }
    }
}
