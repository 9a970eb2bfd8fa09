//! Texts: the metadata of the model, and its signatures.

use super::reads::{Reads, get, number};
use super::{Cursor, Header, list, rules, tag, tensor};
use crate::base::{features::WINDOWS, limits::TFLITE_TEXT};
use crate::input::Span;
use crate::model::{DType, Metadata, NameAt, Value, dims::Packed};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The metadata whose bytes are text.
const MIN_VERSION: &[u8] = b"min_runtime_version";

/// The next metadata or, in the second phase, the next signature.
pub(super) fn next(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Metadata>, Halt> {
    if c.phase == 0 && c.index >= header.list(list::METADATA).count {
        c.next_phase();
    }
    if c.phase == 1 && c.index >= header.list(list::SIGNATURES).count {
        c.finish();
        return Ok(None);
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let metadata = c.phase == 0;
    let (list, name, number) =
        if metadata { (list::METADATA, 0, 1) } else { (list::SIGNATURES, 2, 4) };
    let entry = if metadata { c.index } else { header.signature(c.index) };
    let table = reads.item(header.list(list), c.index)?;
    let place = table.span();
    let key = reads.vector(&table, name)?;
    let index = reads.small(&table, number, 4)?;
    let buffer = if metadata { tensor::stored(header, &mut reads, index.value)? } else { None };
    r.about(EntryKind::Metadata, entry);
    let name = tensor::read_name(r, key, rules::M_NAME_UTF8)?;
    let (tag, stored);
    if metadata {
        // A board has no use for the text.
        let text = WINDOWS && name.len > 0 && get(r, name.span())? == MIN_VERSION;
        let count = header.list(list::BUFFERS).count.into();
        r.check(buffer.is_some(), rules::M_META_BUFFER, place, count, index.value.into());
        let sound = buffer.filter(|buffer| tensor::check_stored(r, buffer));
        stored = sound.map_or(Span::new(place.offset, 0), |buffer| buffer.span());
        tag = if text && stored.len <= TFLITE_TEXT { tag::TEXT } else { tag::BYTES };
    } else {
        r.check(key.is_present(), rules::K_KEY, place, 0, 0);
        let count = header.list(list::SUBGRAPHS).count;
        let inside = index.value < count;
        r.check(inside, rules::K_SUBGRAPH, place, count.into(), index.value.into());
        // An absent number is 0.
        let at = index.at();
        let at = if at == 0 { Span::new(place.offset, 0) } else { Span::new(at, 4) };
        (tag, stored) = (tag::SUBGRAPH, at);
    }
    let metadata = Metadata {
        kind: EntryKind::Metadata,
        index: entry,
        offset: table.at(),
        key: name,
        tag,
        stored,
        ..Metadata::default()
    };
    c.state.memo.clear();
    c.index = c.index.wrapping_add(1);
    Ok(Some(metadata))
}

/// The value of a metadata entry.
pub(super) fn value(r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
    let Span { offset, len } = meta.stored;
    Ok(Some(match meta.tag {
        tag::SUBGRAPH if len == 0 => Value::Size(0),
        tag::SUBGRAPH => Value::Size(number(r, offset, 4)?),
        tag::TEXT => {
            let bytes = get(r, meta.stored)?;
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            Value::Text(NameAt::plain(offset, crate::base::widen(end)))
        }
        _ => Value::Array {
            dtype: DType::U8,
            dims: Packed::of(len).dims(),
            elements: len,
            stored: meta.stored,
        },
    }))
}
