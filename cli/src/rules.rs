//! `weighbridge rules`: prints the catalogue.

use crate::args::{self, RulesArgs, WITHOUT_FORMAT};
use crate::human;
use crate::json;
use crate::outcome::Outcome;
use crate::terminal;
use serde::Serialize;
use std::fmt::Write as _;
use weighbridge::Format;
use weighbridge::weighbridge_core::RuleInfo;

/// The title of the catalogue that has a rule without a format.
pub(crate) fn title(id: &str) -> &'static str {
    if weighbridge::repository::rule(id).is_some() { "folders" } else { "every format" }
}

/// A rule as JSON.
#[derive(Serialize)]
pub(crate) struct RuleView {
    /// `None` for the rules that belong to no format: those of every file, and of folders.
    pub(crate) format: Option<&'static str>,
    pub(crate) rule: &'static str,
    severity: &'static str,
    pub(crate) basis: &'static str,
    pub(crate) message: &'static str,
    pub(crate) spec: &'static str,
    pub(crate) why: Option<&'static str>,
}

impl RuleView {
    pub(crate) fn of(format: Option<Format>, rule: &'static RuleInfo) -> Self {
        RuleView {
            format: format.map(Format::name),
            rule: rule.id,
            severity: rule.severity.name(),
            basis: rule.basis.name(),
            message: rule.message,
            spec: rule.spec,
            why: rule.why,
        }
    }
}

pub(crate) fn run(args: &RulesArgs) -> Outcome {
    let wanted = args.name.or(args.open.format());
    let catalogues: Vec<(Option<Format>, &'static [RuleInfo])> = match wanted {
        Some(format) => vec![(Some(format), format.rules())],
        None => args::available()
            .map(|format| (Some(format), format.rules()))
            .chain(WITHOUT_FORMAT.map(|rules| (None, rules)))
            .collect(),
    };
    let mut out = terminal::stdout(args.print.is_json());
    let written = if args.print.is_json() {
        let rules: Vec<_> = catalogues
            .iter()
            .flat_map(|(format, rules)| rules.iter().map(|rule| RuleView::of(*format, rule)))
            .collect();
        json::line(&mut *out, &rules)
    } else {
        out.write_all(show(&catalogues).as_bytes())
    };
    terminal::written(written.and_then(|()| out.flush()), Outcome::Valid)
}

fn show(catalogues: &[(Option<Format>, &[RuleInfo])]) -> String {
    let mut out = String::new();
    for (format, rules) in catalogues {
        let first = rules.first().map_or("", |rule| rule.id);
        let title = format.map_or_else(|| title(first), Format::title);
        let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}", human::bold(title));
        let heads = format!("  {:width$}  {:9}  {:7}  {}", "RULE", "SEVERITY", "BASIS", "REQUIRES");
        let _ = writeln!(out, "{}", human::dim(heads));
        for rule in *rules {
            let id = human::bold(format_args!("{:width$}", rule.id));
            let severity = human::severity(rule.severity);
            let basis = human::dim(format_args!("{:<7}", rule.basis.name()));
            let _ = writeln!(out, "  {id}  {severity}  {basis}  {}", rule.spec);
        }
    }
    out
}
