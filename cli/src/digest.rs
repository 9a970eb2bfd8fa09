//! `weighbridge digest`: SHA-256 of files and of each tensor, and what differs between two.

mod compare;
mod pass;

use crate::args::DigestArgs;
use crate::config;
use crate::human::{bold, dim};
use crate::json::{self, SCHEMA_DIGEST, TOOL, Tool};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use pass::Pass;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use weighbridge::text::hex;
use weighbridge::{Error, FileInput, Goal, Input as _, Model, Options, Tensor, Text, Verdict};

/// A digest.
pub(crate) type Sha = [u8; 32];

/// A file, with its digests.
#[derive(Debug)]
pub(crate) struct Digested {
    pub(crate) file: Text,
    format: Option<&'static str>,
    version: Option<String>,
    size: u64,
    verdict: Verdict,
    sha256: Sha,
    pub(crate) tensors: Vec<Row>,
    pub(crate) outcome: Outcome,
}

/// A tensor with its digest, or why there is none.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: Text,
    dtype: String,
    shape: Vec<Option<u64>>,
    pub(crate) sha256: Result<Sha, String>,
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &DigestArgs) -> Result<Outcome, String> {
    let options = args.open.options(args.lenient).goal(Goal::Structure);
    let options = if args.follow_links { options.follow_links() } else { options };
    let options = Bars::new().watch(options);
    let profile = config::profile(args.lenient);
    let digest = |path: &Path| digest(path, &options, profile);
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
        let compared = compare::Compared::of(&a, &b);
        let written = compared.print(&mut *out, &a, &b, as_json).and_then(|()| out.flush());
        outcome.include(compared.outcome(&a, &b));
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
                if as_json { failed(&mut *out, &file, &error.to_string()) } else { Ok(()) }
            }
        };
        if written.is_err() {
            break;
        }
    }
    Ok(terminal::written(written.and_then(|()| out.flush()), outcome))
}

/// The line of a file that could not be read.
fn failed(out: &mut dyn Write, file: &Text, why: &str) -> io::Result<()> {
    let mut object = json::Object::begin(out)?;
    object.member("file", &file.lossy())?;
    object.optional("file_hex", file.hex())?;
    for key in ["format", "version", "size", "verdict", "sha256"] {
        object.member(key, &None::<u8>)?;
    }
    object.list("tensors")?.end()?;
    object.member("error", why)?;
    object.member("schema", SCHEMA_DIGEST)?;
    object.member("tool", &TOOL)?;
    object.end()?;
    out.write_all(b"\n")
}

/// Reads a file once for its own digest and for those of all tensors that are stored as they
/// are, and decodes the others.
fn digest(
    path: &Path,
    options: &Options,
    profile: weighbridge::Profile,
) -> Result<Digested, Error> {
    let place = path.to_path_buf();
    let input = FileInput::open(path)?;
    let (report, model) = Model::checked_at(&input, &place, options)?;
    let mut outcome: Outcome = report.verdict(profile).into();
    if report.format() == Some(weighbridge::Format::Shards) {
        let why = "an index has no tensors: digest the files that it lists";
        terminal::complain(&Text::from(path), why);
        outcome.include(Outcome::Unchecked);
    }
    let mut pass = Pass::new(report.size());
    let (mut tensors, mut decoded) = (Vec::new(), Vec::new());
    if let Some(model) = &model {
        for tensor in model.tensors() {
            let tensor = tensor?;
            let sha256 = match tensor.canonical_span() {
                Ok(Some(span)) if pass.take(tensors.len(), span) => Ok(Sha::default()),
                Ok(Some(_)) => Err("entries share data, and not all of it is digested".to_owned()),
                Ok(None) => {
                    decoded.push((tensors.len(), tensor.clone()));
                    Ok(Sha::default())
                }
                Err(Error::Unsupported(why)) => Err(why),
                Err(error) => return Err(error),
            };
            tensors.push(Row::of(&tensor, sha256)?);
        }
    }
    let sha256 = pass.run(&input, |i, digest| {
        if let Some(row) = tensors.get_mut(i) {
            row.sha256 = Ok(digest);
        }
    })?;
    // What is decoded is bounded as the audit's work is.
    let mut left = pass::work(report.size());
    for (i, tensor) in decoded {
        let digest = match tensor.decoded_len() {
            Ok(len) if len <= left => {
                left -= len;
                pass::of_decoded(&tensor)
            }
            Ok(_) => Err(Error::Unsupported("decoding all data takes too long".to_owned())),
            Err(error) => Err(error),
        };
        tensors[i].sha256 = match digest {
            Ok(digest) => Ok(digest),
            Err(error @ Error::Undecodable(_)) => {
                outcome.include(Outcome::Invalid);
                Err(error.to_string())
            }
            Err(Error::Unsupported(why)) => Err(why),
            Err(error) => return Err(error),
        };
    }
    input.verify_unchanged()?;
    if tensors.iter().any(|row| row.sha256.is_err()) {
        outcome.include(Outcome::Unchecked);
    }
    Ok(Digested {
        file: Text::from(path),
        format: report.format().map(|format| format.name()),
        version: report.version().map(|version| version.to_string()),
        size: report.size(),
        verdict: report.verdict_on_checked(),
        sha256,
        tensors,
        outcome,
    })
}

impl Row {
    fn of(tensor: &Tensor<'_, '_>, sha256: Result<Sha, String>) -> Result<Self, Error> {
        let particulars = tensor.particulars()?;
        let dtype = particulars.dtype.as_deref().unwrap_or(tensor.dtype().name());
        let dtype = match &particulars.dtype_raw {
            Some(raw) => format!("{dtype} {raw}"),
            None => dtype.to_owned(),
        };
        Ok(Row {
            name: tensor.name().clone(),
            dtype,
            shape: tensor.shape().extents().to_vec(),
            sha256,
        })
    }

    /// Type and shape, as people read them.
    fn kind(&self) -> String {
        let dim = |dim: &Option<u64>| dim.map_or("?".to_owned(), |dim| dim.to_string());
        let dims: Vec<_> = self.shape.iter().map(dim).collect();
        format!("{} [{}]", self.dtype, dims.join(", "))
    }
}

/// A row as JSON has it.
#[derive(Serialize)]
struct View<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    #[serde(flatten)]
    content: Content<'a>,
}

/// What a tensor is, beside its name.
#[derive(Serialize)]
struct Content<'a> {
    dtype: &'a str,
    shape: &'a [Option<u64>],
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> Content<'a> {
    fn of(row: &'a Row) -> Self {
        Content {
            dtype: &row.dtype,
            shape: &row.shape,
            sha256: row.sha256.as_ref().ok().map(|digest| hex(digest)),
            why: row.sha256.as_ref().err().map(String::as_str),
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    file: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    format: Option<&'a str>,
    version: Option<&'a str>,
    size: u64,
    verdict: &'a str,
    sha256: String,
    tensors: Vec<View<'a>>,
    schema: &'a str,
    tool: Tool,
}

impl Digested {
    fn print(&self, out: &mut dyn Write, as_json: bool) -> io::Result<()> {
        if as_json {
            let view = |row| View::of(row);
            let line = Line {
                file: self.file.lossy(),
                file_hex: self.file.hex(),
                format: self.format,
                version: self.version.as_deref(),
                size: self.size,
                verdict: self.verdict.name(),
                sha256: hex(&self.sha256),
                tensors: self.tensors.iter().map(view).collect(),
                schema: SCHEMA_DIGEST,
                tool: TOOL,
            };
            return json::line(out, &line);
        }
        // As sha256sum has it, so that the first line of a file can be compared.
        writeln!(out, "{}  {}", hex(&self.sha256), bold(&self.file))?;
        if self.verdict != Verdict::Valid {
            writeln!(out, "  {}: its structure breaks rules", bold(self.verdict.name()))?;
        }
        for row in &self.tensors {
            let (name, kind) = (&row.name, dim(row.kind()));
            match &row.sha256 {
                Ok(digest) => writeln!(out, "{}    {name}  {kind}", hex(digest))?,
                Err(why) => writeln!(out, "{:64}    {name}  {kind}", Text::from(why.as_str()))?,
            }
        }
        Ok(())
    }
}

impl<'a> View<'a> {
    fn of(row: &'a Row) -> Self {
        View { name: row.name.lossy(), name_hex: row.name.hex(), content: Content::of(row) }
    }
}
