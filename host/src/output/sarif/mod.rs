//! SARIF 2.1.0, for code scanning.
//!
//! Results are written as files are checked, and the rules they refer to afterwards: memory use
//! is bounded by the catalogue of rules.

mod objects;

use super::{Seen, unchecked};
use crate::base::json;
use crate::base::program::TOOL;
use crate::base::text::{Text, hex};
use crate::check::report::{Found, Report, Verdict};
use crate::repository::Examined;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use objects::{
    Artifact, Configuration, Driver, Fingerprints, Help, Invocation, Location, Message, Notice,
    Outcome, Place, Properties, Region, Rule, Suppression, Tool,
};
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};
use weighbridge_core::{Format, Severity};

/// Maximum number of results per run that GitHub accepts.
const MOST: u64 = 25_000;
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A log with one run, written incrementally.
///
/// ```
/// use weighbridge::output::{Seen, sarif};
///
/// # let mut bytes = weighbridge_tests::samples::safetensors();
/// # bytes.pop();
/// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
/// let (mut out, mut log) = (Vec::new(), sarif::Log::default());
/// log.begin(&mut out)?;
/// log.file(&mut out, &"model.safetensors".into(), Seen::Checked(&report, &|_| None))?;
/// log.end(&mut out, true)?;
/// let log: serde_json::Value = serde_json::from_slice(&out)?;
/// assert_eq!(log["runs"][0]["results"][0]["ruleId"], "safetensors/OFFSET-BOUNDS");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Log {
    /// The rules that results refer to, with their positions.
    rules: BTreeMap<String, usize>,
    described: Vec<Rule>,
    results: u64,
    /// Number of results beyond [`MOST`].
    left: u64,
    /// Files that could not be read, up to a bound.
    failures: Vec<Notice>,
}

/// The content of a result.
struct Said<'a> {
    rule: Rule,
    level: &'static str,
    text: String,
    entry: Option<&'a Text>,
    /// Offset and length in bytes.
    place: Option<(u64, u64)>,
}

impl Report {
    /// Returns a SARIF log of this report alone, as `weighbridge check --output sarif` prints
    /// it, but without the reasons why rules are ignored, which a report does not know. A file
    /// without a name is `-`.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let log = report.with_name("model.safetensors").to_sarif();
    /// assert!(log.contains("safetensors/OFFSET-BOUNDS"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn to_sarif(&self) -> String {
        let (mut out, mut log) = (Vec::new(), Log::default());
        let (unnamed, ignored) = (Text::from("-"), self.ignored());
        let why =
            |rule: &str| ignored.iter().any(|it| it.rule == rule).then_some("the rule is ignored");
        // Writing to a vector does not fail.
        let _ = log.begin(&mut out);
        let name = self.name().unwrap_or(&unnamed);
        let _ = log.file(&mut out, name, Seen::Checked(self, &why));
        let _ = log.end(&mut out, true);
        out.pop(); // the line feed
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Log {
    /// Writes the part before the first file.
    ///
    /// ```
    /// use weighbridge::output::sarif;
    ///
    /// let (mut out, mut log) = (Vec::new(), sarif::Log::default());
    /// log.begin(&mut out)?;
    /// assert!(out.starts_with(b"{\"version\":\"2.1.0\""));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `out`.
    pub fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"version\":\"2.1.0\",\"$schema\":\"{SCHEMA}\",\"runs\":[{{\"results\":[")
    }

    /// Writes the results of one file.
    ///
    /// ```
    /// use weighbridge::output::{Seen, sarif};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// let (mut out, mut log) = (Vec::new(), sarif::Log::default());
    /// log.file(&mut out, &"model.safetensors".into(), Seen::Checked(&report, &|_| None))?;
    /// assert!(out.is_empty()); // it is valid
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `out`.
    pub fn file(&mut self, out: &mut dyn Write, name: &Text, seen: Seen<'_>) -> io::Result<()> {
        let (report, why) = match seen {
            Seen::Aside(what) => return self.unsupported(out, name, what),
            Seen::Sorted(examined, verdict, ignored) => {
                return self.sorted(out, name, examined, verdict, ignored);
            }
            Seen::Failed(why) => {
                if (self.failures.len() as u64) < MOST {
                    let text = format!("{name}: {}", Text::from(why));
                    self.failures.push(Notice { level: "error", message: Message { text } });
                }
                return Ok(());
            }
            Seen::Checked(report, why) => (report, why),
        };
        let other = report.diagnosis().filter(|diagnosis| diagnosis.is_other());
        if let (Verdict::Unsupported, Some(other)) = (report.verdict_on_checked(), other) {
            return self.unsupported(out, name, &other.to_string());
        }
        for found in report.findings() {
            let counts = report.counts(found);
            let said = Said {
                rule: of_finding(found),
                level: level(found, counts),
                text: match other {
                    Some(other) => format!("{other}: {}", found.message()),
                    None => found.message(),
                },
                entry: found.entry(),
                place: Some((found.offset(), found.len().into())),
            };
            self.result(out, name, said, why(found.rule()).filter(|_| !counts))?;
        }
        for unchecked in unchecked(report) {
            let said = Said {
                rule: own("NOT-CHECKED", "Part of the file could not be checked"),
                level: "warning",
                text: Text::from(unchecked.why()).to_string(),
                entry: unchecked.entry(),
                place: None,
            };
            self.result(out, name, said, None)?;
        }
        self.left += report.total() - report.findings().len() as u64;
        self.left += report.unchecked_not_listed();
        Ok(())
    }

    /// Writes the part after the last file. `complete`: all files could be read.
    ///
    /// ```
    /// use weighbridge::output::sarif;
    ///
    /// let (mut out, mut log) = (Vec::new(), sarif::Log::default());
    /// log.begin(&mut out)?;
    /// log.end(&mut out, true)?;
    /// let log: serde_json::Value = serde_json::from_slice(&out)?;
    /// assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `out`.
    pub fn end(&mut self, out: &mut dyn Write, complete: bool) -> io::Result<()> {
        let mut notices = core::mem::take(&mut self.failures);
        if self.left > 0 {
            let text = format!("{} more results are not listed here", self.left);
            notices.push(Notice { level: "warning", message: Message { text } });
        }
        let driver = Driver {
            name: TOOL.name,
            version: TOOL.version,
            semantic_version: TOOL.version,
            rules: core::mem::take(&mut self.described),
        };
        out.write_all(b"],\"invocations\":")?;
        let invocation =
            Invocation { execution_successful: complete, tool_execution_notifications: notices };
        json::write(out, &[invocation])?;
        out.write_all(b",\"columnKind\":\"utf16CodeUnits\",\"tool\":")?;
        json::write(out, &Tool { driver })?;
        out.write_all(b"}]}\n")
    }

    /// Writes a result about a file of a repository that is no tensor file.
    fn sorted(
        &mut self,
        out: &mut dyn Write,
        name: &Text,
        examined: &Examined,
        verdict: Verdict,
        ignored: Option<&str>,
    ) -> io::Result<()> {
        if examined.rule.is_none() && verdict != Verdict::Valid {
            return self.unsupported(out, name, &examined.sentence());
        }
        for (i, rule) in examined.rules().filter_map(crate::repository::rule).enumerate() {
            let level = match (verdict, rule.severity) {
                (Verdict::Valid, Severity::Lint) => "note",
                (Verdict::Valid, Severity::Violation) => "warning",
                (Verdict::Valid, _) if ignored.is_none() => continue,
                (Verdict::Valid, _) => "note",
                (Verdict::Invalid, Severity::Lint) if i > 0 => "note",
                (Verdict::Invalid, _) => "error",
                _ => "warning",
            };
            let id = format!("{}/{}", TOOL.name, rule.id);
            let help = rule.why.map_or(String::new(), |why| format!(". {why}."));
            let help = format!("{}{help}", rule.spec);
            let rule = describe(id, rule.message, rule.spec, help, level);
            let text = examined.sentence();
            let said = Said { rule, level, text, entry: None, place: None };
            self.result(out, name, said, ignored)?;
        }
        Ok(())
    }

    fn unsupported(&mut self, out: &mut dyn Write, name: &Text, what: &str) -> io::Result<()> {
        let said = Said {
            rule: own("NOT-READ", "The file is in an unsupported format"),
            level: "warning",
            text: format!("The file was not checked: {what}"),
            entry: None,
            place: None,
        };
        self.result(out, name, said, None)
    }

    fn result(
        &mut self,
        out: &mut dyn Write,
        name: &Text,
        said: Said<'_>,
        suppressed: Option<&str>,
    ) -> io::Result<()> {
        if self.results == MOST {
            self.left += 1;
            return Ok(());
        }
        let Said { rule, level, text, entry, place } = said;
        let id = rule.id.clone();
        let uri = uri(name);
        let next = self.rules.len();
        let index = *self.rules.entry(id.clone()).or_insert(next);
        if index == next {
            self.described.push(rule);
        }
        let text = match entry {
            Some(entry) => format!("\"{entry}\": {text}"),
            None => text,
        };
        let mut fingerprint = Sha256::new();
        let at = place.map(|(offset, _)| offset.to_string()).unwrap_or_default();
        for part in
            [uri.as_bytes(), id.as_bytes(), entry.map_or(b"", Text::as_bytes), at.as_bytes()]
        {
            fingerprint.update((part.len() as u64).to_le_bytes());
            fingerprint.update(part);
        }
        let fingerprint = hex(&fingerprint.finalize()[..8]);
        let region = Region {
            start_line: 1,
            byte_offset: place.map(|(offset, _)| offset),
            byte_length: place.map(|(_, len)| len),
        };
        let place = Place { artifact_location: Artifact { uri: &uri }, region };
        let result = Outcome {
            rule_id: &id,
            rule_index: index,
            level,
            message: Message { text },
            locations: [Location { physical_location: place }],
            partial_fingerprints: Fingerprints {
                primary_location_line_hash: format!("{fingerprint}:1"),
            },
            suppressions: suppressed
                .map(|justification| [Suppression { kind: "external", justification }]),
        };
        if self.results > 0 {
            out.write_all(b",")?;
        }
        self.results += 1;
        json::write(out, &result)
    }
}

/// The SARIF level of a finding.
fn level(found: &Found, counts: bool) -> &'static str {
    match found.severity() {
        _ if counts => "error",
        Severity::Fatal | Severity::Violation => "warning",
        Severity::Lint | Severity::Unchecked => "note",
    }
}

/// The rule of a finding, as a run describes it.
fn of_finding(found: &Found) -> Rule {
    let rule = found.finding().rule;
    let info = rule.info();
    let format = rule.format();
    let id = format!("{}/{}", format.map_or(TOOL.name, Format::name), info.id);
    let title = match format {
        Some(format) => format!("{} ({})", info.id, format.title()),
        None => info.id.to_owned(),
    };
    let level = match info.severity {
        Severity::Fatal | Severity::Violation => "error",
        _ => "note",
    };
    let help = format!(
        "{}.\n\nSeverity: {}. `weighbridge explain {}` gives details.",
        info.spec,
        info.severity.name(),
        info.id
    );
    let mut described = describe(id, &title, info.spec, help, level);
    described.properties.tags.push(info.severity.name());
    described.help_uri = format.and_then(specification);
    described
}

/// A rule of the command itself, for a result that is not a breach.
fn own(id: &str, text: &str) -> Rule {
    let id = format!("{}/{id}", TOOL.name);
    let help = format!("{text}. A strict gate rejects the file; the exit status is 3.");
    describe(id, text, text, help, "warning")
}

fn describe(id: String, title: &str, text: &str, help: String, level: &'static str) -> Rule {
    Rule {
        name: id.rsplit('/').next().unwrap_or_default().to_owned(),
        id,
        short_description: title.into(),
        full_description: text.into(),
        help: Help { text: help.clone(), markdown: help },
        default_configuration: Configuration { level },
        properties: Properties { tags: alloc::vec!["security"], precision: "very-high" },
        help_uri: None,
    }
}

/// The address of a format's specification, if it has a page of its own.
fn specification(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Safetensors => "https://github.com/huggingface/safetensors#format",
        Format::Shards => "https://huggingface.co/docs/transformers/big_models",
        Format::Gguf => "https://github.com/ggml-org/ggml/blob/master/docs/gguf.md",
        Format::BinTensors => "https://github.com/GnosisFoundation/bintensors",
        _ => return None,
    })
}

/// Converts a path to a relative reference, or to a `file` URI if it is absolute. If it is a
/// URI already, only characters that no URI may contain are escaped.
fn uri(name: &Text) -> String {
    let mut out = String::new();
    let (mut bytes, mut is_uri) = (name.as_bytes(), false);
    bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
    if let Some((scheme, rest)) = name.as_str().and_then(|name| name.split_once("://"))
        && scheme.len() > 1
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    {
        out.extend([scheme, "://"]);
        (bytes, is_uri) = (rest.as_bytes(), true);
    } else if bytes.starts_with(b"/") {
        out.push_str("file://");
    } else if cfg!(windows) && bytes.get(1) == Some(&b':') {
        out.push_str("file:///");
    }
    let escapes = |at: usize| {
        let digits = bytes.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(*byte));
            }
            b':' | b'@' | b'?' | b'=' | b'&' | b'+' if is_uri => out.push(char::from(*byte)),
            b'%' if is_uri && escapes(at) => out.push('%'),
            b'\\' if cfg!(windows) => out.push('/'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge_core::general;

    #[test]
    fn sarif_paths_are_uris() {
        let of = |path: &[u8]| uri(&Text::from(path.to_vec()));
        assert_eq!(of(b"./a b/c#d?.gguf"), "a%20b/c%23d%3F.gguf");
        assert_eq!(of(b"/tmp/\xE9\n%.stb"), "file:///tmp/%E9%0A%25.stb");
        assert_eq!(of("重.gguf".as_bytes()), "%E9%87%8D.gguf");
        assert_eq!(of(b"a:b"), "a%3Ab");
        assert_eq!(of(b"s3://bucket/a b/c:d"), "s3://bucket/a%20b/c:d");
        let url = "https://me@host:8080/a%20b/c.gguf?download=true&v=1+2";
        assert_eq!(of(url.as_bytes()), url);
        assert_eq!(of(b"s3://bucket/100%.gguf#%4"), "s3://bucket/100%25.gguf%23%254");
        assert_eq!(of(b"/a://b"), "file:///a%3A//b");
    }

    #[test]
    fn sarif_links_only_documented_formats() {
        let with: Vec<_> = Format::ALL.iter().filter(|it| specification(**it).is_some()).collect();
        assert!(with.len() >= 4);
        assert!(general::RULES.iter().all(|rule| !rule.spec.is_empty()));
    }
}
