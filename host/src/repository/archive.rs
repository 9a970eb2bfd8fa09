//! What archives hold: their members' names and first bytes.

use super::content::{native, packed};
use super::examined::Class;
use super::file_names::{extension, is_code, is_pickled};
use super::keras::has_code;
use super::texts::{self, SETTINGS};
use crate::base::error::ReadError;
use crate::check::diagnosis::Diagnosis;
use crate::input::reader::Input;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::{Decoder, Size, WINDOW};
use weighbridge_core::{Encoding, Span};

/// Bytes of a directory that are read: some hundred thousand names.
const DIRECTORY: u64 = 16 << 20;
/// Most members to look into.
const MEMBERS: usize = 4_096;
/// Bytes of a member that decide what it is.
const HEAD: usize = 4 << 10;
/// Bytes of the settings in all members together that are read.
const ALL_SETTINGS: u64 = 64 << 20;

/// What was found in an archive.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// The first member that is a pickle.
    pub(super) pickle: Option<String>,
    /// The first member that is code.
    pub(super) code: Option<String>,
    /// A layer with code of its own.
    pub(super) lambda: bool,
    /// The first member with settings or a template that make a loader run code.
    pub(super) runs: Option<String>,
    /// The first member with settings that call functions.
    pub(super) calls: Option<String>,
    /// Whether a member could not be looked at.
    pub(super) unseen: bool,
    /// Bytes of settings that were read.
    read: u64,
}

impl Inside {
    /// Bytes of a member to read: all of settings, as long as these are few.
    fn most(&self, name: &str, len: u64) -> u64 {
        let is_read = texts::is_settings(&extension(name));
        let fits = len <= SETTINGS && self.read.saturating_add(len) <= ALL_SETTINGS;
        if is_read && fits { SETTINGS } else { HEAD as u64 }
    }

    /// Adds a member, by its name, its length, and its first bytes if they could be read.
    fn add(&mut self, name: &str, len: u64, head: Option<&[u8]>) -> Result<(), ReadError> {
        let file = name.rsplit('/').next().unwrap_or_default();
        if let Some(bytes) = head.filter(|_| texts::is_settings(&extension(name))) {
            self.read = self.read.saturating_add(bytes.len() as u64);
            let found = texts::member(bytes, file)?;
            match found.class {
                Class::Code if found.runs => _ = self.runs.get_or_insert_with(|| name.into()),
                Class::Code => _ = self.calls.get_or_insert_with(|| name.into()),
                _ => {}
            }
            // What is longer was not read, and a length that is wrong hides an end.
            self.unseen |= found.danger || bytes.len() as u64 != len;
        }
        self.sort(name, len, head.map(|head| head.get(..HEAD).unwrap_or(head)));
        Ok(())
    }

    /// Adds a member by its first bytes.
    fn sort(&mut self, name: &str, len: u64, head: Option<&[u8]>) {
        let extension = extension(name);
        let nested = |head: &[u8]| {
            let found = Diagnosis::of_head(head, len);
            matches!(found, Some(Diagnosis::Other(what)) if !what.contains("NumPy"))
                || str::from_utf8(head).is_err() && packed(head).is_some()
        };
        let pickled =
            |head: &[u8]| matches!(Diagnosis::of_head(head, len), Some(Diagnosis::Pickle(_)));
        let runs = |head: &[u8]| native(head).is_some() || head.starts_with(b"#!");
        if is_pickled(&extension) || head.is_some_and(pickled) {
            self.pickle.get_or_insert_with(|| name.into());
        } else if is_code(&extension) || head.is_some_and(runs) {
            self.code.get_or_insert_with(|| name.into());
        } else if head.is_none_or(nested) {
            self.unseen = true;
        }
    }
}

/// A member as the central directory describes it.
struct Member {
    name: String,
    method: u16,
    encrypted: bool,
    stored: u64,
    len: u64,
    offset: u64,
}

/// Looks into a zip archive.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn zip(input: &dyn Input) -> Result<Inside, ReadError> {
    let mut inside = Inside::default();
    let Some(members) = members(input)? else {
        inside.unseen = true;
        return Ok(inside);
    };
    inside.unseen = members.len() > MEMBERS;
    for member in &members {
        if member.name.ends_with('/') {
            continue;
        }
        let settings = member.name.ends_with("config.json");
        let most = inside.most(&member.name, member.len);
        let head = match inside.pickle.is_some() && inside.code.is_some() {
            false => first_bytes(input, member, most)?,
            true => None,
        };
        inside.lambda |= settings && head.as_deref().is_some_and(has_code);
        inside.add(&member.name, member.len, head.as_deref())?;
    }
    Ok(inside)
}

/// Looks into a zip archive that is behind other bytes: readers find it by its end. `None` if there is
/// none.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn behind(input: &dyn Input) -> Result<Option<Inside>, ReadError> {
    end(input)?.map(|_| zip(input)).transpose()
}

/// The last bytes of a file, and where in them the record at the end of a zip archive begins.
fn end(input: &dyn Input) -> Result<Option<(Vec<u8>, usize)>, ReadError> {
    // The record takes 22 bytes, and the comment after it 65,535 at most.
    let len = input.len().min(22 + 0xFFFF);
    let tail = read(input, input.len() - len, len)?;
    let at = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    Ok(at.map(|at| (tail, at)))
}

/// The members by the central directory; `None` if it cannot be read.
fn members(input: &dyn Input) -> Result<Option<Vec<Member>>, ReadError> {
    let len = input.len();
    let Some((tail, end)) = end(input)? else { return Ok(None) };
    let record = tail.get(end..).unwrap_or_default();
    let (mut count, mut size, mut stated) =
        (number(record, 10, 2), number(record, 12, 4), number(record, 16, 4));
    let at = len - tail.len() as u64 + end as u64;
    // The records of an archive above 4 GiB lie before.
    let mut last = at;
    if let Some(locator) = end.checked_sub(20).and_then(|from| tail.get(from..end))
        && locator.starts_with(b"PK\x06\x07")
    {
        let offset = number(locator, 8, 8);
        if offset.checked_add(56).is_none_or(|end| end > len) {
            return Ok(None);
        }
        let wide = read(input, offset, 56)?;
        if !wide.starts_with(b"PK\x06\x06") {
            return Ok(None);
        }
        (count, size, stated) = (number(&wide, 32, 8), number(&wide, 40, 8), number(&wide, 48, 8));
        last = offset;
    }
    if size > DIRECTORY {
        return Ok(None);
    }
    // Readers use the stated offset, or the bytes just before the last record.
    for place in [Some(stated), last.checked_sub(size)].into_iter().flatten() {
        if place.checked_add(size).is_none_or(|end| end > len) {
            continue;
        }
        let directory = read(input, place, size)?;
        let (mut rest, mut members) = (&directory[..], Vec::new());
        // Offsets of members are shifted as the directory is.
        let shift = place.wrapping_sub(stated);
        while rest.starts_with(b"PK\x01\x02") {
            let lens = [28, 30, 32].map(|at| number(rest, at, 2) as usize);
            let Some(name) = rest.get(46..).and_then(|rest| rest.get(..lens[0])) else { break };
            members.push(Member {
                name: String::from_utf8_lossy(name).into_owned(),
                method: number(rest, 10, 2) as u16,
                encrypted: number(rest, 8, 2) & 1 != 0,
                stored: number(rest, 20, 4),
                len: number(rest, 24, 4),
                offset: number(rest, 42, 4).wrapping_add(shift),
            });
            rest = rest.get(46 + lens.iter().sum::<usize>()..).unwrap_or_default();
        }
        if members.len() as u64 == count && rest.is_empty() {
            return Ok(Some(members));
        }
    }
    Ok(None)
}

/// The first bytes of a member, up to `most`; `None` if they cannot be decoded.
fn first_bytes(
    input: &dyn Input,
    member: &Member,
    most: u64,
) -> Result<Option<Vec<u8>>, ReadError> {
    let len = input.len();
    let encoding = match member.method {
        0 => Encoding::Raw,
        8 => Encoding::Deflate,
        _ => return Ok(None),
    };
    let Member { stored, offset, encrypted, .. } = *member;
    let wide = stored == u64::from(u32::MAX);
    if encrypted || wide || offset.checked_add(30).is_none_or(|end| end > len) {
        return Ok(None);
    }
    let header = read(input, offset, 30)?;
    let data = offset + 30 + number(&header, 26, 2) + number(&header, 28, 2);
    let whole = data.checked_add(stored).is_some_and(|end| end <= len);
    if !header.starts_with(b"PK\x03\x04") || !whole {
        return Ok(None);
    }
    let stored = read(input, data, stored.min(most))?;
    if encoding == Encoding::Raw {
        return Ok(Some(stored));
    }
    let mut decoder = Decoder::new();
    let span = Span::new(0, member.stored);
    decoder.start(encoding, span, Size::AtMost(u64::MAX));
    let (mut buffer, mut decoded, mut at) = (vec![0; WINDOW], Vec::new(), 0);
    while (decoded.len() as u64) < most {
        let Ok(step) = decoder.step(stored.get(at..).unwrap_or_default(), &mut buffer) else {
            // What was decoded before a fault decides nothing.
            return Ok(None);
        };
        decoded.extend_from_slice(buffer.get(step.written.clone()).unwrap_or_default());
        at += step.read;
        if step.done || (step.read == 0 && step.written.is_empty()) {
            break;
        }
    }
    Ok(Some(decoded))
}

/// Looks into a tar archive, member by member.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn tar(input: &dyn Input) -> Result<Inside, ReadError> {
    let (mut inside, mut at, len) = (Inside::default(), 0_u64, input.len());
    for _ in 0..MEMBERS {
        if at + 512 > len {
            return Ok(inside);
        }
        let header = read(input, at, 512)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(inside);
        }
        let name = header.iter().take(100).take_while(|byte| **byte != 0);
        let name: Vec<u8> = name.copied().collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        let digits = header.get(124..136).unwrap_or_default().trim_ascii();
        let digits = digits.split(|byte| *byte == 0).next().unwrap_or_default().trim_ascii();
        let size = str::from_utf8(digits).ok().and_then(|it| u64::from_str_radix(it, 8).ok());
        let Some(size) = size.filter(|size| *size <= len - at - 512) else { break };
        // Names that are longer than this header, and files with holes.
        inside.unseen |= matches!(header.get(156), Some(b'L' | b'S' | b'x'));
        // A regular file; others have no content of their own, or describe the next.
        if matches!(header.get(156), Some(b'0' | 0 | b'7')) {
            let head = read(input, at + 512, size.min(inside.most(&name, size)))?;
            inside.add(&name, size, Some(&head))?;
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    inside.unseen = true;
    Ok(inside)
}

/// Whether this is the header of a file in a tar archive of the oldest kind, which has no magic: its
/// checksum counts its own field as spaces.
pub(super) fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else { return false };
    let digits = header.get(148..156).unwrap_or_default();
    let digits = digits.split(|byte| *byte == 0).next().unwrap_or_default().trim_ascii();
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
        .sum();
    let stated = str::from_utf8(digits).ok().and_then(|it| u64::from_str_radix(it, 8).ok());
    header.first() != Some(&0) && stated == Some(sum)
}

fn read(input: &dyn Input, at: u64, len: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    input.read_at(at, &mut bytes)?;
    Ok(bytes)
}

/// A little-endian number of `len` bytes; 0 past the end.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let bytes = bytes.get(at..at + len).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
