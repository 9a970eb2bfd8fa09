//! `weighbridge explain`: explains a rule.

use crate::args::{ExplainArgs, WITHOUT_FORMAT};
use crate::human::{bold, dim, severity};
use crate::json;
use crate::outcome::Outcome;
use crate::rules::{RuleView, title};
use crate::terminal;
use serde::Serialize;
use std::io::{self, Write};
use weighbridge::weighbridge_core::RuleInfo;
use weighbridge::{Format, Profile};

/// Example findings for each rule: format, rule, offset, sentence. Written by a test.
const EXAMPLES: &str = include_str!("../data/examples.tsv");
/// Advisories: format, rule, id, reader, the malformed part. A test writes it from the table.
const ADVISORIES: &str = include_str!("../data/advisories.tsv");

/// Marks rules in the tables that belong to no format.
const GENERAL: &str = "-";

#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    about: RuleView,
    strict: &'static str,
    lenient: &'static str,
    example: Option<Example>,
    advisories: Vec<Advisory>,
}

#[derive(Serialize)]
struct Example {
    offset: u64,
    message: &'static str,
}

#[derive(Serialize)]
struct Advisory {
    id: &'static str,
    reader: &'static str,
    field: &'static str,
}

/// # Errors
/// A sentence, if no rule of the format has this id.
pub(crate) fn run(args: &ExplainArgs) -> Result<Outcome, String> {
    let formats = Format::ALL.iter().map(|format| (Some(*format), format.rules()));
    let all = formats.chain(WITHOUT_FORMAT.map(|rules| (None, rules)));
    let wanted = args.open.format();
    let explained: Vec<_> = all
        .filter(|(format, _)| wanted.is_none() || *format == wanted)
        .flat_map(|(format, rules)| rules.iter().map(move |rule| (format, rule)))
        .filter(|(_, rule)| rule.id.eq_ignore_ascii_case(&args.rule))
        .map(|(format, rule)| Explained::of(format, rule))
        .collect();
    if explained.is_empty() {
        return Err(format!("no rule of this format has the id {:?}", args.rule));
    }
    let mut out = terminal::stdout(args.print.is_json());
    let written = match args.print.is_json() {
        true => json::line(&mut *out, &explained),
        false => explained.iter().try_for_each(|it| it.show(&mut *out)),
    };
    Ok(terminal::written(written.and_then(|()| out.flush()), Outcome::Valid))
}

/// The other columns of the rows about a rule.
fn rows<const N: usize>(
    table: &'static str,
    format: Option<Format>,
    rule: &'static str,
) -> impl Iterator<Item = [&'static str; N]> {
    let format = format.map_or(GENERAL, Format::name);
    table.lines().filter_map(move |line| {
        let mut columns = line.split('\t');
        let about = columns.next() == Some(format) && columns.next() == Some(rule);
        columns.collect::<Vec<_>>().try_into().ok().filter(|_| about)
    })
}

impl Explained {
    fn of(format: Option<Format>, rule: &'static RuleInfo) -> Self {
        let under = |profile: Profile| match profile.accepts(rule.severity) {
            true => "does not count",
            false => "makes a file invalid",
        };
        let example = rows(EXAMPLES, format, rule.id)
            .find_map(|[offset, message]| Some(Example { offset: offset.parse().ok()?, message }));
        let advisories = rows(ADVISORIES, format, rule.id);
        Explained {
            about: RuleView::of(format, rule),
            strict: under(Profile::Strict),
            lenient: under(Profile::Lenient),
            example,
            advisories: advisories
                .map(|[id, reader, field]| Advisory { id, reader, field })
                .collect(),
        }
    }

    fn show(&self, out: &mut dyn Write) -> io::Result<()> {
        let RuleView { format, rule: id, message, spec, basis, why, .. } = self.about;
        let format = format.and_then(Format::by_name);
        let title = format.map_or_else(|| title(id), Format::title);
        writeln!(out, "{}  {}", bold(id), dim(title))?;
        let rules = format.map_or_else(|| WITHOUT_FORMAT.concat(), |it| it.rules().to_vec());
        if let Some(rule) = rules.iter().find(|rule| rule.id == id) {
            let (strict, lenient) = (self.strict, self.lenient);
            let severity = severity(rule.severity);
            writeln!(out, "  severity  {severity} strict: {strict}; lenient: {lenient}")?;
        }
        writeln!(out, "  says      {message}")?;
        writeln!(out, "  requires  {spec} ({basis})")?;
        if let Some(why) = why {
            writeln!(out, "  why       {why}")?;
        }
        if let Some(Example { offset, message }) = &self.example {
            writeln!(out, "  example   {message} (at {offset})")?;
        }
        for Advisory { id, reader, field } in &self.advisories {
            writeln!(out, "  advisory  {}  {reader}: {field}", bold(id))?;
        }
        Ok(())
    }
}
