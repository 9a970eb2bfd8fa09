//! Names that match a list of words.

use super::Name;

impl Name<'_> {
    /// The index of this name in `words`, each followed by a space; and whether they are equal. A
    /// capital of the name also matches a small letter.
    pub(crate) fn word_of(&self, words: &[u8]) -> Option<(u8, bool)> {
        let mut number = 0_u8;
        let (mut bytes, mut same, mut exact) = (self.bytes(), true, true);
        for letter in words {
            if *letter != b' ' {
                // A word is compared only to its first difference: the name's bytes have to be
                // decoded.
                if same {
                    let byte = bytes.next();
                    let is = |byte: u8| byte == *letter || byte.to_ascii_lowercase() == *letter;
                    same = byte.is_some_and(is);
                    exact &= byte == Some(*letter);
                }
            } else if same && bytes.next().is_none() {
                return Some((number, exact));
            } else {
                number = number.wrapping_add(1);
                (bytes, same, exact) = (self.bytes(), true, true);
            }
        }
        None
    }
}
