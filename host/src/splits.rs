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
use crate::report::{Report, Unchecked};
use crate::set::{Member, Number, PartName, SetPart, SplitSet};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::io;
use weighbridge_core::{Cursor, File, Format, Source, Stop};

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
    if !stated.is_one_of_many() {
        return Ok(());
    }
    let file_name = place.file_name();
    let Some(name) = file_name.as_str().and_then(PartName::of) else {
        let why = "the other parts of its set were not looked for: its name has no numbers";
        report.leave(Unchecked::new(None, why.to_owned(), false));
        return Ok(());
    };
    let seed = access.options().seed_or_random();
    let set = SplitSet::of(&stated, &file_name.lossy(), seed, &mut report.taker());
    let most = place.most_missing();
    let Some(mut set) = set.filter(|set| {
        !(1..set.no()).take(most).any(|no| answers(&*place.beside(&name.part(no)), access))
    }) else {
        return Ok(());
    };
    add(&mut set, access, file)?;
    set.file(name.no, Member::Valid, file.tensor_count(), &mut report.taker());
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
                set.file(no, Member::Missing, 0, &mut report.taker());
                gone += 1;
                continue;
            }
            _ if !access.options().follow_links && beside.leaves() => {
                set.file(no, Member::Outside, 0, &mut report.taker());
                continue;
            }
            input => input.map_err(|error| failed(error.into()))?,
        };
        let part = Part::read(input, &*beside, access, &mut set).map_err(failed)?;
        let member = if part.valid { Member::Valid } else { Member::Invalid };
        set.file(no, member, part.tensors, &mut report.taker());
        left.extend(part.unchecked.into_iter().map(|why| Unchecked::new(shown(), why, true)));
        more += part.unchecked_more;
        ignored.push((shown(), part.ignored));
    }
    set.finish(&mut report.taker());
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
    let Some(name @ PartName { no: 1, count: 2.., .. }) = PartName::of(file_name) else {
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

/// What the metadata of a file say of its set.
fn stated(access: &Access<'_>, file: &File) -> Result<SetPart, Error> {
    let mut stated = SetPart::default();
    access.ask_or_end(|source| stated.read(source, file))?;
    Ok(stated)
}

/// Adds the names of the tensors of a part.
fn add(set: &mut SplitSet, access: &Access<'_>, file: &File) -> Result<(), Error> {
    let mut cursor = Cursor::default();
    access.ask_or_end(|source: &Source<'_>| {
        loop {
            let mut next = cursor;
            let Some(tensor) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                return Ok::<(), Stop>(());
            };
            set.tensor(&tensor.name);
            cursor = next;
        }
    })
}

/// One more part.
struct Part {
    /// It breaks no rule that counts, and says that it is of a set.
    valid: bool,
    /// How many tensors it says it has.
    tensors: u64,
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
        set: &mut SplitSet,
    ) -> Result<Part, Error> {
        let options = beside.options().clone().format(Format::Gguf);
        let access = Access::new(input, Some(place.name()), &options);
        let report = crate::gate::report_on(&access, Some(place), options.goal)?;
        let mut part = Part {
            valid: false,
            tensors: 0,
            unchecked: report.reasons(),
            unchecked_more: report.unchecked_not_listed(),
            ignored: report.ignored_count(),
        };
        // Why it could not be opened is a finding of its own check.
        let Some(file) = report.file() else { return Ok(part) };
        let stated = stated(&access, file)?;
        part.valid = report.passes() && stated.is_numbered();
        part.tensors = file.tensor_count();
        add(set, &access, file)?;
        access.verify_unchanged()?;
        Ok(part)
    }
}
