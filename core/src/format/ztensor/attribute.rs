//! The keys of a tensor's map that are metadata: optional and custom ones.

use super::cbor::{self, Pull, major};
use super::entry::{Key, Pairs};
use super::rules;
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::name::Name;
use crate::read::{Halt, Reader};
use crate::source::{Absent, Source, Span};
use crate::tensor::{Meta, Status, Value};

/// The next optional or custom field of the map `map`. Keys that are not text
/// name nothing and are passed over.
///
/// The cursor's state is the number of data items left, plus one; 0 if a break
/// ends the map.
pub(super) fn next(
    r: &mut Reader<'_, '_>,
    map: Span,
    c: &mut Cursor,
) -> Result<Option<Meta>, Halt> {
    let end = map.end().unwrap_or(u64::MAX);
    if map.is_empty() {
        c.finish();
        return Ok(None);
    }
    if c.at == 0 {
        r.region(map.at, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        let head = pull.item(2)?;
        let count = pull.count(&head)?;
        c.state = count.map_or(0, |items| u64::from(items).saturating_add(1));
        c.at = r.at();
    }
    loop {
        r.region(c.at, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        let left = c.state.checked_sub(1);
        let mut pairs = Pairs::of(left.and_then(|left| u32::try_from(left).ok()));
        let Some(key) = pairs.next_key(&mut pull)? else {
            c.finish();
            return Ok(None);
        };
        let text = if key.major == major::TEXT {
            Some(pull.string(&key)?)
        } else {
            pull.skip(key, 3)?;
            None
        };
        let at = pull.r.at();
        let value = pull.item(3)?;
        pull.skip(value, 3)?;
        let stored = cbor::since(r, at);
        c.state = left.map_or(0, |left| left.saturating_sub(1));
        c.at = r.at();
        let shown =
            text.filter(|text| Key::of(&text.name).is_none_or(|key| key >= Key::Endianness));
        if let Some(text) = shown {
            let index = c.index;
            c.index = index.wrapping_add(1);
            return Ok(Some(Meta {
                kind: Kind::Attribute,
                index,
                at: key.at,
                key: text.at,
                tag: u32::from(value.major),
                status: Status::Sound,
                stored,
            }));
        }
    }
}

/// What a field holds.
pub(super) fn value(r: &mut Reader<'_, '_>, meta: &Meta) -> Result<Option<Value>, Halt> {
    r.region(meta.stored.at, meta.stored.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    let head = pull.item(3)?;
    if head.major == major::TEXT && head.at == meta.stored.at {
        return Ok(Some(Value::Text(pull.string(&head)?.at)));
    }
    Ok(Some(Value::Cbor(meta.stored)))
}

/// The text of a field of the map `map`.
pub(super) fn text<'a>(
    source: &Source<'a>,
    map: Span,
    wanted: Key,
) -> Result<Option<Name<'a>>, Absent> {
    // The map was read as a whole before; if its bytes have changed since, it
    // has no such field.
    source.get(map)?;
    let mut sink = |_| {};
    let mut reader = Reader::new(source, &mut sink);
    reader.mute();
    Ok(find(&mut reader, map, wanted).ok().flatten())
}

fn find<'a>(r: &mut Reader<'_, 'a>, map: Span, wanted: Key) -> Result<Option<Name<'a>>, Halt> {
    r.region(map.at, map.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    let head = pull.item(2)?;
    let mut pairs = Pairs::new(&mut pull, &head)?;
    while let Some(key) = pairs.next_key(&mut pull)? {
        let name = if key.major == major::TEXT {
            Some(pull.string(&key)?.name)
        } else {
            pull.skip(key, 3)?;
            None
        };
        let value = pull.item(3)?;
        if name.as_ref().and_then(Key::of) == Some(wanted) {
            if value.major != major::TEXT {
                return Ok(None);
            }
            return Ok(Some(pull.string(&value)?.name));
        }
        pull.skip(value, 3)?;
    }
    Ok(None)
}
