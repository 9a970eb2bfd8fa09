//! Opens the parts of a GGUF model that is split into several files, and compares them.
//!
//! A part knows its number and the number of parts; the others lie beside it, under names that
//! end with both: `-00001-of-00003.gguf`. The first part that exists answers for the set; another
//! part is compared with the structure of all parts, unless the first is checked as well.

use crate::base::error::{Error, ReadError};
use crate::check::access::Access;
use crate::check::options::Goal;
use crate::check::report::{Report, Unchecked};
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::list::part::{Number, SetPart};
use crate::set::{Member, PartName, SplitSet};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::io;
use weighbridge_core::{Cursor, File, Format, Source, Stop};

/// Compares a file with its name and with all other parts of its set, unless an earlier part
/// answers for the set and is checked as well.
///
/// # Errors
/// When a part cannot be read. A missing or broken part is a finding.
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
        report.leave(Unchecked::new(None, why.to_owned(), true));
        return Ok(());
    };
    let seed = access.options().seed_or_random();
    let set = SplitSet::of(&stated, &file_name.lossy(), seed, &mut report.taker());
    let most = place.most_missing();
    let Some(mut set) = set else { return Ok(()) };
    let answered =
        (1..set.no()).take(most).any(|no| answers(&*place.beside(&name.part(no)), access));
    if answered && access.options().with_first {
        return Ok(());
    }
    // What the data of the others is worth is said where the first part is checked.
    let goal = access.options().goal;
    let goal = if answered { goal.min(Goal::Structure) } else { goal };
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
        let part = Part::read(input, &*beside, access, goal, &mut set).map_err(failed)?;
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

/// Says that a part is checked alone, because nothing is known of the files beside it.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn leave(access: &Access<'_>, file: &File, report: &mut Report) -> Result<(), Error> {
    if stated(access, file)?.is_one_of_many() {
        let why = "the other parts of its set were not looked for: only this file is at hand";
        report.leave(Unchecked::new(None, why.to_owned(), true));
    }
    Ok(())
}

/// The names of all parts, if both this file and its name say that it is the first.
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
        access.run(Goal::Header)?;
        // A part that does not open is invalid by itself.
        access.file().map_or(Ok(true), |file| Ok(stated(&access, &file)?.is_one_of_many()))
    };
    says().unwrap_or(false)
}

/// What a file's metadata states about its set.
fn stated(access: &Access<'_>, file: &File) -> Result<SetPart, Error> {
    let mut stated = SetPart::default();
    access.ask_or_end(|source| stated.read(source, file))?;
    Ok(stated)
}

/// Adds the tensor names of a part.
fn add(set: &mut SplitSet, access: &Access<'_>, file: &File) -> Result<(), Error> {
    let mut cursor = Cursor::default();
    access.ask_or_end(|source: &Source<'_>| {
        loop {
            let mut next = cursor;
            let found = file.next_tensor(source, &mut next, &mut |_| {});
            let Some(tensor) = found.inspect_err(|_| cursor = next)? else {
                return Ok::<(), Stop>(());
            };
            set.tensor(&tensor.name);
            cursor = next;
        }
    })
}

/// Another part of the set.
struct Part {
    /// Whether it breaks no rule that counts, and says that it belongs to a set.
    valid: bool,
    /// Number of tensors that it declares.
    tensors: u64,
    /// Why parts of it were not checked.
    unchecked: Vec<String>,
    /// Number of further reasons.
    unchecked_more: u64,
    /// Number of findings that do not count.
    ignored: u64,
}

impl Part {
    fn read(
        input: Box<dyn Input + '_>,
        place: &dyn Place,
        beside: &Access<'_>,
        goal: Goal,
        set: &mut SplitSet,
    ) -> Result<Part, Error> {
        let options = beside.options().clone().format(Format::Gguf);
        let access = Access::new(input, Some(place.name()), &options);
        let mut report = access.report(goal)?;
        if let Some(file) = report.file().copied() {
            // Only with its own name: the caller compares it with the others.
            let (stated, name) = (stated(&access, &file)?, place.file_name());
            SplitSet::of(
                &stated,
                &name.lossy(),
                access.options().seed_or_random(),
                &mut report.taker(),
            );
        }
        let mut part = Part {
            valid: false,
            tensors: 0,
            unchecked: report.reasons(),
            unchecked_more: report.unchecked_not_listed(),
            ignored: report.ignored_count(),
        };
        // Its own check reports why it could not be opened.
        let Some(file) = report.file() else { return Ok(part) };
        let stated = stated(&access, file)?;
        // Also if the profile accepts that it does.
        part.valid = report.passes() && !report.contradicts_set() && stated.is_numbered();
        part.tensors = file.tensor_count();
        add(set, &access, file)?;
        access.verify_unchanged()?;
        Ok(part)
    }
}
