//! The hash of a name.

use crate::base::features::SWEEP;
use crate::base::hash::Sip;
use crate::model::{Name, name::NUMBERS_ONLY};

/// The hash of `name`, different for each `table`.
pub(crate) fn hash(seed: u64, table: u8, name: &Name<'_>) -> u64 {
    if NUMBERS_ONLY {
        // Only one-byte ids occur, which are their own hashes.
        return name.bytes().fold(0, |hash, byte| {
            u64::from(byte).wrapping_add(hash.wrapping_mul(10)).wrapping_sub(u64::from(b'0'))
        });
    }
    let mut state = Sip::new(seed, u64::from(table));
    if SWEEP && let Some(bytes) = name.as_bytes() {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            state.word(u64::from_le_bytes(*word));
        }
        let word = match bytes.last_chunk() {
            // The bytes before the tail are shifted out, in two steps: without a tail, all bits
            // are.
            Some(last) => {
                let before = crate::base::widen(8_usize.wrapping_sub(tail.len()));
                let bits = u32::try_from(before).unwrap_or(8).wrapping_mul(8);
                (u64::from_le_bytes(*last) >> 8).wrapping_shr(bits.wrapping_sub(8))
            }
            None => tail.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
        };
        return state.finish(word, bytes.len());
    }
    let (mut word, mut len) = (0_u64, 0_usize);
    for byte in name.bytes() {
        word = (word >> 8) | (u64::from(byte) << 56);
        len = len.wrapping_add(1);
        if len & 7 == 0 {
            state.word(word);
        }
    }
    // Shift out the rest of the previous word.
    for _ in len & 7..8 {
        word >>= 8;
    }
    state.finish(word, len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NameEncoding;
    use core::hash::Hasher as _;

    /// The test vectors of SipHash's authors are for 2-4; 1-3 is compared with
    /// the standard library's hasher, which has been 1-3 since Rust 1.13.
    #[test]
    #[allow(deprecated)]
    fn hash_matches_siphash_1_3() {
        let bytes: std::vec::Vec<u8> = (0..100).collect();
        for len in 0..bytes.len() {
            let mut expected = std::collections::hash_map::DefaultHasher::new();
            expected.write(&bytes[..len]);
            let plain = Name::new(&bytes[..len], NameEncoding::Plain);
            assert_eq!(hash(0, 0, &plain), expected.finish());
        }
    }

    #[test]
    fn hash_does_not_depend_on_name_encoding() {
        let plain = Name::new(b"abcdefghijk", NameEncoding::Plain);
        let chunks = Name::new(b"\x63abc\x68defghijk", NameEncoding::Chunks);
        assert_eq!(hash(7, 1, &plain), hash(7, 1, &chunks));
        assert_ne!(hash(7, 1, &plain), hash(7, 2, &plain));
        assert_ne!(hash(7, 1, &plain), hash(8, 1, &plain));
    }
}
