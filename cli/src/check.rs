//! `weighbridge check`: verdicts on files.

use crate::args::CheckArgs;
use crate::formats;
use crate::human::{self, Left};
use crate::jobs;
use crate::json::Object;
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::report::{Criteria, Depth, Report, Unchecked};
use crate::session::{Halt, Session};
use crate::terminal;
use crate::text::{Text, hex};
use crate::view;
use crate::walk::{self, Input};
use crate::windows::{FileSource, ReadError};
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use weighbridge_core::Format;

/// What is asked of every file.
struct Task {
    format: Option<Format>,
    depth: Depth,
    criteria: Criteria,
    sha256: bool,
}

/// What became of one input.
struct Done {
    file: Text,
    result: Result<Checked, String>,
}

struct Checked {
    report: Report,
    sha256: Option<String>,
}

/// How many files ended how.
#[derive(Default)]
struct Tally {
    outcome: Outcome,
    valid: u64,
    invalid: u64,
    unchecked: u64,
    failed: u64,
    findings: u64,
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, String> {
    let mut criteria = Criteria::new(args.lenient);
    criteria.max_work = args.max_work;
    for what in &args.deny {
        criteria.deny(what)?;
    }
    let task = Task {
        format: args.open.format()?,
        depth: if args.structure { Depth::Structure } else { Depth::Payloads },
        criteria,
        sha256: args.sha256,
    };
    let bars = Bars::new();
    let walked = walk::walk(&args.paths, |path| is_wanted(path, &bars));

    let mut tally = Tally::default();
    let mut out = terminal::stdout(args.json);
    let mut written = Ok(());
    let work = |input: &Input| task.perform(input, &bars);
    jobs::in_order(&walked.inputs, args.jobs, work, |done| {
        tally.count(&done);
        written = bars.suspend(|| print(&mut *out, &done, args.json));
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if written.is_ok() {
        written = tally.print(&mut *out, walked.skipped, args.json);
    }
    Ok(terminal::written(written, tally.outcome))
}

/// Whether a walk takes a file. What can be neither read nor told by its name
/// counts as wanted, so that its failure is reported.
fn is_wanted(path: &Path, bars: &Bars) -> Result<bool, String> {
    let file = match FileSource::open(path) {
        Ok(file) => file,
        Err(ReadError::NotAFile(_)) => return Ok(formats::by_file_name(path).is_some()),
        Err(err) => return Err(err.to_string()),
    };
    let bar = bars.file(String::new(), file.len());
    formats::is_known(&mut Session::new(file, bar), path).map_err(|halt| halt.to_string())
}

impl Task {
    fn perform(&self, input: &Input, bars: &Bars) -> Done {
        match input {
            Input::File(path) => Done {
                file: Text::from(path.as_path()),
                result: self.check(path, bars).map_err(|halt| halt.to_string()),
            },
            Input::Failed(path, why) => {
                Done { file: Text::from(path.as_path()), result: Err(why.clone()) }
            }
        }
    }

    fn check(&self, path: &Path, bars: &Bars) -> Result<Checked, Halt> {
        let file = FileSource::open(path)?;
        let bar = bars.file(Text::from(path).to_string(), file.len());
        let mut session = Session::new(file, bar);
        let mut report = Report::of(&mut session, path, self.format, self.depth, &self.criteria)?;
        if self.depth == Depth::Structure && report.file.is_some() {
            let why = "payloads not asked for".to_owned();
            report.leave(Unchecked { entry: None, why, asked: false });
        }
        let mut sha256 = None;
        if self.sha256 {
            let mut hasher = Sha256::new();
            let len = session.len();
            session.stream(0, len, |piece| {
                hasher.update(piece);
                Ok::<(), Halt>(())
            })?;
            sha256 = Some(hex(&hasher.finalize()));
        }
        session.verify_unchanged()?;
        Ok(Checked { report, sha256 })
    }
}

fn print(out: &mut dyn Write, done: &Done, as_json: bool) -> io::Result<()> {
    if let Err(why) = &done.result {
        terminal::complain(&done.file, why);
    }
    match &done.result {
        _ if as_json => line(out, done)?,
        Err(_) => {}
        Ok(Checked { report, sha256 }) => {
            human::report(out, &done.file, report, &Left::default())?;
            if let Some(sha256) = sha256 {
                writeln!(out, "  sha256    {sha256}")?;
            }
        }
    }
    // A program that reads along gets each line when it is complete.
    out.flush()
}

/// The line of a file, whatever became of it.
fn line(out: &mut dyn Write, done: &Done) -> io::Result<()> {
    let mut object = Object::begin(out)?;
    match &done.result {
        Err(why) => view::failed(&mut object, &done.file, why)?,
        Ok(Checked { report, sha256 }) => {
            view::head(&mut object, &done.file, report)?;
            view::unchecked(&mut object, report)?.end()?;
            view::findings(&mut object, report)?;
            object.optional("sha256", sha256.as_ref())?;
        }
    }
    object.end()?;
    out.write_all(b"\n")
}

impl Tally {
    fn count(&mut self, done: &Done) {
        let outcome = match &done.result {
            Ok(checked) => checked.report.outcome(false),
            Err(_) => Outcome::Failed,
        };
        self.outcome.include(outcome);
        match outcome {
            Outcome::Valid => self.valid += 1,
            Outcome::Unchecked => self.unchecked += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Invalid => self.invalid += 1,
        }
        if let Ok(checked) = &done.result {
            self.findings += checked.report.total();
        }
    }

    /// The summary, when there was more than one file.
    fn print(&self, out: &mut dyn Write, skipped: u64, as_json: bool) -> io::Result<()> {
        let files = self.valid + self.invalid + self.unchecked + self.failed;
        let skipped = match skipped {
            0 => String::new(),
            n => format!("; skipped {} of no known format", human::plural(n, "file")),
        };
        if as_json {
            // Standard output has one line a file and nothing else.
            if !skipped.is_empty() {
                terminal::note(skipped.trim_start_matches("; "));
            }
            return Ok(());
        }
        if files == 1 && skipped.is_empty() {
            return Ok(());
        }
        let parts = [
            (self.valid, "valid"),
            (self.invalid, "invalid"),
            (self.unchecked, "not checked completely"),
            (self.failed, "not read"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", human::thousands(*n)))
            .collect();
        let findings = human::plural(self.findings, "finding");
        let colon = if parts.is_empty() { "" } else { ": " };
        writeln!(
            out,
            "{}{colon}{}; {findings}{skipped}",
            human::plural(files, "file"),
            parts.join(", ")
        )
    }
}
