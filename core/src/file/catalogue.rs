//! The rule catalogue: ids, messages and the text of the specification.

use crate::file::plural;
use crate::format::Format;
use crate::model::Version;
use crate::parse::Stop;
use crate::rule::{Basis, Finding, Rule, RuleInfo, Severity, general::RULES as GENERAL};
use core::fmt::{self, Write as _};

impl Rule {
    /// The format of the rule; `None` for rules that belong to no format, such as
    /// `UNKNOWN-FORMAT`.
    pub fn format(self) -> Option<Format> {
        Format::from_code(self.format_code())
    }

    /// The catalogue entry.
    pub fn info(self) -> &'static RuleInfo {
        let number = usize::from(self.position());
        let rules = self.format().map_or(GENERAL, Format::rules);
        rules.get(number).unwrap_or(&NO_RULE)
    }

    /// The stable identifier.
    pub fn id(self) -> &'static str {
        self.info().id
    }
}

impl core::fmt::Debug for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.id())
    }
}

/// Writes the rule's id.
#[cfg(feature = "defmt")]
impl defmt::Format for Rule {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", self.id());
    }
}

/// The entry of a rule whose format is not compiled in.
static NO_RULE: RuleInfo = RuleInfo {
    id: "NO-RULE",
    severity: Severity::Fatal,
    basis: Basis::Silent,
    message: "the format of this rule is not part of this build",
    spec: "",
    why: None,
};

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.rule.info().message;
        // The last number written before `rest`.
        let mut number = 0;
        while let Some((text, more)) = rest.split_once('{') {
            plural::write(f, number, text)?;
            number = 0;
            let Some((field, after)) = more.split_once('}') else {
                f.write_char('{')?;
                rest = more;
                continue;
            };
            rest = after;
            number = match field {
                "found" => self.found,
                "expected" => self.expected,
                "missing" => self.expected.saturating_sub(self.found),
                "surplus" => self.found.saturating_sub(self.expected),
                "part" => self.part.into(),
                "quoted" => {
                    match self.quoted() {
                        Some(text) => write!(f, "{text}")?,
                        None => rest = rest.strip_prefix(' ').unwrap_or(rest),
                    }
                    continue;
                }
                "found:#x" => {
                    write!(f, "{:#x}", self.found)?;
                    continue;
                }
                "expected:#x" => {
                    write!(f, "{:#x}", self.expected)?;
                    continue;
                }
                "found:i" => {
                    write!(f, "{}", self.found.cast_signed())?;
                    continue;
                }
                "found:i32" => {
                    let low = u32::try_from(self.found).unwrap_or_default();
                    write!(f, "{}", low.cast_signed())?;
                    continue;
                }
                "found:t" => {
                    write_type(f, self.rule, self.found)?;
                    continue;
                }
                "expected:t" => {
                    write_type(f, self.rule, self.expected)?;
                    continue;
                }
                "found:v" => {
                    write!(f, "{}", Version::of_number(self.found))?;
                    continue;
                }
                "expected:v" => {
                    write!(f, "{}", Version::of_number(self.expected))?;
                    continue;
                }
                _ => {
                    write!(f, "{{{field}}}")?;
                    continue;
                }
            };
            write!(f, "{number}")?;
        }
        plural::write(f, number, rest)
    }
}

/// Writes the name of a value type; its number if it has no name.
fn write_type(f: &mut fmt::Formatter<'_>, rule: Rule, number: u64) -> fmt::Result {
    let types = rule.format().map_or(&[][..], Format::value_types);
    match usize::try_from(number).ok().and_then(|number| types.get(number)) {
        Some(name) => f.write_str(name),
        None => write!(f, "{number}"),
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::NeedBytes(absent) => {
                write!(f, "{}", absent.need)?;
                plural::write(f, absent.need, " bytes are not in memory")?;
                write!(f, ", at offset {}", absent.offset)
            }
            Stop::Invalid(rule) => write!(f, "the file breaks {}", rule.id()),
            Stop::NeedSlots { needed } => {
                write!(f, "{needed}")?;
                plural::write(f, u64::from(*needed), " slots are needed")
            }
            Stop::NeedBuffer { needed } => {
                write!(f, "a buffer of {needed}")?;
                plural::write(f, *needed, " bytes is needed")
            }
        }
    }
}

#[cfg(all(test, feature = "idv", feature = "bintensors", feature = "gguf"))]
mod tests {
    use super::*;
    use crate::format::{bintensors, gguf, idv};
    use crate::rule::{EntryKind, Subject};
    use std::string::ToString as _;

    fn says(rule: Rule, expected: u64, found: u64) -> std::string::String {
        let (kind, part) = (EntryKind::File, Subject::NO_PART);
        Finding { offset: 0, expected, found, len: 0, entry: 0, part, rule, kind }.to_string()
    }

    #[test]
    fn message_shows_numbers_in_their_form() {
        let negative = says(idv::rules::H_ROWS, 0, 10_u64.wrapping_neg());
        assert_eq!(negative, "the row count is negative: -10");
        let negative = says(idv::rules::H_COLS, 0, u64::from(u32::MAX));
        assert_eq!(negative, "the column count is negative: -1");
        let version = says(idv::rules::H_COMPAT_MIN, 0, 0x0001_0001_0001_0003);
        assert!(version.contains("since version 1.1.1.3;"), "{version}");
    }

    #[test]
    fn value_types_have_names() {
        let keys_type = |found| says(gguf::rules::KEYS_TYPE, 4, found);
        assert_eq!(
            keys_type(10),
            "the value or its items are of type uint64; readers take type uint32"
        );
        let texts = says(gguf::rules::KEYS_TEXTS, 8, 12);
        assert_eq!(texts, "the items are of type float64; readers take type string");
        assert!(keys_type(13).contains("of type 13;"));
        // A message that puts a number after "type" does not name it.
        for info in gguf::rules::RULES.iter().filter(|info| info.message.contains("type {")) {
            let named =
                !info.message.contains("type {found}") && !info.message.contains("type {expected}");
            let unknown = ["VALUE-TYPE", "ARRAY-TYPE"].contains(&info.id);
            assert!(named || unknown || info.id.starts_with("DTYPE-"), "{}", info.id);
        }
    }

    #[test]
    fn message_uses_singular_for_one() {
        let bytes = |found| says(bintensors::rules::B1, 0, found);
        assert_eq!(bytes(1), "the data has 1 byte, and the tensors end at 0");
        assert_eq!(bytes(11), "the data has 11 bytes, and the tensors end at 0");
    }
}
