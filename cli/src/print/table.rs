//! Text about a folder: a line for each group of files that are no tensor files.

use super::models::Models;
use super::{Context, Seen, Sorted};
use crate::human::{self, Shade};
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::repository::Class;
use weighbridge::text::{bytes, plural, thousands};
use weighbridge::{Severity, Text, Verdict};

/// Names that the line of a group shows.
const NAMES: usize = 3;
/// Valid files that have a line each; the others are counted.
const LINES: u64 = 10;
/// Files that are links, pipes or devices with a line each.
const ASIDE: u64 = 5;

/// The groups of files, in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct Table {
    groups: BTreeMap<(Rank, &'static str), Group>,
    /// Valid tensor files, and the format of those without a line.
    valid: u64,
    more: BTreeMap<&'static str, u64>,
    aside: u64,
    models: Models,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Code that loading the model runs.
    Runs,
    /// Another file that breaks a rule, such as a damaged blob.
    Fault,
    Code,
    Download,
    Unknown,
    Link,
    /// A rule that does not count under the profile, and a remark.
    Violation,
    Lint,
    Allowed,
    Ignored,
    Companion,
}

#[derive(Debug, Default)]
struct Group {
    count: u64,
    names: Vec<String>,
}

impl Table {
    /// Adds a file, and returns whether it has a line of its own.
    pub(super) fn add(&mut self, file: &Text, seen: &Seen, context: &Context) -> bool {
        let is_told = self.models.add(file, seen, context.profile);
        let (key, name) = match seen {
            Seen::Checked(checked) => {
                let report = &checked.report;
                if report.verdict(context.profile) != Verdict::Valid || context.verbose {
                    return true;
                }
                if is_told {
                    return false;
                }
                self.valid += 1;
                if self.valid > LINES {
                    let format = report.format().map_or("", |format| format.title());
                    *self.more.entry(format).or_default() += 1;
                }
                return self.valid <= LINES;
            }
            Seen::Sorted(sorted) => {
                let examined = &sorted.examined;
                let rank = match examined.class {
                    _ if sorted.allowed => Rank::Allowed,
                    _ if !sorted.ignored.is_empty() => Rank::Ignored,
                    _ if sorted.verdict() == Verdict::Valid && examined.rule.is_some() => {
                        match examined.severity() {
                            Some(Severity::Violation) => Rank::Violation,
                            _ => Rank::Lint,
                        }
                    }
                    Class::Code if examined.runs => Rank::Runs,
                    _ if sorted.verdict() == Verdict::Invalid => Rank::Fault,
                    Class::Code => Rank::Code,
                    Class::Download => Rank::Download,
                    Class::Companion => Rank::Companion,
                    _ => Rank::Unknown,
                };
                let name = match &*examined.why {
                    "" => file.to_string(),
                    _ if rank == Rank::Companion || examined.kind == "pickle" => file.to_string(),
                    why => format!("{file} ({})", Text::from(why)),
                };
                ((rank, if rank == Rank::Companion { "" } else { examined.kind }), name)
            }
            Seen::Aside(what) => {
                self.aside += 1;
                if self.aside <= ASIDE {
                    return true;
                }
                ((Rank::Link, *what), file.to_string())
            }
            Seen::Skipped | Seen::Before(_) | Seen::Failed(_) => return true,
        };
        if context.verbose {
            return true;
        }
        let group = self.groups.entry(key).or_default();
        group.count += 1;
        if group.names.len() < NAMES && key.0 != Rank::Companion {
            group.names.push(name);
        }
        false
    }

    /// Writes a line for each group.
    pub(super) fn write(&mut self, out: &mut dyn Write, context: &Context) -> io::Result<()> {
        for (whole, line) in self.models.lines() {
            if whole && context.quiet {
                continue;
            }
            label(out, if whole { Shade::Plain } else { Shade::Doubt }, "model")?;
            writeln!(out, "{line}")?;
        }
        let more: u64 = self.more.values().sum();
        if more > 0 && !context.quiet {
            let formats: Vec<_> =
                self.more.iter().map(|(name, n)| format!("{} {name}", thousands(*n))).collect();
            let files = plural(more, "more file");
            label(out, Shade::Good, "valid")?;
            writeln!(out, "{files}: {}; --verbose lists all", formats.join(", "))?;
        }
        for ((rank, kind), Group { count, names }) in &self.groups {
            let (shade, word) = match rank {
                Rank::Runs | Rank::Fault => (Shade::Bad, "invalid"),
                Rank::Code | Rank::Unknown | Rank::Link => (Shade::Doubt, "unsupported"),
                Rank::Download => (Shade::Doubt, "unchecked"),
                Rank::Violation => (Shade::Doubt, "violation"),
                Rank::Lint => (Shade::Plain, "lint"),
                Rank::Allowed => (Shade::Plain, "allowed"),
                Rank::Ignored => (Shade::Plain, "ignored"),
                Rank::Companion => (Shade::Plain, "companion"),
            };
            if context.quiet && shade == Shade::Plain {
                continue;
            }
            label(out, shade, word)?;
            let files = plural(*count, "file");
            if *rank == Rank::Companion {
                writeln!(out, "{files}: settings, texts, tokenizers, media")?;
                continue;
            }
            let kind = match rank {
                Rank::Runs => format!("{kind}, which loading the model runs"),
                Rank::Code => format!("code: {kind}"),
                _ => (*kind).to_owned(),
            };
            let left = count - names.len() as u64;
            let left =
                if left > 0 { format!(" and {} more", thousands(left)) } else { String::new() };
            writeln!(out, "{files}: {kind}: {}{left}", names.join(", "))?;
        }
        Ok(())
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
