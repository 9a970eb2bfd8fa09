//! Serialises reports: the object of `weighbridge check --json`. The names and order of its
//! members are part of the interface.

use super::{Found, Report, Unchecked};
use crate::base::program::TOOL;
use crate::base::text::Text;
use alloc::string::{String, ToString as _};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The schema of a report, `docs/schema/check-1.json` in the repository. Members may be added;
/// existing ones keep their meaning.
pub const SCHEMA_CHECK: &str = "weighbridge/check-1";

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.write_head(&mut map)?;
        if let Some(other) = self.diagnosis.as_ref().filter(|it| it.is_other()) {
            map.serialize_entry("diagnosis", &other.to_string())?;
        }
        map.serialize_entry("checked", self.checked)?;
        map.serialize_entry("unchecked", &self.unchecked)?;
        map.serialize_entry("findings", &self.findings)?;
        let counts = self.findings_not_listed();
        if !counts.is_empty() {
            map.serialize_entry("findings_not_listed", &counts)?;
        }
        if self.unchecked_more > 0 {
            map.serialize_entry("unchecked_not_listed", &self.unchecked_more)?;
        }
        map.serialize_entry("schema", SCHEMA_CHECK)?;
        map.serialize_entry("tool", &TOOL)?;
        map.end()
    }
}

impl Report {
    /// Writes the members that the objects of several commands start with.
    pub(crate) fn write_head<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("file", &self.name.as_ref().map(Text::lossy))?;
        if let Some(hex) = self.name.as_ref().and_then(Text::hex) {
            map.serialize_entry("file_hex", &hex)?;
        }
        map.serialize_entry("format", &self.format.map(|format| format.name()))?;
        map.serialize_entry("version", &self.version().map(|version| version.to_string()))?;
        map.serialize_entry("size", &self.size)?;
        map.serialize_entry("verdict", self.verdict_on_checked().name())
    }

    /// The line that `weighbridge check --json` prints: serialised, with control characters and
    /// other hidden characters as `\u` escapes.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let json = weighbridge::check(&bytes)?.to_json();
    /// assert!(json.contains(r#""verdict":"valid""#));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn to_json(&self) -> String {
        let mut out = alloc::vec::Vec::new();
        // Writing to a vector does not fail, and all keys are strings.
        let _ = crate::base::json::write(&mut out, self);
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Serialize for Unchecked {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("entry", &self.entry().map(|entry| entry.lossy()))?;
        if let Some(hex) = self.entry().and_then(|entry| entry.hex()) {
            map.serialize_entry("entry_hex", &hex)?;
        }
        map.serialize_entry("why", &self.why)?;
        map.end()
    }
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let info = self.finding.rule.info();
        // A rule whose message contains no number has no numbers.
        let counts = info.message.contains('{') && !info.message.contains("{quoted}");
        let number = |name: &str, value: u64| counts.then(|| Number::of(info.message, name, value));
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("rule", info.id)?;
        map.serialize_entry("severity", self.severity().name())?;
        map.serialize_entry("offset", &self.offset())?;
        map.serialize_entry("len", &self.len())?;
        map.serialize_entry("entry", &self.entry().map(|entry| entry.lossy()))?;
        if let Some(hex) = self.entry().and_then(|entry| entry.hex()) {
            map.serialize_entry("entry_hex", &hex)?;
        }
        map.serialize_entry("expected", &number("expected", self.finding.expected))?;
        map.serialize_entry("found", &number("found", self.finding.found))?;
        map.serialize_entry("message", &self.message())?;
        map.serialize_entry("spec", info.spec)?;
        map.end()
    }
}

/// A number of a finding, in the form used in its message.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Signed(i64),
    Text(String),
}

impl Number {
    /// The number for the placeholder `name` in a message.
    fn of(message: &str, name: &str, value: u64) -> Number {
        let is = |form: &str| message.contains(&alloc::format!("{{{name}:{form}}}"));
        if is("i") {
            Number::Signed(value.cast_signed())
        } else if is("i32") {
            Number::Signed((value as u32).cast_signed().into())
        } else if is("v") {
            Number::Text(weighbridge_core::Version::of_number(value).to_string())
        } else {
            Number::Plain(value)
        }
    }
}
