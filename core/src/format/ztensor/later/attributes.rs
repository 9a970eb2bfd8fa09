//! Attributes: metadata of the file, and of single objects.

use super::super::cbor::Pull;
use super::super::{Cursor, rules};
use super::node::{Node, Nodes};
use super::object::{Object, Read};
use super::{Generation, Header};
use crate::base::wide;
use crate::input::Span;
use crate::model::{Metadata, Name, NameAt, Status, Tensor, Value};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Longest name in generation 2.
const LONGEST: usize = 1024;

/// Phases of the iteration over metadata of the file.
const VERSION: u8 = 0;
const GENERATOR: u8 = 1;
const ATTRIBUTES: u8 = 2;

/// Checks an attribute map.
pub(super) fn check(r: &mut Reader<'_, '_>, generation: Generation, value: &Node<'_>) {
    let span = value.span();
    if !value.is_map() {
        r.flag(rules::ATTRIBUTES_MAP, span.offset, span.len, 0, 0);
        return;
    }
    if generation != Generation::Two {
        return;
    }
    let is_wrong = |(key, _): &(Node<'_>, Node<'_>)| !key.text().is_some_and(|key| is_name(&key));
    if let Some((key, _)) = value.pairs().find(is_wrong) {
        let span = key.span();
        r.flag(rules::ATTRIBUTE_KEY, span.offset, span.len, 0, 0);
    }
}

/// Whether generation 2 allows the name.
pub(super) fn is_name(name: &Name<'_>) -> bool {
    let (mut len, mut zero) = (0_usize, false);
    for byte in name.bytes().take(LONGEST.saturating_add(1)) {
        len = len.saturating_add(1);
        zero |= byte == 0;
    }
    (1..=LONGEST).contains(&len) && !zero
}

/// The next metadata entry of the file: its version, its generator, its attributes.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    loop {
        let (span, kind) = match c.phase {
            VERSION => (header.value_at(header.stated), EntryKind::Metadata),
            GENERATOR => (header.value_at(header.generator), EntryKind::Metadata),
            ATTRIBUTES => {
                let map = header.value_at(header.attributes);
                return pair(r, c, map, EntryKind::Metadata);
            }
            _ => {
                c.finish();
                return Ok(None);
            }
        };
        let word: u64 = if c.phase == VERSION { 7 } else { 9 };
        c.phase = c.phase.saturating_add(1);
        if span.is_empty() {
            continue;
        }
        // The key ends where the value begins.
        let key = NameAt::plain(span.offset.saturating_sub(word), word);
        let index = c.index;
        c.index = index.saturating_add(1);
        let (status, offset) = (Status::Sound, key.offset.saturating_sub(1));
        return Ok(Some(Metadata { kind, index, offset, key, tag: 0, status, stored: span }));
    }
}

/// The next attribute of a tensor's object.
pub(super) fn of_tensor(
    header: &Header,
    r: &mut Reader<'_, '_>,
    tensor: &Tensor,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    if c.at == 0 {
        // A part has no attributes.
        let is_part = tensor.extra.offset == tensor.offset;
        let read = match is_part {
            true => None,
            false => Some(r.quietly(|r| Object::read(header, r, tensor.offset, (0, 0), &mut 2))?),
        };
        let map = match read {
            Some(Read::Object(object)) => object.attributes.filter(Node::is_map),
            _ => None,
        };
        let Some(map) = map else {
            c.finish();
            return Ok(None);
        };
        return pair(r, c, map.span(), EntryKind::Attribute);
    }
    pair(r, c, Span::between(c.at, u64::MAX), EntryKind::Attribute)
}

/// The next pair of the map at `map`, if the cursor is at its start; otherwise that at the cursor.
fn pair(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    map: Span,
    kind: EntryKind,
) -> Result<Option<Metadata>, Halt> {
    let end = map.end().unwrap_or(u64::MAX);
    if map.is_empty() {
        c.finish();
        return Ok(None);
    }
    if c.at == 0 {
        r.region(map.offset, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        pull.item(2, false);
        if pull.head.major != crate::base::cbor::major::MAP {
            pull.done()?;
            c.finish();
            return Ok(None);
        }
        let left = pull.count();
        pull.done()?;
        c.at = wide(pull.at());
        c.state.left = u64::from(left);
    }
    loop {
        r.region(c.at, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        let mut left = u32::try_from(c.state.left).unwrap_or(0);
        pull.key(&mut left);
        if pull.head.is_break() {
            pull.done()?;
            c.finish();
            return Ok(None);
        }
        let start = wide(pull.start);
        pull.skip(3);
        pull.item(3, false);
        pull.skip(3);
        pull.done()?;
        let stop = wide(pull.at());
        let bytes = pull.r.get(Span::between(start, stop))?;
        let mut nodes = Nodes::new(bytes, start);
        let (key, value) = (nodes.next().unwrap_or_default(), nodes.next().unwrap_or_default());
        (c.at, c.state.left) = (stop, u64::from(left));
        if key.text().is_none() {
            continue;
        }
        let index = c.index;
        c.index = index.saturating_add(1);
        return Ok(Some(Metadata {
            kind,
            index,
            offset: key.at,
            key: key.text_at(),
            tag: u32::from(value.head.major),
            status: Status::Sound,
            stored: value.span(),
        }));
    }
}

/// The value of a metadata entry.
pub(super) fn value(r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
    let node = Nodes::new(r.get(meta.stored)?, meta.stored.offset).next().unwrap_or_default();
    Ok(Some(match node.text() {
        Some(_) if node.at == node.head_at => Value::Text(node.text_at()),
        _ => Value::Cbor(meta.stored),
    }))
}
