//! A hash of texts: those with other hashes differ.

/// A hash of a text. Many texts begin alike, so that most comparisons are cheaper if the hashes come
/// first.
///
/// It has no seed: an attacker can choose texts with equal hashes. So equal hashes prove nothing,
/// and a table needs an order of texts besides.
pub(crate) fn hash(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut hash = text.len() as u64;
    let mut add = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    };
    words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
    add(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;

    #[test]
    fn names_of_a_model_have_different_hashes() {
        let names = (0..100_000).map(|i| format!("model.layers.{}.block.{}.weight", i / 7, i % 7));
        let hashes: BTreeSet<u64> = names.map(|name| hash(name.as_bytes())).collect();
        assert_eq!(hashes.len(), 100_000);
    }

    #[test]
    fn every_byte_and_the_length_count() {
        let texts =
            [&b""[..], b"\0", b"\0\0", b"a", b"a\0", b"abcdefgh", b"abcdefgh\0", b"bbcdefgh"];
        let hashes: BTreeSet<u64> = texts.iter().map(|text| hash(text)).collect();
        assert_eq!(hashes.len(), texts.len());
    }
}
