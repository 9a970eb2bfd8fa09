//! Archives of models: each member is checked where it is, as a file of its own.
//!
//! A DDUF file is a zip archive in which nothing is compressed: `model_index.json`, and a folder
//! for each component of a pipeline with its settings and weights. Only its name tells it from other
//! archives, whose members may be code. A llamafile is a program with a zip archive behind it, in
//! which a GGUF model is stored; the program stays unsupported.
//!
//! Not checked: bytes between members, extra fields, comments. What settings, texts and tokenizers make
//! a program run is left to the caller, which examines them as files of a folder; until then, no archive
//! is valid.

use crate::base::error::{Error, ReadError};
use crate::base::python_json::Json;
use crate::base::text::Text;
use crate::check::access::Access;
use crate::check::finding::on_file;
use crate::check::options::Goal;
use crate::check::report::{Report, Unchecked};
use crate::check::scan::part::Bytes;
use crate::check::scan::zip::{Directory, Member};
use crate::input::reader::Input;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::checksum::{Algorithm, Checksum, Hasher};
use weighbridge_core::format::onnx::is_inside;
use weighbridge_core::{Format, Rule, Span, Stop, general, limits};

/// The member that lists the components.
const INDEX: &str = "model_index.json";
/// What members may be.
const KINDS: [&str; 4] = [".json", ".model", ".safetensors", ".txt"];
/// The settings of which a folder has at least one.
const SETTINGS: [&str; 4] =
    ["config.json", "tokenizer_config.json", "preprocessor_config.json", "scheduler_config.json"];
/// The record at the end of an archive, and the longest comment after it.
const END: u64 = 22;
const COMMENT: u64 = 0xFFFF;
/// Longest JSON that is read.
const JSON: u64 = 64 << 20;

/// A member, and where its bytes are.
pub(super) struct Placed<'m> {
    member: &'m Member,
    name: Text,
    pub(super) data: Option<Span>,
}

/// Checks the members of a file that is an archive of models; no other file is changed.
///
/// # Errors
/// When bytes cannot be read.
pub(crate) fn compare(access: &Access<'_>, report: &mut Report, goal: Goal) -> Result<(), Error> {
    if report.file().is_some() || access.options().format.is_some() {
        return Ok(());
    }
    match recognise(access)? {
        Some((Kind::Program, directory)) => models_of_program(access, &directory, report, goal),
        Some((Kind::Pipeline, directory)) => pipeline(access, &directory, report, goal),
        None => Ok(()),
    }
}

/// What an archive of models is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A DDUF file.
    Pipeline,
    /// A program with a GGUF model behind it.
    Program,
}

/// The directory of a file that is an archive of models.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn recognise(access: &Access<'_>) -> Result<Option<(Kind, Directory)>, Error> {
    if access.len() < 30 {
        return Ok(None);
    }
    let mut head = [0; 4];
    access.read(0, &mut head)?;
    let is_zip = head == *b"PK\x03\x04";
    let is_program = head.starts_with(b"MZ") || head == *b"\x7FELF";
    if !is_zip && !is_program {
        return Ok(None);
    }
    let mut directory = Directory::default();
    let whole = Bytes::of_file(Span::new(0, access.len()));
    access.ask(|source| {
        directory.read(&whole, source, limits::PICKLE_MEMBERS).map_err(Stop::NeedBytes)
    })?;
    directory.members.retain(|member| member.is_sure || is_program);
    let has = |what: &dyn Fn(&str) -> bool| directory.members.iter().any(|it| what(&it.name));
    if is_program && has(&|name| name.ends_with(".gguf")) {
        return Ok(Some((Kind::Program, directory)));
    }
    let named = access.name().is_some_and(|name| name.lossy().ends_with(".dduf"));
    Ok((is_zip && directory.is_read && named).then_some((Kind::Pipeline, directory)))
}

/// Checks the GGUF models that are stored behind a program.
fn models_of_program(
    access: &Access<'_>,
    directory: &Directory,
    report: &mut Report,
    goal: Goal,
) -> Result<(), Error> {
    report.holds_members("a program with a GGUF model behind it (llamafile)");
    let mut seen = BTreeSet::new();
    for member in directory.members.iter().filter(|it| it.name.ends_with(".gguf")) {
        let Placed { name, data, .. } = place(access, member)?;
        // A directory behind other bytes may count from either beginning.
        let Some(data) = data.filter(|data| seen.insert(data.offset)) else { continue };
        let (at, is_stored) = (data.offset, member.method == 0 && !member.encrypted);
        let why = match is_stored {
            true => alloc::format!("a GGUF model behind a program, at offset {at}; it was checked"),
            false => alloc::format!("a compressed GGUF model behind a program, at offset {at}"),
        };
        report.leave(Unchecked::new(Some(name.clone()), why, !is_stored));
        if is_stored {
            model(access, report, &name, (data, Format::Gguf), goal)?;
        }
    }
    report.sort();
    Ok(())
}

/// Checks a DDUF file.
fn pipeline(
    access: &Access<'_>,
    directory: &Directory,
    report: &mut Report,
    goal: Goal,
) -> Result<(), Error> {
    let payloads = goal == Goal::Payloads;
    report.begin_members(if payloads { &["structure", "payloads"] } else { &["structure"] });
    if directory.is_cut {
        report.leave(Unchecked::new(
            None,
            "the directory is too long, and not all of it was read",
            true,
        ));
    }
    check_end(access, directory, report)?;
    let mut placed = Vec::new();
    for member in directory.members.iter().filter(|it| !it.name.ends_with('/')) {
        placed.push(place(access, member)?);
    }
    check_names(report, &placed);
    check_places(access, report, &placed)?;
    let mut index = None;
    for it in &placed {
        let is_stored = it.member.method == 0 && !it.member.encrypted;
        let (Some(data), true) = (it.data, is_stored) else { continue };
        if it.member.name.ends_with(".json") {
            let json = json(access, report, it, data)?;
            if it.member.name == INDEX {
                index = json;
            }
        } else if it.member.name.ends_with(".safetensors") {
            model(access, report, &it.name, (data, Format::Safetensors), goal)?;
        }
        if payloads {
            check_sum(access, report, it, data)?;
        }
    }
    check_folders(report, &placed, index.as_ref());
    report.leave_settings();
    report.sort();
    Ok(())
}

/// Reports a rule that a member breaks.
fn flag(report: &mut Report, rule: Rule, it: &Placed<'_>, numbers: (u64, u64)) {
    // The directory may say a place that is not in the file.
    let offset = it.member.offset.min(report.size());
    let len = u32::try_from(report.size() - offset).unwrap_or(u32::MAX).min(4);
    let found = on_file(rule, (offset, len), numbers);
    report.find(found, || Some(it.name.clone()));
}

/// Checks that the last record is whole, ends the file, and counts the members.
fn check_end(access: &Access<'_>, directory: &Directory, report: &mut Report) -> Result<(), Error> {
    let len = access.len();
    let mut tail = vec![0; usize::try_from(len.min(END + COMMENT)).unwrap_or(0)];
    access.read(len - tail.len() as u64, &mut tail)?;
    let at = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let number = |at: usize| match tail.get(at..at + 2) {
        Some(&[low, high]) => Some(usize::from(low) | usize::from(high) << 8),
        _ => None,
    };
    let is_whole = at.is_some_and(|at| {
        let comment = number(at + 20);
        let count = number(at + 10);
        // An archive of more members counts them in another record.
        let counts =
            count.is_some_and(|it| it == directory.members.len() || it == COMMENT as usize);
        counts && comment.is_some_and(|comment| at + END as usize + comment == tail.len())
    });
    if !is_whole {
        let from = at.map_or(len, |at| len - tail.len() as u64 + at as u64);
        let end = on_file(general::ARCHIVE_END, (from, 0), (0, 0));
        report.find(end, || None);
    }
    Ok(())
}

/// Finds the bytes of a member.
pub(super) fn place<'m>(access: &Access<'_>, member: &'m Member) -> Result<Placed<'m>, Error> {
    let whole = Bytes::of_file(Span::new(0, access.len()));
    let data = access.ask(|source| member.data(&whole, source).map_err(Stop::NeedBytes))?;
    let data = data.filter(|data| data.len == member.stored);
    Ok(Placed { member, name: Text::from(member.name.clone()), data })
}

fn check_names(report: &mut Report, placed: &[Placed<'_>]) {
    let mut seen = BTreeSet::new();
    for it in placed {
        let Member { name, method, encrypted, .. } = it.member;
        let is_allowed = KINDS.iter().any(|kind| name.ends_with(kind))
            && name.split('/').count() <= 2
            && is_inside(name.as_bytes());
        if !is_allowed {
            flag(report, general::ARCHIVE_NAME, it, (0, 0));
        }
        if *method != 0 || *encrypted {
            flag(report, general::ARCHIVE_STORED, it, (0, *method));
        }
        if !seen.insert(name) {
            flag(report, general::ARCHIVE_TWICE, it, (0, 0));
        }
    }
}

/// Checks that members lie one after the other, behind headers that say the same as the directory.
fn check_places(
    access: &Access<'_>,
    report: &mut Report,
    placed: &[Placed<'_>],
) -> Result<(), Error> {
    let mut order: Vec<&Placed<'_>> = placed.iter().collect();
    order.sort_by_key(|it| it.member.offset);
    let mut end = 0;
    for it in order {
        let Some(data) = it.data else {
            flag(report, general::ARCHIVE_PLACE, it, (0, 0));
            continue;
        };
        if it.member.offset < end {
            flag(report, general::ARCHIVE_PLACE, it, (end, it.member.offset));
        }
        end = data.end().unwrap_or(u64::MAX).max(end);
        let mut local = vec![0; usize::try_from(data.offset - it.member.offset).unwrap_or(0)];
        access.read(it.member.offset, &mut local)?;
        let number = |at: usize| {
            local.get(at..at + 2).map_or(0, |two| u64::from(two[0]) | u64::from(two[1]) << 8)
        };
        let len = usize::try_from(number(26)).unwrap_or(0);
        let name = local.get(30..30 + len).unwrap_or_default();
        if name != it.member.name.as_bytes() || number(8) != it.member.method {
            flag(report, general::ARCHIVE_LOCAL, it, (0, 0));
        }
    }
    Ok(())
}

/// Reads a member that is JSON.
fn json(
    access: &Access<'_>,
    report: &mut Report,
    it: &Placed<'_>,
    data: Span,
) -> Result<Option<Json>, Error> {
    if data.len > JSON {
        report.leave(Unchecked::new(
            Some(it.name.clone()),
            "the JSON is too long to be read",
            true,
        ));
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(data.len).unwrap_or(0)];
    access.read(data.offset, &mut bytes)?;
    let json = String::from_utf8(bytes).ok().and_then(|text| Json::parse(&text));
    if json.is_none() {
        flag(report, general::ARCHIVE_JSON, it, (0, 0));
    }
    Ok(json)
}

/// Checks that each folder is in the index, and has settings.
fn check_folders(report: &mut Report, placed: &[Placed<'_>], index: Option<&Json>) {
    let Some(index @ Json::Map(_)) = index else {
        report.find(on_file(general::ARCHIVE_INDEX, (0, 4), (0, 0)), || None);
        return;
    };
    let mut folders: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for it in placed {
        let Some((folder, name)) = it.member.name.split_once('/') else { continue };
        let known = folders.entry(folder).or_insert((it.member.offset, false));
        known.1 |= SETTINGS.contains(&name);
    }
    for (folder, (offset, has_settings)) in folders {
        if !has_settings || index.get(folder).is_none() {
            let found = on_file(general::ARCHIVE_FOLDER, (offset, 4), (0, 0));
            report.find(found, || Some(Text::from(folder.to_string())));
        }
    }
}

/// Compares the CRC-32 of a member.
fn check_sum(
    access: &Access<'_>,
    report: &mut Report,
    it: &Placed<'_>,
    data: Span,
) -> Result<(), Error> {
    let Some(mut hasher) = Hasher::new(Algorithm::Crc32) else {
        report.leave(Unchecked::new(Some(it.name.clone()), "its checksum was not computed", true));
        return Ok(());
    };
    access.stream(data.offset, data.len, |piece| {
        hasher.update(piece);
        Ok::<(), Error>(())
    })?;
    let stated = Checksum::crc32(u32::try_from(it.member.crc).unwrap_or(0));
    let found = hasher.finish();
    if found != stated {
        let numbers = stated.difference(&found);
        flag(report, general::ARCHIVE_CRC, it, numbers);
    }
    Ok(())
}

/// Checks a model that is a member.
fn model(
    access: &Access<'_>,
    report: &mut Report,
    name: &Text,
    (span, format): (Span, Format),
    goal: Goal,
) -> Result<(), Error> {
    let options = access.options().clone().format(format);
    let part = Part { access, span };
    let inside = Access::new(Box::new(part), Some(name.clone()), &options);
    report.add_member(inside.report(goal)?, name, span.offset);
    Ok(())
}

/// The bytes of a member, read from the archive.
struct Part<'p, 'a> {
    access: &'p Access<'a>,
    span: Span,
}

impl Input for Part<'_, '_> {
    fn len(&self) -> u64 {
        self.span.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let at = self.span.offset.saturating_add(offset);
        self.access.read(at, buffer).map_err(|error| match error {
            Error::Read(error) => error,
            error => ReadError::Other(error.to_string()),
        })
    }
}
