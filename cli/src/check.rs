//! `weighbridge check`: verdicts on files.

use crate::args::CheckArgs;
use crate::human::{self, Left};
use crate::jobs;
use crate::json;
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use crate::walk::{self, Input};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::ops::ControlFlow;
use std::path::Path;
use weighbridge::text::{hex, plural, thousands};
use weighbridge::{Error, Goal, Options, Profile, ReadError, Report, Text};

/// How much is read at a time to be hashed.
const PIECE: usize = 1 << 20;

/// What is asked of every file.
struct Task {
    options: Options,
    profile: Profile,
    sha256: bool,
    bars: Bars,
}

/// What became of one input.
struct Done {
    file: Text,
    result: Result<Checked, String>,
}

/// The line of a file that was read.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// How many files ended how.
#[derive(Default)]
struct Tally {
    outcome: Outcome,
    valid: u64,
    invalid: u64,
    unsupported: u64,
    unchecked: u64,
    failed: u64,
    findings: u64,
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, String> {
    let bars = Bars::new();
    let goal = if args.structure { Goal::Structure } else { Goal::Payloads };
    let mut options = bars.watch(args.open.options(args.lenient)?.goal(goal));
    if let Some(work) = args.max_work {
        options = options.work(work);
    }
    for what in &args.deny {
        options = options.deny(what)?;
    }
    let profile = if args.lenient { Profile::Lenient } else { Profile::Strict };
    let task = Task { options, profile, sha256: args.sha256, bars };
    let walked = walk::walk(&args.paths, is_wanted);

    let mut tally = Tally::default();
    let mut out = terminal::stdout(args.json);
    let mut written = Ok(());
    jobs::in_order(
        &walked.inputs,
        args.jobs,
        |input| task.perform(input),
        |done| {
            let outcome = task.outcome(&done);
            tally.count(&done, outcome);
            written = task.bars.suspend(|| task.print(&mut *out, &done, args.json));
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    if written.is_ok() {
        written = tally.print(&mut *out, walked.skipped, args.json);
    }
    Ok(terminal::written(written, tally.outcome))
}

/// Whether a walk takes a file: it has a magic or a known extension. A file
/// without a known extension that cannot be read is taken too, so that the failure is reported.
fn is_wanted(path: &Path) -> Result<bool, String> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let named = weighbridge::recognise(&[], 0, Some(&name)).is_some();
    match weighbridge::recognise_path(path) {
        Ok(format) => Ok(named || format.is_some_and(|format| format.has_magic())),
        Err(Error::Read(ReadError::NotAFile(_))) => Ok(named),
        Err(error) => Err(error.to_string()),
    }
}

impl Task {
    fn perform(&self, input: &Input) -> Done {
        match input {
            Input::File(path) => Done {
                file: Text::from(path.as_path()),
                result: self.check(path).map_err(|error| error.to_string()),
            },
            Input::Failed(path, why) => {
                Done { file: Text::from(path.as_path()), result: Err(why.clone()) }
            }
        }
    }

    fn check(&self, path: &Path) -> Result<Checked, Error> {
        let report = weighbridge::check_path(path, &self.options)?;
        let sha256 = if self.sha256 { Some(self.digest(path, report.size())?) } else { None };
        Ok(Checked { report, sha256 })
    }

    /// The digest of the file, which must still be as long as it was.
    fn digest(&self, path: &Path, len: u64) -> Result<String, Error> {
        let name = Text::from(path);
        let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
        let (mut buffer, mut read) = (vec![0; PIECE], 0);
        loop {
            match file.read(&mut buffer)? {
                0 if read == len => return Ok(hex(&hasher.finalize())),
                0 => return Err(ReadError::Changed.into()),
                n => {
                    hasher.update(&buffer[..n]);
                    read += n as u64;
                    self.bars.at(&name, read, len);
                }
            }
        }
    }

    fn outcome(&self, done: &Done) -> Outcome {
        match &done.result {
            Ok(checked) => checked.report.verdict(self.profile).into(),
            Err(_) => Outcome::Failed,
        }
    }

    fn print(&self, out: &mut dyn Write, done: &Done, as_json: bool) -> io::Result<()> {
        if let Err(why) = &done.result {
            terminal::complain(&done.file, why);
        }
        match &done.result {
            Err(why) if as_json => {
                json::failed(out, &done.file, why)?.end()?;
                out.write_all(b"\n")?;
            }
            Err(_) => {}
            Ok(checked) if as_json => json::line(out, checked)?,
            Ok(Checked { report, sha256 }) => {
                human::report(out, &done.file, report, self.profile, &Left::default())?;
                if let Some(sha256) = sha256 {
                    writeln!(out, "  sha256    {sha256}")?;
                }
            }
        }
        // A program that reads along gets each line when it is complete.
        out.flush()
    }
}

impl Tally {
    fn count(&mut self, done: &Done, outcome: Outcome) {
        self.outcome.include(outcome);
        let count = match outcome {
            Outcome::Valid => &mut self.valid,
            Outcome::Unchecked => &mut self.unchecked,
            Outcome::Unsupported => &mut self.unsupported,
            Outcome::Failed => &mut self.failed,
            Outcome::Invalid => &mut self.invalid,
        };
        *count += 1;
        if let Ok(checked) = &done.result {
            self.findings += checked.report.total();
        }
    }

    /// The summary, when there was more than one file.
    fn print(&self, out: &mut dyn Write, skipped: u64, as_json: bool) -> io::Result<()> {
        let files = self.valid + self.invalid + self.unsupported + self.unchecked + self.failed;
        let skipped = match skipped {
            0 => String::new(),
            n => format!("; skipped {} of no known format", plural(n, "file")),
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
            (self.unsupported, "of formats that are not read"),
            (self.unchecked, "not checked completely"),
            (self.failed, "not read"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", thousands(*n)))
            .collect();
        let findings = plural(self.findings, "finding");
        let colon = if parts.is_empty() { "" } else { ": " };
        writeln!(out, "{}{colon}{}; {findings}{skipped}", plural(files, "file"), parts.join(", "))
    }
}
