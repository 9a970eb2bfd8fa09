//! Opening: the length, the first byte, and how many tensors there are.
//!
//! The header names no number of tensors, so its members are counted by a scan
//! that goes through it piece by piece. It follows brackets and strings, and leaves
//! the judgement to who reads entries.

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
    pub(super) const TAIL: u8 = 4;
    pub(super) const DONE: u8 = 5;
}

/// In `state`, beside the nesting: the member is the metadata.
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
                step::TAIL => tail(r, c),
                _ => value(r, c),
            };
            match stopped {
                Ok(()) => {}
                // What is wrong with the JSON is reported with the entry.
                Err(halt) if halt.unreported().is_some() => (c.phase, c.state) = (step::DONE, 0),
                Err(halt) => return Err(halt),
            }
        }
        let [first, meta_from, meta_at, meta_end] = c.inner;
        // None exceeds the longest header.
        let small = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
        Ok(Header {
            data_at: small(c.extra),
            first: small(first),
            meta_from: small(meta_from),
            meta_at: small(meta_at),
            meta_end: small(meta_end),
            end: small(c.state),
            stray: small(c.at),
            count: c.index,
        })
    }
}

/// The end of the header.
fn length(r: &mut Reader<'_, '_>) -> Result<u64, Halt> {
    let len = r.source().len();
    r.region(0, field::LENGTH, rules::FILE_LENGTH);
    if len < field::LENGTH {
        r.flag(rules::FILE_LENGTH, 0, len, field::LENGTH, len);
        return Err(Halt::refused(rules::FILE_LENGTH));
    }
    let length = r.u64()?;
    if length > field::LONGEST {
        r.flag(rules::HEADER_LIMIT, 0, field::LENGTH, field::LONGEST, length);
        return Err(Halt::refused(rules::HEADER_LIMIT));
    }
    let end = length.wrapping_add(field::LENGTH);
    if end > len {
        r.flag(rules::HEADER_BOUNDS, 0, field::LENGTH, end, len);
        return Err(Halt::refused(rules::HEADER_BOUNDS));
    }
    Ok(end)
}

/// Looks for the brace, behind white space at most.
#[cfg_attr(not(feature = "windows"), inline(never))]
fn first(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if blank(r, c, c.extra)? != Some(b'{') {
        let len = c.extra.wrapping_sub(c.at).min(1);
        r.flag(rules::JSON_ROOT, c.at, len, u64::from(b'{'), 0);
        return Err(Halt::refused(rules::JSON_ROOT));
    }
    let white = c.at.wrapping_sub(field::LENGTH);
    r.check(white == 0, rules::HEADER_START, Span::new(field::LENGTH, white), 0, white);
    c.at = c.at.wrapping_add(1);
    c.inner = [c.at, 0, 0, 0];
    c.phase = step::KEY;
    Ok(())
}

/// Passes over white space; the byte that follows, or none at `end`.
pub(in crate::format) fn blank(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    end: u64,
) -> Result<Option<u8>, Halt> {
    loop {
        r.region(c.at, end, rules::JSON_TRUNCATED);
        if r.left() == 0 {
            return Ok(None);
        }
        let run = r.some()?;
        let spaces = run.iter().take_while(|byte| json::is_space(**byte)).count();
        c.at = c.at.wrapping_add(widen(spaces));
        if let Some(byte) = run.get(spaces) {
            return Ok(Some(*byte));
        }
    }
}

/// The key of a member of the header, behind the comma.
fn key(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    r.region(c.at, c.extra, rules::JSON_TRUNCATED);
    let run = r.resident();
    #[cfg(feature = "sweep")]
    if let (count @ 1.., rest, ended) = super::sweep::skim(run) {
        c.index = c.index.wrapping_add(count);
        c.at = c.at.wrapping_add(widen(run.len().wrapping_sub(rest.len())));
        if ended {
            end(c);
        }
        return Ok(());
    }
    let mut json = Json::new(run);
    let [first, ..] = c.inner;
    if c.at == first && matches!(json.token(), Ok(b'}')) {
        c.at = first.wrapping_add(widen(json.at)).wrapping_add(1);
        end(c);
        return Ok(());
    }
    let member = json.token().and_then(|_| {
        let key = json.key()?;
        json.token()?;
        Ok(key)
    });
    let text = match member {
        Ok(member) => member,
        Err(Fault) => {
            return Err(match json.broken {
                Some((rule, _)) => Halt::broken(rule),
                None => r.lacks(1),
            });
        }
    };
    let is_meta = Name::new(json.inside(&text), text.encoding()) == *METADATA;
    let value = c.at.wrapping_add(widen(json.at));
    c.state = 0;
    if !is_meta {
        c.index = c.index.wrapping_add(1);
    } else if let [first, 0, ..] = c.inner {
        c.inner = [first, c.at, value, 0];
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
        return Err(Halt::broken(rules::JSON_TRUNCATED));
    }
    let run = r.some()?;
    let mut nesting = Nesting(c.state);
    for (byte, at) in run.iter().zip(c.at..) {
        if let Some(closes) = nesting.pass(*byte) {
            if let (true, [first, from, value, _]) = (nesting.0 & META != 0, c.inner) {
                c.inner = [first, from, value, at];
            }
            c.at = at.wrapping_add(1);
            c.phase = step::KEY;
            if closes {
                end(c);
            }
            return Ok(());
        }
    }
    c.state = nesting.0;
    c.at = c.at.wrapping_add(widen(run.len()));
    Ok(())
}

/// The closing brace was passed.
fn end(c: &mut Cursor) {
    c.phase = step::TAIL;
    c.state = c.at;
}

/// Looks for anything but white space behind the closing brace, and leaves its
/// place in `at`.
fn tail(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    blank(r, c, c.extra)?;
    c.phase = step::DONE;
    Ok(())
}

/// How deep a scan of values is that looks at brackets and strings only, and
/// whether it stands in a string: a number, to be kept in a cursor. No header has
/// so many brackets that its depth would take more than 32 bits.
#[derive(Clone, Copy, Debug)]
struct Nesting(u64);

const STRING: u64 = 1 << 40;
const ESCAPE: u64 = 1 << 41;

impl Nesting {
    /// Passes over a byte. If that ends the value, whether it closes the object
    /// around it.
    fn pass(&mut self, byte: u8) -> Option<bool> {
        let Nesting(state) = *self;
        if state & STRING != 0 {
            self.0 = match byte {
                _ if state & ESCAPE != 0 => state & !ESCAPE,
                b'\\' => state | ESCAPE,
                b'"' => state & !STRING,
                _ => state,
            };
            return None;
        }
        let depth = state & 0xFFFF_FFFF;
        match byte {
            b'"' => self.0 |= STRING,
            b'{' | b'[' => self.0 = state.wrapping_add(1),
            b'}' | b']' if depth > 0 => self.0 = state.wrapping_sub(1),
            b',' | b'}' if depth == 0 => return Some(byte == b'}'),
            _ => {}
        }
        None
    }
}
