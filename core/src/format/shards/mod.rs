//! The index of a sharded checkpoint of safetensors (`model.safetensors.index.json`) or PyTorch
//! (`pytorch_model.bin.index.json`).
//!
//! ```json
//! {"metadata": {"total_size": 24}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}
//! ```
//!
//! It has no tensors of its own: each entry of `weight_map` is a metadata entry with the
//! tensor's name as key and the file name as value. Only a host has the files and can
//! compare them with the list; the rules for that are defined here.
//!
//! Order of suppression. Broken JSON ends validation. If `weight_map`, `metadata` or
//! `total_size` is repeated, the last one counts, as in other readers. Faults in strings
//! outside `weight_map` are reported once per rule, and unknown members are not checked for
//! duplicate keys.

pub mod rules;

mod json_scan;

use super::safetensors::{json, metadata};
use crate::base::{limits::JSON_DEPTH, widen, word};
use crate::format::{Container, Format};
use crate::input::Span;
use crate::model::{Chunk, Metadata, Name, Part, Region, Status, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use json_scan::Scan;

/// The format that the name of a shard says: safetensors by its extension, `None` otherwise.
/// `transformers` decides in the same way, and reads other names with `torch.load`.
pub fn format_named(name: &str) -> Option<Format> {
    Format::by_file_name(name).filter(|format| *format == Format::Safetensors)
}

/// Whether a shard may have this format.
pub const fn may_be(format: Format) -> bool {
    matches!(format, Format::Safetensors | Format::PyTorch)
}

/// Steps of opening.
mod step {
    pub(super) const ROOT: u8 = 0;
    pub(super) const INSIDE: u8 = 1;
    pub(super) const TAIL: u8 = 2;
    pub(super) const DONE: u8 = 3;
}

/// The validated index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the value of `weight_map`.
    map_at: u64,
    /// `metadata.total_size`, if it is a number of bytes.
    total: Option<u64>,
    /// Offset of that number.
    total_at: u64,
}

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Offset of the value of `weight_map`, once opening has reached it.
    map_at: u64,
    /// Offset of the value of `total_size`, likewise.
    total_at: u64,
    /// Progress of opening.
    scan: Scan,
    /// Position of the cursor over `weight_map`.
    stands: u64,
}

impl parse::State for State {
    const START: State = State { map_at: 0, total_at: 0, scan: Scan::START, stands: 0 };
}

impl metadata::Stands for State {
    fn stands(&mut self) -> &mut u64 {
        &mut self.stands
    }
}

/// The position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    /// Every writer begins with one of two keys.
    fn detect(head: &[u8], _: u64) -> bool {
        let skip = |bytes: &[u8]| bytes.iter().take_while(|byte| json::is_space(**byte)).count();
        let Some(rest) = head.get(skip(head)..).and_then(|rest| rest.strip_prefix(b"{")) else {
            return false;
        };
        let rest = rest.get(skip(rest)..).unwrap_or_default();
        // A prefix of a key matches if `head` ends there.
        rest.len() > 2
            && [b"\"weight_map\"".as_slice(), b"\"metadata\""].iter().any(|key| {
                let len = key.len().min(rest.len());
                key.get(..len) == rest.get(..len)
            })
    }

    /// The cursor's offset is that of the scan.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        r.about(EntryKind::File, 0);
        loop {
            match c.phase {
                step::ROOT => root(r, c)?,
                step::INSIDE => inside(r, c)?,
                step::TAIL => tail(r, c)?,
                _ => break,
            }
        }
        let State { map_at, total_at, scan, .. } = c.state;
        if map_at == 0 {
            r.flag(rules::INDEX_MAP, 0, 1, 0, 0);
            return Err(Halt::refused(rules::INDEX_MAP));
        }
        if scan.is_over() && !scan.has_metadata() {
            r.flag(rules::METADATA_MISSING, 0, 1, 0, 0);
        }
        Ok(Header { map_at, total: scan.total(), total_at })
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn tensor_count(&self) -> u64 {
        0
    }

    /// Reads the next entry of `weight_map`; broken if its file name leads out of the index's
    /// folder.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        let pairs = metadata::Pairs {
            at: word(self.map_at),
            end: word(r.source().len()),
            no_map: rules::INDEX_MAP,
            no_text: rules::SHARD_TYPE,
            truncated: rules::JSON_TRUNCATED,
            own: rules::own,
        };
        let Some(mut meta) = pairs.next(r, c)? else { return Ok(None) };
        if meta.status == Status::Sound {
            let name =
                metadata::text_at(&meta).read(r.source()).map_err(|absent| r.lack(absent))?;
            if !is_beside(&name) {
                r.flag(rules::SHARD_PATH, meta.stored.offset, meta.stored.len, 0, 0);
                meta.status = Status::Broken;
            }
        }
        Ok(Some(meta))
    }

    fn tensor(&self, _: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        c.finish();
        Ok(None)
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        Ok((meta.status != Status::Broken).then(|| Value::Text(metadata::text_at(meta))))
    }

    fn chunk(&self, _: &mut Reader<'_, '_>, _: &Tensor, _: u64) -> Result<Option<Chunk>, Halt> {
        Ok(None)
    }

    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        if c.done {
            return Ok(None);
        }
        c.finish();
        let span = Span::new(0, r.source().len());
        Ok(Some(Region { part: Part::Metadata, span, kind: EntryKind::File, entry: 0 }))
    }
}

impl Header {
    /// The declared total length of all tensors, if any.
    pub fn total_size(&self) -> Option<u64> {
        self.total
    }

    /// Where the file declares it; empty if it does not.
    pub fn total_span(&self) -> Span {
        let digits = |total: u64| total.checked_ilog10().unwrap_or(0).saturating_add(1);
        Span::new(self.total_at, self.total.map_or(0, digits).into())
    }
}

/// Whether a file name stays within the folder it is joined to, on any system: it has no
/// separator, drive or stream, and is not a parent folder.
fn is_beside(name: &Name<'_>) -> bool {
    let plain = name.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'/' | b'\\' | b':'));
    plain && name.bytes().any(|byte| byte != b'.' && byte != b' ')
}

/// Reads the opening brace, which only white space may precede.
fn root(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let end = r.source().len();
    if blank(r, c, end)? != Some(b'{') {
        let len = end.saturating_sub(c.at).min(1);
        r.flag(rules::INDEX_ROOT, c.at, len, u64::from(b'{'), 0);
        return Err(Halt::refused(rules::INDEX_ROOT));
    }
    c.at = c.at.saturating_add(1);
    c.phase = step::INSIDE;
    c.state.scan = Scan::START.open(true);
    Ok(())
}

/// Skips white space; returns the byte after it, or `None` at `end`.
fn blank(r: &mut Reader<'_, '_>, c: &mut Cursor, end: u64) -> Result<Option<u8>, Halt> {
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

/// Scans the members, as far as they are resident.
fn inside(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    use rules::JSON_TRUNCATED;
    let end = r.source().len();
    if c.at >= end {
        r.flag(JSON_TRUNCATED, end, 0, 0, 0);
        return Err(Halt::refused(JSON_TRUNCATED));
    }
    r.region(c.at, end, JSON_TRUNCATED);
    let run = r.some()?;
    let mut scan = c.state.scan;
    for byte in run {
        let at = c.at;
        c.at = at.saturating_add(1);
        let (was_in_map, counted) = (scan.in_map(), scan.counts());
        let passed = scan.pass(*byte, &mut |rule| r.flag(rule, at, 1, 0, u64::from(*byte)));
        if scan.in_map() && !was_in_map {
            c.state.map_at = at;
        }
        if scan.counts() && !counted {
            c.state.total_at = at;
        }
        if let Err((rule, back)) = passed {
            if !scan.in_map() {
                let at = at.saturating_sub(back.into());
                r.flag(rule, at, u64::from(back).max(1), u64::from(JSON_DEPTH), 0);
                return Err(Halt::refused(rule));
            }
            // The fault is reported when the entries are listed.
            c.phase = step::DONE;
            break;
        }
        if scan.is_over() {
            c.phase = step::TAIL;
            break;
        }
    }
    c.state.scan = scan;
    Ok(())
}

/// Checks the bytes after the closing brace.
fn tail(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let end = r.source().len();
    if blank(r, c, end)?.is_some() {
        let rest = Span::between(c.at, end);
        r.flag(rules::INDEX_TRAILING, rest.offset, rest.len, 0, rest.len);
    }
    c.phase = step::DONE;
    Ok(())
}
