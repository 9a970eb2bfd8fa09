//! Human-readable reports.

use anstyle::{AnsiColor, Style};
use std::collections::HashSet;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use weighbridge::policy::Exception;
use weighbridge::remote::Traffic;
use weighbridge::text::{bytes, plural, thousands};
use weighbridge::weighbridge_core::{EntryKind, Subject};
use weighbridge::{Format, Found, Profile, Report, Severity, Text, Unchecked, Verdict};

/// Maximum number of findings, and of unchecked entries, printed per file.
pub(crate) const MOST: usize = 100;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();
const BRIGHT_RED: Style = AnsiColor::Red.on_default().bold();

/// `thing` with a style; plain if the output is not a terminal.
pub(crate) fn styled(style: Style, thing: impl Display) -> String {
    format!("{style}{thing}{style:#}")
}

pub(crate) fn bold(thing: impl Display) -> String {
    styled(BOLD, thing)
}

pub(crate) fn dim(thing: impl Display) -> String {
    styled(DIM, thing)
}

/// How a label is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shade {
    Good,
    Doubt,
    Bad,
    Plain,
}

/// A word at the start of a line, padded to the longest.
pub(crate) fn label(shade: Shade, word: &str) -> String {
    let style = match shade {
        Shade::Good => GREEN,
        Shade::Doubt => YELLOW,
        Shade::Bad => BRIGHT_RED,
        Shade::Plain => DIM,
    };
    styled(style, format_args!("{word:<9}"))
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

/// Unchecked items that a report does not contain.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The first of the requested checks that were left out.
    once: Vec<Unchecked>,
    /// Number of further ones.
    more: u64,
}

impl Left {
    pub(crate) fn push(&mut self, unchecked: Unchecked) {
        // Checks that were not requested are reported once, not per entry.
        if unchecked.was_asked_for() && self.once.len() < MOST {
            self.once.push(unchecked);
        } else if unchecked.was_asked_for() {
            self.more += 1;
        }
    }

    /// Whether a requested check was left out.
    pub(crate) fn any(&self) -> bool {
        !self.once.is_empty()
    }
}

/// The verdict on a file, given that more was `left` out than the report knows.
pub(crate) fn verdict(report: &Report, profile: Profile, left: &Left) -> Verdict {
    match report.verdict(profile) {
        Verdict::Valid if left.any() => Verdict::Unchecked,
        verdict => verdict,
    }
}

/// Writes the line with the verdict, a diagnosis if the file is something else, and
/// one line per finding.
pub(crate) fn report(
    out: &mut dyn Write,
    file: &Text,
    report: &Report,
    profile: Profile,
    left: &Left,
) -> io::Result<()> {
    shortened(out, file, report, profile, left, MOST)
}

/// The same, with at most so many findings and unchecked entries.
pub(crate) fn shortened(
    out: &mut dyn Write,
    file: &Text,
    report: &Report,
    profile: Profile,
    left: &Left,
    most: usize,
) -> io::Result<()> {
    let verdict = verdict(report, profile, left);
    let style = match verdict {
        Verdict::Invalid => BRIGHT_RED,
        Verdict::Valid => GREEN,
        _ => YELLOW,
    };
    write!(out, "{} {}  ", styled(style, format_args!("{:<9}", verdict.name())), bold(file))?;
    match (report.file(), report.format()) {
        (Some(file), _) => {
            write!(out, "{}", file.format())?;
            if let Some(version) = file.version() {
                write!(out, " {version}")?;
            }
            // An index of shards lists the tensors of other files.
            if file.format() != Format::Shards {
                write!(out, ", {}", plural(file.tensor_count(), "tensor"))?;
            }
        }
        (None, Some(format)) => write!(out, "{format}")?,
        (None, None) => write!(out, "{}", report.archive().unwrap_or("unknown format"))?,
    }
    writeln!(out, ", {}", bytes(report.size()))?;
    let diagnosis = report.diagnosis();
    if let Some(diagnosis) = diagnosis {
        writeln!(out, "  {} {diagnosis}", bold("diagnosis"))?;
    }
    // A file of another kind breaks every rule of this format.
    if report.has_own_findings() {
        findings(out, report, diagnosis.is_some_and(|diagnosis| !diagnosis.is_other()), most)?;
    }
    if report.file().is_some() {
        let worth_telling =
            |it: &&Unchecked| it.was_asked_for() || it.entry().is_none() || it.is_ignored();
        let known = report.unchecked().iter().filter(worth_telling);
        let all = known.clone().count() + left.once.len();
        for unchecked in known.chain(&left.once).take(most) {
            let entry = unchecked.entry().map(|entry| format!("\"{entry}\": "));
            let (entry, why) = (entry.unwrap_or_default(), unchecked.why());
            let (what, why) = match unchecked.is_ignored() {
                true => ("ignored  ", why.strip_suffix(" ignored").unwrap_or(why)),
                false => ("unchecked", why),
            };
            writeln!(out, "  {} {entry}{why}", styled(DIM, what))?;
        }
        let dropped = report.unchecked_not_listed();
        let beyond = all.saturating_sub(most) as u64;
        more(out, beyond + dropped + left.more, dropped, "item that was not checked")?;
    }
    Ok(())
}

/// Writes the line of a file that was not opened, because it is something else.
pub(crate) fn aside(out: &mut dyn Write, file: &Text, what: &str) -> io::Result<()> {
    let verdict = styled(YELLOW, format_args!("{:<9}", Verdict::Unsupported.name()));
    writeln!(out, "{verdict} {}  {what}", bold(file))
}

/// The traffic of a file on a server, in one line.
pub(crate) fn read(traffic: &Traffic) -> String {
    let Traffic { bytes, requests, round_trips, .. } = *traffic;
    let counts = [(requests, "request"), (round_trips, "round trip")];
    let [requests, round_trips] = counts.map(|(count, what)| plural(count, what));
    format!("{} {} in {requests}, {round_trips}", styled(DIM, "read     "), plural(bytes, "byte"))
}

/// Ignored findings, in one line.
pub(crate) fn ignored(exception: &Exception, count: u64) -> String {
    let Exception { rule, reason, until, .. } = exception;
    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
    let (count, reason) = (plural(count, "finding"), Text::from(reason.as_str()));
    format!("{} {}: {count}{until}: {reason}", styled(DIM, "ignored  "), bold(rule))
}

/// Writes a line per finding, at most so many; for a truncated file, one per rule.
fn findings(out: &mut dyn Write, report: &Report, once: bool, most: usize) -> io::Result<()> {
    let mut seen = HashSet::new();
    let mut all = report.ignored();
    all.retain(|it| it.severity != Severity::Unchecked.name());
    let ignored: u64 = all.iter().map(|it| it.count).sum();
    let is_ignored = |found: &Found| all.iter().any(|it| it.rule == found.rule());
    let (others, counted): (Vec<_>, Vec<_>) =
        report.findings().iter().partition(|it| is_ignored(it));
    let listed = counted.iter().filter(|found| !once || seen.insert(found.rule())).take(most);
    let listed: Vec<_> = listed.collect();
    for found in &listed {
        writeln!(out, "  {}", line(found))?;
    }
    let dropped = report.total() - report.findings().len() as u64;
    let dropped = dropped.saturating_sub(ignored.saturating_sub(others.len() as u64));
    let left = (counted.len() - listed.len()) as u64 + dropped;
    more(out, left, dropped, "finding")
}

/// Writes how many more items there are, `dropped` of which are only counted.
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

/// A finding in one line: severity, rule, place, entry, and the sentence.
fn line(found: &Found) -> String {
    let finding = found.finding();
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
    let subject = match found.entry() {
        Some(name) if kind.is_empty() => format!(" in \"{name}\""),
        _ if kind.is_empty() => String::new(),
        Some(name) => format!("{kind} \"{name}\""),
        None => format!("{kind} {}", finding.entry),
    };
    let part = match finding.part {
        Subject::NO_PART => String::new(),
        part => format!(" part {part}"),
    };
    let severity = severity(finding.severity());
    let rule = bold(found.rule());
    let message = found.message();
    format!("{severity} {rule}{subject}{part}: {message} {}", dim(format_args!("({place})")))
}
