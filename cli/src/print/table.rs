//! Text about folders: what has lines of its own, and a line for each group of other files.

use super::groups::{Groups, Rank};
use super::models::Models;
use super::stores::Stores;
use super::{Context, Seen, Sorted, Tally};
use crate::human::{self, Shade};
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::repository::Class;
use weighbridge::text::{bytes, plural, thousands};
use weighbridge::{Text, Verdict};

/// Findings that a file of a folder shows.
pub(super) const FINDINGS: usize = 3;
/// Lines of the whole output, unless each file is listed.
const ALL: usize = 30;
/// Lines about files of folders that are listed; the others are counted in groups.
const LISTED: usize = 12;
/// Lines about valid files of folders, and about valid files that were named.
const VALID: usize = 5;
const NAMED: usize = 10;
/// Files that are links, pipes or devices with a line each.
const ASIDE: u64 = 3;
/// Least number of lines for groups.
const GROUPS: usize = 6;

/// What was listed, and the groups of other files.
#[derive(Debug, Default)]
pub(super) struct Table {
    groups: Groups,
    /// Lines about files of folders so far.
    lines: usize,
    /// Valid tensor files with lines of their own, and the format of the others.
    valid: usize,
    more: BTreeMap<&'static str, u64>,
    aside: u64,
    models: Models,
    stores: Stores,
    /// Whether a file that is not valid was listed.
    told: bool,
}

impl Table {
    /// Adds a file, whose text has this many lines, and returns whether it is listed.
    pub(super) fn add(
        &mut self,
        file: &Text,
        seen: &Seen,
        context: &Context,
        lines: usize,
    ) -> bool {
        let is_told = self.models.add(file, seen, context.profile);
        match seen {
            Seen::Checked(checked) if checked.class.is_none() => {}
            Seen::Checked(_) | Seen::Sorted(_) => self.stores.add(&file.lossy(), seen),
            _ => {}
        }
        match seen {
            Seen::Checked(checked) => {
                let report = &checked.report;
                let verdict = report.verdict(context.profile);
                if context.verbose || checked.class.is_none() && verdict != Verdict::Valid {
                    return true;
                }
                if verdict == Verdict::Valid {
                    let most = if checked.class.is_none() { NAMED } else { VALID };
                    return !is_told && self.add_valid(report, lines, most);
                }
                // One is listed, whatever came before it.
                if self.told && self.lines + lines > LISTED {
                    let is_code = checked.class == Some(Class::Code.name());
                    self.groups.add_report(file, report, is_code, verdict);
                    return false;
                }
                self.told = true;
                self.lines += lines;
                true
            }
            _ if context.verbose => true,
            Seen::Sorted(sorted) => {
                self.groups.add_sorted(file, sorted);
                false
            }
            Seen::Aside(what) => {
                self.aside += 1;
                if self.aside > ASIDE {
                    self.groups.add(Rank::Link, what, file, "");
                }
                self.lines += usize::from(self.aside <= ASIDE);
                self.aside <= ASIDE
            }
            Seen::Skipped | Seen::Before(_) | Seen::Failed(_) => true,
        }
    }

    /// Adds a valid tensor file, which may have remarks.
    fn add_valid(&mut self, report: &weighbridge::Report, lines: usize, most: usize) -> bool {
        if self.valid + lines <= most {
            self.valid += lines;
            self.lines += lines;
            return true;
        }
        let format = report.format().map_or("", |format| format.title());
        *self.more.entry(format).or_default() += 1;
        false
    }

    /// Writes a line for each kind of store, each model and each group.
    pub(super) fn write(
        &mut self,
        out: &mut dyn Write,
        context: &Context,
        tally: &Tally,
    ) -> io::Result<()> {
        let mut left = ALL.saturating_sub(self.lines + 1);
        for line in self.stores.lines(tally) {
            if !context.quiet {
                label(out, Shade::Plain, "store")?;
                writeln!(out, "{}", Text::from(line.as_str()))?;
                left = left.saturating_sub(1);
            }
        }
        for (whole, line) in self.models.lines() {
            if whole && context.quiet {
                continue;
            }
            label(out, if whole { Shade::Plain } else { Shade::Doubt }, "model")?;
            writeln!(out, "{line}")?;
            left = left.saturating_sub(1);
        }
        let more: u64 = self.more.values().sum();
        if more > 0 && !context.quiet {
            let formats: Vec<_> =
                self.more.iter().map(|(name, n)| format!("{} {name}", thousands(*n))).collect();
            let files = plural(more, "more file");
            label(out, Shade::Good, "valid")?;
            writeln!(out, "{files}: {}; --verbose lists all", formats.join(", "))?;
            left = left.saturating_sub(1);
        }
        std::mem::take(&mut self.groups).write(out, context, left.max(GROUPS))
    }
}

fn label(out: &mut dyn Write, shade: Shade, word: &str) -> io::Result<()> {
    write!(out, "{} ", human::label(shade, word))
}

/// The line of a file that is no tensor file.
pub(super) fn line(out: &mut dyn Write, file: &Text, sorted: &Sorted) -> io::Result<()> {
    let (shade, word) = match (sorted.class(), sorted.verdict()) {
        (_, Verdict::Invalid) => (Shade::Bad, "invalid"),
        _ if !sorted.ignored.is_empty() => (Shade::Plain, "ignored"),
        (Class::Companion, _) => (Shade::Plain, "companion"),
        (Class::Piece, _) => (Shade::Plain, "piece"),
        _ if sorted.allowed => (Shade::Plain, "allowed"),
        (_, verdict) => (Shade::Doubt, verdict.name()),
    };
    label(out, shade, word)?;
    let sentence = Text::from(sorted.examined.sentence().as_str());
    writeln!(out, "{}  {sentence}, {}", human::bold(file), bytes(sorted.size))?;
    if let Some(sha256) = &sorted.sha256 {
        writeln!(out, "  sha256    {sha256}")?;
    }
    Ok(())
}
