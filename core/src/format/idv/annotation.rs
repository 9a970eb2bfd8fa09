//! Values of annotations: a text or number stored in place, or a payload that must be
//! decoded.

use super::codec::Codec;
use super::definition::Head;
use super::leb128::Text;
use super::metadata::{Attribute, TEXT};
use super::{Header, encoding, family, rules};
use crate::base::word;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunk, DType, DimsAt, Encoding, Metadata, NameAt, Status, Value};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

impl Header {
    /// The codec and payload of a valid annotation. The decoded length is known only if the
    /// payload is not compressed.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn annotation_payload(
        &self,
        source: &Source<'_>,
        meta: &Metadata,
    ) -> Result<Option<(Codec, Chunk)>, Absent> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        r.mute();
        if !has_payload(meta) {
            return Ok(None);
        }
        match self.payload_at(&mut r, meta.offset) {
            Ok(found) => Ok(found),
            Err(_) => Err(r.absent()),
        }
    }

    /// The codec and payload of the annotation at `at`; fails only if bytes are missing. The
    /// caller mutes the reader.
    pub(crate) fn payload_at(
        &self,
        r: &mut Reader<'_, '_>,
        at: u64,
    ) -> Result<Option<(Codec, Chunk)>, Halt> {
        let mut annotation = Attribute::NONE;
        match self.validate_annotation(r, self.toc, word(at), &mut annotation) {
            Ok(()) if annotation.sound => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            // The bytes have changed since they were validated.
            _ => return Ok(None),
        }
        let stored = annotation.block();
        let encoding = encoding(annotation.head.compression);
        let decoded = (encoding == Encoding::Raw).then_some(stored.len);
        let chunk = Chunk { stored, decoded, encoding, row: 0, elements: 1, lead: 0 };
        Ok(Some((Codec::of(r.source(), &annotation.head.definition), chunk)))
    }

    pub(super) fn value_of(
        &self,
        r: &mut Reader<'_, '_>,
        meta: &Metadata,
    ) -> Result<Option<Value>, Halt> {
        if meta.kind == EntryKind::Slot {
            return Ok(Some(Value::Scalar { dtype: DType::I32, stored: meta.stored }));
        }
        if meta.status != Status::Sound {
            return Ok(None);
        }
        if meta.tag & TEXT != 0 {
            let (dtype, dims, encoding) = (DType::Text, DimsAt::default(), Encoding::Raw);
            let other = Value::Encoded { dtype, dims, encoding, stored: meta.stored };
            return Ok(Some(only_text(r, meta.stored)?.map_or(other, Value::Text)));
        }
        let mut annotation = Attribute::NONE;
        match self.validate_annotation(r, self.toc, word(meta.offset), &mut annotation) {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => return Ok(None),
        }
        let Head { definition, compression, .. } = annotation.head;
        let block = annotation.block();
        let (dtype, measure) = family::values(definition.item);
        if compression == 0 && !definition.vector {
            let width = measure.scalar().map(|bits| u64::from(bits).saturating_add(7) >> 3);
            if let Some(width) = width.filter(|width| *width <= block.len) {
                let stored = Span::new(block.offset, width);
                return Ok(Some(Value::Scalar { dtype, stored }));
            }
        }
        let (encoding, dims) = (encoding(compression), definition.dims());
        Ok(Some(Value::Encoded { dtype, dims, encoding, stored: block }))
    }
}

/// Whether an attribute is an annotation that can be decoded.
pub(crate) fn has_payload(meta: &Metadata) -> bool {
    meta.kind == EntryKind::Attribute && meta.status == Status::Sound
}

/// The location of the text in an uncompressed block that holds one valid text.
fn only_text(r: &mut Reader<'_, '_>, block: Span) -> Result<Option<NameAt>, Halt> {
    r.region(block.offset, block.end().unwrap_or(0), rules::B_SHORT);
    let (count, end) = (r.next_u32(), r.next_u32());
    let mut text = Text::NONE;
    r.string(rules::B_SHORT, &mut text);
    match r.settle() {
        Ok(()) if count == 1 && i32::try_from(end).is_ok() && r.left() == 0 => {
            Ok(Some(text.name()))
        }
        Err(halt) if halt.is_absent() => Err(halt),
        _ => Ok(None),
    }
}
