//! `weighbridge digest`: SHA-256 of files and of each tensor, and what differs between two.

use crate::args::{self, DigestArgs};
use crate::human::{bold, dim};
use crate::json::{self, SCHEMA_COMPARE, SCHEMA_DIGEST, TOOL, Tool};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use weighbridge::digest::{Change, Digests, Pair, TensorDigest};
use weighbridge::text::{hex, plural};
use weighbridge::{Error, FileInput, Format, Goal, Options, Profile, Text, Verdict};

/// A file, with its digests.
struct Digested {
    file: Text,
    digests: Digests,
    outcome: Outcome,
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &DigestArgs) -> Result<Outcome, String> {
    let options = args.open.options(args.lenient).goal(Goal::Structure);
    let options = if args.follow_links { options.follow_links() } else { options };
    let options = Bars::new().watch(options);
    let profile = args::profile(args.lenient);
    let digest = |path: &Path| Digested::of(path, &options, profile);
    let as_json = args.print.is_json();
    let mut out = terminal::stdout(as_json);
    let mut outcome = Outcome::Valid;
    if let [a, b] = &args.compare[..] {
        let (a, b) = match (digest(a), digest(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                for (path, read) in [(&args.compare[0], a), (&args.compare[1], b)] {
                    read.map_err(|why| terminal::complain(&Text::from(path.as_path()), why)).ok();
                }
                return Ok(Outcome::Failed);
            }
        };
        let compared = Compared::of(&a, &b);
        let written = compared.print(&mut *out, as_json).and_then(|()| out.flush());
        outcome.include(compared.outcome());
        return Ok(terminal::written(written, outcome));
    }
    let mut written = Ok(());
    for path in &args.files {
        let file = Text::from(path.as_path());
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

/// Type and shape, as people read them.
fn kind(tensor: &TensorDigest) -> String {
    let dim = |dim: &Option<u64>| dim.map_or("?".to_owned(), |dim| dim.to_string());
    let dims: Vec<_> = tensor.shape.iter().map(dim).collect();
    format!("{} [{}]", tensor.dtype, dims.join(", "))
}

#[derive(Serialize)]
struct Line<'a> {
    file: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    format: Option<&'a str>,
    version: Option<String>,
    size: u64,
    verdict: &'a str,
    sha256: String,
    tensors: &'a [TensorDigest],
    schema: &'a str,
    tool: Tool,
}

impl Digested {
    fn of(path: &Path, options: &Options, profile: Profile) -> Result<Self, Error> {
        let digests = Digests::of(&FileInput::open(path)?, &path.to_path_buf(), options)?;
        let mut outcome: Outcome = digests.verdict(profile).into();
        let file = Text::from(path);
        if digests.report.format() == Some(Format::Shards) {
            terminal::complain(&file, "an index has no tensors: digest the files that it lists");
            outcome.include(Outcome::Unchecked);
        }
        Ok(Digested { file, digests, outcome })
    }

    fn print(&self, out: &mut dyn Write, as_json: bool) -> io::Result<()> {
        let Digests { report, sha256, tensors, .. } = &self.digests;
        let verdict = report.verdict_on_checked();
        if as_json {
            let line = Line {
                file: self.file.lossy(),
                file_hex: self.file.hex(),
                format: report.format().map(|format| format.name()),
                version: report.version().map(|version| version.to_string()),
                size: report.size(),
                verdict: verdict.name(),
                sha256: hex(sha256),
                tensors,
                schema: SCHEMA_DIGEST,
                tool: TOOL,
            };
            return json::line(out, &line);
        }
        // As sha256sum has it, so that the first line of a file can be compared.
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

/// The tensors of two files, by name.
struct Compared<'d> {
    files: [&'d Digested; 2],
    pairs: Vec<Pair<'d>>,
}

#[derive(Serialize)]
struct Side<'a> {
    file: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    format: Option<&'a str>,
    sha256: String,
}

#[derive(Serialize)]
struct Difference<'a> {
    a: Side<'a>,
    b: Side<'a>,
    counts: BTreeMap<&'static str, u64>,
    tensors: &'a [Pair<'a>],
    schema: &'a str,
    tool: Tool,
}

impl<'d> Compared<'d> {
    fn of(a: &'d Digested, b: &'d Digested) -> Self {
        Compared { files: [a, b], pairs: a.digests.compare(&b.digests) }
    }

    fn count(&self, change: Change) -> u64 {
        self.pairs.iter().filter(|pair| pair.change == change).count() as u64
    }

    /// Equal files are valid, others are not; a file that is invalid makes both so.
    fn outcome(&self) -> Outcome {
        let [a, b] = self.files.map(|file| file.outcome);
        let mut outcome = a.max(b);
        for Pair { change, .. } in &self.pairs {
            outcome.include(match change {
                Change::Equal => Outcome::Valid,
                Change::Unknown => Outcome::Unchecked,
                Change::Changed | Change::Missing | Change::Added => Outcome::Invalid,
            });
        }
        outcome
    }

    fn print(&self, out: &mut dyn Write, as_json: bool) -> io::Result<()> {
        let counts = Change::ALL.map(|it| (it.name(), self.count(it)));
        if as_json {
            let [a, b] = self.files.map(|Digested { file, digests, .. }| Side {
                file: file.lossy(),
                file_hex: file.hex(),
                format: digests.report.format().map(|format| format.name()),
                sha256: hex(&digests.sha256),
            });
            let (counts, tensors) = (counts.into(), &*self.pairs);
            let line = Difference { a, b, counts, tensors, schema: SCHEMA_COMPARE, tool: TOOL };
            return json::line(out, &line);
        }
        for Pair { name, change, a, b, .. } in &self.pairs {
            let kinds = match (a.map(kind), b.map(kind)) {
                _ if *change == Change::Equal => continue,
                (Some(a), Some(b)) if a != b => format!("{a} -> {b}"),
                (Some(kind), _) | (_, Some(kind)) => kind,
                (None, None) => String::new(),
            };
            writeln!(out, "{} {name}  {}", bold(format_args!("{:<8}", change.name())), dim(kinds))?;
        }
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
        let tensors = plural(self.pairs.len() as u64, "tensor");
        let colon = if counts.is_empty() { "" } else { ": " };
        writeln!(out, "{tensors}{colon}{}", counts.join(", "))
    }
}
