//! ASCII validation, a word at a time.

/// The top bit of each of eight bytes.
pub(crate) const HIGH: u64 = 0x8080_8080_8080_8080;

/// Whether all of `bytes` is ASCII, checked without an early exit. The library's version stops at
/// the first non-ASCII byte, and on 32-bit targets reads 32 bits at a time.
#[inline(always)]
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    let (words, tail) = bytes.as_chunks::<8>();
    let any = words.iter().fold(0, |any, word| any | u64::from_le_bytes(*word));
    let last = tail.iter().fold(0, |any, byte| any | byte);
    any & HIGH == 0 && last < 0x80
}

#[cfg(test)]
mod tests {
    #[test]
    fn non_ascii_byte_is_found_at_any_position() {
        for len in 0..40 {
            let mut bytes = std::vec![0x7F; len];
            assert!(super::is_ascii(&bytes));
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(!super::is_ascii(&bytes), "{at} of {len}");
                bytes[at] = 0;
            }
        }
    }
}
