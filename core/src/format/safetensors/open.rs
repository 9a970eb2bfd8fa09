//! Opening: the length, the first byte, and how many tensors there are.
//!
//! The header names no number of tensors, so its members are counted. Where it is
//! resident as a whole and in the form that writers emit, that is a loop over its
//! bytes without branches. Otherwise a scan goes through it piece by piece; it
//! follows brackets and strings, and leaves the judgement to who reads entries.

use super::json::{self, Fault, Json};
use super::{Header, METADATA, field, rules};
use crate::cursor::Cursor;
use crate::name::Name;
use crate::read::{Halt, Reader};
use crate::source::{Span, widen};

/// What the scan stands before.
mod step {
    pub(super) const LENGTH: u8 = 0;
    pub(super) const FIRST: u8 = 1;
    pub(super) const KEY: u8 = 2;
    pub(super) const VALUE: u8 = 3;
    pub(super) const DONE: u8 = 4;
}

/// In `state`, beside the depth.
const STRING: u64 = 1 << 40;
const ESCAPE: u64 = 1 << 41;
/// The member is the metadata.
const META: u64 = 1 << 42;

impl Header {
    /// The cursor: `index` counts tensors, `at` is where the scan stands,
    /// `state` where it stands within a value, `extra` the end of the header,
    /// `inner` where the first member and the metadata lie.
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        if c.phase == step::LENGTH {
            c.extra = length(r)?;
            (c.at, c.phase) = (field::LENGTH, step::FIRST);
        }
        while c.phase != step::DONE {
            let before = c.phase;
            let stopped = match before {
                step::FIRST => first(r, c),
                step::KEY => key(r, c),
                _ => value(r, c),
            };
            match stopped {
                Ok(()) => {}
                // What is wrong with the JSON is reported with the entry.
                Err(Halt::Broken(_)) => c.phase = step::DONE,
                Err(halt) => return Err(halt),
            }
        }
        let [first, meta_key, meta_at, meta_end] = c.inner;
        Ok(Header { data_at: c.extra, first, meta_key, meta_at, meta_end, count: c.index })
    }
}

/// The end of the header.
fn length(r: &mut Reader<'_, '_>) -> Result<u64, Halt> {
    let len = r.source().len();
    r.region(0, field::LENGTH, rules::FILE_LENGTH);
    if len < field::LENGTH {
        r.flag(rules::FILE_LENGTH, 0, len, field::LENGTH, len);
        return Err(Halt::Refused(rules::FILE_LENGTH));
    }
    let length = r.u64()?;
    if length > field::LONGEST {
        r.flag(rules::HEADER_LIMIT, 0, field::LENGTH, field::LONGEST, length);
        return Err(Halt::Refused(rules::HEADER_LIMIT));
    }
    let end = length.saturating_add(field::LENGTH);
    if end > len {
        r.flag(rules::HEADER_BOUNDS, 0, field::LENGTH, end, len);
        return Err(Halt::Refused(rules::HEADER_BOUNDS));
    }
    Ok(end)
}

/// Looks for the brace, behind white space at most.
fn first(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    loop {
        r.region(c.at, c.extra, rules::JSON_ROOT);
        if r.left() == 0 {
            break;
        }
        let run = r.some()?;
        let spaces = run.iter().take_while(|byte| json::is_space(**byte)).count();
        c.at = c.at.saturating_add(widen(spaces));
        match run.get(spaces) {
            Some(b'{') => {
                let white = c.at.saturating_sub(field::LENGTH);
                r.check(white == 0, rules::HEADER_START, Span::new(field::LENGTH, white), 0, white);
                c.at = c.at.saturating_add(1);
                c.inner = [c.at, 0, 0, 0];
                c.phase = step::KEY;
                return Ok(());
            }
            Some(_) => break,
            None => {}
        }
    }
    let len = c.extra.saturating_sub(c.at).min(1);
    r.flag(rules::JSON_ROOT, c.at, len, u64::from(b'{'), 0);
    Err(Halt::Refused(rules::JSON_ROOT))
}

/// The key of a member of the header, behind the comma.
fn key(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    r.region(c.at, c.extra, rules::JSON_TRUNCATED);
    let run = r.resident();
    // Asked again only behind metadata, which the loop over bytes stops at: so
    // it passes over no byte twice.
    if c.index == 0
        && widen(run.len()) == r.left()
        && let Some(count) = compact_members(run)
    {
        c.index = c.index.saturating_add(count);
        c.phase = step::DONE;
        return Ok(());
    }
    let mut json = Json::new(run);
    let member = json.token().and_then(|_| {
        let at = json.at;
        let key = json.key()?;
        json.token()?;
        Ok((at, key))
    });
    let (at, text) = match member {
        Ok(member) => member,
        Err(Fault::Short) => return Err(r.lacks(1)),
        Err(Fault::Broken(rule, _)) => return Err(Halt::Broken(rule)),
    };
    let is_meta = Name::new(json.inside(&text), text.encoding()) == *METADATA;
    let value = c.at.saturating_add(widen(json.at));
    c.state = 0;
    if !is_meta {
        c.index = c.index.saturating_add(1);
    } else if let [first, 0, ..] = c.inner {
        c.inner = [first, c.at.saturating_add(widen(at)), value, 0];
        c.state = META;
    }
    c.at = value;
    c.phase = step::VALUE;
    Ok(())
}

/// Passes over a value, as far as it is resident.
fn value(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    r.region(c.at, c.extra, rules::JSON_TRUNCATED);
    if r.left() == 0 {
        return Err(Halt::Broken(rules::JSON_TRUNCATED));
    }
    let run = r.some()?;
    let mut state = c.state;
    for (byte, at) in run.iter().zip(c.at..) {
        let depth = state & 0xFFFF_FFFF;
        if state & STRING != 0 {
            state = match byte {
                _ if state & ESCAPE != 0 => state & !ESCAPE,
                b'\\' => state | ESCAPE,
                b'"' => state & !STRING,
                _ => state,
            };
            continue;
        }
        match byte {
            b'"' => state |= STRING,
            b'{' | b'[' => state = state.saturating_add(1),
            b'}' | b']' if depth > 0 => state = state.saturating_sub(1),
            b',' | b'}' if depth == 0 => {
                if let (true, [first, key, value, _]) = (state & META != 0, c.inner) {
                    c.inner = [first, key, value, at];
                }
                c.at = at.saturating_add(1);
                c.phase = if *byte == b',' { step::KEY } else { step::DONE };
                return Ok(());
            }
            _ => {}
        }
    }
    c.state = state;
    c.at = c.at.saturating_add(widen(run.len()));
    Ok(())
}

/// How many members are left in `rest`, if that can be told from four bytes
/// at a time: every brace opens an object that is the value of a member, nothing is
/// escaped, and no member can be the metadata.
///
/// `:{"` may only stand in a string if it ends there, and then what follows
/// separates tokens.
fn compact_members(rest: &[u8]) -> Option<u32> {
    let mut braces = 0_usize;
    // Short pieces keep the sums in bytes, which is what makes this fast.
    for piece in Pieces(rest) {
        let (a, b, c, d) = (
            piece,
            piece.get(1..).unwrap_or_default(),
            piece.get(2..).unwrap_or_default(),
            piece.get(3..).unwrap_or_default(),
        );
        let mut count = 0_u8;
        let mut strange = 0_u8;
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            let brace = u8::from(*b == b'{');
            let opens = u8::from(*a == b':') & u8::from(*c == b'"') & u8::from(*d == b'd');
            count = count.wrapping_add(brace & opens);
            strange |= brace & (opens ^ 1);
            strange |= u8::from(*b == b'\\');
            strange |= u8::from(*a == b'_') & u8::from(*b == b'_') & u8::from(*c == b'm');
        }
        braces = braces.saturating_add(usize::from(count));
        if strange != 0 {
            return None;
        }
    }
    // The first byte and the last two were never the second of four.
    let last = rest.len().saturating_sub(2);
    let edge = |byte: Option<&u8>| matches!(byte, Some(b'{' | b'\\'));
    if edge(rest.first()) || edge(rest.get(last)) || edge(rest.last()) {
        return None;
    }
    u32::try_from(braces).ok()
}

/// Pieces of 240 bytes that overlap by three.
struct Pieces<'a>(&'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.len() <= 3 {
            return None;
        }
        let piece = self.0.get(..243).unwrap_or(self.0);
        self.0 = self.0.get(240..).unwrap_or_default();
        Some(piece)
    }
}
