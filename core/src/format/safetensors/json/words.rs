//! Strings that are one of a list of words.

use super::Json;
use crate::model::Name;

impl Json<'_> {
    /// Index of the string in `words`, each with a space after it; their number if it is
    /// not among them.
    pub(in crate::format) fn which(&self, words: &[u8]) -> usize {
        #[cfg(feature = "sweep")]
        if !self.text.escaped {
            return plain_word(self.inside(), words);
        }
        let name = Name::new(self.inside(), self.text.encoding());
        let (mut letters, mut same, mut number) = (name.bytes(), true, 0_usize);
        for letter in words {
            if *letter != b' ' {
                same = same && letters.next() == Some(*letter);
            } else if same && letters.next().is_none() {
                break;
            } else {
                (letters, same, number) = (name.bytes(), true, number.wrapping_add(1));
            }
        }
        number
    }
}

/// Index of a string without escapes in `words`.
#[cfg(feature = "sweep")]
fn plain_word(text: &[u8], words: &[u8]) -> usize {
    let (mut rest, mut number) = (words, 0_usize);
    while let Some(len) = rest.iter().position(|letter| *letter == b' ') {
        if rest.get(..len) == Some(text) {
            break;
        }
        rest = rest.get(len.wrapping_add(1)..).unwrap_or_default();
        number = number.wrapping_add(1);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{widen, word};
    use crate::format::safetensors::rules;
    use crate::input::Source;
    use crate::parse::Reader;

    #[test]
    fn a_string_is_the_word_that_it_reads_as() {
        for (text, number) in [
            (r#""dtype""#, 0),
            (r#" "shape""#, 1),
            (r#""s\u0068ap\u0065""#, 1),
            (r#""\u0064type""#, 0),
            (r#""\u00e9""#, 2),
            (r#""\u00e9t""#, 3),
            ("\"\u{e9}\"", 2),
            (r#""""#, 3),
            (r#""dtyp""#, 3),
            (r#""dtypes""#, 3),
            (r#""type""#, 3),
            (r#""dtype shape""#, 3),
            (r#""dtype\u0020""#, 3),
            (r#""\dtype""#, 3),
        ] {
            let source = Source::whole(text.as_bytes());
            let mut sink = |_| {};
            let mut r = Reader::new(&source, &mut sink);
            let end = word(widen(text.len()));
            let mut json = Json::of(&mut r, 0, end, rules::JSON_TRUNCATED);
            assert_eq!(json.value(0), b'"');
            assert_eq!(json.which("dtype shape \u{e9} ".as_bytes()), number, "{text}");
        }
    }
}
