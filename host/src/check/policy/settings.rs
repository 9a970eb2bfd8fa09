//! Reads the keys of `weighbridge.toml`, and says which of them is wrong.

use super::{Date, Depth, Ignore, Limits, Policy, ProfileName};
use crate::base::text::Text;
use std::format;
use std::prelude::rust_2024::*;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: &str = "profile, depth, deny, select, ignore, include, exclude, skip-unknown, \
                    allow-code, allow-global, follow-links and limits";
const LIMITS: &str = "work, memory and buffer";
const IGNORE: &str = "rule, reason and until";
/// Number of characters of a wrong value that a message shows.
const SHOWN: usize = 40;

/// Parses the text of a policy file.
///
/// # Errors
/// A message with the line.
pub(super) fn read(text: &str) -> Result<Policy, String> {
    let document = DeTable::parse(text).map_err(|err| {
        let span = err.span().unwrap_or_default();
        let near = text.get(span.clone()).unwrap_or_default().trim();
        let near = if near.is_empty() { String::new() } else { format!(": {}", start_of(near)) };
        at_line(text, span.start, &format!("{}{near}", err.message()))
    })?;
    let mut policy = Policy::default();
    for entry in entries(text, "", document.get_ref()) {
        match entry.key {
            "profile" => {
                let known = [("strict", ProfileName::Strict), ("lenient", ProfileName::Lenient)];
                policy.profile = entry.choice(known)?;
            }
            "depth" => {
                let known = [("structure", Depth::Structure), ("payloads", Depth::Payloads)];
                policy.depth = entry.choice(known)?;
            }
            "deny" => policy.deny = entry.strings()?,
            "allow-global" => policy.allow_global = entry.strings()?,
            "select" => policy.select = Some(entry.strings()?),
            "include" => policy.include = entry.strings()?,
            "exclude" => policy.exclude = entry.strings()?,
            "skip-unknown" => policy.skip_unknown = entry.boolean()?,
            "allow-code" => policy.allow_code = entry.boolean()?,
            "follow-links" => policy.follow_links = entry.boolean()?,
            "limits" => policy.limits = limits(&entry)?,
            "ignore" => {
                let tables = entry.items("an array of tables, [[ignore]]")?;
                policy.ignore = tables.iter().map(ignore).collect::<Result<_, _>>()?;
            }
            _ => return Err(entry.unknown(KEYS)),
        }
    }
    Ok(policy)
}

fn limits(table: &Entry<'_>) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for entry in table.table("a table")? {
        match entry.key {
            "work" => limits.work = Some(entry.number()?),
            "memory" => limits.memory = Some(entry.number()?),
            "buffer" => limits.buffer = Some(entry.number()?),
            _ => return Err(entry.unknown(LIMITS)),
        }
    }
    Ok(limits)
}

fn ignore(table: &Entry<'_>) -> Result<Ignore, String> {
    let (mut rule, mut reason, mut until) = (None, None, None);
    for entry in table.table("a table, [[ignore]]")? {
        match entry.key {
            "rule" => rule = Some(entry.string()?),
            "reason" => reason = Some(entry.string()?),
            "until" => until = Some(entry.date()?),
            _ => return Err(entry.unknown(IGNORE)),
        }
    }
    let missing = |key: &str| table.wrong(&format!("[[ignore]] has no {key}; it needs {IGNORE}"));
    Ok(Ignore {
        rule: rule.ok_or_else(|| missing("rule"))?,
        reason: reason.ok_or_else(|| missing("reason"))?,
        until: until.ok_or_else(|| missing("until"))?,
    })
}

/// A key with its value, or an item of an array.
struct Entry<'t> {
    /// The whole file.
    text: &'t str,
    /// Where messages say that it is.
    offset: usize,
    /// The key of the table that it is in; empty for none.
    parent: &'t str,
    /// Its key; empty for an item.
    key: &'t str,
    value: &'t DeValue<'t>,
}

/// The entries of a table, in the order of the file.
fn entries<'t>(text: &'t str, parent: &'t str, table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    let entry = |(key, value): (&'t Spanned<_>, &'t Spanned<_>)| {
        let name: &std::borrow::Cow<'t, str> = key.get_ref();
        Entry { text, offset: key.span().start, parent, key: name, value: value.get_ref() }
    };
    let mut found: Vec<_> = table.iter().map(entry).collect();
    found.sort_by_key(|entry| entry.offset);
    found
}

impl<'t> Entry<'t> {
    fn string(&self) -> Result<String, String> {
        match self.value {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            _ => Err(self.must_be("a string")),
        }
    }

    fn strings(&self) -> Result<Vec<String>, String> {
        self.items("an array of strings")?.iter().map(Entry::string).collect()
    }

    fn boolean(&self) -> Result<bool, String> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.must_be("true or false")),
        }
    }

    fn number(&self) -> Result<u64, String> {
        let number = match self.value {
            DeValue::Integer(value) => u64::from_str_radix(value.as_str(), value.radix()).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.must_be("a whole number from 0 to 2^64 - 1"))
    }

    fn date(&self) -> Result<Date, String> {
        let date = match self.value {
            DeValue::Datetime(value) if value.time.is_none() => value.date,
            _ => None,
        };
        let date = date.map(|date| Date::new(date.year, date.month, date.day));
        date.ok_or_else(|| self.must_be("a date such as 2030-12-31, without quotes or a time"))
    }

    fn choice<T: Copy>(&self, known: [(&str, T); 2]) -> Result<T, String> {
        let found = match self.value {
            DeValue::String(text) => known.into_iter().find(|(name, _)| name == text),
            _ => None,
        };
        let [(one, _), (other, _)] = known;
        let found = found.map(|(_, value)| value);
        found.ok_or_else(|| self.must_be(&format!("\"{one}\" or \"{other}\"")))
    }

    /// The items of an array.
    fn items(&self, what: &str) -> Result<Vec<Entry<'t>>, String> {
        let DeValue::Array(items) = self.value else { return Err(self.must_be(what)) };
        let item = |item: &'t Spanned<DeValue<'t>>| {
            let (offset, value) = (item.span().start, item.get_ref());
            Entry { text: self.text, offset, parent: self.key, key: "", value }
        };
        Ok(items.iter().map(item).collect())
    }

    /// The entries of a table.
    fn table(&self, what: &str) -> Result<Vec<Entry<'t>>, String> {
        let DeValue::Table(table) = self.value else { return Err(self.must_be(what)) };
        let name = if self.key.is_empty() { self.parent } else { self.key };
        Ok(entries(self.text, name, table))
    }

    fn must_be(&self, what: &str) -> String {
        let found = match self.value {
            DeValue::String(text) => format!("\"{}\"", start_of(text)),
            DeValue::Integer(value) => start_of(&format!("{value}")),
            DeValue::Float(value) => start_of(value.as_str()),
            DeValue::Boolean(value) => format!("{value}"),
            DeValue::Datetime(value) => format!("{value}"),
            DeValue::Array(_) => String::from("an array"),
            DeValue::Table(_) => String::from("a table"),
        };
        self.wrong(&format!("{} must be {what}, not {found}", self.name()))
    }

    fn unknown(&self, known: &str) -> String {
        let of = if self.parent.is_empty() { "" } else { " in " };
        let name = start_of(self.key);
        self.wrong(&format!("unknown key {name}{of}{}; the keys are {known}", self.parent))
    }

    fn wrong(&self, what: &str) -> String {
        at_line(self.text, self.offset, what)
    }

    /// What messages call the value.
    fn name(&self) -> String {
        match (self.parent, self.key) {
            ("", key) => key.to_owned(),
            (parent, "") => format!("each item of {parent}"),
            (parent, key) => format!("{parent}.{key}"),
        }
    }
}

/// A message with the line of an offset.
fn at_line(text: &str, offset: usize, what: &str) -> String {
    let before = text.get(..offset).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, Text::from(what))
}

/// The beginning of a text, with a mark if it was cut.
fn start_of(text: &str) -> String {
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read(text).map(|_| ()).expect_err(text)
    }

    #[test]
    fn wrong_value_is_shown_with_key_and_expectation() {
        let number = "must be a whole number from 0 to 2^64 - 1, not";
        let date =
            "line 2: ignore.until must be a date such as 2030-12-31, without quotes or a time";
        for (text, message) in [
            ("profile = 3", "line 1: profile must be \"strict\" or \"lenient\", not 3"),
            ("profile = \"x\"", "line 1: profile must be \"strict\" or \"lenient\", not \"x\""),
            ("depth = []", "line 1: depth must be \"structure\" or \"payloads\", not an array"),
            ("[profile]\na = 1", "line 1: profile must be \"strict\" or \"lenient\", not a table"),
            ("deny = \"lint\"", "line 1: deny must be an array of strings, not \"lint\""),
            ("deny = [\"lint\",\n 1.5]", "line 2: each item of deny must be a string, not 1.5"),
            ("skip-unknown = 0x1F", "line 1: skip-unknown must be true or false, not 0x1F"),
            ("limits = true", "line 1: limits must be a table, not true"),
            ("[limits]\n\nwork = \"a\"", &format!("line 3: limits.work {number} \"a\"")),
            ("limits.memory = -1", &format!("line 1: limits.memory {number} -1")),
            (
                "[ignore]\nrule = \"GAP\"",
                "line 1: ignore must be an array of tables, [[ignore]], not a table",
            ),
            ("ignore = [3]", "line 1: each item of ignore must be a table, [[ignore]], not 3"),
            ("[[ignore]]\nrule = 3", "line 2: ignore.rule must be a string, not 3"),
            ("[[ignore]]\nuntil = \"2030-12-31\"", &format!("{date}, not \"2030-12-31\"")),
            (
                "[[ignore]]\nuntil = 2030-12-31T10:00:00Z",
                &format!("{date}, not 2030-12-31T10:00:00Z"),
            ),
            (
                "\n[[ignore]]\nrule = \"GAP\"",
                "line 2: [[ignore]] has no reason; it needs rule, reason and until",
            ),
        ] {
            assert_eq!(refused(text), message);
        }
    }

    #[test]
    fn unknown_key_lists_known_keys() {
        for (text, message) in [
            ("profil = 1", format!("line 1: unknown key profil; the keys are {KEYS}")),
            (
                "[limits]\nwrok = 1",
                format!("line 2: unknown key wrok in limits; the keys are {LIMITS}"),
            ),
            (
                "[[ignore]]\nid = 1",
                format!("line 2: unknown key id in ignore; the keys are {IGNORE}"),
            ),
        ] {
            assert_eq!(refused(text), message);
        }
        for key in KEYS.replace(" and", ",").split(", ") {
            let message = read(&format!("{key} = 1979-05-27")).map(|_| ()).expect_err(key);
            assert!(message.starts_with(&format!("line 1: {key} must be ")), "{message}");
        }
    }

    #[test]
    fn first_settings_fault_is_one_line() {
        assert!(refused("limits = 1\nbad = 2").starts_with("line 1: limits"));
        let message = refused(&format!("\"a\\nb\\u202E{}\" = 1", "c".repeat(100)));
        let start = format!("line 1: unknown key a\\u{{a}}b\\u{{202e}}{}…;", "c".repeat(36));
        assert!(message.starts_with(&start), "{message}");
        assert_eq!(refused("deny = []\ndeny = []"), "line 2: duplicate key: deny");
        for text in ["profile = ", "[limits", "a b", "\u{feff}=", "[[ignore]]\nuntil = 2020-13-45"]
        {
            let message = refused(text);
            assert!(message.starts_with("line ") && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn numbers_are_as_in_toml() {
        let limits = read("limits = {work = 0x10, memory = 1_000, buffer = +7}").expect("sound");
        let Limits { work, memory, buffer } = limits.limits;
        assert_eq!([work, memory, buffer], [Some(16), Some(1_000), Some(7)]);
    }
}
