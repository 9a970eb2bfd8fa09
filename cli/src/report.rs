//! What was found out about a file.

use crate::formats;
use crate::outcome::Outcome;
use crate::session::{Halt, Session};
use crate::shards::{self, Across};
use crate::splits;
use crate::text::Text;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use weighbridge_core::{
    Audit, Cursor, EntryKind, File, Finding, Format, Opening, Profile, Rule, Scratch, Severity,
    Slot, Source, Span, Stage, Stop, Tally, limits,
};

/// The most slots that an audit gets: 1.5 GiB of them. A file needs tens of
/// millions of entries to ask for more.
const MOST_SLOTS: usize = 64 << 20;
/// The most slots for the entries of a sparse tensor, unless the file itself
/// is large: compressed entries may be many in few bytes.
const MOST_ENTRIES: u64 = 1 << 20;
/// Bytes of payloads that are decoded at a time.
const PIECE: usize = 256 << 10;

/// Which findings make a file invalid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    pub(crate) profile: Profile,
    /// Every lint counts.
    pub(crate) deny_lint: bool,
    /// These rules count, whatever their severity.
    pub(crate) deny: BTreeSet<&'static str>,
    /// How much work decoding may take, if not what the file's length allows.
    pub(crate) max_work: Option<u64>,
}

impl Criteria {
    pub(crate) fn new(lenient: bool) -> Self {
        let profile = if lenient { Profile::Lenient } else { Profile::Strict };
        Criteria { profile, ..Criteria::default() }
    }

    /// Adds an argument of `--deny`: `lint`, or the id of a rule.
    pub(crate) fn deny(&mut self, what: &str) -> Result<(), String> {
        if what == "lint" {
            self.deny_lint = true;
            return Ok(());
        }
        let rules =
            formats::available().flat_map(Format::rules).chain(weighbridge_core::general::RULES);
        let same = |id: &&str| id.eq_ignore_ascii_case(what);
        let found: Vec<_> = rules.map(|rule| rule.id).filter(same).collect();
        self.deny.extend(&found);
        if found.is_empty() { Err(format!("no rule has the id {what:?}")) } else { Ok(()) }
    }

    /// Whether a file that breaks this rule is still valid.
    pub(crate) fn accepts(&self, rule: Rule) -> bool {
        let severity = rule.severity();
        self.profile.accepts(severity)
            && !(self.deny_lint && severity == Severity::Lint)
            && !self.deny.contains(rule.id())
    }

    /// Whether a file with all these findings is valid, those included that are
    /// not listed.
    pub(crate) fn passes(&self, tally: &Tally) -> bool {
        tally.rules().all(|count| self.accepts(count.rule))
    }
}

/// So many bytes of a name stand beside a finding: there may be as many findings
/// as a name has bytes.
pub(crate) const MOST_NAME: usize = 512;

/// A finding, and the name of the entry that it is about.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    pub(crate) entry: Option<Arc<Text>>,
}

/// Something that was not checked.
#[derive(Debug)]
pub(crate) struct Unchecked {
    /// The entry; `None` for the file.
    pub(crate) entry: Option<Arc<Text>>,
    pub(crate) why: String,
    /// Whether it was asked for.
    pub(crate) asked: bool,
}

/// What was found out about a file.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) size: u64,
    pub(crate) format: Option<Format>,
    /// The file, unless it cannot be opened.
    pub(crate) file: Option<File>,
    pub(crate) checked: Vec<&'static str>,
    pub(crate) unchecked: Vec<Unchecked>,
    /// How many more things were not checked than are listed, beside those that
    /// `tally` knows of.
    pub(crate) unchecked_more: u64,
    /// In the order of the file, as far as they are kept.
    pub(crate) findings: Vec<Found>,
    /// All findings, counted.
    pub(crate) tally: Tally,
    pub(crate) valid: bool,
}

/// Findings as they come: all are counted, and those that are listed are kept.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) kept: Vec<Finding>,
    pub(crate) tally: Tally,
}

impl Collected {
    pub(crate) fn push(&mut self, finding: Finding) {
        if self.tally.add(&finding) {
            self.kept.push(finding);
        }
    }
}

/// How much of a file is to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Structure,
    Payloads,
}

impl Report {
    /// Opens and audits a file.
    pub(crate) fn of(
        session: &mut Session<'_>,
        path: &Path,
        format: Option<Format>,
        depth: Depth,
        criteria: &Criteria,
    ) -> Result<Report, Halt> {
        let format = match format {
            Some(format) => Some(format),
            None => formats::recognise(session, path)?,
        };
        let mut report = Report {
            size: session.len(),
            format,
            file: None,
            checked: Vec::new(),
            unchecked: Vec::new(),
            unchecked_more: 0,
            findings: Vec::new(),
            tally: Tally::default(),
            valid: true,
        };
        let mut findings = Collected::default();
        let mut opening = Opening::of(format);
        match session.ask(|source| opening.step(source, &mut |finding| findings.push(finding))) {
            Ok(file) => {
                let mut all = Audit::new(file);
                if depth == Depth::Structure {
                    all = all.structure_only();
                }
                if let Some(work) = criteria.max_work {
                    all = all.max_work(work);
                }
                audit(session, all, depth, &mut |finding| findings.push(finding))?;
                report.file = Some(file);
                report.checked.push("structure");
                if depth == Depth::Payloads {
                    report.checked.push("payloads");
                }
            }
            Err(Halt::Refused(_)) => {
                let why = "the file could not be opened".to_owned();
                report.unchecked.push(Unchecked { entry: None, why, asked: true });
            }
            Err(halt) => return Err(halt),
        }
        report.valid = criteria.passes(&findings.tally);
        report.tally = findings.tally;
        let sound = report.valid;
        report.enter(session, findings.kept, criteria)?;
        if let Some(file @ File::Shards(header)) = report.file {
            if sound {
                let across = Across::new(&mut report);
                shards::compare(session, &file, &header, path, depth, criteria, across)?;
                report.valid = criteria.passes(&report.tally);
                report.findings.sort_by_key(|found| (found.finding.offset, found.finding.rule));
            } else {
                let why = "the files that it lists were not looked at".to_owned();
                report.unchecked.push(Unchecked { entry: None, why, asked: true });
            }
        }
        if let Some(file @ File::Gguf(_)) = report.file {
            splits::compare(session, &file, path, depth, criteria, &mut report)?;
            report.valid = criteria.passes(&report.tally);
            report.findings.sort_by_key(|found| (found.finding.offset, found.finding.rule));
        }
        Ok(report)
    }

    /// The exit code of the process; `more` is whether something was
    /// not checked that the report does not know of.
    pub(crate) fn outcome(&self, more: bool) -> Outcome {
        let left = more || self.unchecked_more > 0;
        if !self.valid {
            Outcome::Invalid
        } else if left || self.unchecked.iter().any(|unchecked| unchecked.asked) {
            Outcome::Unchecked
        } else {
            Outcome::Valid
        }
    }

    /// Adds something that was not checked, or counts it where enough is listed.
    pub(crate) fn leave(&mut self, unchecked: Unchecked) {
        if (self.unchecked.len() as u64) < limits::FINDINGS_FILE {
            self.unchecked.push(unchecked);
        } else {
            self.unchecked_more += 1;
        }
    }

    /// How many findings there are, those included that are not listed.
    pub(crate) fn total(&self) -> u64 {
        self.findings.len() as u64 + self.not_listed(false)
    }

    /// How many findings are not listed of the rules that are (`unchecked`: are
    /// not) about things that were not checked.
    pub(crate) fn not_listed(&self, unchecked: bool) -> u64 {
        let left = self
            .tally
            .rules()
            .filter(|count| (count.rule.severity() == Severity::Unchecked) == unchecked);
        left.map(|count| count.found - count.kept).sum()
    }

    /// Sorts findings by their place, with the names of their entries, and
    /// those that say that something was not checked apart.
    fn enter(
        &mut self,
        session: &mut Session<'_>,
        mut findings: Vec<Finding>,
        criteria: &Criteria,
    ) -> Result<(), Halt> {
        findings.sort_by_key(|finding| (finding.offset, finding.kind, finding.entry, finding.part));
        let names = match &self.file {
            Some(file) => entry_names(session, file, &findings)?,
            None => HashMap::new(),
        };
        for finding in findings {
            let entry = named_entry(&finding).and_then(|key| names.get(&key)).cloned();
            if finding.severity() == Severity::Unchecked {
                let why = finding.to_string();
                self.unchecked.push(Unchecked { entry: entry.clone(), why, asked: true });
                if criteria.accepts(finding.rule) {
                    continue;
                }
            }
            self.findings.push(Found { finding, entry });
        }
        Ok(())
    }
}

/// Runs an audit to its end.
pub(crate) fn audit(
    session: &mut Session<'_>,
    audit: Audit,
    depth: Depth,
    mut sink: &mut dyn FnMut(Finding),
) -> Result<(), Halt> {
    // Random, so that an attacker cannot choose colliding names.
    let mut audit = audit.seeded(RandomState::new().hash_one(0));
    let mut slots = Vec::new();
    let mut buffer = match depth {
        Depth::Structure => Vec::new(),
        Depth::Payloads => vec![0; PIECE],
    };
    let mut scratch = Scratch::new(&mut buffer);
    loop {
        match session.ask(|source| audit.step_with(source, &mut slots, &mut scratch, &mut sink)) {
            Ok(()) | Err(Halt::Refused(_)) => return Ok(()),
            Err(Halt::Room(needed)) => {
                let needed = usize::try_from(needed).unwrap_or(usize::MAX);
                let more = needed.saturating_sub(slots.len());
                let bombs = audit.stage() == Stage::Payloads
                    && needed as u64 > MOST_ENTRIES.max(session.len() / 8);
                if needed > MOST_SLOTS
                    || bombs
                    || more == 0
                    || slots.try_reserve_exact(more).is_err()
                {
                    audit.skip(&mut sink);
                } else {
                    slots.resize(needed, Slot::EMPTY);
                }
            }
            // No more than the core's own limit for one block.
            Err(Halt::Buffer(needed)) => {
                let more = usize::try_from(needed).unwrap_or(usize::MAX);
                let more = more.saturating_sub(buffer.len());
                if more == 0 || buffer.try_reserve_exact(more).is_err() {
                    audit.skip(&mut sink);
                } else {
                    buffer.resize(buffer.len().saturating_add(more), 0);
                }
                scratch = Scratch::new(&mut buffer);
            }
            Err(halt) => return Err(halt),
        }
    }
}

/// The entry whose name stands beside a finding.
fn named_entry(finding: &Finding) -> Option<(EntryKind, u32)> {
    match finding.kind {
        EntryKind::File => None,
        EntryKind::Attribute => Some((EntryKind::Tensor, finding.entry)),
        kind => Some((kind, finding.entry)),
    }
}

/// The names of the entries that findings are about. Reads no table that none
/// is about, and none further than to the last entry concerned.
fn entry_names(
    session: &mut Session<'_>,
    file: &File,
    findings: &[Finding],
) -> Result<HashMap<(EntryKind, u32), Arc<Text>>, Halt> {
    let (mut tensors, mut others): (BTreeSet<_>, BTreeSet<_>) =
        findings.iter().filter_map(named_entry).partition(|(kind, _)| *kind == EntryKind::Tensor);
    let mut names = HashMap::new();
    for (wanted, is_tensor) in [(&mut others, false), (&mut tensors, true)] {
        let mut cursor = Cursor::default();
        ask_or_end(session, |source| {
            while !wanted.is_empty() {
                let mut next = cursor;
                let entry = if is_tensor {
                    let tensor = file.next_tensor(source, &mut next, &mut |_| {})?;
                    tensor.map(|entry| ((EntryKind::Tensor, entry.index), entry.tensor.name))
                } else {
                    let meta = file.next_meta(source, &mut next, &mut |_| {});
                    // What was passed over of a list is kept.
                    meta.inspect_err(|_| cursor = next)?
                        .map(|entry| ((entry.kind, entry.index), entry.metadata.key))
                };
                let Some((key, name)) = entry else { break };
                if wanted.contains(&key) {
                    if within(source, name.span()) {
                        names.insert(key, Arc::new(Text::start_of(&name.read(source)?, MOST_NAME)));
                    }
                    wanted.remove(&key);
                }
                cursor = next;
            }
            Ok(())
        })?;
    }
    Ok(names)
}

/// Whether a span lies inside the file.
pub(crate) fn within(source: &Source<'_>, span: Span) -> bool {
    span.end().is_some_and(|end| end <= source.len())
}

/// As [`Session::ask`], where a refusal means that nothing more comes.
pub(crate) fn ask_or_end<T: Default>(
    session: &mut Session<'_>,
    ask: impl FnMut(&Source<'_>) -> Result<T, Stop>,
) -> Result<T, Halt> {
    match session.ask(ask) {
        Err(Halt::Refused(_)) => Ok(T::default()),
        answer => answer,
    }
}
