//! `weighbridge check`: verdicts on files.

mod folder;
mod pieces;

use crate::args::{CheckArgs, profile};
use crate::jobs;
use crate::journal::{self, Journal, Known};
use crate::outcome::Outcome;
use crate::print::{Checked, Context, Done, Printer, Seen, Tally};

use crate::progress::Bars;
use crate::terminal;
use crate::walk::{Filter, Input, Item, List, Walk};
use folder::class_of;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use weighbridge::policy::{Exception, Exceptions, Policy};
use weighbridge::remote::{Servers, Url, shown};
use weighbridge::repository::{
    Class, Examined, Pieces, Repository, in_progress, is_control, is_piece, rule, shard_of,
};
use weighbridge::text::hex;
use weighbridge::{
    Error, FileInput, Format, Goal, Options, Place, ReadError, Text, Verdict, check_at, check_input,
};

/// Bytes read at a time for hashing.
const PIECE: usize = 1 << 20;

/// Settings that apply to every file.
struct Task<'r> {
    /// Options for named files, and for files found in folders and lists.
    named: Options,
    found: Options,
    /// The paths that were named.
    paths: &'r [PathBuf],
    /// What of folders and lists is checked.
    filter: &'r Filter,
    /// The pieces of files that the list names.
    listed: HashSet<PathBuf>,
    /// Every file of a folder that is checked is checked.
    whole: bool,
    skip_unknown: bool,
    /// Code is allowed; pickles too, unless they are denied.
    allow_code: bool,
    /// Names that are digests are compared.
    digest: bool,
    /// Blobs whose names were compared.
    verified: Mutex<HashSet<PathBuf>>,
    repository: Repository,
    deny_pickle: bool,
    /// What counts in addition: rules by their ids, `lint`.
    denied: Vec<String>,
    /// Rules about folders that do not count.
    exceptions: Vec<Exception>,
    /// Violations do not count.
    lenient: bool,
    sha256: bool,
    /// Also check the payloads of files on servers.
    payloads: bool,
    servers: &'r Servers,
    /// Results of an earlier scan.
    known: Option<Known>,
    bars: Bars,
}

/// # Errors
/// A sentence, if the arguments or the settings make no sense.
pub(crate) fn run(args: &CheckArgs) -> Result<Outcome, String> {
    let policy = match args.no_config {
        true => Policy::default(),
        false => Policy::load(args.config.as_deref())?,
    };
    let bars = Bars::new();
    let (options, exceptions) = options(args, &policy, bars.watch(args.verdict.options()))?;
    exceptions.notes.iter().for_each(terminal::note);
    note_laxer(args, &policy, &exceptions);
    let include = args.include.iter().chain(&policy.include);
    let exclude = args.exclude.iter().chain(&policy.exclude);
    let filter = Filter::new(include, exclude, args.follow_links || policy.follow_links)?;
    let mut list = args.files_from.as_deref().map_or(Ok(List::default()), List::read)?;
    let listed = list.by_ref().filter(|path| is_piece(&file_name(path))).collect();
    list.rewind();
    let servers = args.remote.servers();
    let mut task = Task {
        found: options.clone().unknown_is_unsupported(),
        named: options,
        paths: &args.paths,
        filter: &filter,
        listed,
        whole: filter.is_all() && args.files_from.is_none(),
        skip_unknown: args.skip_unknown || policy.skip_unknown,
        digest: !args.no_digest,
        verified: Mutex::default(),
        repository: Repository::default(),
        allow_code: args.allow_code || policy.allow_code,
        deny_pickle: args.deny.iter().chain(&policy.deny).any(|what| what == "pickle"),
        denied: args.deny.iter().chain(&policy.deny).cloned().collect(),
        exceptions: exceptions
            .rules()
            .iter()
            .filter(|it| rule(it.rule).is_some())
            .cloned()
            .collect(),
        lenient: args.verdict.lenient || policy.is_lenient(),
        sha256: args.sha256,
        payloads: args.payloads,
        servers: &servers,
        known: None,
        bars,
    };
    let profile = profile(args.verdict.lenient || policy.is_lenient());
    let mut journal = None;
    if let Some(path) = &args.resume {
        if args.output().is_document() {
            return Err(
                "--resume prints only new results, but this output covers all files".to_owned()
            );
        }
        let (known, open) = Journal::open(path, &task.settings(args.follow_links))?;
        (task.known, journal) = (Some(known), Some(open));
    }
    let (quiet, verbose) = (args.quiet, args.verbose);
    let context = Context { profile, exceptions, config: policy.path, quiet, verbose };

    let mut walk = Walk::new(args.paths.clone(), list, &filter, &servers, args.shard);
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
                // Flushed, so that a program reading the output gets each complete
                // line.
                let print = || printer.file(&mut *out, &done).and_then(|()| out.flush());
                written = task.bars.suspend(print);
            }
            // Files whose results were printed are not checked again.
            if let (Some(open), Some((stamp, past)), true) =
                (&mut journal, done.past(context.profile), written.is_ok())
                && let Err(err) = open.add(&done.file, stamp, past)
            {
                let path = args.resume.as_deref().map(Text::from).unwrap_or_default();
                terminal::complain(&path, err);
                tally.fail();
                journal = None;
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    (tally.excluded, tally.git, tally.elsewhere) = (walk.excluded, walk.git, walk.elsewhere);
    tally.linked = walk.linked;
    if written.is_ok() {
        written = printer.end(&mut *out, &tally).and_then(|()| out.flush());
    }
    if written.is_ok() && tally.is_nothing() {
        terminal::note(format_args!("nothing was checked: {}", tally.why_nothing()));
    }
    Ok(terminal::written(written, tally.outcome()))
}

/// Reports settings that accept more than the defaults do.
fn note_laxer(args: &CheckArgs, policy: &Policy, exceptions: &Exceptions) {
    let Some(path) = &policy.path else { return };
    let laxer = [
        (policy.is_lenient() && !args.verdict.lenient, "profile"),
        (policy.is_structure_only() && !args.structure && !args.payloads, "depth"),
        (policy.skip_unknown && !args.skip_unknown, "skip-unknown"),
        (policy.allow_code && !args.allow_code, "allow-code"),
        (policy.follow_links && !args.follow_links, "follow-links"),
        (!policy.allow_global.is_empty(), "allow-global"),
        // Only ignored rules have a last day.
        (exceptions.rules().iter().any(|it| it.until.is_none()), "select"),
        (exceptions.rules().iter().any(|it| it.until.is_some()), "ignore"),
    ];
    let laxer: Vec<_> = laxer.iter().filter(|(is, _)| *is).map(|(_, key)| *key).collect();
    if !laxer.is_empty() {
        let (path, keys) = (Text::from(path.as_path()), laxer.join(", "));
        terminal::note(format_args!("{path} accepts more than the defaults: {keys}"));
    }
}

/// Options for checking files, and the ignored rules.
fn options(
    args: &CheckArgs,
    policy: &Policy,
    options: Options,
) -> Result<(Options, Exceptions), String> {
    let (mut options, exceptions) = policy.apply(options)?;
    for what in &args.deny {
        options = options.deny(what)?;
    }
    for what in &args.allow_global {
        options = options.allow_global(what)?;
    }
    if args.structure || args.payloads {
        options = options.goal(if args.structure { Goal::Structure } else { Goal::Payloads });
    }
    if args.follow_links {
        options = options.follow_links();
    }
    if let Some(work) = args.max_work {
        options = options.work(work);
    }
    if args.second_opinion {
        options = options.second_opinion();
    }
    Ok((options, exceptions))
}

impl Task<'_> {
    /// Everything the result depends on besides the file.
    fn settings(&self, follow_links: bool) -> String {
        let Task { named, found, skip_unknown, allow_code, digest, .. } = self;
        let Task { denied, exceptions, whole, sha256, payloads, .. } = self;
        format!(
            "{named:?} {found:?} {skip_unknown} {allow_code} {digest} {denied:?} {exceptions:?} \
             {whole} {sha256} {payloads} {follow_links}"
        )
    }

    fn perform(&self, item: Item) -> Done {
        let Item { input, mut stamp, below } = item;
        if let (Some(known), Input::Named(path) | Input::Found(path)) = (&self.known, &input) {
            // Taken before the file is read: if it changes after that, it is checked
            // again. A named URL has no stamp.
            let on_disk = Url::of(path).is_none();
            stamp = stamp.or_else(|| on_disk.then(|| journal::stamp(path)).flatten());
            let file = shown(path);
            let past = stamp.as_deref().and_then(|stamp| known.get(&file, stamp));
            if let Some(past) = past {
                return Done { file, seen: Seen::Before(past), stamp: None };
            }
        }
        let (file, seen) = match input {
            Input::Named(path) => (shown(&path), self.check(&path, &mut stamp, None)),
            Input::Found(path) => (shown(&path), self.found(&path, &mut stamp, &below)),
            Input::Standard => {
                let name = Text::from("-");
                let checked = self.check_standard(&name);
                (name, checked)
            }
            Input::Link(path) => (Text::from(path.as_path()), Ok(Seen::Aside(LINK))),
            Input::Failed(path, why) => (shown(&path), Ok(Seen::Failed(why))),
        };
        let seen = seen.unwrap_or_else(|error| Seen::Failed(error.to_string()));
        Done { file, seen, stamp: stamp.filter(|_| self.known.is_some()) }
    }

    /// Checks a file, and clears its stamp if the result depends on other files. One that was not
    /// named has a path below its folder, or the path that a list has.
    fn check(
        &self,
        path: &Path,
        stamp: &mut Option<String>,
        below: Option<&Path>,
    ) -> Result<Seen, Error> {
        let is_found = below.is_some();
        let options = if is_found { &self.found } else { &self.named };
        if Url::of(path).is_none()
            && let Some(pieces) = Pieces::of(path)
        {
            *stamp = None;
            return self.check_pieces(path, &pieces, below);
        }
        let at = self.servers.locate(path)?;
        let input = at.open()?;
        let place = Alone { place: at.place(), looked: AtomicBool::new(false) };
        let mut options = match at.is_remote() && !self.payloads {
            true => at.options(options).goal(Goal::Structure),
            false => at.options(options),
        };
        if is_found && self.whole || self.names_first(path) {
            options = options.with_first_part();
        }
        let mut report = check_at(&input, &place, &options)?;
        if place.looked.load(Ordering::Relaxed) {
            *stamp = None;
        }
        // Of the checked file, even if the name now refers to another.
        let sha256 = self.sha256.then(|| self.digest(&input, &at.place().name())).transpose()?;
        let damaged = !at.is_remote() && self.is_damaged(path, &input, is_found)?;
        if damaged {
            let (examined, size) = (Examined::damaged(), report.size());
            return Ok(Seen::Sorted(Box::new(self.sorted(examined, size, sha256))));
        }
        // What a piece or an unfinished download is, its name says best.
        let name = file_name(path);
        let is_part = is_piece(&name) && report.verdict_on_checked() != Verdict::Valid;
        let is_found = is_found || is_control(&name) || is_part;
        if report.leaves_settings() {
            match self.search_archive(&input, &name, at.is_remote())? {
                Some(examined) if examined.class == Class::Code => {
                    let sorted = self.sorted(examined, report.size(), sha256);
                    return Ok(Seen::Sorted(Box::new(sorted)));
                }
                Some(_) => report.settings_searched(),
                None => {}
            }
        }
        if is_found && let Some(examined) = self.examine(&input, &report, &place, at.is_remote())? {
            *stamp = stamp.take().filter(|_| !place.looked.into_inner());
            if self.skip_unknown && examined.class == Class::Unknown && !examined.danger {
                return Ok(Seen::Skipped);
            }
            return Ok(Seen::Sorted(Box::new(self.sorted(examined, report.size(), sha256))));
        }
        if !at.is_remote()
            && let Some(control) = match is_found {
                true => self.repository.in_progress(path),
                false => in_progress(path),
            }
        {
            report.interrupted(&control);
            // The control file may go, and the file stays as it is.
            *stamp = None;
        }
        if report.format() != Some(Format::Gguf) && is_shard(path) {
            // The parts of a split GGUF were compared. Other sets are known by names alone.
            let all = is_found && self.whole || self.names_first(path);
            let missing = match at.is_remote() {
                true => self.repository.missing_shards_at(at.place(), all),
                false => self.repository.missing_shards(path, all),
            };
            let repeated = match at.is_remote() {
                true => self.repository.repeated_tensor_at(at.place()),
                false => {
                    let repeated = self.repository.repeated_tensor(path);
                    repeated.or_else(|| self.repository.unlisted_shard(path))
                }
            };
            for what in missing.into_iter().chain(repeated) {
                report.incomplete(&what);
            }
            *stamp = None;
        }
        let read = at.traffic();
        let class = is_found.then(|| class_of(&report));
        Ok(Seen::Checked(Box::new(Checked { report, class, sha256, read })))
    }

    /// Whether an earlier part of the same set was named.
    fn names_first(&self, path: &Path) -> bool {
        let name = file_name(path);
        shard_of(&name).is_some_and(|(stem, no, count)| {
            self.paths.iter().filter(|it| it.parent() == path.parent()).any(|it| {
                let name = file_name(it);
                let other = shard_of(&name).filter(|it| it.0 == stem && it.2 == count);
                other.is_some_and(|(_, other, _)| other < no)
            })
        })
    }

    /// Checks a file in a folder or a list, which may not be a model.
    fn found(&self, path: &Path, stamp: &mut Option<String>, below: &Path) -> Result<Seen, Error> {
        match self.check(path, stamp, Some(below)) {
            Err(Error::Read(ReadError::NotAFile(_))) if !is_named(path) => Ok(Seen::Aside(SPECIAL)),
            seen => seen,
        }
    }

    /// Checks standard input, using a temporary file because reading needs to seek.
    fn check_standard(&self, name: &Text) -> Result<Seen, Error> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin(), &mut file)?;
        let input = FileInput::of(file)?;
        let report = check_input(&input, &self.named)?.with_name(name);
        let sha256 = self.sha256.then(|| self.digest(&input, name)).transpose()?;
        Ok(Seen::Checked(Box::new(Checked { report, class: None, sha256, read: None })))
    }

    /// The digest of a file, which must not have changed.
    fn digest(&self, input: &dyn weighbridge::Input, name: &Text) -> Result<String, Error> {
        let (mut hasher, len) = (Sha256::new(), input.len());
        let (mut buffer, mut at) = (vec![0; PIECE], 0);
        while at < len {
            let n = usize::try_from(len - at).map_or(PIECE, |left| left.min(PIECE));
            input.read_at(at, &mut buffer[..n])?;
            hasher.update(&buffer[..n]);
            at += n as u64;
            self.bars.at(name, at, len);
        }
        input.verify_unchanged()?;
        Ok(hex(&hasher.finalize()))
    }
}

/// A place that records whether files beside it are requested.
struct Alone<'p> {
    place: &'p dyn Place,
    looked: AtomicBool,
}

impl Place for Alone<'_> {
    fn name(&self) -> Text {
        self.place.name()
    }

    fn file_name(&self) -> Text {
        self.place.file_name()
    }

    fn open(&self) -> Result<Box<dyn weighbridge::Input + '_>, ReadError> {
        self.place.open()
    }

    fn beside(&self, name: &str) -> Box<dyn Place + '_> {
        self.looked.store(true, Ordering::Relaxed);
        self.place.beside(name)
    }

    fn open_below(&self, path: &str) -> Option<Result<Box<dyn weighbridge::Input>, ReadError>> {
        self.looked.store(true, Ordering::Relaxed);
        self.place.open_below(path)
    }

    fn leaves_below(&self, path: &str) -> bool {
        self.place.leaves_below(path)
    }

    fn near(&self, extension: &str) -> Option<Vec<(Box<dyn Place + '_>, String)>> {
        self.looked.store(true, Ordering::Relaxed);
        self.place.near(extension)
    }

    fn above(&self, level: usize, name: &str) -> Option<(Box<dyn Place + '_>, String)> {
        self.looked.store(true, Ordering::Relaxed);
        self.place.above(level, name)
    }

    fn most_missing(&self) -> usize {
        self.place.most_missing()
    }

    fn leaves(&self) -> bool {
        self.place.leaves()
    }
}

const LINK: &str = "a link, which is not followed";
const SPECIAL: &str = "a pipe or a device, not a file";

/// The name of a file, without a URL's query.
fn file_name(path: &Path) -> String {
    let shown = shown(path);
    let name = shown.lossy();
    let name = Path::new(&*name).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Whether the name says that the file is one of several.
fn is_shard(path: &Path) -> bool {
    shard_of(&file_name(path)).is_some_and(|(_, _, count)| count > 1)
}

/// Whether the file name has the extension of a format.
fn is_named(path: &Path) -> bool {
    weighbridge::recognise(&[], 0, Some(&file_name(path))).is_some()
}
