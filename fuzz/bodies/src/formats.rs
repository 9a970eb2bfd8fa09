//! A file as one format, or as whatever it looks like.

use crate::walk::walk;
use weighbridge_core::{Format, Severity};

/// A file that is said to be of `format`.
pub fn format(format: Format, input: &[u8]) {
    walk(input, Some(format));
}

/// A file of any format. The format it is recognised as must validate it as
/// when it was named.
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
