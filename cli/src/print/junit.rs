//! XML as of JUnit: a suite with one test case for each file, so that each states its counts
//! before the next file is checked.

use super::{Context, Done, Seen};
use std::fmt::Write as _;
use std::io::{self, Write};
use weighbridge::{Text, Verdict};

/// The most findings of one file.
const MOST: usize = 100;

pub(super) fn begin(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"weighbridge\">\n",
    )
}

pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</testsuites>\n")
}

/// Writes the suite of one file. What was not checked has failed: nothing is known of it.
pub(super) fn file(out: &mut dyn Write, done: &Done, context: &Context) -> io::Result<()> {
    let file = escape(&done.file.to_string());
    let (verdict, message, text) = match &done.seen {
        Seen::Skipped | Seen::Before(_) => return Ok(()),
        Seen::Failed(why) => ("error", Text::from(why.as_str()).to_string(), String::new()),
        Seen::Aside(what) => (Verdict::Unsupported.name(), (*what).to_owned(), String::new()),
        Seen::Checked(checked) => {
            let report = &checked.report;
            let verdict = report.verdict(context.profile);
            let mut text = String::new();
            // Writing to a string does not fail.
            for found in report.findings().iter().take(MOST) {
                let entry = found.entry().map(|entry| format!(" \"{entry}\"")).unwrap_or_default();
                let (severity, rule) = (found.severity().name(), found.rule());
                let ignored = context.rules.why(rule).filter(|_| !report.counts(found));
                let ignored = ignored.map(|it| format!(" (ignored: {})", it.reason));
                let ignored = ignored.unwrap_or_default();
                let (message, offset) = (found.message(), found.offset());
                let _ = writeln!(text, "{severity} {rule}{entry} at {offset}: {message}{ignored}");
            }
            let beyond = report.total() - report.findings().len().min(MOST) as u64;
            if beyond > 0 {
                let _ = writeln!(text, "and {beyond} more");
            }
            for unchecked in super::unchecked(report).take(MOST) {
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

/// A text as XML 1.0 has it, which knows no control characters.
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
            c if weighbridge::core::is_hidden(c) => {
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
    fn no_text_is_markup() {
        assert_eq!(escape("a<b>&\"\u{0}\u{FFFF}\n"), "a&lt;b&gt;&amp;&quot;\\u{0}\u{FFFD}\n");
    }
}
