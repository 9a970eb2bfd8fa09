//! The index of a checkpoint in shards against the files that it lists.

use crate::progress::Bars;
use crate::report::{Depth, Found, Judge, Report, Unchecked, ask_or_end};
use crate::session::{Halt, Session};
use crate::text::Text;
use crate::windows::{FileSource, ReadError};
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use weighbridge::format::shards::{Header, rules};
use weighbridge::{
    Chunks, Cursor, File, Finding, Format, Kind, Meta, Rule, Span, Status, Subject, Value,
};

/// What the index says of a tensor.
struct Listed {
    /// The entry.
    meta: Meta,
    /// Which of the files.
    shard: usize,
    /// The file has it.
    found: bool,
}

/// The tensors that an index lists, and their files in the order in which they
/// are first named.
#[derive(Default)]
struct List {
    tensors: HashMap<Vec<u8>, Listed>,
    shards: Vec<(String, Meta)>,
}

/// What became of the comparison.
#[derive(Default)]
pub(crate) struct Across {
    /// About the index.
    pub(crate) findings: Vec<Found>,
    /// What could not be checked of the files.
    pub(crate) unchecked: Vec<Unchecked>,
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
    judge: &Judge,
) -> Result<Across, Halt> {
    let mut list = List::read(session, file)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let Across { mut findings, mut unchecked } = Across::default();
    let (mut total, mut complete) = (0_u64, true);
    let mut absent = vec![false; list.shards.len()];
    let mut failed = None;
    for (i, ((name, first), absent)) in list.shards.iter().zip(&mut absent).enumerate() {
        let number = i as u64 + 1;
        let about = |rule, entry: &str| Found {
            finding: finding(rule, first.index, first.stored, number),
            entry: Some(Arc::new(Text::from(entry))),
        };
        let shard = match Shard::read(&folder.join(name), session.bars(), depth, judge) {
            Ok(shard) => shard,
            Err(halt) => {
                (complete, *absent) = (false, true);
                if is_no_file(&halt) {
                    findings.push(about(rules::SHARD_MISSING, name));
                    continue;
                }
                let entry = Some(Arc::new(Text::from(name.as_str())));
                unchecked.push(Unchecked { entry, why: halt.to_string(), asked: true });
                failed.get_or_insert(Halt::Shard(Text::from(name.as_str()), Box::new(halt)));
                continue;
            }
        };
        if !shard.valid {
            findings.push(about(rules::SHARD_INVALID, name));
        }
        complete &= shard.valid;
        let entry = (!shard.unchecked.is_empty()).then(|| Arc::new(Text::from(name.as_str())));
        for why in shard.unchecked {
            unchecked.push(Unchecked { entry: entry.clone(), why, asked: true });
        }
        for (name, len) in shard.tensors {
            total = total.saturating_add(len);
            let rule = match list.tensors.get_mut(&name) {
                Some(listed) if listed.shard == i => {
                    listed.found = true;
                    continue;
                }
                Some(_) => rules::TENSOR_ELSEWHERE,
                None => rules::TENSOR_UNLISTED,
            };
            complete = false;
            let entry = Some(Arc::new(Text::from(name)));
            findings.push(Found { entry, ..about(rule, "") });
        }
    }
    for (name, listed) in list.tensors {
        if listed.found || absent.get(listed.shard) == Some(&true) {
            continue;
        }
        complete = false;
        let finding = finding(rules::TENSOR_MISSING, listed.meta.index, listed.meta.key.span(), 0);
        findings.push(Found { finding, entry: Some(Arc::new(Text::from(name))) });
    }
    if let Some(stated) = header.total_size()
        && complete
        && stated != total
    {
        let mut finding = finding(rules::TOTAL_SIZE, 0, Span::default(), total);
        (finding.kind, finding.expected) = (Kind::File, stated);
        findings.push(Found { finding, entry: None });
    }
    match failed {
        Some(halt) if findings.iter().all(|found| judge.accepts(&found.finding)) => Err(halt),
        _ => Ok(Across { findings, unchecked }),
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
        at: span.at,
        expected: 0,
        found,
        len: u32::try_from(span.len).unwrap_or(u32::MAX),
        entry,
        part: Subject::NO_PART,
        rule,
        kind: Kind::Metadata,
    }
}

impl List {
    /// The entries whose file may be looked for. Of two with one name the last
    /// counts, as for readers.
    fn read(session: &mut Session<'_>, file: &File) -> Result<List, Halt> {
        let mut list = List::default();
        let mut numbers = HashMap::new();
        let mut cursor = Cursor::default();
        // An entry whose name or value is lacking is not asked for again: what
        // was brought for it may be gone by then.
        let mut at_hand = None;
        session.ask(|source| {
            loop {
                if at_hand.is_none() {
                    at_hand = file.next_meta(source, &mut cursor, &mut |_| {})?;
                }
                let Some(meta) = at_hand else { return Ok(()) };
                if meta.status == Status::Sound
                    && let Some(Value::Text(text)) = file.value(source, &meta)?
                {
                    let name: Vec<u8> = meta.key.read(source)?.bytes().collect();
                    let shard = text.read(source)?.to_string();
                    let shard = *numbers.entry(shard).or_insert_with_key(|shard| {
                        list.shards.push((shard.clone(), meta));
                        list.shards.len() - 1
                    });
                    list.tensors.insert(name, Listed { meta, shard, found: false });
                }
                at_hand = None;
            }
        })?;
        Ok(list)
    }
}

/// One file of a checkpoint.
struct Shard {
    /// It breaks no rule that counts.
    valid: bool,
    /// Why something of it was not checked.
    unchecked: Vec<String>,
    /// Names, and how many bytes the data takes.
    tensors: Vec<(Vec<u8>, u64)>,
}

impl Shard {
    fn read(path: &Path, bars: &Bars, depth: Depth, judge: &Judge) -> Result<Shard, Halt> {
        let file = FileSource::open(path)?;
        let bar = bars.file(Text::from(path).to_string(), file.len());
        let mut session = Session::new(file, bar);
        let report = Report::of(&mut session, path, Some(Format::Safetensors), depth, judge)?;
        let mut shard = Shard { valid: report.valid, unchecked: Vec::new(), tensors: Vec::new() };
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
                let Some(tensor) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                    return Ok(());
                };
                let len = match tensor.chunks {
                    Chunks::One(span) => span.len,
                    _ => 0,
                };
                shard.tensors.push((tensor.name.read(source)?.bytes().collect(), len));
                cursor = next;
            }
        })?;
        session.verify_unchanged()?;
        Ok(shard)
    }
}
