//! Metadata in a tensor's map: optional and custom fields.

use super::cbor::{OPEN, Pull};
use super::entry::Key;
use super::{Cursor, rules};
use crate::base::{cbor::major, wide};
use crate::input::{Absent, Source, Span};
use crate::model::{Metadata, Name, Status, Value};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Returns the next optional or custom field in `map`. Keys that are not text
/// are skipped.
pub(super) fn next(
    r: &mut Reader<'_, '_>,
    map: Span,
    c: &mut Cursor,
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
        let count = pull.count();
        pull.done()?;
        c.state.left = if count == OPEN { 0 } else { u64::from(count).saturating_add(1) };
        c.at = r.at();
    }
    loop {
        r.region(c.at, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        let left = c.state.left.checked_sub(1);
        let mut items = left.map_or(OPEN, |left| u32::try_from(left).unwrap_or(OPEN));
        pull.key(&mut items);
        pull.done()?;
        if pull.head.is_break() {
            c.finish();
            return Ok(None);
        }
        let at = wide(pull.head_at);
        let mut shown = None;
        if pull.head.major == major::TEXT {
            let key = pull.string_at();
            let field = Key::of(&pull.text);
            shown = field.is_none_or(|field| field >= Key::ENDIANNESS).then_some(key);
        } else {
            pull.skip(3);
        }
        pull.item(3, false);
        let (start, tag) = (wide(pull.start), u32::from(pull.head.major));
        pull.skip(3);
        pull.done()?;
        let stored = Span::between(start, r.at());
        c.state.left = left.map_or(0, |left| left.saturating_sub(1));
        c.at = r.at();
        if let Some(key) = shown {
            let index = c.index;
            c.index = index.wrapping_add(1);
            let (kind, status) = (EntryKind::Attribute, Status::Sound);
            return Ok(Some(Metadata { kind, index, offset: at, key, tag, status, stored }));
        }
    }
}

/// The value of a field.
pub(super) fn value(r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
    r.region(meta.stored.offset, meta.stored.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    pull.item(3, false);
    if pull.head.major == major::TEXT && wide(pull.head_at) == meta.stored.offset {
        let text = pull.string_at();
        return pull.done().map(|()| Some(Value::Text(text)));
    }
    pull.done()?;
    Ok(Some(Value::Cbor(meta.stored)))
}

/// The text of a field in `map`.
pub(super) fn text<'a>(
    source: &Source<'a>,
    map: Span,
    wanted: Key,
) -> Result<Option<Name<'a>>, Absent> {
    // The whole map was read before. If its bytes have changed since, the field counts as
    // missing.
    source.get(map)?;
    let mut sink = |_| {};
    let mut reader = Reader::new(source, &mut sink);
    reader.mute();
    Ok(find(&mut reader, map, wanted).ok().flatten())
}

fn find<'a>(r: &mut Reader<'_, 'a>, map: Span, wanted: Key) -> Result<Option<Name<'a>>, Halt> {
    r.region(map.offset, map.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    pull.item(2, false);
    let mut left = pull.count_resident();
    loop {
        pull.key(&mut left);
        if pull.head.is_break() {
            return pull.done().map(|()| None);
        }
        let text = pull.head.major == major::TEXT;
        pull.skip(3);
        let found = text && Key::of(&pull.text) == Some(wanted);
        pull.item(3, false);
        let text = pull.head.major == major::TEXT;
        pull.skip(3);
        if found {
            return pull.done().map(|()| text.then_some(pull.text));
        }
    }
}
