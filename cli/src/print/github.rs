//! Annotations of GitHub Actions.

use super::{Context, Done, Seen};
use std::io::{self, Write};
use weighbridge::{Found, Severity, Text, Verdict};

/// The most annotations of one file: the page shows ten of a step.
const MOST: usize = 10;

/// Writes what is wrong with one file, a command of the workflow a line.
pub(super) fn file(out: &mut dyn Write, done: &Done, context: &Context) -> io::Result<()> {
    let file = &done.file;
    let checked = match &done.seen {
        Seen::Skipped | Seen::Before(_) => return Ok(()),
        Seen::Failed(why) => return command(out, "error", file, "cannot be read", why),
        Seen::Aside(what) => return command(out, "warning", file, "not checked", what),
        Seen::Checked(checked) => checked,
    };
    let report = &checked.report;
    let verdict = report.verdict(context.profile);
    let level = match verdict {
        Verdict::Invalid => "error",
        Verdict::Unsupported | Verdict::Unchecked => "warning",
        Verdict::Valid => "notice",
    };
    if let Some(diagnosis) = report.diagnosis() {
        command(out, level, file, verdict.name(), &diagnosis.to_string())?;
        if diagnosis.is_other() {
            return Ok(());
        }
    }
    // What counts comes first, because not all is shown.
    let counts = |found: &&Found| report.counts(found);
    let (faults, others): (Vec<_>, Vec<_>) = report.findings().iter().partition(counts);
    let others = others.into_iter().filter(|found| context.rules.why(found.rule()).is_none());
    for found in faults.iter().copied().chain(others).take(MOST) {
        let level = match found.severity() {
            _ if report.counts(found) => "error",
            Severity::Fatal | Severity::Violation => "warning",
            _ => "notice",
        };
        let entry = found.entry().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
        let text = format!("{entry}{} (at {})", found.message(), found.offset());
        command(out, level, file, found.rule(), &text)?;
    }
    for (ignored, count) in context.ignored(report) {
        let text = format!("ignored {count}: {}", ignored.reason);
        command(out, "notice", file, ignored.rule, &text)?;
    }
    for unchecked in super::unchecked(report).take(MOST) {
        let entry = unchecked.entry().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
        command(out, "warning", file, "not checked", &format!("{entry}{}", unchecked.why()))?;
    }
    Ok(())
}

fn command(
    out: &mut dyn Write,
    level: &str,
    file: &Text,
    title: &str,
    text: &str,
) -> io::Result<()> {
    let (file, text) = (file.to_string(), Text::from(text).to_string());
    let (file, title) = (property(&file), property(title));
    writeln!(out, "::{level} file={file},title={title}::{}", data(&text))
}

/// A text as the command has it: a line feed would begin another command.
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
    fn no_name_makes_a_command() {
        let mut out = Vec::new();
        let file = Text::from("a,b:c%\n::error::x");
        command(&mut out, "error", &file, "T,1", "50%\n::warning::y").expect("a vector takes all");
        let text = String::from_utf8(out).expect("it is UTF-8");
        let file = r"a%2Cb%3Ac%25\u{a}%3A%3Aerror%3A%3Ax";
        assert_eq!(text, format!("::error file={file},title=T%2C1::50%25\\u{{a}}::warning::y\n"));
    }
}
