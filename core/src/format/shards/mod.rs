//! The index of a safetensors checkpoint in shards
//! (`model.safetensors.index.json`).
//!
//! ```json
//! {"metadata": {"total_size": 24}, "weight_map": {"a": "model-00001-of-00002.safetensors"}}
//! ```
//!
//! It has no tensors of its own: each entry of `weight_map` comes as a metadata
//! entry, the name of a tensor with the name of its file. Whether the files hold
//! what is listed is for hosts to say, which have them all; the rules for that
//! are here.
//!
//! Order of suppression. Where the JSON itself is broken, that ends what can be
//! judged. Of several `weight_map`, the last counts, as for readers.

pub mod rules;

use super::safetensors::json::{self, Fault, Json, Number};
use super::safetensors::metadata;
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::format::{Container, Policy};
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::source::{Span, widen};
use crate::tensor::{Chunk, Meta, Part, Region, Status, Tensor, Value, Version};

/// What opening stands before.
mod step {
    pub(super) const ROOT: u8 = 0;
    pub(super) const MEMBER: u8 = 1;
    pub(super) const VALUE: u8 = 2;
    pub(super) const END: u8 = 3;
}

/// What the index says, as far as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the value of `weight_map`.
    map_at: u64,
    /// `metadata.total_size`, if there is such a number.
    total: Option<u64>,
}

impl Container for Header {
    const POLICY: Policy = Policy { duplicate_meta: Some(rules::TENSOR_DUPLICATE), ..Policy::NONE };

    /// Writers begin with one of two keys.
    fn detect(head: &[u8], _: u64) -> bool {
        let skip = |bytes: &[u8]| bytes.iter().take_while(|byte| json::is_space(**byte)).count();
        let Some(rest) = head.get(skip(head)..).and_then(|rest| rest.strip_prefix(b"{")) else {
            return false;
        };
        let rest = rest.get(skip(rest)..).unwrap_or_default();
        // What is not there yet does not speak against it.
        rest.len() > 2
            && [b"\"weight_map\"".as_slice(), b"\"metadata\""].iter().any(|key| {
                let len = key.len().min(rest.len());
                key.get(..len) == rest.get(..len)
            })
    }

    /// The cursor: `at` is where the next member begins or the value stands,
    /// `state` the depth within it, `inner` where `weight_map` lies and the
    /// total with a mark that there is one.
    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        loop {
            match c.phase {
                step::ROOT => root(r, c)?,
                step::MEMBER => member(r, c)?,
                step::VALUE => value(r, c)?,
                _ => break,
            }
        }
        tail(r, c)?;
        let [map_at, total, has_total, _] = c.inner;
        if map_at == 0 {
            r.flag(rules::INDEX_MAP, 0, 1, 0, 0);
            return Err(Halt::refused(rules::INDEX_MAP));
        }
        Ok(Header { map_at, total: (has_total == 1).then_some(total) })
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn tensor_count(&self) -> u64 {
        0
    }

    /// The next entry of `weight_map`; broken if its file lies anywhere else
    /// than beside the index.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Meta>, Halt> {
        let pairs = metadata::Pairs {
            at: self.map_at,
            end: r.source().len(),
            no_map: rules::INDEX_MAP,
            no_text: rules::SHARD_TYPE,
            truncated: rules::JSON_TRUNCATED,
            own: rules::own,
        };
        let Some(mut meta) = pairs.next(r, c)? else { return Ok(None) };
        if meta.status == Status::Sound {
            let name = text_at(&meta).read(r.source()).map_err(|absent| r.lack(absent))?;
            if !is_beside(&name) {
                r.flag(rules::SHARD_PATH, meta.stored.at, meta.stored.len, 0, 0);
                meta.status = Status::Broken;
            }
        }
        Ok(Some(meta))
    }

    fn tensor(&self, _: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        c.finish();
        Ok(None)
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Meta) -> Result<Option<Value>, Halt> {
        Ok((meta.status != Status::Broken).then(|| Value::Text(text_at(meta))))
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
        Ok(Some(Region { part: Part::Metadata, span, kind: Kind::File, entry: 0 }))
    }
}

impl Header {
    /// The bytes that all tensors together are said to take; `None` if the
    /// index does not say.
    pub fn total_size(&self) -> Option<u64> {
        self.total
    }
}

fn text_at(meta: &Meta) -> NameAt {
    let mut text = NameAt::plain(meta.stored.at, meta.stored.len);
    if meta.tag == metadata::ESCAPED {
        text.encoding = NameEncoding::Json;
    }
    text
}

/// Whether a file of this name lies in the folder that it is joined to, on any
/// system: no separator, no drive or stream, no way up.
fn is_beside(name: &Name<'_>) -> bool {
    let plain = name.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'/' | b'\\' | b':'));
    plain && name.bytes().any(|byte| byte != b'.' && byte != b' ')
}

/// Looks for the brace, behind white space at most.
fn root(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if blank(r, c)? != Some(b'{') {
        let len = r.source().len().saturating_sub(c.at).min(1);
        r.flag(rules::INDEX_ROOT, c.at, len, u64::from(b'{'), 0);
        return Err(Halt::refused(rules::INDEX_ROOT));
    }
    c.at = c.at.saturating_add(1);
    c.extra = c.at;
    c.phase = step::MEMBER;
    Ok(())
}

/// Passes over white space; the byte that follows, or none at the end.
fn blank(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<u8>, Halt> {
    loop {
        let end = r.source().len();
        if c.at >= end {
            return Ok(None);
        }
        r.region(c.at, end, rules::JSON_TRUNCATED);
        let run = r.some()?;
        let spaces = run.iter().take_while(|byte| json::is_space(**byte)).count();
        c.at = c.at.saturating_add(widen(spaces));
        if let Some(byte) = run.get(spaces) {
            return Ok(Some(*byte));
        }
    }
}

/// The key of a member, and its value if it is the metadata, which is small.
fn member(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let start = c.at;
    r.region(start, r.source().len(), rules::JSON_TRUNCATED);
    r.about(Kind::File, 0);
    let mut json = Json::new(r.resident());
    // Only the first may be missing.
    match of_member(&mut json, start == c.extra) {
        Ok(Member::End) => {
            c.phase = step::END;
            c.at = start.saturating_add(widen(json.at));
        }
        Ok(Member::Total(total)) => {
            let [map_at, ..] = c.inner;
            c.inner = [map_at, total.unwrap_or(0), u64::from(total.is_some()), 0];
            c.at = start.saturating_add(widen(json.at));
            c.state = 0;
            c.phase = step::VALUE;
            json.report_as(r, start, rules::own);
        }
        Ok(Member::Map(key)) => {
            let [map_at, total, has_total, _] = c.inner;
            if map_at != 0 {
                r.flag(rules::INDEX_MAP_TWICE, start.saturating_add(widen(key)), 12, 0, 0);
            }
            c.at = start.saturating_add(widen(json.at));
            c.inner = [c.at, total, has_total, 0];
            c.state = 0;
            c.phase = step::VALUE;
            json.report_as(r, start, rules::own);
        }
        Ok(Member::Other) => {
            c.at = start.saturating_add(widen(json.at));
            c.state = 0;
            c.phase = step::VALUE;
            json.report_as(r, start, rules::own);
        }
        Err(Fault) => return Err(json::halt_as(r, &json, rules::own)),
    }
    Ok(())
}

enum Member {
    /// The object ends.
    End,
    /// `weight_map`, whose key begins here; its value follows.
    Map(usize),
    /// `metadata`, which was read, with its total; nothing of it is left.
    Total(Option<u64>),
    /// Another, whose value follows.
    Other,
}

fn of_member(json: &mut Json<'_>, may_end: bool) -> Result<Member, Fault> {
    if may_end && json.token()? == b'}' {
        json.bump();
        return Ok(Member::End);
    }
    json.token()?;
    let at = json.at;
    let key = json.key()?;
    json.token()?;
    let name = Name::new(json.inside(&key), key.encoding());
    if name == *"weight_map" {
        return Ok(Member::Map(at));
    }
    if name == *"metadata" && json.peek()? == b'{' {
        return total(json).map(Member::Total);
    }
    Ok(Member::Other)
}

/// The member `total_size` of an object that is read to its end.
fn total(json: &mut Json<'_>) -> Result<Option<u64>, Fault> {
    let mut total = None;
    json.bump();
    if json.token()? == b'}' {
        json.bump();
        return Ok(None);
    }
    loop {
        json.token()?;
        let key = json.key()?;
        let byte = json.token()?;
        let at = json.at;
        let name = Name::new(json.inside(&key), key.encoding());
        if name != *"total_size" {
            json.skip(2)?;
        } else if byte == b'-' || byte.is_ascii_digit() {
            match json.number()? {
                Number::Count(value) => total = Some(value),
                Number::Other(_) => json.note(rules::TOTAL_TYPE, at, 0, 0),
            }
        } else {
            json.skip(2)?;
            json.note(rules::TOTAL_TYPE, at, 0, 0);
        }
        match json.token()? {
            b',' => json.bump(),
            b'}' => break,
            _ => return json.syntax(),
        }
    }
    json.bump();
    Ok(total)
}

/// Passes over a value and the comma or brace behind it, as far as it is
/// resident. What is in `weight_map` is judged with its entries, what is in
/// other members is of no concern.
fn value(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    use rules::JSON_TRUNCATED;
    let end = r.source().len();
    if c.at >= end {
        r.flag(JSON_TRUNCATED, end, 0, 0, 0);
        return Err(Halt::refused(JSON_TRUNCATED));
    }
    r.region(c.at, end, JSON_TRUNCATED);
    let run = r.some()?;
    let mut nesting = json::Nesting(c.state);
    for (byte, at) in run.iter().zip(c.at..) {
        if let Some(close) = nesting.pass(*byte) {
            c.at = at.saturating_add(1);
            c.phase = if close { step::END } else { step::MEMBER };
            return Ok(());
        }
    }
    c.at = c.at.saturating_add(widen(run.len()));
    c.state = nesting.0;
    Ok(())
}

/// What follows the closing brace.
fn tail(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if blank(r, c)?.is_some() {
        let rest = Span::between(c.at, r.source().len());
        r.about(Kind::File, 0);
        r.flag(rules::INDEX_TRAILING, rest.at, rest.len, 0, rest.len);
    }
    Ok(())
}
