//! Byte-wise validation of strings and padding.

use super::field;
use crate::base::{Word, wide, widen};
use crate::parse::Reader;
use crate::rule::Rule;

/// `len` rounded up to a multiple of 8, or `u64::MAX`, which is never a valid length, if that
/// exceeds 64 bits.
pub(super) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(field::ALIGN).unwrap_or(u64::MAX)
}

/// The position of the first `bad` byte.
pub(super) fn first(bytes: &[u8], bad: fn(u8) -> bool) -> Option<usize> {
    bytes.iter().position(|byte| bad(*byte))
}

/// Reports `rule` for the first `bad` byte of `bytes` at `at`.
pub(super) fn validate_bytes(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    at: Word,
    bytes: &[u8],
    bad: fn(u8) -> bool,
) {
    if let Some(i) = first(bytes, bad) {
        let byte = bytes.get(i).copied().unwrap_or(0);
        r.flag(rule, wide(at).wrapping_add(widen(i)), 1, 0, byte.into());
    }
}

/// Reports `rule` from the first non-zero byte on.
#[cfg(feature = "details")]
pub(super) fn validate_padding(r: &mut Reader<'_, '_>, rule: Rule, at: Word, bytes: &[u8]) {
    if let Some(i) = first(bytes, |byte| byte != 0) {
        let byte = bytes.get(i).copied().unwrap_or(0);
        let len = widen(bytes.len().wrapping_sub(i));
        r.flag(rule, wide(at).wrapping_add(widen(i)), len, 0, byte.into());
    }
}

/// Reports `rule` from the first non-zero byte on.
#[cfg(not(feature = "details"))]
pub(super) fn validate_padding(r: &mut Reader<'_, '_>, rule: Rule, at: Word, bytes: &[u8]) {
    validate_bytes(r, rule, at, bytes, |byte| byte != 0);
}

/// Whether a byte is outside the alphabet of names and string values.
pub(super) fn is_no_name(byte: u8) -> bool {
    // One bit per byte value: names are most of what is read from an index.
    let word = NAME_BYTES.get(usize::from(byte >> 5)).copied().unwrap_or(0);
    (word >> (byte & 31)) & 1 == 0
}

/// The bytes 0 to 31; `-`, `.` and digits; `_` and capitals; small letters.
const NAME_BYTES: [u32; 4] = [0, 0x03FF_6000, 0x87FF_FFFE, 0x07FF_FFFE];

#[cfg(test)]
mod tests {
    use super::is_no_name;

    #[test]
    fn name_alphabet_is_checked() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            assert_eq!(is_no_name(byte), !expected, "{byte:#x}");
        }
    }
}
