//! SARIF 2.1.0, as code scanning reads it.
//!
//! Results are written as files are checked, and the rules that they name after them: what
//! is kept in memory is bounded by the catalogue.

use super::{Context, Done, Seen};
use crate::json::{self, TOOL};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::text::hex;
use weighbridge::{Format, Found, Severity, Text};

/// The most results of a run that GitHub takes.
const MOST: u64 = 25_000;
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A run that is being written.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The rules that results name, with their positions.
    rules: BTreeMap<String, usize>,
    described: Vec<Value>,
    results: u64,
    /// Results beyond [`MOST`].
    left: u64,
    /// What could not be read, up to a bound.
    failures: Vec<Value>,
}

/// What a result says.
struct Said<'a> {
    rule: Value,
    level: &'static str,
    text: String,
    entry: Option<&'a Text>,
    /// Offset and length in bytes.
    place: Option<(u64, u64)>,
}

impl Log {
    pub(super) fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"version\":\"2.1.0\",\"$schema\":\"{SCHEMA}\",\"runs\":[{{\"results\":[")
    }

    pub(super) fn file(
        &mut self,
        out: &mut dyn Write,
        done: &Done,
        context: &Context,
    ) -> io::Result<()> {
        let file = &done.file;
        match &done.seen {
            Seen::Skipped | Seen::Before(_) => Ok(()),
            Seen::Aside(what) => self.unsupported(out, file, what),
            Seen::Failed(why) => {
                if (self.failures.len() as u64) < MOST {
                    let text = format!("{file}: {}", Text::from(why.as_str()));
                    self.failures.push(json!({"level": "error", "message": {"text": text}}));
                }
                Ok(())
            }
            Seen::Checked(checked) => {
                let report = &checked.report;
                let verdict = report.verdict_on_checked();
                let other = report.diagnosis().filter(|diagnosis| diagnosis.is_other());
                if let (weighbridge::Verdict::Unsupported, Some(other)) = (verdict, other) {
                    return self.unsupported(out, file, &other.to_string());
                }
                for found in report.findings() {
                    let ignored = context.rules.why(found.rule()).filter(|_| !report.counts(found));
                    let suppressed = ignored.map(|ignored| ignored.reason.as_str());
                    let said = Said {
                        rule: of_finding(found),
                        level: level(found, report.counts(found)),
                        text: match other {
                            Some(other) => format!("{other}: {}", found.message()),
                            None => found.message(),
                        },
                        entry: found.entry(),
                        place: Some((found.offset(), found.len().into())),
                    };
                    self.result(out, file, said, suppressed)?;
                }
                for unchecked in super::unchecked(report) {
                    let said = Said {
                        rule: own("NOT-CHECKED", "Something of the file could not be checked"),
                        level: "warning",
                        text: Text::from(unchecked.why()).to_string(),
                        entry: unchecked.entry(),
                        place: None,
                    };
                    self.result(out, file, said, None)?;
                }
                self.left += report.total() - report.findings().len() as u64;
                self.left += report.unchecked_not_listed();
                Ok(())
            }
        }
    }

    fn unsupported(&mut self, out: &mut dyn Write, file: &Text, what: &str) -> io::Result<()> {
        let said = Said {
            rule: own("NOT-READ", "The file is of a format that is not read"),
            level: "warning",
            text: format!("The file was not checked: {what}"),
            entry: None,
            place: None,
        };
        self.result(out, file, said, None)
    }

    fn result(
        &mut self,
        out: &mut dyn Write,
        file: &Text,
        said: Said<'_>,
        suppressed: Option<&str>,
    ) -> io::Result<()> {
        if self.results == MOST {
            self.left += 1;
            return Ok(());
        }
        let Said { rule, level, text, entry, place } = said;
        let id = rule["id"].as_str().unwrap_or_default().to_owned();
        let uri = uri(file);
        let next = self.rules.len();
        let index = *self.rules.entry(id.clone()).or_insert(next);
        if index == next {
            self.described.push(rule);
        }
        let text = match entry {
            Some(entry) => format!("\"{entry}\": {text}"),
            None => text,
        };
        let mut region = json!({"startLine": 1});
        if let Some((offset, len)) = place {
            region["byteOffset"] = offset.into();
            region["byteLength"] = len.into();
        }
        let mut fingerprint = Sha256::new();
        let at = place.map(|(offset, _)| offset.to_string()).unwrap_or_default();
        for part in
            [uri.as_bytes(), id.as_bytes(), entry.map_or(b"", Text::as_bytes), at.as_bytes()]
        {
            fingerprint.update((part.len() as u64).to_le_bytes());
            fingerprint.update(part);
        }
        let fingerprint = hex(&fingerprint.finalize()[..8]);
        let mut result = json!({
            "ruleId": id,
            "ruleIndex": index,
            "level": level,
            "message": {"text": text},
            "locations": [{
                "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region},
            }],
            "partialFingerprints": {"primaryLocationLineHash": format!("{fingerprint}:1")},
        });
        if let Some(reason) = suppressed {
            result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
        }
        if self.results > 0 {
            out.write_all(b",")?;
        }
        self.results += 1;
        json::write(out, &result)
    }

    pub(super) fn end(&mut self, out: &mut dyn Write, successful: bool) -> io::Result<()> {
        let mut notices = std::mem::take(&mut self.failures);
        if self.left > 0 {
            let text = format!("{} more results are not listed here", self.left);
            notices.push(json!({"level": "warning", "message": {"text": text}}));
        }
        let invocation =
            json!([{"executionSuccessful": successful, "toolExecutionNotifications": notices}]);
        let driver = json!({
            "name": TOOL.name,
            "version": TOOL.version,
            "semanticVersion": TOOL.version,
            "rules": std::mem::take(&mut self.described),
        });
        out.write_all(b"],\"invocations\":")?;
        json::write(out, &invocation)?;
        out.write_all(b",\"columnKind\":\"utf16CodeUnits\",\"tool\":")?;
        json::write(out, &json!({"driver": driver}))?;
        out.write_all(b"}]}\n")
    }
}

/// How much a finding weighs.
fn level(found: &Found, counts: bool) -> &'static str {
    match found.severity() {
        _ if counts => "error",
        Severity::Fatal | Severity::Violation => "warning",
        Severity::Lint | Severity::Unchecked => "note",
    }
}

/// The rule of a finding, as a run describes it.
fn of_finding(found: &Found) -> Value {
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
        "{}.\n\nSeverity: {}. `weighbridge explain {}` says more.",
        info.spec,
        info.severity.name(),
        info.id
    );
    let mut described = describe(&id, &title, info.spec, &help, level);
    described["properties"]["tags"] = json!(["security", info.severity.name()]);
    if let Some(address) = format.and_then(specification) {
        described["helpUri"] = address.into();
    }
    described
}

/// A rule of the command itself, for what is no breach.
fn own(id: &str, text: &str) -> Value {
    let id = format!("{}/{id}", TOOL.name);
    let help = format!("{text}. A gate that has to be sure refuses it; the exit status is 3.");
    describe(&id, text, text, &help, "warning")
}

fn describe(id: &str, title: &str, text: &str, help: &str, level: &str) -> Value {
    json!({
        "id": id,
        "name": id.rsplit('/').next(),
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "help": {"text": help, "markdown": help},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["security"], "precision": "very-high"},
    })
}

/// Where the specification of a format is published, if it is on a page of its own.
fn specification(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Safetensors => "https://github.com/huggingface/safetensors#format",
        Format::Shards => "https://huggingface.co/docs/transformers/big_models",
        Format::Gguf => "https://github.com/ggml-org/ggml/blob/master/docs/gguf.md",
        Format::BinTensors => "https://github.com/GnosisFoundation/bintensors",
        _ => return None,
    })
}

/// A path as a relative reference, or as a URI of the scheme `file` if it is absolute.
fn uri(path: &Text) -> String {
    let mut out = String::new();
    let bytes = path.as_bytes();
    let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
    if bytes.starts_with(b"/") {
        out.push_str("file://");
    } else if cfg!(windows) && bytes.get(1) == Some(&b':') {
        out.push_str("file:///");
    }
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => out.push('/'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge::core::general;

    #[test]
    fn paths_are_uris() {
        let of = |path: &[u8]| uri(&Text::from(path.to_vec()));
        assert_eq!(of(b"./a b/c#d?.gguf"), "a%20b/c%23d%3F.gguf");
        assert_eq!(of(b"/tmp/\xE9\n%.stb"), "file:///tmp/%E9%0A%25.stb");
        assert_eq!(of("重.gguf".as_bytes()), "%E9%87%8D.gguf");
        assert_eq!(of(b"a:b"), "a%3Ab");
    }

    #[test]
    fn addresses_are_of_formats_that_have_one() {
        let with: Vec<_> = Format::ALL.iter().filter(|it| specification(**it).is_some()).collect();
        assert!(with.len() >= 4);
        assert!(general::RULES.iter().all(|rule| !rule.spec.is_empty()));
    }
}
