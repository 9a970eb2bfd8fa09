//! Compares a file read in pieces with the same file in memory.

use crate::{Tail, format_of};
use weighbridge_tests::survey::{Access, Host, survey, survey_whole};

/// Tensors and findings are the same, however the bytes arrive.
pub fn windows(input: &[u8]) {
    let mut tail = Tail::new(input);
    let (how, unit) = (tail.byte(), tail.byte());
    let format = Some(format_of(how >> 3));
    let access = match how & 7 {
        0..=2 => Access::Rounded(1 << (unit % 9)),
        3 => Access::Ahead,
        4 => Access::Least,
        // Small units make progress as long as an entry fits.
        _ => Access::Single(16 + 8 * u64::from(unit)),
    };
    compare(tail.rest, format, access);
}

/// Reads a file both ways.
///
/// # Panics
/// If the results differ.
pub fn compare(file: &[u8], format: Option<weighbridge_core::Format>, access: Access) {
    let whole = survey_whole(file, format);
    crate::facts::note(&whole);
    let mut host = Host::new(file, access);
    // A buffer that is too small for an entry is the host's problem.
    let Ok(parts) = survey(&mut host, format) else { return };
    assert_eq!(parts, whole, "{access:?}");
}
