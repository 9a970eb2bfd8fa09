//! `weighbridge digest`: SHA-256 of files and of each tensor, and differences between two
//! files.

use crate::args::DigestArgs;
use crate::human::{bold, dim};
use crate::json;
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use std::io::{self, Write};
use std::path::Path;
use weighbridge::digest::{Change, Comparison, Digests, Pair, SCHEMA_DIGEST, TensorDigest};
use weighbridge::remote::{Servers, shown};
use weighbridge::text::{hex, plural};
use weighbridge::weighbridge_core::Span;
use weighbridge::{Error, Format, Goal, Options, Profile, Text, Verdict};

/// Ranges that are listed in text.
const RANGES: usize = 20;

/// A file, with its digests.
struct Digested {
    file: Text,
    digests: Digests,
    outcome: Outcome,
}

/// # Errors
/// A sentence, if the arguments make no sense.
pub(crate) fn run(args: &DigestArgs) -> Result<Outcome, String> {
    let options = args.verdict.options().goal(Goal::Structure);
    let options = if args.follow_links { options.follow_links() } else { options };
    let options = Bars::new().watch(options);
    let profile = args.verdict.profile();
    let servers = args.remote.servers();
    let digest = |path: &Path| Digested::of(&servers, path, &options, profile);
    let as_json = args.print.is_json();
    let mut out = terminal::stdout(as_json);
    if let [a, b] = &args.compare[..] {
        let (a, b) = match (digest(a), digest(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                for (path, read) in [(&args.compare[0], a), (&args.compare[1], b)] {
                    read.map_err(|why| terminal::complain(&shown(path), why)).ok();
                }
                return Ok(Outcome::Failed);
            }
        };
        let compared = a.digests.compare(&b.digests);
        let written = match as_json {
            true => json::line(&mut *out, &compared),
            false => show(&mut *out, &compared),
        };
        let written = written.and_then(|()| out.flush());
        return Ok(terminal::written(written, outcome(&a, &b, &compared)));
    }
    let (mut written, mut outcome) = (Ok(()), Outcome::Valid);
    for path in &args.files {
        let file = shown(path);
        written = match digest(path) {
            Ok(digested) => {
                outcome.include(digested.outcome);
                digested.print(&mut *out, as_json)
            }
            Err(error) => {
                outcome.include(Outcome::Failed);
                terminal::complain(&file, &error);
                let why = error.to_string();
                let out = &mut *out;
                match as_json {
                    true => json::without_tensors(out, &file, "sha256", &why, SCHEMA_DIGEST),
                    false => Ok(()),
                }
            }
        };
        if written.is_err() {
            break;
        }
    }
    Ok(terminal::written(written.and_then(|()| out.flush()), outcome))
}

/// Type and shape in readable form.
fn kind(tensor: &TensorDigest) -> String {
    let dim = |dim: &Option<u64>| dim.map_or("?".to_owned(), |dim| dim.to_string());
    let dims: Vec<_> = tensor.shape.iter().map(dim).collect();
    format!("{} [{}]", tensor.dtype, dims.join(", "))
}

impl Digested {
    fn of(
        servers: &Servers,
        path: &Path,
        options: &Options,
        profile: Profile,
    ) -> Result<Self, Error> {
        let at = servers.locate(path)?;
        let digests = Digests::of(&at.open()?, at.place(), &at.options(options))?;
        let mut outcome: Outcome = digests.verdict(profile).into();
        let file = shown(path);
        if digests.report.format() == Some(Format::Shards) {
            terminal::complain(&file, "an index contains no tensors: digest the files it lists");
            outcome.include(Outcome::Unchecked);
        }
        Ok(Digested { file, digests, outcome })
    }

    fn print(&self, out: &mut dyn Write, as_json: bool) -> io::Result<()> {
        if as_json {
            return json::line(out, &self.digests);
        }
        let Digests { report, sha256, tensors, .. } = &self.digests;
        let verdict = report.verdict_on_checked();
        // In the format of sha256sum, so that the first line of a file can be compared.
        writeln!(out, "{}  {}", hex(sha256), bold(&self.file))?;
        if verdict != Verdict::Valid {
            writeln!(out, "  {}: its structure breaks rules", bold(verdict.name()))?;
        }
        for tensor in tensors {
            let (name, kind) = (&tensor.name, dim(kind(tensor)));
            match &tensor.sha256 {
                Ok(digest) => writeln!(out, "{}    {name}  {kind}", hex(digest))?,
                Err(why) => writeln!(out, "{:64}    {name}  {kind}", Text::from(why.as_str()))?,
            }
        }
        Ok(())
    }
}

/// The first and the last byte, as HTTP and `curl --range` take them.
fn range(span: &Span) -> String {
    match span.len.checked_sub(1) {
        Some(rest) => format!("{}-{}", span.offset, span.offset.saturating_add(rest)),
        None => "none".to_owned(),
    }
}

/// The strongest outcome of both files and all pairs: equal tensors are valid, different
/// ones invalid.
fn outcome(a: &Digested, b: &Digested, compared: &Comparison<'_>) -> Outcome {
    let mut outcome = a.outcome.max(b.outcome);
    for Pair { change, .. } in &compared.pairs {
        outcome.include(match change {
            Change::Equal => Outcome::Valid,
            Change::Unknown => Outcome::Unchecked,
            Change::Changed | Change::Missing | Change::Added => Outcome::Invalid,
        });
    }
    outcome
}

/// Writes a line for each tensor that differs, and the counts.
fn show(out: &mut dyn Write, compared: &Comparison<'_>) -> io::Result<()> {
    for Pair { name, change, a, b, .. } in &compared.pairs {
        let kinds = match (a.map(kind), b.map(kind)) {
            _ if *change == Change::Equal => continue,
            (Some(a), Some(b)) if a != b => format!("{a} -> {b}"),
            (Some(kind), _) | (_, Some(kind)) => kind,
            (None, None) => String::new(),
        };
        let spans = match (a.and_then(|it| it.span), b.and_then(|it| it.span)) {
            (Some(a), Some(b)) if a != b => format!("  bytes {} -> {}", range(&a), range(&b)),
            (Some(span), _) | (_, Some(span)) => format!("  bytes {}", range(&span)),
            (None, None) => String::new(),
        };
        let change = bold(format_args!("{:<8}", change.name()));
        writeln!(out, "{change} {name}  {}", dim(format_args!("{kinds}{spans}")))?;
    }
    let b = compared.b.report.name().cloned().unwrap_or_default();
    match compared.differing() {
        Some(spans) if spans.is_empty() => {}
        Some(spans) => {
            let ranges: Vec<_> = spans.iter().take(RANGES).map(range).collect();
            let more = spans.len().saturating_sub(RANGES) as u64;
            let more = match more {
                0 => String::new(),
                more => format!(" and {}; --json lists all", plural(more, "more range")),
            };
            writeln!(out, "bytes of {b} that differ: {}{more}", ranges.join(","))?;
        }
        None => writeln!(out, "bytes of {b} that differ: not all lie in one piece")?,
    }
    let counts = Change::ALL.map(|it| (it.name(), compared.count(it)));
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
    let tensors = plural(compared.pairs.len() as u64, "tensor");
    let colon = if counts.is_empty() { "" } else { ": " };
    writeln!(out, "{tensors}{colon}{}", counts.join(", "))
}
