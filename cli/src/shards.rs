//! The index of a checkpoint in shards against the files that it lists.

use crate::progress::Bars;
use crate::report::{Depth, Found, Judge, Report};
use crate::session::{Halt, Session};
use crate::text::Text;
use crate::windows::FileSource;
use std::collections::HashMap;
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

/// Opens every listed file beside the index, and compares what it holds with
/// what is listed. The findings are about the index.
///
/// # Errors
/// When the index cannot be read; a shard that cannot is a finding.
pub(crate) fn compare(
    session: &mut Session<'_>,
    file: &File,
    header: &Header,
    path: &Path,
    judge: &Judge,
) -> Result<Vec<Found>, Halt> {
    let mut list = List::read(session, file)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    let (mut total, mut complete) = (0_u64, true);
    let mut absent = Vec::new();
    for (i, (name, first)) in list.shards.iter().enumerate() {
        let number = i as u64 + 1;
        let about = |rule, entry: &str| Found {
            finding: finding(rule, first.index, first.stored, number),
            entry: Some(Arc::new(Text::from(entry))),
        };
        let shard = match Shard::read(&folder.join(name), judge) {
            Ok(shard) => shard,
            Err(_) => {
                findings.push(about(rules::SHARD_MISSING, name));
                (complete, absent) = (false, [absent, vec![i]].concat());
                continue;
            }
        };
        if !shard.valid {
            findings.push(about(rules::SHARD_INVALID, name));
        }
        complete &= shard.valid;
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
        if listed.found || absent.contains(&listed.shard) {
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
    Ok(findings)
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
        session.ask(|source| {
            loop {
                let mut next = cursor;
                let Some(meta) = file.next_meta(source, &mut next, &mut |_| {})? else {
                    return Ok(());
                };
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
                cursor = next;
            }
        })?;
        Ok(list)
    }
}

/// One file of a checkpoint.
struct Shard {
    /// Its structure breaks no rule that counts.
    valid: bool,
    /// Names, and how many bytes the data takes.
    tensors: Vec<(Vec<u8>, u64)>,
}

impl Shard {
    fn read(path: &Path, judge: &Judge) -> Result<Shard, Halt> {
        let file = FileSource::open(path)?;
        let bars = Bars::new();
        let bar = bars.file(Text::from(path).to_string(), file.len());
        let mut session = Session::new(file, bar);
        let format = Some(Format::Safetensors);
        let report = Report::of(&mut session, path, format, Depth::Structure, judge)?;
        let mut tensors = Vec::new();
        if let Some(file) = report.file {
            let mut cursor = Cursor::default();
            session.ask(|source| {
                loop {
                    let mut next = cursor;
                    let Some(tensor) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                        return Ok(());
                    };
                    let len = match tensor.chunks {
                        Chunks::One(span) => span.len,
                        _ => 0,
                    };
                    tensors.push((tensor.name.read(source)?.bytes().collect(), len));
                    cursor = next;
                }
            })?;
        }
        session.verify_unchanged()?;
        Ok(Shard { valid: report.valid && report.file.is_some(), tensors })
    }
}
