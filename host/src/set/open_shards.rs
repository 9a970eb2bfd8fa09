//! Opens the shards that an index lists, and compares them with it.

use crate::base::error::{Error, ReadError};
use crate::base::text::Text;
use crate::check::access::Access;
use crate::check::options::Options;
use crate::check::report::{Report, Unchecked, Verdict};
use crate::input::place::Place;
use crate::list::walk::Walk;
use crate::set::{self, Member, ShardSet};
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::io;
use weighbridge_core::format::shards::{Header, format_named, may_be};
use weighbridge_core::{Cursor, File, Metadata, Name, Source, Span, Stop};

/// Opens every listed file beside the index, and compares its tensors with the list.
///
/// # Errors
/// When the index or a shard cannot be read, unless a finding makes the checkpoint invalid
/// anyway. A missing or broken shard is a finding.
pub(crate) fn compare(
    access: &Access<'_>,
    header: &Header,
    place: &dyn Place,
    report: &mut Report,
) -> Result<(), Error> {
    let (file, options) = (File::Shards(*header), access.options());
    let mut set = ShardSet::new(options.seed_or_random());
    access.ask(|source| set.read(source, &file))?;
    report.begin_shards();
    let names: Vec<String> = set.files().map(String::from).collect();
    let mut failed = None;
    let (most, mut gone) = (place.most_missing(), 0);
    for (i, name) in names.iter().enumerate() {
        if gone >= most {
            gone += 1;
            set.file(i, Member::Unread, &mut report.taker());
            continue;
        }
        let shard = Text::from(name.as_str());
        let beside = place.beside(name);
        if !options.follow_links && beside.leaves() {
            set.file(i, Member::Outside, &mut report.taker());
            continue;
        }
        let mut find = report.taker();
        let mut take = |name: &Name<'_>, data: Span| set.tensor(i, name, data, &mut find);
        match Shard::read(&*beside, options, &mut take) {
            Ok(read) => {
                let member = if read.valid { Member::Valid } else { Member::Invalid };
                set.file(i, member, &mut find);
                drop(find);
                for why in read.unchecked {
                    report.leave(Unchecked::new(Some(shard.clone()), why, true));
                }
                report.leave_more(read.unchecked_more);
                report.note_ignored(Some(shard), read.ignored);
            }
            Err(error) => {
                gone += 1;
                if is_no_file(&error) {
                    set.file(i, Member::Missing, &mut find);
                    continue;
                }
                set.file(i, Member::Unread, &mut find);
                drop(find);
                report.leave(Unchecked::new(Some(shard.clone()), error.to_string(), true));
                failed.get_or_insert(Error::Shard(shard, Box::new(error)));
            }
        }
    }
    report.leave_missing(gone, most);
    access.ask(|source| set.finish(source, &file, &mut report.taker()))?;
    report.sort();
    match failed {
        Some(error) if report.passes() => Err(error),
        _ => Ok(()),
    }
}

/// Whether the only problem is that the file does not exist, or cannot.
fn is_no_file(error: &Error) -> bool {
    match error {
        Error::Read(ReadError::NotAFile(_)) => true,
        Error::Read(ReadError::Io(err)) => {
            matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
        }
        _ => false,
    }
}

/// The options for a shard of this name. Those for the index say the format of the index.
pub(crate) fn of_shard(options: &Options, name: &str) -> Options {
    let mut options = options.clone().file_name(name);
    options.format = format_named(name);
    options
}

/// Calls `take` with every entry of the index.
pub(crate) fn entries(
    access: &Access<'_>,
    file: &File,
    mut take: impl FnMut(&Source<'_>, &Metadata) -> Result<(), Stop>,
) -> Result<(), Error> {
    let mut walk = Walk::default();
    access.ask(|source| walk.each(source, file, |meta| take(source, meta)))
}

/// One file of a checkpoint.
struct Shard {
    /// Whether it breaks no rule that counts.
    valid: bool,
    /// Why parts of it were not checked.
    unchecked: Vec<String>,
    /// Number of further reasons.
    unchecked_more: u64,
    /// Number of findings that do not count.
    ignored: u64,
}

impl Shard {
    /// Checks a file, and calls `take` with the name of each tensor and the range of its data.
    fn read(
        place: &dyn Place,
        options: &Options,
        take: &mut dyn FnMut(&Name<'_>, Span),
    ) -> Result<Shard, Error> {
        let options = of_shard(options, &place.name().lossy());
        let access = Access::new(place.open()?, Some(place.name()), &options);
        let report = access.report(options.goal)?;
        let mut shard = Shard {
            valid: report.verdict_on_checked() == Verdict::Valid
                && report.format().is_some_and(may_be),
            unchecked: Vec::new(),
            unchecked_more: report.unchecked_not_listed(),
            ignored: report.ignored_count(),
        };
        // Its own check reports why it could not be opened.
        let Some(file) = report.file() else { return Ok(shard) };
        shard.unchecked = report.reasons();
        let mut cursor = Cursor::default();
        access.ask_or_end(|source| {
            loop {
                let mut next = cursor;
                let found = file.next_tensor(source, &mut next, &mut |_| {});
                let Some(entry) = found.inspect_err(|_| cursor = next)? else {
                    return Ok(());
                };
                take(&entry.name, set::data(&entry.chunks));
                cursor = next;
            }
        })?;
        access.verify_unchanged()?;
        Ok(shard)
    }
}
