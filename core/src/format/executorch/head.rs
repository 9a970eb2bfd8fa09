//! The start of the file: identifier, and the header that says where segments are.

use super::rules;
use crate::base::features::WINDOWS;
use crate::format::flatbuffer::reads::{Memo, Reads, get};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// What the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A program.
    Program,
    /// Tensor data.
    Data,
}

/// The start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Head {
    pub(super) kind: Kind,
    /// Where it ends; at most what offsets reach.
    pub(super) len: u32,
    /// Where the flatbuffer ends; at most what offsets reach.
    pub(super) end: u32,
    /// Where segments begin; 0 if that is not said.
    pub(super) base: u64,
    /// Number of bytes of segments; 0 if it is not said.
    pub(super) size: u64,
}

/// The end of identifier and header magic, and of the length after them.
const MAGIC: u64 = 12;
const LENGTH: u64 = 16;

/// Least lengths of the header of a program, with and without the size of segments, and of that of
/// tensor data.
const OLD: u64 = 24;
const SIZED: u64 = 32;
const DATA: u64 = 40;

/// End of a start without a header.
const BARE: u32 = 8;

impl Head {
    /// What the file is: on a board a program, because tensor data is for hosts.
    #[inline(always)]
    pub(super) fn kind(&self) -> Kind {
        if WINDOWS { self.kind } else { Kind::Program }
    }

    /// Offset of the number that says where segments begin; 0 if there is no header.
    pub(super) fn base_at(&self) -> u64 {
        match self.kind() {
            _ if self.len == BARE => 0,
            Kind::Program => 24,
            Kind::Data => 32,
        }
    }

    /// Whether the header has room for the size of segments.
    pub(super) fn sized(&self) -> bool {
        u64::from(self.len) >= SIZED.saturating_add(8)
    }
}

/// The end of a header or a flatbuffer, as far as offsets reach. A longer header leaves no place for a
/// root table.
fn short_of(end: u64) -> u32 {
    u32::try_from(end).unwrap_or(u32::MAX)
}

/// Reads the start of a program in memory, where a number past the end is 0. Its length and its
/// identifier are checked with the root of the flatbuffer.
fn of_program(r: &mut Reader<'_, '_>) -> Result<Head, Halt> {
    let len = r.source().len();
    let mut memo = Memo::NONE;
    let mut reads = Reads::new(r, &mut memo);
    let mut head = Head { kind: Kind::Program, len: BARE, end: short_of(len), base: 0, size: 0 };
    if reads.number(8, 4)? != u32::from_le_bytes(*b"eh00").into() {
        return Ok(head);
    }
    let length = reads.number(12, 4)?;
    let program = reads.number(16, 8)?;
    head.base = reads.number(24, 8)?;
    if length >= SIZED {
        head.size = reads.number(32, 8)?;
    }
    let end = length.wrapping_add(8);
    (head.len, head.end) = (short_of(end), short_of(program));
    let (rule, at) = if len < LENGTH || end > len {
        (rules::F_SHORT, 0)
    } else if length < OLD {
        (rules::H_LENGTH, 12)
    } else if program > len {
        (rules::H_PROGRAM, 16)
    } else {
        return Ok(head);
    };
    refuse(r, rule, Span::new(at, 4), 0, 0)
}

/// Reads the start.
pub(super) fn read(r: &mut Reader<'_, '_>) -> Result<Head, Halt> {
    if !WINDOWS {
        return of_program(r);
    }
    let len = r.source().len();
    let short = |r: &mut Reader<'_, '_>, needed| {
        r.flag(rules::F_SHORT, 0, len, needed, len);
        Err(Halt::refused(rules::F_SHORT))
    };
    if len < 8 {
        return short(r, 8);
    }
    let has = MAGIC.min(len);
    let start = get(r, Span::new(0, has))?;
    let kind = match start.get(4..8) {
        Some(b"ET12") => Kind::Program,
        Some(b"FT01") if WINDOWS => Kind::Data,
        _ => return refuse(r, rules::F_IDENTIFIER, Span::new(4, 4), 0, 0),
    };
    let magic = start.get(8..12);
    match kind {
        Kind::Program if magic != Some(b"eh00") => {
            return Ok(Head { kind, len: BARE, end: short_of(len), base: 0, size: 0 });
        }
        Kind::Data if len < MAGIC => return short(r, DATA.saturating_add(8)),
        Kind::Data if magic != Some(b"FH01") => {
            return refuse(r, rules::H_MAGIC, Span::new(8, 4), 0, 0);
        }
        _ => {}
    }
    let least = if kind == Kind::Program { OLD } else { DATA };
    if len < LENGTH {
        return short(r, least.saturating_add(8));
    }
    let length = number(get(r, Span::new(0, LENGTH))?, 12, 4);
    if length < least {
        return refuse(r, rules::H_LENGTH, Span::new(12, 4), least, length);
    }
    let end = length.saturating_add(8);
    if end > len {
        return short(r, end);
    }
    // Further fields are ignored.
    let bytes = get(r, Span::new(0, end.min(48)))?;
    match kind {
        Kind::Program => {
            let program = number(bytes, 16, 8);
            let base = number(bytes, 24, 8);
            let sized = length >= SIZED;
            let size = if sized { number(bytes, 32, 8) } else { 0 };
            if program > len {
                return refuse(r, rules::H_PROGRAM, Span::new(16, 8), len, program);
            }
            r.check(sized, rules::H_OLD, Span::new(12, 4), SIZED, length);
            Ok(Head { kind, len: short_of(end), end: short_of(program), base, size })
        }
        Kind::Data => {
            let (place, took) = (number(bytes, 16, 8), number(bytes, 24, 8));
            let (base, size) = (number(bytes, 32, 8), number(bytes, 40, 8));
            let program = place.checked_add(took).filter(|program| *program <= len);
            let Some(program) = program else {
                let found = place.saturating_add(took);
                return refuse(r, rules::H_PROGRAM, Span::new(16, 16), len, found);
            };
            r.check(place == end, rules::H_PLACE, Span::new(16, 8), end, place);
            Ok(Head { kind, len: short_of(end), end: short_of(program), base, size })
        }
    }
}

/// The little-endian number of `width` bytes at `at`.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut all = [0; 8];
    let found = bytes.get(at..).unwrap_or_default();
    for (to, from) in all.iter_mut().zip(found.iter().take(width)) {
        *to = *from;
    }
    u64::from_le_bytes(all)
}

/// Reports a fault without which nothing can be read.
pub(super) fn refuse<T>(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    place: Span,
    expected: u64,
    found: u64,
) -> Result<T, Halt> {
    r.flag(rule, place.offset, place.len, expected, found);
    Err(Halt::refused(rule))
}
