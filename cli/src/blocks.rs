//! Rows of columns, and values of annotations, as JSON.

use crate::session::{Halt, Session};
use crate::values;
use serde_json::{Value, json};
use weighbridge::codec::{self, Decoder, Size, Undecoded};
use weighbridge::format::idv::block::{Block, Row, Scalar, Text};
use weighbridge::format::idv::{Codec, Header};
use weighbridge::{Chunk, Meta, Status, Stop, Tensor, limits};

/// The first `limit` rows of a column; `None` if they cannot be decoded, or if
/// that would be [too much](Session::spent).
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
        let Some(chunk) = chunk.filter(|_| session.spent().is_none()) else { return Ok(None) };
        session.look(chunk.stored.len, chunk.decoded.unwrap_or(0));
        let decoded = decode(session, &chunk, limits::BLOCK_BYTES)?;
        let Some(block) = decoded
            .as_deref()
            .and_then(|decoded| header.block(&codec, chunk.elements, decoded).ok())
        else {
            return Ok(None);
        };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        for it in block.rows().take(left) {
            // All of each row, or nothing.
            let shown = row(&it, session.rows());
            if session.spent().is_some() {
                return Ok(None);
            }
            rows.push(shown);
        }
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
    *left = left.saturating_sub(8);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Bars;
    use crate::windows::FileSource;
    use weighbridge::{Cursor, File, Opening};
    use weighbridge_tests::encode::idv::{self, Cell, Column, Number};

    /// A row may be as long as its block: more than is shown is not kept.
    #[test]
    fn long_rows_are_left_out() {
        let codec = idv::Codec::vector(idv::Codec::Number(Number::Int32), &[0]);
        let rows = vec![Cell::dense(&[1; 100]), Cell::dense(&[2; 100])];
        let encoded = idv::encode(&idv::File::new(2, vec![Column::new("x", codec, rows)]));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.idv");
        std::fs::write(&path, &encoded.bytes).expect("writes");
        let (bars, mut opening) = (Bars::new(), Opening::detect());
        let open = || FileSource::open(&path).expect("opens");
        let mut session = Session::new(open(), bars.file(String::new(), 0));
        let file = session.ask(|source| opening.step(source, &mut |_| {})).expect("it opens");
        let mut cursor = Cursor::default();
        let next = session.ask(|source| file.next_tensor(source, &mut cursor, &mut |_| {}));
        let column = next.expect("it is read").expect("a column");
        let File::Idv(header) = file else { panic!("{file:?}") };
        for (left, limit, shown) in [(1700, 2, true), (1500, 1, true), (1500, 2, false)] {
            let mut session = Session::new(open(), bars.file(String::new(), 0));
            *session.rows() = left;
            let rows = first(&mut session, &header, &column, limit).expect("it is read");
            assert_eq!(rows.map(|rows| rows.len() as u64), shown.then_some(limit), "{left}");
            assert_eq!(session.spent().is_none(), shown);
        }
    }
}
