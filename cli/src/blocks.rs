//! Rows of columns, and values of annotations, as JSON.

use crate::session::{Halt, Session, Stopped};
use crate::values::{Json, Shown};
use serde::ser::{Serialize, SerializeSeq as _, SerializeStruct as _, Serializer};
use serde_json::{Value, json};
use weighbridge_core::codec::{self, Decoder, Size, Undecoded};
use weighbridge_core::format::idv::Header;
use weighbridge_core::format::idv::block::{Row, Scalar, Text};
use weighbridge_core::{Chunk, Metadata, Status, Stop, Tensor, limits};

/// Whether the first `limit` rows of a column can be shown: they can be decoded, and
/// that is not [too much](Session::spent).
pub(crate) fn can_show(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
) -> Result<bool, Halt> {
    if tensor.status != Status::Sound {
        return Ok(false);
    }
    let mut spent = false;
    let all = rows(session, header, tensor, limit, true, &mut |session, row| {
        // All of each row, or nothing.
        fitting(row, session.rows());
        spent |= session.spent().is_some();
        Ok::<bool, Halt>(!spent)
    })?;
    Ok(all && !spent)
}

/// Calls `take` with the first `limit` rows of a column that can be shown.
pub(crate) fn first(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
    take: &mut dyn FnMut(&Shown<'_>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut show = |_: &mut Session<'_>, row: &Row<'_>| {
        take(&Shown::Row(RowView { row, count: usize::MAX }))?;
        Ok::<bool, Stopped>(true)
    };
    rows(session, header, tensor, limit, false, &mut show).map(|_| ())
}

/// Calls `take` with rows until there are `limit` or it wants no more; `false` if
/// they cannot be decoded, or if that would be too much where it is `counted`.
fn rows<E: From<Halt>>(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
    counted: bool,
    take: &mut dyn FnMut(&mut Session<'_>, &Row<'_>) -> Result<bool, E>,
) -> Result<bool, E> {
    let file = weighbridge_core::File::Idv(*header);
    let codec = session.ask(|source| Ok(header.codec(source, tensor)?))?;
    let mut left = limit;
    for i in 0..tensor.chunks.count() {
        if left == 0 {
            break;
        }
        let chunk = session.ask(|source| file.chunk(source, tensor, i))?;
        let Some(chunk) = chunk.filter(|_| !counted || session.spent().is_none()) else {
            return Ok(false);
        };
        if counted {
            session.look(chunk.stored.len, chunk.decoded.unwrap_or(0));
        }
        let Ok(decoded) = decode(session, &chunk, limits::BLOCK_BYTES)? else { return Ok(false) };
        let Ok(block) = header.block(&codec, chunk.elements, &decoded) else { return Ok(false) };
        for row in block.rows().take(usize::try_from(left).unwrap_or(usize::MAX)) {
            if !take(session, &row)? {
                return Ok(true);
            }
            left -= 1;
        }
    }
    Ok(true)
}

/// The value of an annotation, cut when it takes more than `most` bytes or
/// so, and whether it was cut; `None` if it cannot be decoded.
pub(crate) fn annotation(
    session: &mut Session<'_>,
    header: &Header,
    meta: &Metadata,
    most: u64,
) -> Result<Option<(Value, bool)>, Halt> {
    let found = session.ask(|source| Ok(header.annotation_payload(source, meta)?))?;
    let Some((codec, chunk)) = found else { return Ok(None) };
    let decoded = decode(session, &chunk, limits::ANNOTATION_BYTES)?;
    let Ok(decoded) = decoded else { return Ok(None) };
    let block = header.block(&codec, 1, &decoded).ok();
    Ok(block.and_then(|block| block.rows().next()).and_then(|row| {
        let mut left = most;
        let count = fitting(&row, &mut left);
        let value = serde_json::to_value(RowView { row: &row, count }).ok()?;
        Some((value, left == 0))
    }))
}

/// Why there are no decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// They are so many, and the limit is lower.
    TooLarge(u64),
    /// There is no memory for so many.
    NoMemory(u64),
    /// The stored bytes are not what their encoding says.
    Faulty,
}

/// All bytes of a chunk that becomes no more than `most` bytes.
pub(crate) fn decode(
    session: &mut Session<'_>,
    chunk: &Chunk,
    most: u64,
) -> Result<Result<Vec<u8>, Trouble>, Halt> {
    // No more than can come of the stored bytes.
    let bound = codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
    let len = chunk.decoded.unwrap_or(bound.min(most));
    if len > bound || !Decoder::decodes(chunk.encoding) {
        return Ok(Err(Trouble::Faulty));
    }
    if len > most {
        return Ok(Err(Trouble::TooLarge(len)));
    }
    let size = if chunk.decoded.is_some() { Size::Exactly(len) } else { Size::AtMost(len) };
    let mut buffer = Vec::new();
    let capacity = usize::try_from(len).unwrap_or(usize::MAX);
    if buffer.try_reserve_exact(capacity).is_err() {
        return Ok(Err(Trouble::NoMemory(len)));
    }
    buffer.resize(capacity, 0);
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, size);
    let filled = session.ask(|source| match decoder.fill(source, &mut buffer) {
        Ok(decoded) => Ok(Ok(decoded.len())),
        Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
        Err(Undecoded::Fault(_)) => Ok(Err(Trouble::Faulty)),
    })?;
    Ok(filled.map(|filled| {
        buffer.truncate(filled);
        buffer
    }))
}

/// How many elements of a row fit until `left` bytes are used up.
fn fitting(row: &Row<'_>, left: &mut u64) -> usize {
    let mut take = |scalar: &Scalar<'_>| {
        *left = left.saturating_sub(match scalar {
            Scalar::Text(text) => text.as_str().map_or(8, |text| text.len() as u64 + 1),
            _ => 8,
        });
        *left > 0
    };
    let vector = match row {
        Row::Scalar(scalar) => {
            take(scalar);
            return 1;
        }
        Row::Vector(vector) => vector,
    };
    if !take(&Scalar::Missing) {
        return 0;
    }
    let mut count = 0;
    for scalar in vector.values() {
        count += 1;
        if !take(&scalar) {
            break;
        }
    }
    count
}

/// A row as JSON, written as it is read.
#[derive(Clone, Copy)]
pub(crate) struct RowView<'r> {
    row: &'r Row<'r>,
    /// How many elements of a vector are shown.
    count: usize,
}

impl RowView<'_> {
    /// Whether it is one value.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self.row, Row::Scalar(_))
    }
}

impl Serialize for RowView<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let vector = match self.row {
            Row::Scalar(scalar) => return ScalarView(scalar).serialize(to),
            Row::Vector(vector) => vector,
        };
        let values = Values(|| vector.values().take(self.count));
        let Some(indices) = vector.indices() else { return values.serialize(to) };
        let mut object = to.serialize_struct("Row", 3)?;
        object.serialize_field("length", &vector.len())?;
        let count = vector.values().take(self.count).count();
        let indices = std::cell::Cell::new(Some(indices.take(count)));
        object.serialize_field("indices", &Indices(indices))?;
        object.serialize_field("values", &values)?;
        object.end()
    }
}

/// The elements of a vector.
struct Values<F>(F);

impl<'s, I: Iterator<Item = Scalar<'s>>, F: Fn() -> I> Serialize for Values<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        (self.0)().try_for_each(|scalar| list.serialize_element(&ScalarView(&scalar)))?;
        list.end()
    }
}

/// The indices of a sparse vector, once.
struct Indices<I>(std::cell::Cell<Option<I>>);

impl<I: Iterator<Item: Serialize>> Serialize for Indices<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.take().into_iter().flatten())
    }
}

struct ScalarView<'s>(&'s Scalar<'s>);

impl Serialize for ScalarView<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Scalar::Number(element) => Json(*element).serialize(to),
            Scalar::Text(it) => text(it).serialize(to),
            Scalar::Bool(value) => to.serialize_bool(*value),
            Scalar::Key(rank) => to.serialize_u64(*rank),
            Scalar::TimeSpan(ticks) | Scalar::DateTime(ticks) => to.serialize_i64(*ticks),
            Scalar::DateTimeOffset { ticks, minutes } => (ticks, minutes).serialize(to),
            Scalar::RowId { low, high } => (low, high).serialize(to),
            _ => to.serialize_none(),
        }
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
    use weighbridge_core::{Cursor, File, Opening};
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
        let next = session.ask(|source| {
            Ok(file.next_tensor(source, &mut cursor, &mut |_| {})?.map(|entry| entry.tensor))
        });
        let column = next.expect("it is read").expect("a column");
        let File::Idv(header) = file else { panic!("{file:?}") };
        for (left, limit, shown) in [(1700, 2, true), (1500, 1, true), (1500, 2, false)] {
            let mut session = Session::new(open(), bars.file(String::new(), 0));
            *session.rows() = left;
            let can = can_show(&mut session, &header, &column, limit).expect("it is read");
            assert_eq!((can, session.spent().is_none()), (shown, shown), "{left}");
        }
    }
}
