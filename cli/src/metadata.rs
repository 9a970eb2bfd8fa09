//! Metadata entries as JSON values.

use crate::blocks;
use crate::cbor::{self, Tree};
use crate::report::{ask_or_end, within};
use crate::session::{Session, Stopped};
use crate::text::Text;
use crate::values;
use serde::Serialize;
use serde_json::Value as Json;
use weighbridge_core::format::gguf::{Item, Items};
use weighbridge_core::{
    Cursor, DType, EntryKind, File, Metadata, Name, NameEncoding, Source, Status, Stop, Tensor,
    Value,
};

/// Values are cut here.
const MOST: u64 = 64 << 10;
/// What an entry takes at least, beside its value.
const ENTRY: u64 = 16;

/// A metadata entry, with the start of its value.
#[derive(Debug, Serialize)]
pub(crate) struct MetaView {
    pub(crate) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) value: Tree,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_hex: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
}

/// Calls `take` with each metadata entry of the file.
pub(crate) fn of_file(
    session: &mut Session<'_>,
    file: &File,
    take: &mut dyn FnMut(&MetaView) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let next = |source: &Source<'_>, cursor: &mut Cursor| {
        Ok(file.next_meta(source, cursor, &mut |_| {})?.map(|entry| entry.metadata))
    };
    each(session, file, next, |_, _, view| take(&view))
}

/// Calls `take` with each metadata entry of one tensor.
pub(crate) fn of_tensor(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    take: &mut dyn FnMut(&MetaView) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let next = |source: &Source<'_>, cursor: &mut Cursor| {
        Ok(file.next_attribute(source, tensor, cursor)?.map(|entry| entry.metadata))
    };
    each(session, file, next, |session, meta, mut view| {
        // What an annotation holds is the payload of a row.
        if let File::Idv(header) = file
            && meta.status == Status::Sound
            && session.room() > 0
        {
            session.show(meta.stored.len);
            if let Some((value, cut)) = blocks::annotation(session, header, meta, MOST)? {
                // A few bytes may decode to many.
                session.show(value.to_string().len() as u64 / 64);
                (view.value, view.truncated) = (value.into(), cut);
            }
        }
        take(&view)
    })
}

fn each(
    session: &mut Session<'_>,
    file: &File,
    next: impl Fn(&Source<'_>, &mut Cursor) -> Result<Option<Metadata>, Stop>,
    mut take: impl FnMut(&mut Session<'_>, &Metadata, MetaView) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut cursor = Cursor::default();
    let (most, mut shown) = (session.room(), 0_u64);
    while shown <= most {
        // The cursor also advances inside the list of an entry, so that an entry whose
        // value is missing is not asked for again.
        let Some(meta) = ask_or_end(session, |source| next(source, &mut cursor))? else { break };
        let found = ask_or_end(session, |source| view(source, file, &meta).map(Some))?;
        let Some(view) = found else { break };
        shown = shown.saturating_add(meta.stored.len.min(MOST)).saturating_add(ENTRY);
        take(session, &meta, view)?;
    }
    session.show(shown);
    Ok(())
}

fn view(source: &Source<'_>, file: &File, meta: &Metadata) -> Result<MetaView, Stop> {
    let key = if within(source, meta.key.span()) {
        Text::from(meta.key.read(source)?)
    } else {
        Text::default()
    };
    let mut view = MetaView {
        key: key.lossy(),
        key_hex: key.hex(),
        kind: if meta.kind == EntryKind::SizeVar { "sizevar" } else { "unknown" },
        dtype: None,
        shape: None,
        value: Json::Null.into(),
        value_hex: None,
        truncated: false,
    };
    let value = match file.value(source, meta) {
        // It cannot be read, which a finding says.
        Err(Stop::Invalid(_)) => None,
        value => value?,
    };
    match value {
        Some(Value::Size(size)) => view.value = size.into(),
        Some(Value::Text(at)) => {
            view.kind = "string";
            view.text(source, at)?;
        }
        Some(Value::Scalar { dtype, stored }) => {
            view.kind = dtype.name();
            let bytes = values::bytes(source, stored, MOST)?;
            let mut scalar = values::values(dtype, bytes, 1, file.endianness());
            view.value = scalar.next().unwrap_or(Json::Null).into();
        }
        Some(Value::Bits { count, stored }) => {
            view.kind = "bitset";
            let bytes = values::bytes(source, stored, MOST)?;
            view.truncated = stored.len > MOST;
            let bit = |i: u64| {
                let byte = bytes.get(usize::try_from(i / 8).ok()?)?;
                Some(Json::from(byte >> (i % 8) & 1 == 1))
            };
            view.value = (0..count).map_while(bit).collect::<Json>().into();
        }
        Some(Value::Array { dtype, dims, elements: count, stored }) => {
            view.kind = "ndarray";
            view.dtype = Some(dtype.name());
            view.shape = Some(dims.read(source)?.collect());
            let bytes = values::bytes(source, stored, MOST)?;
            view.truncated = stored.len > MOST;
            let values = values::values(dtype, bytes, count, file.endianness());
            view.value = values.collect::<Json>().into();
        }
        Some(Value::List { count, stored }) => {
            let bytes = values::bytes(source, stored, MOST)?;
            let items = Items::new(bytes, file.endianness());
            view.kind = "ndarray";
            view.dtype = Some(items.dtype().map_or("ndarray", DType::name));
            view.shape = Some(vec![count]);
            let shown = list(items);
            view.truncated = (shown.len() as u64) < count;
            view.value = shown.into();
        }
        Some(Value::Cbor(stored)) => {
            let bytes = values::bytes(source, stored, MOST)?;
            view.truncated = stored.len > MOST;
            (view.kind, view.value) = cbor::value(bytes);
        }
        // What it holds is in a payload, which this command does not decode.
        Some(Value::Encoded { dtype, dims, .. }) if dims.rank == 0 => view.kind = dtype.name(),
        Some(Value::Encoded { dtype, dims, .. }) => {
            view.kind = "ndarray";
            view.dtype = Some(dtype.name());
            view.shape = Some(dims.read(source)?.collect());
        }
        _ => {}
    }
    Ok(view)
}

/// Items of a list, as far as its bytes go. The core bounds how deep they nest.
fn list(items: Items<'_>) -> Vec<Json> {
    items
        .map(|item| match item {
            Item::Text(text) => Text::from(text).lossy().into(),
            Item::Number(element) => values::value(element),
            Item::List(items) => list(items).into(),
        })
        .collect()
}

impl MetaView {
    fn text(&mut self, source: &Source<'_>, at: weighbridge_core::NameAt) -> Result<(), Stop> {
        let span = at.span();
        // What is stored in chunks must be whole to be read.
        let limit = if at.encoding == NameEncoding::Plain { MOST + 1 } else { u64::MAX };
        let stored = Name::new(values::bytes(source, span, limit)?, at.encoding);
        let mut bytes: Vec<u8> = stored.bytes().take(MOST as usize + 1).collect();
        self.truncated = bytes.len() as u64 > MOST;
        if self.truncated {
            bytes.pop();
            // Not in the middle of a character, which would look like a fault.
            if let Err(err) = str::from_utf8(&bytes)
                && err.error_len().is_none()
            {
                bytes.truncate(err.valid_up_to());
            }
        }
        let text = Text::from(Name::new(&bytes, NameEncoding::Plain));
        self.value = text.lossy().into();
        self.value_hex = text.hex();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weighbridge_core::Span;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let mut bytes = vec![b'a'];
        bytes.resize(200_000, 0);
        let text = "é".repeat(50_000);
        bytes[1..=100_000].copy_from_slice(text.as_bytes());
        let at = weighbridge_core::NameAt { offset: 0, len: 100_001, ..Default::default() };
        let mut view = view_of_nothing();
        view.text(&Source::whole(&bytes), at).expect("all is there");
        assert!(view.truncated);
        assert_eq!(view.value_hex, None);
        assert_eq!(view.value.to_string().len(), 65_535 + 2);
    }

    fn view_of_nothing() -> MetaView {
        MetaView {
            key: String::new(),
            key_hex: None,
            kind: "string",
            dtype: None,
            shape: None,
            value: Json::Null.into(),
            value_hex: None,
            truncated: false,
        }
    }

    #[test]
    fn a_span_beyond_the_file_is_empty() {
        let source = Source::whole(b"abc");
        assert_eq!(values::bytes(&source, Span::new(1, 2), 9), Ok(&b"bc"[..]));
        assert_eq!(values::bytes(&source, Span::new(1, 3), 9), Ok(&b""[..]));
        assert_eq!(values::bytes(&source, Span::new(u64::MAX, 3), 9), Ok(&b""[..]));
    }
}
