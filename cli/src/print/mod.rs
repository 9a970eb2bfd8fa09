//! Output of `check` for each file and in total.

mod groups;
mod json;
mod models;
mod stores;
mod table;

use crate::args::Output;
use crate::human::{self, Left};
use crate::journal::Past;
use crate::outcome::Outcome;
use crate::terminal;
use std::io::{self, Write};
use std::path::PathBuf;
use weighbridge::output::{self, github, junit, sarif};
use weighbridge::policy::{Exception, Exceptions};
use weighbridge::remote::Traffic;
use weighbridge::repository::{Class, Examined};
use weighbridge::text::{plural, thousands};
use weighbridge::{Profile, Report, Text, Verdict};

/// The first names of `count` files, and how many more there are.
fn names_of(count: u64, first: &[String]) -> String {
    let names = first.join(", ");
    match count.saturating_sub(first.len() as u64) {
        0 => names,
        more => format!("{names} and {} more", thousands(more)),
    }
}

/// The result for one input.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) file: Text,
    pub(crate) seen: Seen,
    /// Changes with the file, if the result depends on that file alone.
    pub(crate) stamp: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Seen {
    Checked(Box<Checked>),
    /// No tensor file: another file of a repository.
    Sorted(Box<Sorted>),
    /// Of no known format, and such files are skipped.
    Skipped,
    /// Checked by the scan that this one continues.
    Before(Past),
    /// Not opened, because it is this kind of file.
    Aside(&'static str),
    /// It could not be read.
    Failed(String),
}

/// The result for a file that was read.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) report: Report,
    /// The class, for a file of a folder or a list.
    pub(crate) class: Option<&'static str>,
    pub(crate) sha256: Option<String>,
    /// The traffic, if the file is on a server.
    pub(crate) read: Option<Traffic>,
}

/// The result for a file of a repository that is no tensor file.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub(crate) examined: Examined,
    pub(crate) size: u64,
    pub(crate) sha256: Option<String>,
    /// Code that is allowed.
    pub(crate) allowed: bool,
    /// Its rule counts, whatever the severity.
    pub(crate) denied: bool,
    /// Its rule does not count under the profile.
    pub(crate) lenient: bool,
    /// Why its rules do not count.
    pub(crate) ignored: Vec<Exception>,
}

impl Sorted {
    /// The verdict, given what is allowed and denied.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.denied {
            true => Verdict::Invalid,
            false if self.allowed || self.lenient || !self.ignored.is_empty() => Verdict::Valid,
            false => self.examined.verdict(),
        }
    }

    /// The reason why its rules do not count.
    fn reason(&self) -> Option<&str> {
        self.ignored.first().map(|it| it.reason.as_str())
    }

    /// Number of findings, and number of ignored ones. Classes of files are no findings.
    fn counts(&self) -> (u64, u64) {
        let findings = match self.class() {
            Class::Companion => self.examined.rules().count() as u64,
            _ => 0,
        };
        (findings, self.ignored.len() as u64)
    }

    pub(crate) fn class(&self) -> Class {
        self.examined.class
    }
}

/// Settings for all files.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) profile: Profile,
    pub(crate) exceptions: Exceptions,
    /// The settings file.
    pub(crate) config: Option<PathBuf>,
    pub(crate) quiet: bool,
    /// Every file is listed, instead of groups of files.
    pub(crate) verbose: bool,
}

impl Context {
    /// The ignored findings of a file: exceptions, which have the rule and the
    /// reason, and counts.
    fn ignored<'c>(&'c self, report: &Report) -> Vec<(&'c Exception, u64)> {
        let counts = report.ignored();
        counts.iter().filter_map(|it| Some((self.exceptions.why(it.rule)?, it.count))).collect()
    }
}

impl Done {
    pub(crate) fn outcome(&self, profile: Profile) -> Outcome {
        match &self.seen {
            Seen::Checked(checked) => checked.report.verdict(profile).into(),
            Seen::Sorted(sorted) => sorted.verdict().into(),
            Seen::Skipped => Outcome::Valid,
            Seen::Before(past) => past.outcome,
            Seen::Aside(_) => Outcome::Unsupported,
            Seen::Failed(_) => Outcome::Failed,
        }
    }

    /// Whether the file is a companion, which has no verdict of its own.
    fn is_companion(&self) -> bool {
        match &self.seen {
            Seen::Sorted(sorted) => {
                let is_one = matches!(sorted.class(), Class::Companion | Class::Piece);
                is_one && sorted.verdict() == Verdict::Valid
            }
            Seen::Before(past) => past.companion,
            _ => false,
        }
    }

    /// The result that a continued scan needs, with the file's stamp.
    pub(crate) fn past(&self, profile: Profile) -> Option<(&str, Past)> {
        let skipped = matches!(self.seen, Seen::Skipped);
        let (findings, ignored) = match &self.seen {
            Seen::Checked(checked) => checked.counts(),
            Seen::Sorted(sorted) => sorted.counts(),
            Seen::Skipped => (0, 0),
            _ => return None,
        };
        let companion = self.is_companion();
        let outcome = self.outcome(profile);
        let past = Past { outcome, skipped, companion, findings, ignored };
        Some((self.stamp.as_deref()?, past))
    }
}

impl Checked {
    /// Number of findings, and number of ignored ones.
    fn counts(&self) -> (u64, u64) {
        // A file of another kind breaks every rule of this format.
        let findings = if self.report.has_own_findings() { self.report.total() } else { 0 };
        (findings, self.report.ignored().iter().map(|it| it.count).sum())
    }
}

/// Number of files per outcome.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    outcome: Outcome,
    valid: u64,
    invalid: u64,
    unsupported: u64,
    unchecked: u64,
    failed: u64,
    findings: u64,
    ignored: u64,
    skipped: u64,
    /// Number of companions, and of files with code that is allowed.
    companions: u64,
    allowed: u64,
    /// Number checked by the scan that this one continues.
    before: u64,
    pub(crate) excluded: u64,
    /// Number of `.git` folders left out.
    pub(crate) git: u64,
    /// Number of blobs left out that links of snapshots lead to.
    pub(crate) linked: u64,
    /// Number of files that belong to other parts.
    pub(crate) elsewhere: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, done: &Done, profile: Profile) {
        let outcome = done.outcome(profile);
        let count = match outcome {
            _ if matches!(done.seen, Seen::Skipped | Seen::Before(Past { skipped: true, .. })) => {
                &mut self.skipped
            }
            _ if done.is_companion() => &mut self.companions,
            _ if matches!(&done.seen, Seen::Sorted(sorted) if sorted.allowed) => &mut self.allowed,
            Outcome::Valid => &mut self.valid,
            Outcome::Unchecked => &mut self.unchecked,
            Outcome::Unsupported => &mut self.unsupported,
            Outcome::Failed => &mut self.failed,
            Outcome::Invalid => &mut self.invalid,
        };
        *count += 1;
        self.outcome.include(outcome);
        self.before += u64::from(matches!(done.seen, Seen::Before(_)));
        let (findings, ignored) = match &done.seen {
            Seen::Checked(checked) => checked.counts(),
            Seen::Sorted(sorted) => sorted.counts(),
            Seen::Before(past) => (past.findings, past.ignored),
            _ => (0, 0),
        };
        self.findings += findings;
        self.ignored += ignored;
    }

    /// Records a failure to read or write something other than a file to check.
    pub(crate) fn fail(&mut self) {
        self.outcome.include(Outcome::Failed);
    }

    /// Number of files with a verdict.
    pub(crate) fn files(&self) -> u64 {
        self.valid + self.invalid + self.unsupported + self.unchecked + self.failed + self.allowed
    }

    /// Whether there was nothing to check, including in other parts.
    pub(crate) fn is_nothing(&self) -> bool {
        self.files() == 0 && self.elsewhere == 0
    }

    /// Checking nothing is a failure: the caller expected a check.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.is_nothing() { Outcome::Failed } else { self.outcome }
    }

    pub(crate) fn why_nothing(&self) -> String {
        let mut left_out = self.left_out();
        if self.companions > 0 {
            left_out.push(format!("{} and no model", plural(self.companions, "companion")));
        }
        let left_out = left_out.join(", ");
        if left_out.is_empty() { "there are no files".to_owned() } else { left_out }
    }

    /// Inputs without a verdict, and ignored findings.
    fn left_out(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.allowed > 0 {
            parts.push(format!("allowed {} of code", plural(self.allowed, "file")));
        }
        if self.skipped > 0 {
            parts.push(format!("skipped {} of no known format", plural(self.skipped, "file")));
        }
        if self.excluded > 0 {
            parts.push(format!("left out {}", plural(self.excluded, "excluded path")));
        }
        if self.git > 0 {
            parts.push(format!("left out {} (.git)", plural(self.git, "folder")));
        }
        if self.linked > 0 {
            let blobs = plural(self.linked, "blob");
            parts.push(format!("checked {blobs} by the names that snapshots give"));
        }
        if self.elsewhere > 0 {
            parts.push(format!("left {} to other parts", plural(self.elsewhere, "file")));
        }
        if self.before > 0 {
            parts.push(format!("took {} from the journal", plural(self.before, "result")));
        }
        if self.ignored > 0 {
            parts.push(format!("ignored {}", plural(self.ignored, "finding")));
        }
        parts
    }

    /// The totals in one line.
    fn summary(&self) -> String {
        let parts = [
            (self.valid, "valid"),
            (self.invalid, "invalid"),
            (self.unsupported, "in unsupported formats"),
            (self.unchecked, "not fully checked"),
            (self.failed, "not read"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", thousands(*n)))
            .collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        let files = plural(self.files(), "file");
        let mut all =
            vec![format!("{files}{colon}{}", parts.join(", ")), plural(self.findings, "finding")];
        all.extend(self.left_out());
        all.join("; ")
    }
}

/// Prints results.
pub(crate) struct Printer<'c> {
    context: &'c Context,
    kind: Kind,
    /// Files that are not listed one by one.
    table: table::Table,
}

enum Kind {
    Human,
    Json,
    Sarif(Box<sarif::Log>),
    Github,
    Junit,
}

impl<'c> Printer<'c> {
    pub(crate) fn new(output: Output, context: &'c Context) -> Self {
        let kind = match output {
            Output::Human => Kind::Human,
            Output::Json => Kind::Json,
            Output::Sarif => Kind::Sarif(Box::default()),
            Output::Github => Kind::Github,
            Output::Junit => Kind::Junit,
        };
        Printer { context, kind, table: table::Table::default() }
    }

    /// Whether the output is for programs and must not have styles.
    pub(crate) fn is_for_programs(&self) -> bool {
        !matches!(self.kind, Kind::Human)
    }

    pub(crate) fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match &mut self.kind {
            Kind::Sarif(log) => log.begin(out),
            Kind::Junit => junit::begin(out),
            _ => Ok(()),
        }
    }

    /// Prints the result for one file.
    pub(crate) fn file(&mut self, out: &mut dyn Write, done: &Done) -> io::Result<()> {
        let context = self.context;
        let why = |rule: &str| context.exceptions.why(rule).map(|it| it.reason.as_str());
        let seen = match &done.seen {
            Seen::Skipped | Seen::Before(_) => return Ok(()),
            Seen::Checked(checked) => output::Seen::Checked(&checked.report, &why),
            Seen::Sorted(sorted) => {
                output::Seen::Sorted(&sorted.examined, sorted.verdict(), sorted.reason())
            }
            Seen::Aside(what) => output::Seen::Aside(what),
            Seen::Failed(why) => {
                terminal::complain(&done.file, why);
                output::Seen::Failed(why)
            }
        };
        match &mut self.kind {
            Kind::Human => {
                let mut block = Vec::new();
                text(&mut block, done, context)?;
                let lines = block.iter().filter(|byte| **byte == b'\n').count();
                match self.table.add(&done.file, &done.seen, context, lines) {
                    true => out.write_all(&block),
                    false => Ok(()),
                }
            }
            Kind::Json => json::line(out, done, context),
            Kind::Sarif(log) => log.file(out, &done.file, seen),
            Kind::Github => github::file(out, &done.file, seen),
            Kind::Junit => junit::file(out, &done.file, seen),
        }
    }

    /// Prints the results for all files.
    pub(crate) fn end(&mut self, out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
        if let Kind::Human = self.kind {
            self.table.write(out, self.context, tally)?;
        }
        match &mut self.kind {
            Kind::Human if self.context.quiet => return Ok(()),
            Kind::Human if tally.files() != 1 || !tally.left_out().is_empty() => {
                if !tally.is_nothing() {
                    writeln!(out, "{}", tally.summary())?;
                }
                return Ok(());
            }
            Kind::Human => return Ok(()),
            Kind::Json | Kind::Github => {}
            Kind::Sarif(log) => log.end(out, tally.failed == 0)?,
            Kind::Junit => junit::end(out)?,
        }
        // Standard output contains only what programs read.
        let left_out = tally.left_out();
        if !left_out.is_empty() && !tally.is_nothing() {
            terminal::note(left_out.join("; "));
        }
        Ok(())
    }
}

/// The human-readable result for one file.
fn text(out: &mut dyn Write, done: &Done, context: &Context) -> io::Result<()> {
    match &done.seen {
        Seen::Checked(checked) => {
            let Checked { report, class, sha256, read } = &**checked;
            let verdict = report.verdict(context.profile);
            let ignored = context.ignored(report);
            if context.quiet && verdict == Verdict::Valid {
                return Ok(());
            }
            let most = match class.is_some() && !context.verbose {
                true => table::FINDINGS,
                false => human::MOST,
            };
            human::shortened(out, &done.file, report, context.profile, &Left::default(), most)?;
            for (ignored, count) in ignored {
                writeln!(out, "  {}", human::ignored(ignored, count))?;
            }
            if let Some(sha256) = sha256 {
                writeln!(out, "  sha256    {sha256}")?;
            }
            if let Some(read) = read {
                writeln!(out, "  {}", human::read(read))?;
            }
            Ok(())
        }
        Seen::Aside(what) => human::aside(out, &done.file, what),
        Seen::Sorted(sorted) => table::line(out, &done.file, sorted),
        Seen::Skipped | Seen::Before(_) | Seen::Failed(_) => Ok(()),
    }
}
