//! The index of a checkpoint in shards against the files that it lists.

use crate::progress::Bars;
use crate::report::{Criteria, Depth, Found, MOST_NAME, Report, Unchecked, ask_or_end};
use crate::session::{Halt, Session};
use crate::text::Text;
use crate::windows::{FileSource, ReadError};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;
use weighbridge_core::format::shards::{Header, rules};
use weighbridge_core::{
    Chunks, Cursor, EntryKind, File, Finding, Format, Metadata, Name, Rule, Source, Span, Status,
    Stop, Subject, Value,
};

/// What the index says of a tensor, in few bytes: there may be millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    /// The name, hashed with two random seeds.
    name: [u64; 2],
    /// Position of its entry in the index.
    entry: u32,
    /// Which of the files; from [`FOUND`] on, the file has it.
    shard: u32,
}

/// Marks a tensor that its file has.
const FOUND: u32 = 1 << 31;

/// The tensors that an index lists, and their files in the order in which they
/// are first named.
struct List {
    hashers: [RandomState; 2],
    /// By name; of two with one name the last, as for readers.
    tensors: Vec<Listed>,
    shards: Vec<(String, Metadata)>,
}

/// What the comparison adds to the report on the index.
pub(crate) struct Across<'r>(&'r mut Report);

impl<'r> Across<'r> {
    pub(crate) fn new(report: &'r mut Report) -> Self {
        Across(report)
    }

    /// Adds a finding, whose name is made where it is listed.
    fn find(&mut self, finding: Finding, entry: impl FnOnce() -> Option<Text>) {
        if self.0.tally.add(&finding) {
            let entry = entry().map(Arc::new);
            self.0.findings.push(Found { finding, entry });
        }
    }
}

/// Opens every listed file beside the index, and compares what it holds with
/// what is listed.
///
/// # Errors
/// When the index or a shard cannot be read, unless something is found that
/// makes the checkpoint invalid all the same. A shard that is not there or is
/// broken is a finding.
pub(crate) fn compare(
    session: &mut Session<'_>,
    file: &File,
    header: &Header,
    path: &Path,
    depth: Depth,
    criteria: &Criteria,
    mut across: Across<'_>,
) -> Result<(), Halt> {
    let mut list = List::read(session, file)?;
    let shards = std::mem::take(&mut list.shards);
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut total, mut complete) = (0_u64, true);
    let mut absent = vec![false; shards.len()];
    let mut failed = None;
    for (i, ((name, first), absent)) in shards.iter().zip(&mut absent).enumerate() {
        let number = i as u64 + 1;
        let about = |rule| finding(rule, first.index, first.stored, number);
        let shard = Text::from(name.as_str());
        let mut elsewhere = false;
        let mut take = |name: &Name<'_>, len: u64| {
            total = total.saturating_add(len);
            let rule = match list.get(name) {
                Some(listed) if listed.shard & !FOUND == i as u32 => {
                    listed.shard |= FOUND;
                    return;
                }
                Some(_) => rules::TENSOR_ELSEWHERE,
                None => rules::TENSOR_UNLISTED,
            };
            elsewhere = true;
            across.find(about(rule), || Some(Text::start_of(name, MOST_NAME)));
        };
        let read = Shard::read(&folder.join(name), session.bars(), depth, criteria, &mut take);
        complete &= !elsewhere;
        match read {
            Ok(read) => {
                if !read.valid {
                    across.find(about(rules::SHARD_INVALID), || Some(shard.clone()));
                }
                complete &= read.valid;
                let entry = (!read.unchecked.is_empty()).then(|| Arc::new(shard));
                for why in read.unchecked {
                    across.0.leave(Unchecked { entry: entry.clone(), why, asked: true });
                }
                across.0.unchecked_more += read.unchecked_more;
            }
            Err(halt) => {
                (complete, *absent) = (false, true);
                if is_no_file(&halt) {
                    across.find(about(rules::SHARD_MISSING), || Some(shard));
                    continue;
                }
                let entry = Some(Arc::new(shard.clone()));
                across.0.leave(Unchecked { entry, why: halt.to_string(), asked: true });
                failed.get_or_insert(Halt::Shard(shard, Box::new(halt)));
            }
        }
    }
    complete &= list.missing(session, file, &absent, &mut across)?;
    if let Some(stated) = header.total_size()
        && complete
        && stated != total
    {
        let mut finding = finding(rules::TOTAL_SIZE, 0, Span::default(), total);
        (finding.kind, finding.expected) = (EntryKind::File, stated);
        across.find(finding, || None);
    }
    match failed {
        Some(halt) if criteria.passes(&across.0.tally) => Err(halt),
        _ => Ok(()),
    }
}

/// Whether nothing is wrong but that there is no such file, nor can be.
fn is_no_file(halt: &Halt) -> bool {
    match halt {
        Halt::Read(ReadError::NotAFile(_)) => true,
        Halt::Read(ReadError::Io(err)) => {
            matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
        }
        _ => false,
    }
}

fn finding(rule: Rule, entry: u32, span: Span, found: u64) -> Finding {
    Finding {
        offset: span.offset,
        expected: 0,
        found,
        len: u32::try_from(span.len).unwrap_or(u32::MAX),
        entry,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::Metadata,
    }
}

impl List {
    /// The entries whose file may be looked for.
    fn read(session: &mut Session<'_>, file: &File) -> Result<List, Halt> {
        let hashers = [RandomState::new(), RandomState::new()];
        let mut list = List { hashers, tensors: Vec::new(), shards: Vec::new() };
        let mut numbers = HashMap::new();
        entries(session, file, |source, meta| {
            if meta.status == Status::Sound
                && let Some(Value::Text(text)) = file.value(source, meta)?
            {
                let name = list.hash(&meta.key.read(source)?);
                let shard = text.read(source)?.to_string();
                let shard = *numbers.entry(shard).or_insert_with_key(|shard| {
                    list.shards.push((shard.clone(), *meta));
                    list.shards.len() as u32 - 1
                });
                list.tensors.push(Listed { name, entry: meta.index, shard });
            }
            Ok(())
        })?;
        list.tensors.sort_unstable_by_key(|it| (it.name, std::cmp::Reverse(it.entry)));
        list.tensors.dedup_by_key(|it| it.name);
        Ok(list)
    }

    fn hash(&self, name: &Name<'_>) -> [u64; 2] {
        self.hashers.each_ref().map(|state| {
            let mut hasher = state.build_hasher();
            name.bytes().for_each(|byte| hasher.write_u8(byte));
            hasher.finish()
        })
    }

    fn get(&mut self, name: &Name<'_>) -> Option<&mut Listed> {
        let name = self.hash(name);
        let at = self.tensors.binary_search_by_key(&name, |listed| listed.name).ok()?;
        self.tensors.get_mut(at)
    }

    /// Reports the tensors that their files do not have, unless the file is
    /// absent; `true` if there are none.
    fn missing(
        mut self,
        session: &mut Session<'_>,
        file: &File,
        absent: &[bool],
        across: &mut Across<'_>,
    ) -> Result<bool, Halt> {
        self.tensors.retain(|listed| {
            listed.shard < FOUND && absent.get(listed.shard as usize) != Some(&true)
        });
        if self.tensors.is_empty() {
            return Ok(true);
        }
        let mut missing: Vec<u32> = self.tensors.iter().map(|listed| listed.entry).collect();
        missing.sort_unstable();
        entries(session, file, |source, meta| {
            if missing.binary_search(&meta.index).is_ok() {
                let name = Text::start_of(&meta.key.read(source)?, MOST_NAME);
                let finding = finding(rules::TENSOR_MISSING, meta.index, meta.key.span(), 0);
                across.find(finding, || Some(name));
            }
            Ok(())
        })?;
        Ok(false)
    }
}

/// Calls `take` with every entry of the index.
fn entries(
    session: &mut Session<'_>,
    file: &File,
    mut take: impl FnMut(&Source<'_>, &Metadata) -> Result<(), Stop>,
) -> Result<(), Halt> {
    let mut cursor = Cursor::default();
    // An entry whose name or value is missing is not asked for again: what
    // was brought for it may be gone by then.
    let mut at_hand = None;
    session.ask(|source| {
        loop {
            if at_hand.is_none() {
                at_hand =
                    file.next_meta(source, &mut cursor, &mut |_| {})?.map(|entry| entry.metadata);
            }
            let Some(meta) = &at_hand else { return Ok(()) };
            take(source, meta)?;
            at_hand = None;
        }
    })
}

/// One file of a checkpoint.
struct Shard {
    /// It breaks no rule that counts.
    valid: bool,
    /// Why something of it was not checked.
    unchecked: Vec<String>,
    /// How many more reasons there are.
    unchecked_more: u64,
}

impl Shard {
    /// Checks a file, and calls `take` with the name of each tensor and how many
    /// bytes its data takes.
    fn read(
        path: &Path,
        bars: &Bars,
        depth: Depth,
        criteria: &Criteria,
        take: &mut dyn FnMut(&Name<'_>, u64),
    ) -> Result<Shard, Halt> {
        let file = FileSource::open(path)?;
        let bar = bars.file(Text::from(path).to_string(), file.len());
        let mut session = Session::new(file, bar);
        let report = Report::of(&mut session, path, Some(Format::Safetensors), depth, criteria)?;
        let mut shard = Shard {
            valid: report.valid,
            unchecked: Vec::new(),
            unchecked_more: report.unchecked_more + report.not_listed(true),
        };
        let Some(file) = report.file else {
            // Why is a finding of its own check.
            return Ok(Shard { valid: false, ..shard });
        };
        let reasons = report.unchecked.iter().filter(|it| it.asked);
        shard.unchecked.extend(reasons.map(|Unchecked { entry, why, .. }| match entry {
            Some(entry) => format!("\"{entry}\": {why}"),
            None => why.clone(),
        }));
        let mut cursor = Cursor::default();
        ask_or_end(&mut session, |source| {
            loop {
                let mut next = cursor;
                let Some(entry) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                    return Ok(());
                };
                let len = match entry.chunks {
                    Chunks::One(span) => span.len,
                    _ => 0,
                };
                take(&entry.name, len);
                cursor = next;
            }
        })?;
        session.verify_unchanged()?;
        Ok(shard)
    }
}
