//! JUnit XML: a suite with one test case per file, so that each states its counts before the
//! next file is checked.

use super::{Seen, unchecked, verdict};
use crate::base::text::Text;
use crate::check::report::Verdict;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt::Write as _;
use std::io::{self, Write};

/// Maximum number of findings listed per file.
const MOST: usize = 100;

/// Writes the part before the first file.
///
/// ```
/// use weighbridge::output::junit;
///
/// let mut out = Vec::new();
/// junit::begin(&mut out)?;
/// assert!(out.starts_with(b"<?xml "));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Errors from `out`.
pub fn begin(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"weighbridge\">\n",
    )
}

/// Writes the part after the last file.
///
/// ```
/// use weighbridge::output::junit;
///
/// let mut out = Vec::new();
/// junit::end(&mut out)?;
/// assert_eq!(out, b"</testsuites>\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Errors from `out`.
pub fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</testsuites>\n")
}

/// Writes the suite of one file. A file that was not checked has failed, because nothing is
/// known about it.
///
/// ```
/// use weighbridge::output::{Seen, junit};
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = weighbridge::check(&bytes)?;
/// let mut out = Vec::new();
/// junit::file(&mut out, &"model.safetensors".into(), Seen::Checked(&report, &|_| None))?;
/// let suite = "<testsuite name=\"model.safetensors\" tests=\"1\" failures=\"0\"";
/// assert!(out.starts_with(suite.as_bytes()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors from `out`.
pub fn file(out: &mut dyn Write, name: &Text, seen: Seen<'_>) -> io::Result<()> {
    let file = escape(&name.to_string());
    let (verdict, message, text) = match seen {
        Seen::Failed(why) => ("error", Text::from(why).to_string(), String::new()),
        Seen::Sorted(examined, verdict, _) => (verdict.name(), examined.sentence(), String::new()),
        Seen::Aside(what) => (Verdict::Unsupported.name(), what.to_owned(), String::new()),
        Seen::Checked(report, why) => {
            let verdict = verdict(report);
            let mut text = String::new();
            // Writing to a string does not fail.
            for found in report.findings().iter().take(MOST) {
                let entry = found.entry().map(|entry| format!(" \"{entry}\"")).unwrap_or_default();
                let (severity, rule) = (found.severity().name(), found.rule());
                let ignored = why(rule).filter(|_| !report.counts(found));
                let ignored = ignored.map(|reason| format!(" (ignored: {reason})"));
                let ignored = ignored.unwrap_or_default();
                let (message, offset) = (found.message(), found.offset());
                let _ = writeln!(text, "{severity} {rule}{entry} at {offset}: {message}{ignored}");
            }
            let beyond = report.total() - report.findings().len().min(MOST) as u64;
            if beyond > 0 {
                let _ = writeln!(text, "and {beyond} more");
            }
            for unchecked in unchecked(report).take(MOST) {
                let entry =
                    unchecked.entry().map(|entry| format!(" \"{entry}\"")).unwrap_or_default();
                let _ = writeln!(text, "unchecked{entry}: {}", unchecked.why());
            }
            let diagnosis = report.diagnosis().map(|diagnosis| diagnosis.to_string());
            (verdict.name(), diagnosis.unwrap_or_else(|| verdict.name().to_owned()), text)
        }
    };
    let (failures, errors) = match verdict {
        "valid" => (0, 0),
        "error" => (0, 1),
        _ => (1, 0),
    };
    write!(
        out,
        "<testsuite name=\"{file}\" tests=\"1\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"0\"><testcase classname=\"weighbridge\" name=\"{file}\""
    )?;
    let text = escape(&text);
    match (failures, errors) {
        (0, 0) if text.is_empty() => out.write_all(b"/>")?,
        (0, 0) => write!(out, "><system-out>{text}</system-out></testcase>")?,
        (_, errors) => {
            let tag = if errors > 0 { "error" } else { "failure" };
            let message = escape(&message);
            write!(
                out,
                "><{tag} type=\"{verdict}\" message=\"{message}\">{text}</{tag}></testcase>"
            )?;
        }
    }
    out.write_all(b"</testsuite>\n")
}

/// Escapes a text for XML 1.0, which allows no control characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push(c),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if weighbridge_core::is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_text_is_escaped() {
        assert_eq!(escape("a<b>&\"\u{0}\u{FFFF}\n"), "a&lt;b&gt;&amp;&quot;\\u{0}\u{FFFD}\n");
    }
}
