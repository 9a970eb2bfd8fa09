//! Opens the files that the tensors of a model refer to, and appends them to the model.
//!
//! The core then finds their data behind the model's own bytes, so that every part of this crate
//! reads it as it reads any other data.

use crate::base::error::{Error, ReadError};
use crate::base::text::{Text, plural, thousands};
use crate::check::access::Access;
use crate::check::options::{Goal, Options};
use crate::check::report::{Report, Unchecked};
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::set::other_files::{Listed, OtherFiles, Path};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::io;
use weighbridge_core::format::onnx::{Location, rules};
use weighbridge_core::{EntryKind, File, Finding, Span, Subject};

/// Most other files of one model that are opened: each takes a handle of the system, of which a
/// process has 1,024. Writers make one, or one for each tensor.
const MOST_FILES: usize = 512;

/// What was found out about the other files.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    /// Findings on tensors, with the paths that they are about.
    findings: Vec<(Finding, Text)>,
    unchecked: Vec<Unchecked>,
    failed: Option<Error>,
    /// The texts that name the files of tensors, by position of the tensor.
    places: Vec<(u32, u64, u32)>,
}

/// Opens the files that a model's tensors refer to, if there are any. With `checked`, the
/// structure is checked first, and nothing is looked for unless the data of some tensor is in
/// another file.
///
/// # Errors
/// When the model itself cannot be read.
pub(crate) fn attach(
    access: &mut Access<'_>,
    place: &dyn Place,
    checked: bool,
) -> Result<Attached, Error> {
    let mut attached = Attached::default();
    access.run(Goal::Header)?;
    if !matches!(access.file(), Some(File::Onnx(_))) {
        return Ok(attached);
    }
    if checked {
        access.run(Goal::Structure)?;
        let is_left = |session: &crate::check::session::Session<'_>| {
            session.tally().rules().any(|count| count.rule == rules::E_UNCHECKED)
        };
        if !access.with(|session| is_left(session)) {
            return Ok(attached);
        }
    }
    let others = other_files(access, &mut attached)?;
    if others.listed.is_empty() {
        return Ok(attached);
    }
    let follow_links = access.options().follow_links;
    access.append(|together, placed| {
        let files: Vec<Option<Span>> = others
            .paths
            .iter()
            .enumerate()
            .map(|(no, path)| {
                let file = attached.open(place, path, no, follow_links)?;
                let len = file.len();
                let base = together.add(file)?;
                placed.push((base, Text::from(path.text.as_str())));
                Some(Span::new(base, len))
            })
            .collect();
        others.beside(&files)
    });
    if let Some(more) = others.paths.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        let more = plural(more as u64, "more file");
        let most = thousands(MOST_FILES as u64);
        let why = alloc::format!("{more} of data not looked for: at most {most} are opened");
        attached.unchecked.push(Unchecked::new(None, why, true));
    }
    attached.places = others
        .listed
        .iter()
        .map(|Listed { location: Location { tensor, path, .. }, .. }| {
            (*tensor, path.offset, path.len)
        })
        .collect();
    Ok(attached)
}

/// Opens the files that a model's tensors refer to, if there are any, for a program that only
/// reads: a tensor whose file cannot be opened has no data.
///
/// # Errors
/// When the model itself cannot be read.
pub(crate) fn attached<'a>(mut access: Access<'a>, place: &dyn Place) -> Result<Access<'a>, Error> {
    attach(&mut access, place, false)?;
    Ok(access)
}

/// The paths that the model at a place refers to, relative to its folder; none if it cannot be
/// read.
pub(crate) fn paths(place: &dyn Place, options: &Options) -> Vec<String> {
    let read = || -> Result<Vec<String>, Error> {
        let access = Access::at(place.open()?, place, options);
        access.run(Goal::Header)?;
        match access.file() {
            Some(File::Onnx(_)) => {
                let others = other_files(&access, &mut Attached::default())?;
                Ok(others.paths().map(str::to_owned).collect())
            }
            _ => Ok(Vec::new()),
        }
    };
    read().unwrap_or_default()
}

/// The files that the tensors name.
fn other_files(access: &Access<'_>, attached: &mut Attached) -> Result<OtherFiles, Error> {
    let mut others = OtherFiles::new(access.options().memory);
    if let Some(file) = access.file() {
        access.ask_or_end(|source| others.read(&file, source))?;
    }
    if others.is_cut() {
        let why = "not all files of data were looked for: too many tensors refer to some";
        attached.unchecked.push(Unchecked::new(None, why, true));
    }
    Ok(others)
}

impl Attached {
    /// Opens the file at a path, which a tensor names; `None` if that cannot be done.
    fn open(
        &mut self,
        place: &dyn Place,
        Path { text: path, first }: &Path,
        no: usize,
        follow_links: bool,
    ) -> Option<Box<dyn Input>> {
        if no >= MOST_FILES || self.failed.is_some() {
            return None;
        }
        let shown = Text::from(path.as_str());
        if !follow_links && place.leaves_below(path) {
            self.findings.push((finding(first), shown));
            return None;
        }
        let why = match place.open_below(path) {
            Some(Ok(file)) => return Some(file),
            Some(Err(error)) if is_no_file(&error) => "the file of data is missing".to_owned(),
            Some(Err(error)) => {
                let why = error.to_string();
                self.failed = Some(Error::Shard(shown.clone(), Box::new(error.into())));
                why
            }
            None => "the file of data is not looked for: only the model is at hand".to_owned(),
        };
        self.unchecked.push(Unchecked::new(Some(shown), why, true));
        None
    }

    /// Adds what was found to a report. Findings on data in another file are moved to the text
    /// that names the file.
    ///
    /// # Errors
    /// When another file could not be read, unless a finding makes the model invalid anyway.
    pub(crate) fn finish(self, own_len: u64, report: &mut Report) -> Result<(), Error> {
        let Attached { findings, unchecked, failed, places } = self;
        report.relocate(|finding| {
            let place = places.binary_search_by_key(&finding.entry, |place| place.0);
            if finding.offset >= own_len
                && let Some((_, at, len)) = place.ok().and_then(|place| places.get(place))
            {
                (finding.offset, finding.len) = (*at, *len);
            }
        });
        let found = !findings.is_empty();
        for (finding, path) in findings {
            report.find(finding, || Some(path));
        }
        unchecked.into_iter().for_each(|it| report.leave(it));
        if found {
            report.sort();
        }
        match failed {
            Some(error) if report.passes() => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether the only problem is that the file does not exist, or cannot.
fn is_no_file(error: &ReadError) -> bool {
    match error {
        ReadError::NotAFile(_) => true,
        ReadError::Io(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
        }
        _ => false,
    }
}

/// The finding on a location that leads out of the folder.
fn finding(Location { tensor, path, .. }: &Location) -> Finding {
    Finding {
        offset: path.offset,
        expected: 0,
        found: 0,
        len: path.len,
        entry: *tensor,
        part: Subject::NO_PART,
        rule: rules::E_LINK,
        kind: EntryKind::Tensor,
    }
}
