//! The index of a checkpoint in shards against the files that it lists.

use crate::access::Access;
use crate::error::{Error, ReadError};
use crate::options::{Goal, Options};
use crate::place::Place;
use crate::report::{MOST_NAME, Report, Unchecked};
use crate::text::Text;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
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

/// Opens every listed file beside the index, and compares what it holds with
/// what is listed.
///
/// # Errors
/// When the index or a shard cannot be read, unless something is found that
/// makes the checkpoint invalid all the same. A shard that is not there or is
/// broken is a finding.
pub(crate) fn compare(
    access: &Access<'_>,
    header: &Header,
    place: &dyn Place,
    report: &mut Report,
) -> Result<(), Error> {
    let (file, options) = (File::Shards(*header), access.options());
    let mut list = List::read(access, &file)?;
    report.begin_shards();
    let shards = core::mem::take(&mut list.shards);
    let (mut total, mut complete) = (0_u64, true);
    let mut absent = vec![false; shards.len()];
    let mut failed = None;
    let (most, mut gone) = (place.most_missing(), 0);
    for (i, ((name, first), absent)) in shards.iter().zip(&mut absent).enumerate() {
        if gone >= most {
            (gone, *absent) = (gone + 1, true);
            continue;
        }
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
            report.find(about(rule), || Some(Text::start_of(name, MOST_NAME)));
        };
        let beside = place.beside(name);
        if !options.follow_links && beside.leaves() {
            (complete, *absent) = (false, true);
            report.find(about(rules::SHARD_PATH), || Some(shard));
            continue;
        }
        let read = Shard::read(&*beside, options, &mut take);
        complete &= !elsewhere;
        match read {
            Ok(read) => {
                if !read.valid {
                    report.find(about(rules::SHARD_INVALID), || Some(shard.clone()));
                }
                complete &= read.valid;
                for why in read.unchecked {
                    report.leave(Unchecked::new(Some(shard.clone()), why, true));
                }
                report.leave_more(read.unchecked_more);
                report.note_ignored(Some(shard), read.ignored);
            }
            Err(error) => {
                (complete, *absent) = (false, true);
                gone += 1;
                if is_no_file(&error) {
                    report.find(about(rules::SHARD_MISSING), || Some(shard));
                    continue;
                }
                report.leave(Unchecked::new(Some(shard.clone()), error.to_string(), true));
                failed.get_or_insert(Error::Shard(shard, Box::new(error)));
            }
        }
    }
    report.leave_missing(gone, most);
    complete &= list.missing(access, &file, &absent, report)?;
    if let Some(stated) = header.total_size()
        && complete
        && stated != total
    {
        let mut finding = finding(rules::TOTAL_SIZE, 0, Span::default(), total);
        (finding.kind, finding.expected) = (EntryKind::File, stated);
        report.find(finding, || None);
    }
    report.sort();
    match failed {
        Some(error) if report.passes() => Err(error),
        _ => Ok(()),
    }
}

/// Whether nothing is wrong but that there is no such file, nor can be.
fn is_no_file(error: &Error) -> bool {
    match error {
        Error::Read(ReadError::NotAFile(_)) => true,
        Error::Read(ReadError::Io(err)) => {
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
    fn read(access: &Access<'_>, file: &File) -> Result<List, Error> {
        let hashers = [RandomState::new(), RandomState::new()];
        let mut list = List { hashers, tensors: Vec::new(), shards: Vec::new() };
        let mut numbers = HashMap::new();
        entries(access, file, |source, meta| {
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
        access: &Access<'_>,
        file: &File,
        absent: &[bool],
        report: &mut Report,
    ) -> Result<bool, Error> {
        self.tensors.retain(|listed| {
            listed.shard < FOUND && absent.get(listed.shard as usize) != Some(&true)
        });
        if self.tensors.is_empty() {
            return Ok(true);
        }
        let mut missing: Vec<u32> = self.tensors.iter().map(|listed| listed.entry).collect();
        missing.sort_unstable();
        entries(access, file, |source, meta| {
            if missing.binary_search(&meta.index).is_ok() {
                let name = Text::start_of(&meta.key.read(source)?, MOST_NAME);
                let finding = finding(rules::TENSOR_MISSING, meta.index, meta.key.span(), 0);
                report.find(finding, || Some(name));
            }
            Ok(())
        })?;
        Ok(false)
    }
}

/// Calls `take` with every entry of the index.
pub(crate) fn entries(
    access: &Access<'_>,
    file: &File,
    mut take: impl FnMut(&Source<'_>, &Metadata) -> Result<(), Stop>,
) -> Result<(), Error> {
    let mut cursor = Cursor::default();
    // An entry whose name or value is missing is not asked for again: what
    // was brought for it may be gone by then.
    let mut at_hand = None;
    access.ask(|source| {
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
    /// How many findings do not count.
    ignored: u64,
}

impl Shard {
    /// Checks a file, and calls `take` with the name of each tensor and how many
    /// bytes its data takes.
    fn read(
        place: &dyn Place,
        options: &Options,
        take: &mut dyn FnMut(&Name<'_>, u64),
    ) -> Result<Shard, Error> {
        let options = options.clone().format(Format::Safetensors);
        let access = Access::new(place.open()?, Some(place.name()), &options);
        access.reach(options.goal.max(Goal::Structure))?;
        let report = access.with(|session| session.report());
        let mut shard = Shard {
            valid: report.passes(),
            unchecked: Vec::new(),
            unchecked_more: report.unchecked_not_listed(),
            ignored: report.ignored_count(),
        };
        // Why it could not be opened is a finding of its own check.
        let Some(file) = report.file() else { return Ok(shard) };
        shard.unchecked = report.reasons();
        let mut cursor = Cursor::default();
        access.ask_or_end(|source| {
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
        access.verify_unchanged()?;
        Ok(shard)
    }
}
