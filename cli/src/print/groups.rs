//! Groups of files with a line each: a count, what they are, and a few names.

use super::{Context, Sorted, names_of};
use crate::human::{self, Shade};
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::repository::{Class, Examined};
use weighbridge::text::plural;
use weighbridge::{Report, Severity, Text, Verdict};

/// Names that the line of a group shows.
const NAMES: usize = 3;
/// Kinds that a line for files of several kinds shows.
const KINDS: usize = 3;

/// The groups of files, in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<(Rank, String), Group>);

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Code that loading the model runs.
    Runs,
    /// A tensor file that is invalid.
    Invalid,
    /// Another file that breaks a rule, such as a damaged blob.
    Fault,
    Code,
    Download,
    /// A tensor file that was not fully checked, and one that is not read.
    Unchecked,
    Unsupported,
    Unknown,
    Link,
    /// A rule that does not count under the profile, and a remark.
    Violation,
    Lint,
    Allowed,
    Ignored,
    Piece,
    Companion,
}

impl Rank {
    /// The word of the line, and how it is shown.
    fn word(self) -> (Shade, &'static str) {
        match self {
            Rank::Runs | Rank::Invalid | Rank::Fault => (Shade::Bad, "invalid"),
            Rank::Code | Rank::Unsupported | Rank::Unknown | Rank::Link => {
                (Shade::Doubt, "unsupported")
            }
            Rank::Download | Rank::Unchecked => (Shade::Doubt, "unchecked"),
            Rank::Violation => (Shade::Doubt, "violation"),
            Rank::Lint => (Shade::Plain, "lint"),
            Rank::Allowed => (Shade::Plain, "allowed"),
            Rank::Ignored => (Shade::Plain, "ignored"),
            Rank::Piece => (Shade::Plain, "piece"),
            Rank::Companion => (Shade::Plain, "companion"),
        }
    }
}

#[derive(Debug, Default)]
struct Group {
    count: u64,
    names: Vec<String>,
}

impl Groups {
    /// Adds a file to the group of its kind. `why` follows its name.
    pub(super) fn add(&mut self, rank: Rank, kind: &str, file: &Text, why: &str) {
        let group = self.0.entry((rank, kind.to_owned())).or_default();
        group.count += 1;
        if group.names.len() < NAMES && rank != Rank::Companion {
            group.names.push(match why {
                "" => file.to_string(),
                why => format!("{file} ({})", Text::from(why)),
            });
        }
    }

    /// Adds a file that is no tensor file.
    pub(super) fn add_sorted(&mut self, file: &Text, sorted: &Sorted) {
        let examined = &sorted.examined;
        let rank = rank(examined, sorted);
        let why = match &*examined.why {
            _ if rank == Rank::Companion || examined.kind == "pickle" => "",
            why => why,
        };
        let kind = if rank == Rank::Companion { "" } else { examined.kind };
        self.add(rank, kind, file, why);
    }

    /// Adds a tensor file, or a file that its findings show to be code.
    pub(super) fn add_report(&mut self, file: &Text, report: &Report, is_code: bool, as_: Verdict) {
        let diagnosis = report.diagnosis().map(ToString::to_string).unwrap_or_default();
        let (rank, kind) = match as_ {
            Verdict::Invalid if is_code => (Rank::Runs, "pickle"),
            Verdict::Invalid => {
                let counted = report.findings().iter().filter(|it| report.counts(it));
                let worst = counted.max_by_key(|it| it.severity());
                let rule = worst.filter(|_| report.has_own_findings()).map(|it| it.rule());
                let is_other = rule.is_none();
                (Rank::Invalid, if is_other { "no file of its format" } else { rule.unwrap_or("") })
            }
            Verdict::Unchecked => (Rank::Unchecked, "not fully checked"),
            _ if is_code => (Rank::Code, "pickle"),
            _ => (Rank::Unsupported, "not read"),
        };
        self.add(rank, kind, file, &diagnosis);
    }

    /// Writes a line for each group, but no more than `most`: a line is for several kinds then.
    pub(super) fn write(
        self,
        out: &mut dyn Write,
        context: &Context,
        most: usize,
    ) -> io::Result<()> {
        let mut ranks: BTreeMap<Rank, Vec<(String, Group)>> = BTreeMap::new();
        for ((rank, kind), group) in self.0 {
            if context.quiet && rank.word().0 == Shade::Plain {
                continue;
            }
            ranks.entry(rank).or_default().push((kind, group));
        }
        let lines = |cap: usize| ranks.values().map(|it| it.len().min(cap)).sum::<usize>();
        let longest = ranks.values().map(Vec::len).max().unwrap_or(0);
        let cap = (1..=longest).rev().find(|cap| lines(*cap) <= most).unwrap_or(1);
        for (rank, mut groups) in ranks {
            if groups.len() > cap {
                groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
                let rest = groups.split_off(cap - 1);
                groups.push(merged(rest));
            }
            groups.iter().try_for_each(|(kind, group)| line(out, rank, kind, group))?;
        }
        Ok(())
    }
}

/// What a file that is no tensor file counts as.
fn rank(examined: &Examined, sorted: &Sorted) -> Rank {
    match examined.class {
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
        Class::Piece => Rank::Piece,
        Class::Companion => Rank::Companion,
        _ => Rank::Unknown,
    }
}

/// Several groups as one.
fn merged(groups: Vec<(String, Group)>) -> (String, Group) {
    let kinds: Vec<_> = groups.iter().take(KINDS).map(|(kind, _)| kind.as_str()).collect();
    let kinds = match groups.len() - kinds.len() {
        0 => kinds.join(", "),
        more => format!("{} and {}", kinds.join(", "), plural(more as u64, "more kind")),
    };
    let mut all = Group::default();
    for (_, group) in groups {
        all.count += group.count;
        // One name of each kind says more than three of the first.
        all.names.extend(group.names.into_iter().take(1));
    }
    all.names.truncate(NAMES);
    (kinds, all)
}

fn line(out: &mut dyn Write, rank: Rank, kind: &str, group: &Group) -> io::Result<()> {
    let (shade, word) = rank.word();
    let Group { count, names } = group;
    let files = plural(*count, "file");
    write!(out, "{} {files}: ", human::label(shade, word))?;
    let kind = match rank {
        Rank::Companion => return writeln!(out, "settings, texts, tokenizers, media"),
        Rank::Runs => format!("{kind}, which loading the model runs"),
        Rank::Code => format!("code: {kind}"),
        _ => kind.to_owned(),
    };
    writeln!(out, "{kind}: {}", names_of(*count, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_kinds_take_no_more_lines_than_there_is_room_for() {
        let context = Context {
            profile: weighbridge::Profile::Strict,
            exceptions: Default::default(),
            config: None,
            quiet: false,
            verbose: false,
        };
        for most in 2..12 {
            let mut groups = Groups::default();
            for no in 0..40_u64 {
                let kind = format!("kind {no}");
                (0..=no).for_each(|_| groups.add(Rank::Code, &kind, &Text::from("a"), ""));
            }
            groups.add(Rank::Runs, "pickle", &Text::from("evil.bin"), "");
            let mut out = Vec::new();
            groups.write(&mut out, &context, most).expect("room in memory");
            let text = String::from_utf8(out).expect("it is text");
            let text = anstream::adapter::strip_str(&text).to_string();
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), most, "{text}");
            // The danger is in front, and every file is counted.
            assert!(lines[0].contains("1 file: pickle, which loading the model runs: evil.bin"));
            let count = |line: &&str| -> u64 {
                let words = line.split_whitespace();
                words.filter_map(|it| it.replace(',', "").parse::<u64>().ok()).next().expect("one")
            };
            assert_eq!(lines.iter().map(count).sum::<u64>(), 40 * 41 / 2 + 1, "{text}");
            assert!(most > 20 || lines[most - 1].contains("more kinds: "), "{text}");
        }
    }
}
