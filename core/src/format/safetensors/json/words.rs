//! Matching strings against a list of words.

use super::Json;
use crate::base::features::SWEEP;
use crate::model::Name;

impl Json<'_> {
    /// The position of the last string in `words`, each of which is followed by a space.
    pub(in crate::format) fn which(&self, words: &[u8]) -> Option<u8> {
        if SWEEP && !self.text.escaped {
            return plain_word(self.inside(), words);
        }
        let name = Name::new(self.inside(), self.text.encoding());
        name.word_of(words).filter(|(_, exact)| *exact).map(|(number, _)| number)
    }
}

/// The position of a string without escapes in `words`.
fn plain_word(text: &[u8], words: &[u8]) -> Option<u8> {
    let (mut rest, mut number) = (words, 0_u8);
    while let Some(len) = rest.iter().position(|letter| *letter == b' ') {
        if rest.get(..len) == Some(text) {
            return Some(number);
        }
        rest = rest.get(len.wrapping_add(1)..).unwrap_or_default();
        number = number.wrapping_add(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{widen, word};
    use crate::format::safetensors::rules;
    use crate::input::Source;
    use crate::parse::Reader;

    #[test]
    fn escaped_string_equals_its_word() {
        for (text, number) in [
            (r#""dtype""#, Some(0)),
            (r#" "shape""#, Some(1)),
            (r#""s\u0068ap\u0065""#, Some(1)),
            (r#""\u0064type""#, Some(0)),
            (r#""\u00e9""#, Some(2)),
            (r#""\u00e9t""#, None),
            ("\"\u{e9}\"", Some(2)),
            (r#""""#, None),
            (r#""dtyp""#, None),
            (r#""dtypes""#, None),
            (r#""type""#, None),
            (r#""dtype shape""#, None),
            (r#""dtype\u0020""#, None),
            (r#""\dtype""#, None),
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
