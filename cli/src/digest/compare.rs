//! What differs between two files, whatever their formats.

use super::{Content, Digested, Row};
use crate::human::{bold, dim};
use crate::json::{self, SCHEMA_COMPARE, TOOL, Tool};
use crate::outcome::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::Text;
use weighbridge::text::{hex, plural};

/// What became of a tensor from the first file to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Equal,
    Changed,
    /// Of the second file.
    Missing,
    Added,
    /// One of both has no digest.
    Unknown,
}

impl State {
    const ALL: [State; 5] =
        [State::Equal, State::Changed, State::Missing, State::Added, State::Unknown];

    fn of(a: Option<&Row>, b: Option<&Row>) -> Self {
        match (a, b) {
            (None, _) => State::Added,
            (_, None) => State::Missing,
            (Some(a), Some(b)) if (&a.dtype, &a.shape) != (&b.dtype, &b.shape) => State::Changed,
            (Some(a), Some(b)) => match (&a.sha256, &b.sha256) {
                (Ok(a), Ok(b)) if a == b => State::Equal,
                (Ok(_), Ok(_)) => State::Changed,
                _ => State::Unknown,
            },
        }
    }

    const fn name(self) -> &'static str {
        match self {
            State::Equal => "equal",
            State::Changed => "changed",
            State::Missing => "missing",
            State::Added => "added",
            State::Unknown => "unknown",
        }
    }
}

/// The tensors of two files, by name.
pub(super) struct Compared<'d> {
    tensors: Vec<(&'d Text, State, Option<&'d Row>, Option<&'d Row>)>,
}

#[derive(Serialize)]
struct Line<'a> {
    a: Side<'a>,
    b: Side<'a>,
    counts: BTreeMap<&'static str, u64>,
    tensors: Vec<Pair<'a>>,
    schema: &'a str,
    tool: Tool,
}

#[derive(Serialize)]
struct Side<'a> {
    file: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    format: Option<&'a str>,
    sha256: String,
}

#[derive(Serialize)]
struct Pair<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    state: &'a str,
    a: Option<Content<'a>>,
    b: Option<Content<'a>>,
}

impl<'d> Compared<'d> {
    /// Those of the first in its order, then those that only the second has. Of several with
    /// one name, which is a fault, the first counts.
    pub(super) fn of(a: &'d Digested, b: &'d Digested) -> Self {
        let by_name = |digested: &'d Digested| {
            let rows = digested.tensors.iter().rev();
            rows.map(|row| (&row.name, row)).collect::<BTreeMap<&Text, &Row>>()
        };
        let (first, second) = (by_name(a), by_name(b));
        let of_a =
            a.tensors.iter().map(|row| (&row.name, Some(row), second.get(&row.name).copied()));
        let only_b = b.tensors.iter().filter(|row| !first.contains_key(&row.name));
        let only_b = only_b.map(|row| (&row.name, None, Some(row)));
        let pair = |(name, a, b)| (name, State::of(a, b), a, b);
        Compared { tensors: of_a.chain(only_b).map(pair).collect() }
    }

    fn count(&self, state: State) -> u64 {
        self.tensors.iter().filter(|(_, other, ..)| *other == state).count() as u64
    }

    /// Equal files are valid, others are not; a file that is invalid makes both so.
    pub(super) fn outcome(&self, a: &Digested, b: &Digested) -> Outcome {
        let mut outcome = a.outcome.max(b.outcome);
        if self.count(State::Unknown) > 0 {
            outcome.include(Outcome::Unchecked);
        }
        if [State::Changed, State::Missing, State::Added].iter().any(|it| self.count(*it) > 0) {
            outcome.include(Outcome::Invalid);
        }
        outcome
    }

    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        a: &Digested,
        b: &Digested,
        as_json: bool,
    ) -> io::Result<()> {
        if as_json {
            let pair =
                |(name, state, a, b): &(&'d Text, State, Option<&'d Row>, Option<&'d Row>)| Pair {
                    name: name.lossy(),
                    name_hex: name.hex(),
                    state: state.name(),
                    a: a.map(Content::of),
                    b: b.map(Content::of),
                };
            let line = Line {
                a: Side::of(a),
                b: Side::of(b),
                counts: State::ALL.iter().map(|it| (it.name(), self.count(*it))).collect(),
                tensors: self.tensors.iter().map(pair).collect(),
                schema: SCHEMA_COMPARE,
                tool: TOOL,
            };
            return json::line(out, &line);
        }
        for (name, state, a, b) in self.tensors.iter().filter(|(_, it, ..)| *it != State::Equal) {
            let kinds = match (a, b) {
                (Some(a), Some(b)) if a.kind() != b.kind() => {
                    format!("{} -> {}", a.kind(), b.kind())
                }
                (Some(row), _) | (_, Some(row)) => row.kind(),
                (None, None) => String::new(),
            };
            writeln!(out, "{} {name}  {}", bold(format_args!("{:<8}", state.name())), dim(kinds))?;
        }
        let counts = State::ALL.iter().filter(|it| self.count(**it) > 0);
        let counts: Vec<_> =
            counts.map(|it| format!("{} {}", self.count(*it), it.name())).collect();
        let tensors = plural(self.tensors.len() as u64, "tensor");
        let colon = if counts.is_empty() { "" } else { ": " };
        writeln!(out, "{tensors}{colon}{}", counts.join(", "))
    }
}

impl<'a> Side<'a> {
    fn of(digested: &'a Digested) -> Self {
        Side {
            file: digested.file.lossy(),
            file_hex: digested.file.hex(),
            format: digested.format,
            sha256: hex(&digested.sha256),
        }
    }
}
