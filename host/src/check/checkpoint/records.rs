//! The records of an archive: their content, and what torch expects of them.

use super::draft::Draft;
use super::object::Place;
use super::values::Values;
use crate::check::scan::part::Bytes;
use crate::check::scan::zip::Member;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::checksum::{Algorithm, Hasher};
use weighbridge_core::codec::{Decoder, Size, Undecoded};
use weighbridge_core::format::pytorch::index::Storage;
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::{Absent, Encoding, Source, Span, limits};

/// Versions of archives that torch reads.
const VERSIONS: core::ops::RangeInclusive<u64> = 1..=10;

/// The alignment of storages unless torch is told otherwise.
const ALIGNMENT: u64 = 64;

/// The content of a record.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// The offset of its stored bytes.
    pub(super) at: u64,
    pub(super) is_deflated: bool,
    /// The CRC-32 in the directory.
    crc: u64,
}

/// Reads the content of a record of at most `most` bytes. `None` if it is longer or cannot be
/// decoded.
pub(super) fn content(
    member: &Member,
    file: &Source<'_>,
    most: u64,
) -> Result<Option<Content>, Absent> {
    let all = Bytes::of_file(Span::new(0, file.len()));
    let Some(data) = member.data(&all, file)? else { return Ok(None) };
    let is_plain = member.method == 0 && data.len == member.stored;
    let most = most.min(match is_plain {
        true => limits::PICKLE_DECODED,
        false => data
            .len
            .saturating_mul(limits::PICKLE_RATIO)
            .saturating_add(limits::PICKLE_DECODED_LEAST),
    });
    if member.encrypted || member.size > most || data.len > most.max(limits::PICKLE_DECODED_LEAST) {
        return Ok(None);
    }
    let stored = file.get(data)?;
    let bytes = match member.method {
        0 if is_plain => stored.to_vec(),
        8 => {
            let Ok(len) = usize::try_from(member.size) else { return Ok(None) };
            let mut bytes = vec![0; len];
            let mut decoder = Decoder::new();
            decoder.start(Encoding::Deflate, data, Size::Exactly(member.size));
            match decoder.fill(file, &mut bytes) {
                Ok(_) => bytes,
                Err(Undecoded::Absent(absent)) => return Err(absent),
                Err(Undecoded::Fault(_)) => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    let (at, is_deflated) = (data.offset, member.method == 8);
    Ok(Some(Content { bytes, at, is_deflated, crc: member.crc }))
}

impl Content {
    /// Reports a CRC-32 that differs; 0 says that it was not computed.
    fn check(&self, draft: &mut Draft) {
        let Some(mut hasher) = Hasher::new(Algorithm::Crc32) else { return };
        hasher.update(&self.bytes);
        let found = hasher.finish().bytes().iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        if self.crc != 0 && found != self.crc {
            let flaw = draft.flaw(rules::R_CRC, self.span(), None);
            (flaw.expected, flaw.found) = (self.crc, found);
        }
    }

    fn span(&self) -> Span {
        Span::new(self.at, if self.is_deflated { 1 } else { self.bytes.len() as u64 })
    }
}

/// Reports what is wrong with the pickle as a whole.
pub(super) fn pickle(draft: &mut Draft, values: &Values, pickle: &Content, place: Place) {
    pickle.check(draft);
    operations(draft, values, place);
    let rest = (pickle.bytes.len() as u64).saturating_sub(values.stopped);
    if rest > 0 {
        let flaw = draft.flaw(rules::P_REST, place.of(values.stopped), None);
        flaw.found = rest;
    }
}

/// Reports operations that no writer makes, and what is left on the stack.
pub(super) fn operations(draft: &mut Draft, values: &Values, place: Place) {
    let found = [
        (values.late_protocol, rules::P_PROTOCOL),
        (values.outside, rules::P_BUFFER),
        (values.unusual, rules::P_OPERATION),
        (values.no_text, rules::P_TEXT),
        (values.no_number, rules::P_NUMBER),
        (values.has_rest.then(|| values.stopped.saturating_sub(1)), rules::P_STACK),
    ];
    for (at, rule) in found {
        if let Some(at) = at {
            draft.flaw(rule, place.of(at), None);
        }
    }
}

/// Reports a byte order that torch does not know, and returns whether it is big-endian. Without the
/// record, files are little-endian.
pub(super) fn byte_order(draft: &mut Draft, record: Option<&Content>) -> bool {
    let Some(record) = record else { return false };
    record.check(draft);
    match record.bytes.as_slice() {
        b"little" => false,
        b"big" => true,
        _ => {
            draft.flaw(rules::R_ORDER, record.span(), None);
            false
        }
    }
}

pub(super) fn version(draft: &mut Draft, record: Option<&Content>) {
    if let Some(record) = record {
        record.check(draft);
    }
    let number = record.and_then(|record| number(&record.bytes));
    if !number.is_some_and(|number| VERSIONS.contains(&number)) {
        let span = record.map_or(Span::new(0, 4), Content::span);
        draft.flaw(rules::R_VERSION, span, None);
    }
}

pub(super) fn alignment(draft: &mut Draft, record: Option<&Content>, storages: &[Storage]) {
    let Some(record) = record else { return };
    record.check(draft);
    let unit = number(&record.bytes).filter(|unit| unit.is_power_of_two());
    let fits = unit.is_some_and(|unit| {
        storages.iter().all(|it| it.stored == 0 || it.offset & (unit - 1) == 0)
    });
    match unit {
        _ if fits => {}
        Some(ALIGNMENT) => {
            draft.flaw(rules::R_MISALIGNED, record.span(), None).expected = ALIGNMENT;
        }
        _ => drop(draft.flaw(rules::R_ALIGNMENT, record.span(), None)),
    }
}

/// A decimal number, with white space around it.
fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Reports records outside the folder of the first, names that readers take for one another, and
/// storages that nothing refers to.
pub(super) fn names(draft: &mut Draft, members: &[Member], is_distinct: bool, top: &str, len: u64) {
    let mut names = members.iter().filter_map(|member| member.name.strip_prefix(top));
    // Then no two are alike in lower case either.
    let is_plain = is_distinct && names.all(is_lower);
    let (mut seen, mut storage) = (BTreeMap::new(), 0);
    for member in members {
        let at = member.offset.min(len);
        let span = Span::new(at, (len - at).min(4));
        let Some(name) = member.name.strip_prefix(top) else {
            draft.flaw(rules::R_TOP, span, None);
            continue;
        };
        if !is_plain && let Some(first) = seen.insert(name.to_lowercase(), member.offset) {
            let flaw = draft.flaw(rules::R_TWICE, span, None);
            flaw.expected = first;
        }
        if name.ends_with('/') && member.stored > 0 {
            draft.flaw(rules::R_FOLDER, span, None).found = member.stored;
        }
        let key = name.strip_prefix("data/").filter(|key| !key.is_empty());
        let Some(key) = key.map(str::as_bytes) else { continue };
        // torch writes records in the order in which the pickle names storages.
        if draft.storages.get(storage).is_some_and(|it| !it.is_constant && *it.key == *key) {
            storage += 1;
        } else if draft.storage_of(key).is_none() {
            draft.flaw(rules::R_UNUSED, span, None);
        }
    }
}

/// Whether a name is ASCII without capitals.
fn is_lower(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}
