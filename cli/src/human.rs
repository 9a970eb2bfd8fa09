//! Reports for people.

use crate::outcome::Outcome;
use crate::report::{Found, Report, Unchecked};
use crate::text::Text;
use anstyle::{AnsiColor, Style};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use weighbridge_core::{EntryKind, Finding, Format, Severity, Subject};

/// The most findings, and the most unchecked entries, that are printed of one
/// file.
const MOST: usize = 100;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();
const BRIGHT_RED: Style = AnsiColor::Red.on_default().bold();

/// `thing`, in a style; plain where the output is not a terminal.
pub(crate) fn styled(style: Style, thing: impl Display) -> String {
    format!("{style}{thing}{style:#}")
}

pub(crate) fn bold(thing: impl Display) -> String {
    styled(BOLD, thing)
}

pub(crate) fn dim(thing: impl Display) -> String {
    styled(DIM, thing)
}

/// The name of a severity, padded to the longest.
pub(crate) fn severity(severity: Severity) -> String {
    let style = match severity {
        Severity::Unchecked => DIM,
        Severity::Lint => YELLOW,
        Severity::Violation => RED,
        Severity::Fatal => BRIGHT_RED,
    };
    styled(style, format_args!("{:<9}", severity.name()))
}

/// A number of bytes: exact, with its magnitude where that helps.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return plural(n, "byte");
    }
    let power = (n.ilog2() / 10) as usize;
    let scaled = n as f64 / (1_u64 << (10 * power)) as f64;
    format!("{} bytes ({scaled:.1} {})", thousands(n), UNITS[power - 1])
}

/// A number with its digits in groups.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things.
pub(crate) fn plural(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// What was not checked beside what a report knows of.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The first of it, as far as it was asked for.
    once: Vec<Unchecked>,
    /// How many more was asked for.
    more: u64,
}

impl Left {
    pub(crate) fn push(&mut self, unchecked: Unchecked) {
        // What nobody asked for is reported once, not of every entry.
        if unchecked.asked && self.once.len() < MOST {
            self.once.push(unchecked);
        } else if unchecked.asked {
            self.more += 1;
        }
    }

    /// Whether something was asked for that was not checked.
    pub(crate) fn any(&self) -> bool {
        !self.once.is_empty()
    }
}

/// Writes the line with the verdict, and one line for each finding.
pub(crate) fn report(
    out: &mut dyn Write,
    file: &Text,
    report: &Report,
    left: &Left,
) -> io::Result<()> {
    let verdict = match report.outcome(left.any()) {
        Outcome::Invalid => styled(BRIGHT_RED, "invalid  "),
        Outcome::Valid => styled(GREEN, "valid    "),
        _ => styled(YELLOW, "unchecked"),
    };
    write!(out, "{verdict} {}  ", bold(file))?;
    match (&report.file, report.format) {
        (Some(file), _) => {
            write!(out, "{}", file.format())?;
            if let Some(version) = file.version() {
                write!(out, " {version}")?;
            }
            // An index of shards lists those of other files.
            if file.format() != Format::Shards {
                write!(out, ", {}", plural(file.tensor_count(), "tensor"))?;
            }
        }
        (None, Some(format)) => write!(out, "{format}")?,
        (None, None) => write!(out, "unknown format")?,
    }
    writeln!(out, ", {}", bytes(report.size))?;
    for Found { finding, entry } in report.findings.iter().take(MOST) {
        writeln!(out, "  {}", line(finding, entry.as_deref()))?;
    }
    let dropped = report.not_listed(false);
    more(out, report.total().saturating_sub(MOST as u64).max(dropped), dropped, "finding")?;
    if report.file.is_some() {
        let worth_telling = |unchecked: &&Unchecked| unchecked.asked || unchecked.entry.is_none();
        let known = report.unchecked.iter().filter(worth_telling);
        let all = known.clone().count() + left.once.len();
        for Unchecked { entry, why, .. } in known.chain(&left.once).take(MOST) {
            let entry = entry.as_ref().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
            writeln!(out, "  {} {entry}{why}", styled(DIM, "unchecked"))?;
        }
        let dropped = report.not_listed(true) + report.unchecked_more;
        let beyond = all.saturating_sub(MOST) as u64;
        more(out, beyond + dropped + left.more, dropped, "thing that was not checked")?;
    }
    Ok(())
}

/// Says how many more things there are, of which `dropped` are counted only.
fn more(out: &mut dyn Write, more: u64, dropped: u64, what: &str) -> io::Result<()> {
    let lists = match dropped {
        _ if more == 0 => return Ok(()),
        0 => "--json lists all".to_owned(),
        dropped if dropped == more => "they are only counted".to_owned(),
        dropped => format!("--json lists all but {}", thousands(dropped)),
    };
    let what = match what.split_once(' ') {
        Some((thing, rest)) if more > 1 => format!("{thing}s {}", rest.replace("was", "were")),
        None if more > 1 => format!("{what}s"),
        _ => what.to_owned(),
    };
    writeln!(out, "  and {} more {what}; {lists}", thousands(more))
}

/// A finding on one line: severity, rule, place, entry, and the sentence.
fn line(finding: &Finding, entry: Option<&Text>) -> String {
    let mut place = format!("at {}", finding.offset);
    if finding.len > 0 {
        let _ = write!(place, ", {}", plural(u64::from(finding.len), "byte"));
    }
    let kind = match finding.kind {
        EntryKind::File => "",
        EntryKind::Tensor => " in tensor",
        EntryKind::Metadata => " in metadata",
        EntryKind::SizeVar => " in size variable",
        EntryKind::Attribute => " in metadata of tensor",
        _ => " in entry",
    };
    let subject = match entry {
        _ if kind.is_empty() => String::new(),
        Some(name) => format!("{kind} \"{name}\""),
        None => format!("{kind} {}", finding.entry),
    };
    let part = match finding.part {
        Subject::NO_PART => String::new(),
        part => format!(" part {part}"),
    };
    let severity = severity(finding.severity());
    let rule = bold(finding.rule.id());
    format!("{severity} {rule}{subject}{part}: {finding} {}", dim(format_args!("({place})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_and_readable() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1,023 bytes");
        assert_eq!(bytes(1024), "1,024 bytes (1.0 KiB)");
        assert_eq!(bytes(40_000_000_000), "40,000,000,000 bytes (37.3 GiB)");
        assert_eq!(bytes(u64::MAX), "18,446,744,073,709,551,615 bytes (16.0 EiB)");
    }
}
