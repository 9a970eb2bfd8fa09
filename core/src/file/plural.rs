//! Makes nouns and verbs of messages agree with the number before them. Messages are written in
//! the plural.

use core::fmt::{self, Write};

/// Countable nouns, and their singulars.
const NOUNS: &[(&str, &str)] = &[
    ("bits", "bit"),
    ("blocks", "block"),
    ("bytes", "byte"),
    ("dimensions", "dimension"),
    ("elements", "element"),
    ("entries", "entry"),
    ("experts", "expert"),
    ("heads", "head"),
    ("items", "item"),
    ("keys", "key"),
    ("levels", "level"),
    ("members", "member"),
    ("minutes", "minute"),
    ("names", "name"),
    ("points", "point"),
    ("rows", "row"),
    ("scales", "scale"),
    ("slots", "slot"),
    ("subgraphs", "subgraph"),
    ("tensors", "tensor"),
    ("texts", "text"),
    ("tokens", "token"),
    ("values", "value"),
];

/// Verbs that follow them, and their singulars.
const VERBS: &[(&str, &str)] = &[
    ("are", "is"),
    ("belong", "belongs"),
    ("do", "does"),
    ("follow", "follows"),
    ("lie", "lies"),
    ("take", "takes"),
];

/// Writes `text`, which follows `number`. If `number` is 1, the noun and its verbs become
/// singular, up to the end of the clause.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, number: u64, text: &str) -> fmt::Result {
    let end = match number {
        1 => text.find([',', ';', ':', '(', ')']).unwrap_or(text.len()),
        _ => 0,
    };
    let (clause, rest) = text.split_at_checked(end).unwrap_or(("", text));
    let mut counted = false;
    for (i, word) in clause.split(' ').enumerate() {
        if i > 0 {
            f.write_char(' ')?;
        }
        // At most one adjective may come first: "1 unused byte".
        let noun = singular(NOUNS, word).filter(|_| matches!(i, 1 | 2) && !counted);
        let verb = singular(VERBS, word).filter(|_| i == 1 || counted);
        counted |= noun.is_some();
        f.write_str(noun.or(verb).unwrap_or(word))?;
    }
    f.write_str(rest)
}

fn singular(words: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    words.iter().find(|(plural, _)| *plural == word).map(|(_, singular)| *singular)
}

#[cfg(test)]
mod tests {
    use crate::format::Format;
    use crate::input::Absent;
    use crate::parse::Stop;
    use crate::rule::{EntryKind, Finding, Rule, Subject, general};
    use std::string::{String, ToString};

    struct After(u64, &'static str);

    impl core::fmt::Display for After {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            write!(f, "{}", self.0)?;
            super::write(f, self.0, self.1)
        }
    }

    #[test]
    fn only_one_is_singular() {
        for (text, one) in [
            ("", "1"),
            (" bytes belong to nothing", "1 byte belongs to nothing"),
            (" unused bytes follow a table", "1 unused byte follows a table"),
            (
                " bytes between payloads belong to nothing",
                "1 byte between payloads belongs to nothing",
            ),
            (" slot names do not fit the ", "1 slot name does not fit the "),
            (" bytes follow the frame and are none", "1 byte follows the frame and is none"),
            (" are allowed", "1 is allowed"),
            (" bytes, its bytes are", "1 byte, its bytes are"),
            (" elements take more bytes than", "1 element takes more bytes than"),
            (" is not a whole number of entries of ", "1 is not a whole number of entries of "),
            (", and bytes are", "1, and bytes are"),
        ] {
            assert_eq!(After(1, text).to_string(), one);
            for other in [0, 2, 11, 21, u64::MAX] {
                assert_eq!(After(other, text).to_string(), std::format!("{other}{text}"));
            }
        }
    }

    /// Words after a number that end in `s` but are not countable nouns.
    const NOT_COUNTED: [&str; 11] =
        ["is", "has", "was", "takes", "exceeds", "stands", "no", "others", "needs", "does", "as"];

    #[test]
    fn every_message_has_singular_after_one() {
        let formats = Format::ALL.iter().map(|format| (format.code(), format.rules()));
        for (code, rules) in formats.chain([(0, general::RULES)]) {
            for (i, info) in rules.iter().enumerate() {
                let rule = Rule::new(code, info.severity, i as u16);
                assert_eq!(rule.id(), info.id);
                let finding = Finding {
                    offset: 0,
                    // The variants below make "missing" and "surplus" 1.
                    expected: 1,
                    found: 1,
                    len: 0,
                    entry: 0,
                    part: Subject::NO_PART,
                    rule,
                    kind: EntryKind::File,
                };
                check(&finding);
                check(&Finding { found: 0, ..finding });
                check(&Finding { expected: 0, ..finding });
            }
        }
    }

    fn check(finding: &Finding) {
        let text = finding.to_string();
        let words: std::vec::Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != ',' && c != ';').collect();
        for pair in words.windows(2).filter(|pair| pair[0] == "1") {
            let plural = pair[1].ends_with('s') && !NOT_COUNTED.contains(&pair[1]);
            assert!(!plural && pair[1] != "are", "{}: {text}", finding.rule.id());
        }
    }

    #[test]
    fn expected_number_decides_singular() {
        let texts: [(Stop, &str); 3] = [
            (
                Stop::NeedBytes(Absent { offset: 7, need: 1, want: 1 }),
                "1 byte is not in memory, at offset 7",
            ),
            (Stop::NeedSlots { needed: 1 }, "1 slot is needed"),
            (Stop::NeedBuffer { needed: 1 }, "a buffer of 1 byte is needed"),
        ];
        for (stop, text) in texts {
            assert_eq!(stop.to_string(), String::from(text));
        }
        assert_eq!(Stop::NeedSlots { needed: 2 }.to_string(), "2 slots are needed");
    }
}
