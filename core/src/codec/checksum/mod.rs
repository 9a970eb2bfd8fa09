//! Checksums over stored bytes.

#[cfg_attr(not(feature = "checksum"), path = "no_state.rs")]
mod state;

use core::fmt;
use state::State;

/// How a checksum is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// CRC-32 as in ZIP: reflected polynomial 0xEDB88320, initial value and final exclusive or
    /// all ones.
    Crc32,
    /// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and
    /// final exclusive or all ones.
    Crc32c,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// XXH3 of 64 bits, without a seed.
    Xxh3,
}

impl Algorithm {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "crc32",
            Algorithm::Crc32c => "crc32c",
            Algorithm::Sha256 => "sha256",
            Algorithm::Xxh3 => "xxh3",
        }
    }

    /// Length of the value in bytes.
    pub const fn width(self) -> usize {
        match self {
            Algorithm::Crc32 | Algorithm::Crc32c => 4,
            Algorithm::Sha256 => 32,
            Algorithm::Xxh3 => 8,
        }
    }
}

/// The value of a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checksum {
    algorithm: Algorithm,
    value: [u8; 32],
}

impl Checksum {
    /// A CRC-32.
    pub const fn crc32(value: u32) -> Self {
        Checksum { algorithm: Algorithm::Crc32, ..Checksum::crc32c(value) }
    }

    /// A CRC-32C.
    pub const fn crc32c(value: u32) -> Self {
        let [b0, b1, b2, b3] = value.to_be_bytes();
        let mut bytes = [0; 32];
        if let Some(first) = bytes.first_chunk_mut() {
            *first = [b0, b1, b2, b3];
        }
        Checksum { algorithm: Algorithm::Crc32c, value: bytes }
    }

    /// A SHA-256.
    pub const fn sha256(value: [u8; 32]) -> Self {
        Checksum { algorithm: Algorithm::Sha256, value }
    }

    /// An XXH3 of 64 bits.
    pub const fn xxh3(value: u64) -> Self {
        let mut bytes = [0; 32];
        if let Some(first) = bytes.first_chunk_mut() {
            *first = value.to_be_bytes();
        }
        Checksum { algorithm: Algorithm::Xxh3, value: bytes }
    }

    /// Its algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Its bytes, most significant first.
    pub fn bytes(&self) -> &[u8] {
        self.value.get(..self.algorithm.width()).unwrap_or_default()
    }

    /// Its first eight bytes (all four of a CRC) as a number.
    pub fn head(&self) -> u64 {
        self.words().next().unwrap_or(0)
    }

    /// The first eight bytes (all four of a CRC) in which it differs from `other`, as numbers for
    /// a finding; those at the start if both are equal.
    pub fn difference(&self, other: &Checksum) -> (u64, u64) {
        let differ = |(one, two): &(u64, u64)| one != two;
        self.words().zip(other.words()).find(differ).unwrap_or((self.head(), other.head()))
    }

    /// Its bytes as numbers, eight at a time.
    #[allow(clippy::disallowed_methods, reason = "the width is not 0")]
    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        self.bytes().chunks(8).map(word)
    }
}

/// Writes lower-case hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm.name())
    }
}

/// Computes a checksum piece by piece.
///
/// CRC-32C uses processor instructions with the feature `std`, and a table of 1 KiB otherwise;
/// SHA-256 uses them where available.
#[derive(Clone)]
pub struct Hasher(State);

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher")
    }
}

impl Hasher {
    /// A new hasher; `None` if this build does not compute checksums.
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        State::new(algorithm).map(Hasher)
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the checksum of all bytes.
    pub fn finish(self) -> Checksum {
        self.0.finish()
    }
}

#[cfg(all(test, feature = "checksum"))]
mod tests {
    use super::*;
    use std::string::ToString;

    fn of(algorithm: Algorithm, pieces: &[&[u8]]) -> std::string::String {
        let mut hasher = Hasher::new(algorithm).unwrap();
        pieces.iter().for_each(|piece| hasher.update(piece));
        hasher.finish().to_string()
    }

    /// RFC 3720 appendix B.4, and FIPS 180-4's examples.
    #[test]
    fn checksums_match_known_values() {
        let rising: std::vec::Vec<u8> = (0..32).collect();
        assert_eq!(of(Algorithm::Crc32c, &[&[0; 32]]), "8a9136aa");
        assert_eq!(of(Algorithm::Crc32c, &[&rising]), "46dd794e");
        assert_eq!(of(Algorithm::Crc32c, &[]), "00000000");
        #[cfg(feature = "crc32")]
        assert_eq!(of(Algorithm::Crc32, &[b"1234", b"56789"]), "cbf43926");
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(Algorithm::Sha256, &[b"abc"]), abc);
        assert_eq!(of(Algorithm::Sha256, &[b"a", b"", b"bc"]), abc);
        assert_eq!(Checksum::crc32c(0x1234_ABCD).head(), 0x1234_ABCD);
        assert_eq!(Checksum::crc32c(1).difference(&Checksum::crc32c(2)), (1, 2));
        let (one, mut two) = ([7; 32], [7; 32]);
        two[31] = 8;
        let (one, two) = (Checksum::sha256(one), Checksum::sha256(two));
        assert_eq!(one.difference(&two), (0x0707_0707_0707_0707, 0x0707_0707_0707_0708));
        assert_eq!(one.difference(&one), (one.head(), one.head()));
    }

    /// Those of the reference implementation for the bytes 0, 1, 2, …
    #[cfg(feature = "xxh3")]
    #[test]
    fn xxh3_matches_known_values() {
        assert_eq!(of(Algorithm::Xxh3, &[]), "2d06800538d394c2");
        let bytes: std::vec::Vec<u8> = (0..=255).cycle().take(5000).collect();
        let whole = of(Algorithm::Xxh3, &[&bytes]);
        for size in [1, 3, 64, 1000] {
            let pieces: std::vec::Vec<&[u8]> = bytes.chunks(size).collect();
            assert_eq!(of(Algorithm::Xxh3, &pieces), whole, "{size}");
        }
        assert_eq!(Checksum::xxh3(0x2D06_8005_38D3_94C2).head(), 0x2D06_8005_38D3_94C2);
    }

    #[test]
    fn checksum_does_not_depend_on_pieces() {
        let bytes: std::vec::Vec<u8> = (0..5000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for algorithm in [Algorithm::Crc32c, Algorithm::Sha256] {
            let whole = of(algorithm, &[&bytes]);
            for size in [1, 3, 64, 1000] {
                let pieces: std::vec::Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(of(algorithm, &pieces), whole, "{algorithm:?}, {size}");
            }
        }
    }
}
