//! `weighbridge check`: verdicts on files.

use crate::args::CheckArgs;
use crate::config::{self, Config, Date};
use crate::jobs;
use crate::outcome::Outcome;
use crate::print::{Checked, Context, Done, Printer, Seen, Tally};
use crate::progress::Bars;
use crate::terminal;
use crate::walk::{Filter, Input, List, Walk};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::ops::ControlFlow;
use std::path::Path;
use weighbridge::text::hex;
use weighbridge::{Error, Goal, Options, ReadError, Report, Text, Verdict};

/// How much is read at a time to be hashed.
const PIECE: usize = 1 << 20;

/// What is asked of every file.
struct Task {
    /// Of files that were named, and of those that were found.
    named: Options,
    found: Options,
    skip_unknown: bool,
    /// Pickles are denied, so a file that is named as one is not skipped.
    deny_pickle: bool,
    sha256: bool,
    bars: Bars,
}

/// # Errors
/// A sentence, when the arguments or the settings make no sense.
pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, String> {
    let config = match args.no_config {
        true => Config::default(),
        false => Config::load(args.config.as_deref())?,
    };
    let lenient = args.lenient || config.is_lenient();
    let bars = Bars::new();
    let (options, rules) = options(args, &config, bars.watch(args.open.options(lenient)))?;
    rules.notes.iter().for_each(terminal::note);
    note_laxer(args, &config);
    let include = args.include.iter().chain(&config.include);
    let exclude = args.exclude.iter().chain(&config.exclude);
    let filter = Filter::new(include, exclude, args.follow_links || config.follow_links)?;
    let list = args.files_from.as_deref().map_or(Ok(List::default()), List::read)?;
    let task = Task {
        found: options.clone().unknown_is_unsupported(),
        named: options,
        skip_unknown: args.skip_unknown || config.skip_unknown,
        deny_pickle: args.deny.iter().chain(&config.deny).any(|what| what == "pickle"),
        sha256: args.sha256,
        bars,
    };
    let profile = config::profile(lenient);
    let context = Context { profile, rules, config: config.path, quiet: args.quiet };

    let mut walk = Walk::new(args.paths.clone(), list, &filter);
    let mut tally = Tally::default();
    let mut printer = Printer::new(args.output(), &context);
    let mut out = terminal::stdout(printer.is_for_programs());
    let mut written = printer.begin(&mut *out);
    jobs::in_order(
        walk.by_ref(),
        args.jobs,
        |input| task.perform(input),
        |done| {
            tally.count(&done, context.profile);
            if written.is_ok() {
                // A program that reads along gets each line when it is complete.
                let print = || printer.file(&mut *out, &done).and_then(|()| out.flush());
                written = task.bars.suspend(print);
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    tally.excluded = walk.excluded;
    if written.is_ok() {
        written = printer.end(&mut *out, &tally).and_then(|()| out.flush());
    }
    if written.is_ok() && tally.files() == 0 {
        terminal::note(format_args!("nothing was checked: {}", tally.why_nothing()));
    }
    Ok(terminal::written(written, tally.outcome()))
}

/// Says which settings accept more than the defaults do.
fn note_laxer(args: &CheckArgs, config: &Config) {
    let Some(path) = &config.path else { return };
    let laxer = [
        (config.is_lenient() && !args.lenient, "profile"),
        (config.is_structure_only() && !args.structure, "depth"),
        (config.skip_unknown && !args.skip_unknown, "skip-unknown"),
        (config.follow_links && !args.follow_links, "follow-links"),
    ];
    let laxer: Vec<_> = laxer.iter().filter(|(is, _)| *is).map(|(_, key)| *key).collect();
    if !laxer.is_empty() {
        let (path, keys) = (Text::from(path.as_path()), laxer.join(", "));
        terminal::note(format_args!("{path} accepts more than the defaults: {keys}"));
    }
}

/// How files are checked, and what the settings say of rules.
fn options(
    args: &CheckArgs,
    config: &Config,
    options: Options,
) -> Result<(Options, config::Rules), String> {
    let structure = args.structure || config.is_structure_only();
    let mut options = options.goal(if structure { Goal::Structure } else { Goal::Payloads });
    if args.follow_links || config.follow_links {
        options = options.follow_links();
    }
    for what in args.deny.iter().chain(&config.deny) {
        options = options.deny(what)?;
    }
    let (mut options, rules) = config.apply(options, Date::today())?;
    if let Some(work) = args.max_work {
        options = options.work(work);
    }
    Ok((options, rules))
}

impl Task {
    fn perform(&self, input: Input) -> Done {
        let (file, seen) = match input {
            Input::Named(path) => {
                let checked = self.check(&path, &self.named).map(|it| Seen::Checked(Box::new(it)));
                (Text::from(path.as_path()), checked)
            }
            Input::Found(path) => {
                let found = self.found(&path);
                (Text::from(path.as_path()), found)
            }
            Input::Standard => {
                let name = Text::from("-");
                let checked = self.check_standard(&name);
                (name, checked.map(|it| Seen::Checked(Box::new(it))))
            }
            Input::Link(path) if self.skips(&path) && !is_named(&path) => {
                (Text::from(path.as_path()), Ok(Seen::Skipped))
            }
            Input::Link(path) => (Text::from(path.as_path()), Ok(Seen::Aside(LINK))),
            Input::Failed(path, why) => (Text::from(path.as_path()), Ok(Seen::Failed(why))),
        };
        Done { file, seen: seen.unwrap_or_else(|error| Seen::Failed(error.to_string())) }
    }

    /// Whether a file that nothing identifies is skipped.
    fn skips(&self, path: &Path) -> bool {
        const PICKLES: [&str; 8] = ["bin", "ckpt", "dill", "joblib", "pickle", "pkl", "pt", "pth"];
        let extension = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
        let is_pickle = extension.is_some_and(|it| PICKLES.contains(&&*it));
        self.skip_unknown && !(self.deny_pickle && is_pickle)
    }

    fn check(&self, path: &Path, options: &Options) -> Result<Checked, Error> {
        let report = weighbridge::check_path(path, options)?;
        let sha256 = match self.sha256 {
            true => Some(self.digest(&mut File::open(path)?, &Text::from(path), report.size())?),
            false => None,
        };
        Ok(Checked { report, sha256 })
    }

    /// A file of a folder or a list, of which nobody said that it is a model.
    fn found(&self, path: &Path) -> Result<Seen, Error> {
        let skips = |report: &Report| {
            let unread = report.verdict_on_checked() == Verdict::Unsupported;
            self.skips(path) && !report.is_recognised() && unread
        };
        match self.check(path, &self.found) {
            Ok(checked) if skips(&checked.report) => Ok(Seen::Skipped),
            Ok(checked) => Ok(Seen::Checked(Box::new(checked))),
            Err(Error::Read(ReadError::NotAFile(_))) if !is_named(path) => {
                Ok(if self.skip_unknown { Seen::Skipped } else { Seen::Aside(SPECIAL) })
            }
            Err(error) => Err(error),
        }
    }

    /// Standard input, which is kept in a temporary file: reading goes back and forth.
    fn check_standard(&self, name: &Text) -> Result<Checked, Error> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin(), &mut file)?;
        let report = weighbridge::check_reader(&file, &self.named)?.with_name(name);
        let sha256 = match self.sha256 {
            true => {
                file.rewind()?;
                Some(self.digest(&mut file, name, report.size())?)
            }
            false => None,
        };
        Ok(Checked { report, sha256 })
    }

    /// The digest of the file, which must still be as long as it was.
    fn digest(&self, file: &mut File, name: &Text, len: u64) -> Result<String, Error> {
        let mut hasher = Sha256::new();
        let (mut buffer, mut read) = (vec![0; PIECE], 0);
        loop {
            match file.read(&mut buffer)? {
                0 if read == len => return Ok(hex(&hasher.finalize())),
                0 => return Err(ReadError::Changed.into()),
                n => {
                    hasher.update(&buffer[..n]);
                    read += n as u64;
                    self.bars.at(name, read, len);
                }
            }
        }
    }
}

const LINK: &str = "a link, which is not followed";
const SPECIAL: &str = "a pipe or a device, not a file";

/// Whether the name of a file promises a format.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    weighbridge::recognise(&[], 0, Some(&name)).is_some()
}
