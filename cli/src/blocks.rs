//! Rows of columns, and values of annotations, as JSON.

use crate::session::{Halt, Session};
use crate::values;
use serde_json::{Value, json};
use weighbridge::codec::{self, Decoder, Size, Undecoded};
use weighbridge::format::idv::block::{Block, Row, Scalar, Text};
use weighbridge::format::idv::{Codec, Header};
use weighbridge::{Chunk, Meta, Status, Stop, Tensor, limits};

/// The first `limit` rows of a column; `None` if they cannot be decoded.
pub(crate) fn first(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
) -> Result<Option<Vec<Value>>, Halt> {
    if tensor.status != Status::Sound {
        return Ok(None);
    }
    let file = weighbridge::File::Idv(*header);
    let codec = session.ask(|source| Ok(header.codec(source, tensor)?))?;
    let mut rows = Vec::new();
    for i in 0..tensor.chunks.count() {
        let left = limit.saturating_sub(rows.len() as u64);
        if left == 0 {
            break;
        }
        let chunk = session.ask(|source| file.chunk(source, tensor, i))?;
        let Some(chunk) = chunk else { return Ok(None) };
        let decoded = decode(session, &chunk, limits::BLOCK_BYTES)?;
        let Some(block) = decoded
            .as_deref()
            .and_then(|decoded| header.block(&codec, chunk.elements, decoded).ok())
        else {
            return Ok(None);
        };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        // All of each row.
        let mut most = u64::MAX;
        rows.extend(block.rows().take(left).map(|it| row(&it, &mut most)));
    }
    Ok(Some(rows))
}

/// The value of an annotation, cut when it takes more than `most` bytes or
/// so, and whether it was cut; `None` if it cannot be decoded.
pub(crate) fn annotation(
    session: &mut Session<'_>,
    header: &Header,
    meta: &Meta,
    most: u64,
) -> Result<Option<(Value, bool)>, Halt> {
    let found = session.ask(|source| Ok(header.annotation_payload(source, meta)?))?;
    let Some((codec, chunk)) = found else { return Ok(None) };
    let decoded = decode(session, &chunk, limits::ANNOTATION_BYTES)?;
    let block = decoded.as_deref().and_then(|decoded| block(header, &codec, decoded));
    Ok(block.and_then(|block| block.rows().next()).map(|it| {
        let mut left = most;
        let value = row(&it, &mut left);
        (value, left == 0)
    }))
}

fn block<'b>(header: &Header, codec: &Codec, decoded: &'b [u8]) -> Option<Block<'b>> {
    header.block(codec, 1, decoded).ok()
}

/// All bytes of a chunk; `None` if it is faulty, or becomes more than `most`
/// bytes.
pub(crate) fn decode(
    session: &mut Session<'_>,
    chunk: &Chunk,
    most: u64,
) -> Result<Option<Vec<u8>>, Halt> {
    // No more than can come of the stored bytes.
    let bound = codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
    let len = chunk.decoded.unwrap_or(bound.min(most));
    if len > most || len > bound || !Decoder::decodes(chunk.encoding) {
        return Ok(None);
    }
    let size = if chunk.decoded.is_some() { Size::Exactly(len) } else { Size::AtMost(len) };
    let mut buffer = Vec::new();
    let Ok(capacity) = usize::try_from(len) else { return Ok(None) };
    if buffer.try_reserve_exact(capacity).is_err() {
        return Ok(None);
    }
    buffer.resize(capacity, 0);
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, size);
    let filled = session.ask(|source| match decoder.fill(source, &mut buffer) {
        Ok(decoded) => Ok(Some(decoded.len())),
        Err(Undecoded::Absent(absent)) => Err(Stop::Absent(absent)),
        Err(Undecoded::Fault(_)) => Ok(None),
    })?;
    Ok(filled.map(|filled| {
        buffer.truncate(filled);
        buffer
    }))
}

/// A row, of which a vector is cut when `left` bytes are used up.
fn row(row: &Row<'_>, left: &mut u64) -> Value {
    let vector = match row {
        Row::Scalar(it) => return scalar(it, left),
        Row::Vector(vector) => vector,
    };
    let mut values = Vec::new();
    for it in vector.values() {
        if *left == 0 {
            break;
        }
        values.push(scalar(&it, left));
    }
    match vector.indices() {
        None => values.into(),
        Some(indices) => {
            let indices: Vec<_> = indices.take(values.len()).collect();
            json!({"length": vector.len(), "indices": indices, "values": values})
        }
    }
}

fn scalar(scalar: &Scalar<'_>, left: &mut u64) -> Value {
    let takes = match scalar {
        Scalar::Text(text) => text.as_str().map_or(8, |text| text.len() as u64 + 1),
        _ => 8,
    };
    *left = left.saturating_sub(takes);
    match scalar {
        Scalar::Number(element) => values::value(*element),
        Scalar::Text(it) => text(it),
        Scalar::Bool(value) => (*value).into(),
        Scalar::Key(rank) => (*rank).into(),
        Scalar::TimeSpan(ticks) | Scalar::DateTime(ticks) => (*ticks).into(),
        Scalar::DateTimeOffset { ticks, minutes } => json!([ticks, minutes]),
        Scalar::RowId { low, high } => json!([low, high]),
        _ => Value::Null,
    }
}

/// A text; where half a character belongs to it, which JSON readers refuse,
/// its UTF-16 units.
fn text(text: &Text<'_>) -> Value {
    match text.as_str() {
        Some(text) => text.into(),
        None => json!({"utf16": text.utf16().collect::<Vec<_>>()}),
    }
}
