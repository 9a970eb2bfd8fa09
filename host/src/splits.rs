//! The parts of a GGUF model that is stored in several files, against one another.
//!
//! A part knows its number and how many parts there are; the others lie beside it,
//! under names that end with both: `-00001-of-00003.gguf`. The first part that is there
//! answers for the set.

use crate::access::Access;
use crate::error::{Error, ReadError};
use crate::input::Input;
use crate::options::Goal;
use crate::place::Place;
use crate::report::{MOST_NAME, Report, Unchecked};
use crate::set::{Number, SetPart};
use crate::text::Text;
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use weighbridge_core::format::gguf::rules;
use weighbridge_core::{Cursor, EntryKind, File, Finding, Format, Rule, Source, Stop, Subject};

/// How a number is written in the name of a part.
const DIGITS: usize = 5;

/// The name of a part: what comes before its number, and both numbers.
struct Name<'p> {
    stem: &'p str,
    /// Counted from 1.
    no: u64,
    count: u64,
}

impl<'p> Name<'p> {
    fn of(name: &'p str) -> Option<Self> {
        let (rest, count) = split_number(name.strip_suffix(".gguf")?)?;
        let (stem, no) = split_number(rest.strip_suffix("-of")?)?;
        (no > 0 && no <= count).then_some(Name { stem, no, count })
    }

    /// That of a part, counted from 1.
    fn part(&self, no: u64) -> String {
        let Name { stem, count, .. } = self;
        format!("{stem}-{no:0DIGITS$}-of-{count:0DIGITS$}.gguf")
    }
}

/// Takes a dash and a number of five digits from the end of a name.
fn split_number(name: &str) -> Option<(&str, u64)> {
    let (rest, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((rest.strip_suffix('-')?, digits.parse().ok().filter(|_| all)?))
}

/// Compares a file with its name and, if it is the first part that is there, with all
/// other parts of its set.
///
/// # Errors
/// When a part cannot be read. One that is not there or is broken is a finding.
pub(crate) fn compare(
    access: &Access<'_>,
    file: &File,
    place: &dyn Place,
    report: &mut Report,
) -> Result<(), Error> {
    let stated = stated(access, file)?;
    let (Some(no), Some(count @ Number { value: 2.., .. })) = (stated.no, stated.count) else {
        return Ok(());
    };
    let file_name = place.file_name();
    let Some(name) = file_name.as_str().and_then(Name::of) else {
        let why = "the other parts of its set were not looked for: its name has no numbers";
        report.leave(Unchecked::new(None, why.to_owned(), false));
        return Ok(());
    };
    let mut find = |rule, number: &Number, expected, found, entry: Option<Text>| {
        report.find(finding(rule, number, expected, found), || entry);
    };
    let key = |key: &str| Some(Text::from(key));
    let named = name.no - 1;
    if no.value != named {
        find(rules::SPLIT_OTHER, &no, named, no.value, key("split.no"));
    }
    if count.value != name.count {
        find(rules::SPLIT_COUNT, &count, name.count, count.value, key("split.count"));
    }
    let most = place.most_missing();
    if no.value != named
        || count.value != name.count
        || (1..name.no).take(most).any(|no| answers(&*place.beside(&name.part(no)), access))
    {
        return Ok(());
    }
    let mut set = Set { hasher: RandomState::new(), names: HashSet::new(), tensors: 0 };
    set.add(access, file)?;
    let mut complete = true;
    let (mut left, mut more, mut ignored) = (Vec::new(), 0, Vec::new());
    let mut gone = 0;
    for no in (1..=name.count).filter(|no| *no != name.no) {
        if gone >= most {
            gone += 1;
            continue;
        }
        let beside = place.beside(&name.part(no));
        let shown = || Some(beside.file_name());
        let failed = |error| Error::Shard(beside.file_name(), Box::new(error));
        let input = match beside.open() {
            Err(ReadError::Io(err)) if err.kind() == io::ErrorKind::NotFound => {
                find(rules::SPLIT_MISSING, &count, name.count, no, shown());
                (complete, gone) = (false, gone + 1);
                continue;
            }
            _ if !access.options().follow_links && beside.leaves() => {
                find(rules::SPLIT_INVALID, &count, name.count, no, shown());
                complete = false;
                continue;
            }
            input => input.map_err(|error| failed(error.into()))?,
        };
        let part = Part::read(input, &*beside, access, &mut set).map_err(failed)?;
        if !part.valid {
            find(rules::SPLIT_INVALID, &count, name.count, no, shown());
        }
        if let Some(twice) = part.twice {
            find(rules::SPLIT_TWICE, &count, name.count, no, Some(twice));
        }
        complete &= part.valid;
        left.extend(part.unchecked.into_iter().map(|why| Unchecked::new(shown(), why, true)));
        more += part.unchecked_more;
        ignored.push((shown(), part.ignored));
    }
    if let Some(stated) = stated.tensors
        && complete
        && stated.value != set.tensors
    {
        find(rules::SPLIT_TOTAL, &stated, stated.value, set.tensors, key("split.tensors.count"));
    }
    report.leave_missing(gone, most);
    for unchecked in left {
        report.leave(unchecked);
    }
    report.leave_more(more);
    for (file, count) in ignored {
        report.note_ignored(file, count);
    }
    Ok(())
}

/// The names of all parts, if this file says that it is the first, and its name does too.
pub(crate) fn named_by_first(
    access: &Access<'_>,
    file: &File,
    file_name: &str,
) -> Result<Option<Vec<String>>, Error> {
    let Some(name @ Name { no: 1, count: 2.., .. }) = Name::of(file_name) else {
        return Ok(None);
    };
    let SetPart { no, count, .. } = stated(access, file)?;
    let says = |number: Option<Number>, value| number.is_some_and(|it| it.value == value);
    let first = says(no, 0) && says(count, name.count);
    Ok(first.then(|| (1..=name.count).map(|no| name.part(no)).collect()))
}

/// Whether a part answers for its set: it is a file, and does not say that it is whole.
fn answers(place: &dyn Place, beside: &Access<'_>) -> bool {
    let says = || -> Result<bool, Error> {
        let options = beside.options().clone().format(Format::Gguf);
        let access = Access::new(place.open()?, Some(place.name()), &options);
        access.reach(Goal::Header)?;
        // One that does not open is invalid by itself.
        access.file().map_or(Ok(true), |file| Ok(stated(&access, &file)?.is_one_of_many()))
    };
    says().unwrap_or(false)
}

fn finding(rule: Rule, number: &Number, expected: u64, found: u64) -> Finding {
    Finding {
        offset: number.span.offset,
        expected,
        found,
        len: u32::try_from(number.span.len).unwrap_or(u32::MAX),
        entry: number.entry,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::Metadata,
    }
}

/// What the metadata of a file say of its set.
fn stated(access: &Access<'_>, file: &File) -> Result<SetPart, Error> {
    let mut stated = SetPart::default();
    let mut cursor = Cursor::default();
    let mut at_hand = None;
    access.ask_or_end(|source| {
        loop {
            if at_hand.is_none() {
                at_hand =
                    file.next_meta(source, &mut cursor, &mut |_| {})?.map(|entry| entry.metadata);
            }
            let Some(meta) = &at_hand else { return Ok(()) };
            stated.note(source, file, meta)?;
            at_hand = None;
        }
    })?;
    Ok(stated)
}

/// The tensors of the parts that were read.
struct Set {
    hasher: RandomState,
    /// Their names, hashed with a random seed.
    names: HashSet<u64>,
    tensors: u64,
}

impl Set {
    /// Adds those of a file, and returns the first that is there already.
    fn add(&mut self, access: &Access<'_>, file: &File) -> Result<Option<Text>, Error> {
        let (mut cursor, mut twice) = (Cursor::default(), None);
        self.tensors += file.tensor_count();
        access.ask_or_end(|source: &Source<'_>| {
            loop {
                let mut next = cursor;
                let Some(tensor) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                    return Ok::<(), Stop>(());
                };
                let name = &tensor.name;
                let hash = self.hasher.hash_one(name.bytes().collect::<Vec<_>>());
                if !self.names.insert(hash) && twice.is_none() {
                    twice = Some(Text::start_of(name, MOST_NAME));
                }
                cursor = next;
            }
        })?;
        Ok(twice)
    }
}

/// One more part.
struct Part {
    /// It breaks no rule that counts, and says that it is of a set.
    valid: bool,
    /// A tensor that a part before it has.
    twice: Option<Text>,
    /// Why something of it was not checked.
    unchecked: Vec<String>,
    /// How many more reasons there are.
    unchecked_more: u64,
    /// How many findings do not count.
    ignored: u64,
}

impl Part {
    fn read(
        input: Box<dyn Input + '_>,
        place: &dyn Place,
        beside: &Access<'_>,
        set: &mut Set,
    ) -> Result<Part, Error> {
        let options = beside.options().clone().format(Format::Gguf);
        let access = Access::new(input, Some(place.name()), &options);
        let report = crate::gate::report_on(&access, Some(place), options.goal)?;
        let mut part = Part {
            valid: false,
            twice: None,
            unchecked: report.reasons(),
            unchecked_more: report.unchecked_not_listed(),
            ignored: report.ignored_count(),
        };
        // Why it could not be opened is a finding of its own check.
        let Some(file) = report.file() else { return Ok(part) };
        let stated = stated(&access, file)?;
        part.valid = report.passes() && stated.no.is_some() && stated.count.is_some();
        part.twice = set.add(&access, file)?;
        access.verify_unchanged()?;
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts() {
        let of =
            |name: &str| Name::of(name).map(|name| (name.stem.to_owned(), name.no, name.count));
        assert_eq!(of("big-00002-of-00011.gguf"), Some(("big".to_owned(), 2, 11)));
        assert_eq!(of("x-00001-of-00001-00001-of-00002.gguf").unwrap().0, "x-00001-of-00001");
        for none in [
            "big.gguf",
            "big-2-of-11.gguf",
            "big-00000-of-00002.gguf",
            "big-00003-of-00002.gguf",
            "big-00001-of-00002.bin",
            "big-+0001-of-00002.gguf",
            "é-001-of-00002.gguf",
        ] {
            assert!(of(none).is_none(), "{none}");
        }
        let name = Name::of("big-00002-of-00011.gguf").unwrap();
        assert_eq!(name.part(1), "big-00001-of-00011.gguf");
    }
}
