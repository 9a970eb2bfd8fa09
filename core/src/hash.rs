//! A seeded hash of names.
//!
//! SipHash-1-3 (Aumasson and Bernstein): whoever chooses the names of a file
//! cannot choose names that collide without knowing the seed, and even with a
//! known seed finding many names of one hash is out of reach. Equal hashes
//! are never taken for equal names.

use crate::name::{NUMBERS_ONLY, Name};

/// The hash of `name`, apart from that of the same name in another `table`.
pub(crate) fn name(seed: u64, table: u8, name: &Name<'_>) -> u64 {
    if NUMBERS_ONLY {
        // There are numbers of one byte only, which are hashes by themselves.
        return name.bytes().fold(0, |hash, byte| {
            u64::from(byte).wrapping_add(hash.wrapping_mul(10)).wrapping_sub(u64::from(b'0'))
        });
    }
    let mut state = Sip::new(seed, u64::from(table));
    if cfg!(feature = "sweep")
        && let Some(bytes) = name.as_bytes()
    {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            state.word(u64::from_le_bytes(*word));
        }
        let word = tail.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte));
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
    // What is left of the word before is shifted out.
    for _ in len & 7..8 {
        word >>= 8;
    }
    state.finish(word, len)
}

struct Sip {
    v: [u64; 4],
}

impl Sip {
    fn new(k0: u64, k1: u64) -> Self {
        Sip {
            v: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
        }
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.v;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.v = [a, b, c, d];
    }

    fn word(&mut self, word: u64) {
        let [_, _, _, d] = &mut self.v;
        *d ^= word;
        self.round();
        let [a, ..] = &mut self.v;
        *a ^= word;
    }

    /// The last word holds at most seven bytes, and the length modulo 256.
    fn finish(mut self, tail: u64, len: usize) -> u64 {
        self.word(tail | (crate::source::widen(len) << 56));
        let [_, _, c, _] = &mut self.v;
        *c ^= 0xFF;
        for _ in 0..3 {
            self.round();
        }
        let [a, b, c, d] = self.v;
        a ^ b ^ c ^ d
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::NameEncoding;
    use core::hash::Hasher as _;

    /// The test vectors of SipHash's authors are for 2-4; 1-3 is compared with
    /// the standard library's hasher, which has been 1-3 since Rust 1.13.
    #[test]
    #[allow(deprecated)]
    fn agrees_with_siphash_1_3() {
        let bytes: std::vec::Vec<u8> = (0..100).collect();
        for len in 0..bytes.len() {
            let mut expected = std::collections::hash_map::DefaultHasher::new();
            expected.write(&bytes[..len]);
            let plain = Name::new(&bytes[..len], NameEncoding::Plain);
            assert_eq!(name(0, 0, &plain), expected.finish());
        }
    }

    #[test]
    fn does_not_depend_on_how_the_name_is_stored() {
        let plain = Name::new(b"abcdefghijk", NameEncoding::Plain);
        let chunks = Name::new(b"\x63abc\x68defghijk", NameEncoding::Chunks);
        assert_eq!(name(7, 1, &plain), name(7, 1, &chunks));
        assert_ne!(name(7, 1, &plain), name(7, 2, &plain));
        assert_ne!(name(7, 1, &plain), name(8, 1, &plain));
    }
}
