//! GitHub Actions annotations.

use super::{Seen, ignored, unchecked, verdict};
use crate::base::text::Text;
use crate::check::report::{Found, Verdict};
use crate::repository::{Class, Examined};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::io::{self, Write};
use weighbridge_core::Severity;

/// Maximum number of annotations per file: the page shows ten per step.
const MOST: usize = 10;

/// Writes the findings of one file, one workflow command per line.
///
/// ```
/// use weighbridge::output::{Seen, github};
///
/// # let mut bytes = weighbridge_tests::samples::safetensors();
/// # bytes.pop();
/// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
/// let mut out = Vec::new();
/// github::file(&mut out, &"model.safetensors".into(), Seen::Checked(&report, &|_| None))?;
/// assert!(out.starts_with(b"::error file=model.safetensors,title=invalid::1 byte short"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors from `out`.
pub fn file(out: &mut dyn Write, name: &Text, seen: Seen<'_>) -> io::Result<()> {
    let (report, why) = match seen {
        Seen::Failed(why) => return command(out, "error", name, "cannot be read", why),
        Seen::Sorted(_, _, Some(_)) => return Ok(()),
        Seen::Sorted(examined, verdict, None) => {
            let level = match verdict {
                Verdict::Invalid => "error",
                Verdict::Valid if is_remark(examined) => "notice",
                Verdict::Valid => return Ok(()),
                _ => "warning",
            };
            let title = match (examined.class, examined.rule) {
                (Class::Companion, Some(rule)) => rule,
                (class, _) => class.name(),
            };
            return command(out, level, name, title, &examined.sentence());
        }
        Seen::Aside(what) => return command(out, "warning", name, "not checked", what),
        Seen::Checked(report, why) => (report, why),
    };
    let verdict = verdict(report);
    let level = match verdict {
        Verdict::Invalid => "error",
        Verdict::Unsupported | Verdict::Unchecked => "warning",
        Verdict::Valid => "notice",
    };
    if let Some(diagnosis) = report.diagnosis() {
        command(out, level, name, verdict.name(), &diagnosis.to_string())?;
        if !report.has_own_findings() {
            return Ok(());
        }
    }
    // Findings that count come first, because not all are shown.
    let counts = |found: &&Found| report.counts(found);
    let (faults, others): (Vec<_>, Vec<_>) = report.findings().iter().partition(counts);
    let others = others.into_iter().filter(|found| why(found.rule()).is_none());
    for found in faults.iter().copied().chain(others).take(MOST) {
        let level = match found.severity() {
            _ if report.counts(found) => "error",
            Severity::Fatal | Severity::Violation => "warning",
            _ => "notice",
        };
        let entry = found.entry().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
        let text = format!("{entry}{} (at {})", found.message(), found.offset());
        command(out, level, name, found.rule(), &text)?;
    }
    for (ignored, reason) in ignored(report, why) {
        let text = format!("ignored {}: {reason}", ignored.count);
        command(out, "notice", name, ignored.rule, &text)?;
    }
    for unchecked in unchecked(report).take(MOST) {
        let entry = unchecked.entry().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
        command(out, "warning", name, "not checked", &format!("{entry}{}", unchecked.why()))?;
    }
    Ok(())
}

/// Whether a rule that does not count is told nevertheless.
fn is_remark(examined: &Examined) -> bool {
    matches!(examined.severity(), Some(Severity::Lint | Severity::Violation))
}

fn command(
    out: &mut dyn Write,
    level: &str,
    name: &Text,
    title: &str,
    text: &str,
) -> io::Result<()> {
    let (name, text) = (name.to_string(), Text::from(text).to_string());
    let (name, title) = (property(&name), property(title));
    writeln!(out, "::{level} file={name},title={title}::{}", data(&text))
}

/// Escapes a text for a command: a line feed would start another command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn github_file_name_cannot_inject_commands() {
        let mut out = Vec::new();
        let file = Text::from("a,b:c%\n::error::x");
        command(&mut out, "error", &file, "T,1", "50%\n::warning::y").expect("a vector takes all");
        let text = String::from_utf8(out).expect("it is UTF-8");
        let file = r"a%2Cb%3Ac%25\u{a}%3A%3Aerror%3A%3Ax";
        assert_eq!(text, format!("::error file={file},title=T%2C1::50%25\\u{{a}}::warning::y\n"));
    }
}
