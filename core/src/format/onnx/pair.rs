//! Pairs of a key and a value: properties, external data, and operator sets, whose value is a
//! number.

use super::rules::{self, WIRE};
use super::schema::{Kind, field};
use super::walk::Next;
use super::{Cursor, tag, walk};
use crate::base::{limits::ONNX_TEXT, utf8};
use crate::input::Span;
use crate::model::{Metadata, NameAt};
use crate::parse::Reader;
use crate::protobuf::{Field, Wire};
use crate::rule::{EntryKind, Halt};

/// A pair as stored. Without a key or value, the span is empty and at the end of the pair.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) key: Span,
    pub(super) value: Span,
    /// The texts; `None` if not read.
    pub(super) key_text: Option<&'a [u8]>,
    pub(super) value_text: Option<&'a [u8]>,
    /// The value is a varint.
    is_number: bool,
}

impl<'a> Pair<'a> {
    /// Reads the pair in `message`, whose key was just read; the text of its value only if
    /// `valued`.
    pub(super) fn read(
        r: &mut Reader<'_, 'a>,
        message: &Field,
        valued: bool,
    ) -> Result<Pair<'a>, Halt> {
        let none = Span::new(message.end(), 0);
        let no_text: &[u8] = &[];
        let (key_text, value_text) = (Some(no_text), Some(no_text));
        let mut pair = Pair { key: none, value: none, key_text, value_text, is_number: false };
        r.limit(message.end(), rules::W_END);
        while r.left() > 0 {
            let field = Field::read(r, &WIRE)?;
            match (field.number, field.wire) {
                (1, Wire::Bytes) => {
                    (pair.key, pair.key_text) = (field.data, text(r, field.data)?);
                }
                (2, Wire::Bytes) if valued => {
                    (pair.value, pair.value_text) = (field.data, text(r, field.data)?);
                }
                (2, wire) => {
                    (pair.value, pair.is_number) = (field.data, wire == Wire::Varint);
                    if wire == Wire::Bytes {
                        skip(r, field.data.len)?;
                    }
                }
                (_, Wire::Bytes) => skip(r, field.data.len)?,
                _ => {}
            }
        }
        Ok(pair)
    }
}

/// Passes over bytes.
fn skip(r: &mut Reader<'_, '_>, len: u64) -> Result<(), Halt> {
    #[cfg(feature = "windows")]
    return r.skip(len);
    #[cfg(not(feature = "windows"))]
    r.take(len).map(|_| ())
}

/// The text that the reader stands before; none if it is too long to be read.
pub(super) fn text<'a>(r: &mut Reader<'_, 'a>, span: Span) -> Result<Option<&'a [u8]>, Halt> {
    if span.len > ONNX_TEXT {
        skip(r, span.len)?;
        return Ok(None);
    }
    r.take(span.len).map(Some)
}

/// Reports a text that was not read.
pub(super) fn unread(r: &mut Reader<'_, '_>, span: Span) {
    r.flag(rules::W_TEXT, span.offset, span.len, ONNX_TEXT, span.len);
}

/// The next property or, in the second phase, the next operator set.
pub(super) fn next(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
    let (kind, number, tag) = match c.phase {
        0 => (Kind::Pair, field::MODEL_PROPERTY, tag::TEXT),
        _ => (Kind::Opset, field::MODEL_OPSET, tag::OPSET),
    };
    loop {
        if !c.state.begun {
            c.state.open.push(super::root(r.source()));
            c.state.begun = true;
        }
        r.about(EntryKind::Metadata, c.index);
        let found = match walk::next(r, c)? {
            Next::Field(found, _) => found,
            Next::End(_) | Next::Over if kind == Kind::Pair => {
                c.next_phase();
                return next_opset(r, c);
            }
            Next::End(_) | Next::Over => {
                c.finish();
                return Ok(None);
            }
        };
        if found.number != number {
            walk::pass(c, &found);
            continue;
        }
        let pair = Pair::read(r, &found, false)?;
        match pair.key_text {
            Some(key) => r.check(utf8::is(key), rules::M_KEY_UTF8, pair.key, 0, 0),
            None => unread(r, pair.key),
        }
        let index = c.index;
        walk::pass(c, &found);
        c.index = index.wrapping_add(1);
        let tag = if pair.is_number { tag } else { tag::TEXT };
        return Ok(Some(Metadata {
            kind: EntryKind::Metadata,
            index,
            offset: found.at,
            key: NameAt::plain(pair.key.offset, pair.key.len),
            tag,
            stored: pair.value,
            ..Metadata::default()
        }));
    }
}

/// The first operator set.
fn next_opset(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
    match c.phase {
        1 => next(r, c),
        _ => Ok(None),
    }
}
