//! The stages of a scan: what is done with one part, until it needs bytes or another part comes
//! first.

use super::Shared;
use super::follow::Follow;
use super::inflate::{Inflated, Inflating, member_of};
use super::kind::{HEAD, is_archive, is_zip};
use super::part::{Part, Sequence};
use super::zip::Directory;
use crate::check::criteria::Criteria;
use crate::check::diagnosis::is_of_objects;
use alloc::boxed::Box;
use alloc::string::String;
use weighbridge_core::format::{PickleWalk, Pickled};
use weighbridge_core::{Absent, Source, Span, limits};

/// Length of a header of a tar archive, and the unit of its members.
const BLOCK: u64 = 512;
/// Bytes of work for a part of any length.
const PART: u64 = 64;

/// What is being done.
#[derive(Debug)]
pub(super) enum Stage {
    Head(Part),
    Zip(Part, Directory, usize),
    Tar(Part, u64, usize),
    Inflate(Box<Inflating>),
    Walk(Part, Box<PickleWalk>),
    Follow(Box<Follow>),
}

/// What comes next.
pub(super) enum Next {
    Done,
    /// Another stage replaces this one.
    Become(Box<Stage>),
    /// Another stage comes first.
    Then(Box<Stage>),
}

impl Next {
    fn becomes(stage: Stage) -> Result<Next, Absent> {
        Ok(Next::Become(Box::new(stage)))
    }
}

impl Stage {
    pub(super) fn step(
        &mut self,
        file: &Source<'_>,
        shared: &mut Shared,
        criteria: &Criteria,
    ) -> Result<Next, Absent> {
        if shared.over {
            return Ok(Next::Done);
        }
        match self {
            Stage::Head(part) => head(part, file, shared),
            Stage::Zip(part, directory, at) => zip(part, directory, at, file, shared),
            Stage::Tar(part, at, count) => tar(part, at, count, file, shared),
            Stage::Inflate(inflating) => {
                let spent = inflating.part().bytes.len();
                let inflated = inflating.step(file, shared)?;
                shared.spend(spent.min(shared.decoded), inflating.part());
                match inflated {
                    Inflated::Part(part) => Next::becomes(Stage::Head(part)),
                    Inflated::Faulty if inflating.part().is_pickle => {
                        let part = inflating.part();
                        let at = part.bytes.span.offset;
                        shared.results.fault(part, at, "its compressed data cannot be decoded");
                        Ok(Next::Done)
                    }
                    Inflated::Faulty | Inflated::Nothing => Ok(Next::Done),
                }
            }
            Stage::Walk(part, walk) => {
                let found = walk.step(&part.bytes.source(file))?;
                shared.spend(walk.work(), part);
                let is_whole = Pickled::Data(part.bytes.span.end().unwrap_or(0)) == found;
                match found.can_run_code() || is_whole {
                    true => {
                        // Behind a model, bytes that only resemble a pickle are no broken one.
                        let is_certain = part.depth == 0 && part.bytes.span.offset == 0;
                        let follow = Follow::new(part.clone(), is_certain);
                        Next::becomes(Stage::Follow(Box::new(follow)))
                    }
                    false => Ok(Next::Done),
                }
            }
            Stage::Follow(follow) => {
                let left = shared.left(follow.part());
                let Shared { results, memory, .. } = shared;
                let spent = follow.step(file, memory, criteria, results, left)?;
                shared.spend(spent, follow.part());
                // A reader that looks for the end of an archive finds one behind a pickle.
                match follow.part().depth {
                    0 => Next::becomes(Stage::Zip(
                        Part { is_pickle: true, ..follow.part().clone() },
                        Directory::default(),
                        0,
                    )),
                    _ => Ok(Next::Done),
                }
            }
        }
    }
}

/// Decides what a part is by its first bytes.
fn head(part: &Part, file: &Source<'_>, shared: &mut Shared) -> Result<Next, Absent> {
    let head = part.bytes.get(file, 0, part.bytes.len().min(HEAD))?;
    shared.spend(PART, part);
    if is_archive(head) && part.depth > limits::PICKLE_NESTED {
        shared.results.left(part, part.bytes.span.offset, "its archives nest too deep");
        return Ok(Next::Done);
    }
    if is_zip(head) {
        // The archive that ends with the file is looked for there.
        if part.depth == 0 && part.bytes.span.offset > 0 {
            return Ok(Next::Done);
        }
        return Next::becomes(Stage::Zip(part.clone(), Directory::default(), 0));
    }
    if is_archive(head) {
        return Next::becomes(Stage::Tar(part.clone(), 0, 0));
    }
    if head.starts_with(b"\x93NUMPY") {
        if !is_of_objects(head) {
            return Ok(Next::Done);
        }
        let (len, from) = match head {
            [_, _, _, _, _, _, 1, _, a, b, ..] => (u32::from_le_bytes([*a, *b, 0, 0]), 10),
            [_, _, _, _, _, _, _, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]), 12),
            _ => (0, 10),
        };
        let at = from + u64::from(len);
        if at >= part.bytes.len() {
            return Ok(Next::Done);
        }
        let bytes = part.bytes.within(at, part.bytes.len().saturating_sub(at));
        let array = Part { bytes, in_array: true, is_pickle: true, ..part.clone() };
        return Next::becomes(Stage::Follow(Box::new(Follow::new(array, true))));
    }
    if part.is_pickle || part.sequence != Sequence::Plain {
        let known = shared.prior.pickle.take_if(|known| known.is_of(part));
        return Next::becomes(Stage::Follow(Box::new(Follow::knowing(part.clone(), known))));
    }
    let walk = PickleWalk::within(part.bytes.span);
    Next::becomes(Stage::Walk(part.clone(), Box::new(walk)))
}

/// How the name of a record ends that only torch.package writes.
const PACKAGE: &str = "/.data/extern_modules";

/// Takes the next member of a zip archive. A part that is a pickle may have no archive behind it.
fn zip(
    part: &mut Part,
    directory: &mut Directory,
    at: &mut usize,
    file: &Source<'_>,
    shared: &mut Shared,
) -> Result<Next, Absent> {
    if !directory.is_read {
        match shared.prior.directory.take_if(|_| part.depth == 0) {
            Some(known) => *directory = known,
            None => directory.read(&part.bytes, file, limits::PICKLE_MEMBERS)?,
        }
        part.is_package |= directory.members.iter().any(|it| it.name.ends_with(PACKAGE));
        if directory.is_cut && !directory.members.is_empty() {
            let why = "the directory of the archive was not read to its end";
            shared.results.left(part, part.bytes.span.offset, why);
        }
    }
    let Some(member) = directory.members.get(*at) else { return Ok(Next::Done) };
    let data = member.data(&part.bytes, file)?;
    *at += 1;
    let Some(data) = data else {
        if member.is_sure {
            let at = part.bytes.span.offset;
            shared.results.left(part, at, "a member of the archive has no header of its own");
        }
        return step_on();
    };
    if data.len == 0 {
        return step_on();
    }
    let mut found = member_of(part, &member.name, data);
    found.is_encrypted = member.encrypted;
    let next = match member.method {
        0 => Stage::Head(found),
        8 => Stage::Inflate(Box::new(Inflating::new(found))),
        method => {
            let why =
                alloc::format!("a member is compressed with method {method}, which is not decoded");
            shared.results.left(&found, found.bytes.span.offset, &why);
            return step_on();
        }
    };
    Ok(Next::Then(Box::new(next)))
}

/// Goes on with the next member.
fn step_on() -> Result<Next, Absent> {
    Ok(Next::Then(Box::new(Stage::Head(Part::of_file(0)))))
}

/// Takes the next member of a tar archive.
fn tar(
    part: &Part,
    at: &mut u64,
    count: &mut usize,
    file: &Source<'_>,
    shared: &mut Shared,
) -> Result<Next, Absent> {
    let len = part.bytes.len();
    if at.saturating_add(BLOCK) > len {
        return Ok(Next::Done);
    }
    let header = part.bytes.get(file, *at, BLOCK)?;
    if header.iter().all(|byte| *byte == 0) {
        return Ok(Next::Done);
    }
    let text = |from: usize, to: usize| {
        let field = header.get(from..to).unwrap_or_default();
        let field = field.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(field.trim_ascii()).into_owned()
    };
    let size = u64::from_str_radix(&text(124, 136), 8).ok();
    let data = *at + BLOCK;
    let Some(size) = size.filter(|size| *size <= len - data && *count < limits::PICKLE_MEMBERS)
    else {
        let why = "a member of the archive cannot be read";
        shared.results.left(part, part.bytes.span.offset + *at, why);
        return Ok(Next::Done);
    };
    let (name, kind) = (text(0, 100), header.get(156).copied());
    *at = data + size.div_ceil(BLOCK) * BLOCK;
    *count += 1;
    let mut found = member_of(part, &name, Span::new(data, size));
    found.sequence = match &*name {
        "storages" => Sequence::Storages,
        "tensors" => Sequence::Tensors,
        _ => Sequence::Plain,
    };
    // A regular file; others have no content of their own, or describe the next.
    match kind {
        Some(b'0' | 0 | b'7') if size > 0 => Ok(Next::Then(Box::new(Stage::Head(found)))),
        _ => step_on(),
    }
}
