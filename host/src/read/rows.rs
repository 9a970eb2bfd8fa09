//! Rows of columns, and values of annotations.

use crate::base::error::Error;
use crate::base::value::Value;
use crate::check::access::Access;
use crate::read::data::decode;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::format::idv::Header;
use weighbridge_core::format::idv::block::{Row, Scalar, Text};
use weighbridge_core::{Metadata, Status, Tensor, limits};

/// Whether the first `limit` rows of a column can be shown: they can be decoded, and are not
/// [too much](Access::spent).
pub(crate) fn can_show(
    access: &Access<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
) -> Result<bool, Error> {
    if tensor.status != Status::Sound {
        return Ok(false);
    }
    let mut spent = false;
    let all = rows(access, header, tensor, limit, true, &mut |row| {
        // A row is shown completely or not at all.
        access.rows(|left| fitting(row, left));
        spent |= access.spent().is_some();
        Ok::<bool, Error>(!spent)
    })?;
    Ok(all && !spent)
}

/// Calls `take` with the first `limit` rows of a column that can be shown.
pub(crate) fn first<E: From<Error>>(
    access: &Access<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
    take: &mut dyn FnMut(RowView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut show = |row: &Row<'_>| {
        take(RowView { row, count: usize::MAX })?;
        Ok::<bool, E>(true)
    };
    rows(access, header, tensor, limit, false, &mut show).map(|_| ())
}

/// Calls `take` with rows until there are `limit` or it returns `false`. Returns `false` if
/// they cannot be decoded, or if they are `counted` and exceed the limits.
fn rows<E: From<Error>>(
    access: &Access<'_>,
    header: &Header,
    tensor: &Tensor,
    limit: u64,
    counted: bool,
    take: &mut dyn FnMut(&Row<'_>) -> Result<bool, E>,
) -> Result<bool, E> {
    let file = weighbridge_core::File::Idv(*header);
    let codec = access.ask(|source| Ok(header.codec(source, tensor)?))?;
    let mut left = limit;
    for i in 0..tensor.chunks.count() {
        if left == 0 {
            break;
        }
        let chunk = access.ask(|source| file.chunk(source, tensor, i))?;
        let Some(chunk) = chunk.filter(|_| !counted || access.spent().is_none()) else {
            return Ok(false);
        };
        if counted {
            access.look(chunk.stored.len, chunk.decoded.unwrap_or(0));
        }
        let Ok(decoded) = decode(access, &chunk, limits::BLOCK_BYTES)? else { return Ok(false) };
        let Ok(block) = header.block(&codec, chunk.elements, &decoded) else { return Ok(false) };
        for row in block.rows().take(usize::try_from(left).unwrap_or(usize::MAX)) {
            if !take(&row)? {
                return Ok(true);
            }
            left -= 1;
        }
    }
    Ok(true)
}

/// The value of an annotation, cut after about `most` bytes, and whether it was cut; `None` if
/// it cannot be decoded.
pub(crate) fn annotation(
    access: &Access<'_>,
    header: &Header,
    meta: &Metadata,
    most: u64,
) -> Result<Option<(Value, bool)>, Error> {
    let found = access.ask(|source| Ok(header.annotation_payload(source, meta)?))?;
    let Some((codec, chunk)) = found else { return Ok(None) };
    let decoded = decode(access, &chunk, limits::ANNOTATION_BYTES)?;
    let Ok(decoded) = decoded else { return Ok(None) };
    let block = header.block(&codec, 1, &decoded).ok();
    Ok(block.and_then(|block| block.rows().next()).map(|row| {
        let mut left = most;
        let count = fitting(&row, &mut left);
        (RowView { row: &row, count }.to_value(), left == 0)
    }))
}

/// Approximate size of a value as JSON, in bytes.
pub(crate) fn weight(value: &Value) -> u64 {
    match value {
        Value::Text(text) => text.as_bytes().len() as u64 + 3,
        Value::List(items) => items.iter().map(weight).sum::<u64>() + 2,
        Value::Map(members) => members.iter().map(|(_, value)| weight(value) + 12).sum::<u64>() + 2,
        _ => 8,
    }
}

/// Number of elements of a row that fit until `left` bytes are used up.
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

/// A row of a column, which may have millions of elements.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'r> {
    row: &'r Row<'r>,
    /// Number of elements of a vector to show.
    count: usize,
}

impl RowView<'_> {
    /// Whether the row is a single value.
    ///
    /// ```
    /// use weighbridge::{Error, Shown};
    ///
    /// # let bytes = weighbridge_tests::samples::columns();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// model.tensor("x")?.values(1, |shown| {
    ///     let Shown::Row(row) = shown else { panic!("a column has rows") };
    ///     assert!(!row.is_scalar()); // a vector
    ///     Ok::<(), Error>(())
    /// })?;
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_scalar(&self) -> bool {
        matches!(self.row, Row::Scalar(_))
    }

    /// The whole row as a value: a vector as a list, a sparse one as a map of `length`,
    /// `indices` and `values`.
    ///
    /// ```
    /// use weighbridge::{Error, Shown};
    ///
    /// # let bytes = weighbridge_tests::samples::columns();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// model.tensor("x")?.values(1, |shown| {
    ///     let Shown::Row(row) = shown else { panic!("a column has rows") };
    ///     assert_eq!(row.to_value().to_string(), "[1,2,3]");
    ///     Ok::<(), Error>(())
    /// })?;
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn to_value(&self) -> Value {
        let vector = match self.row {
            Row::Scalar(scalar) => return value(scalar),
            Row::Vector(vector) => vector,
        };
        let values: Value = vector.values().take(self.count).map(|it| value(&it)).collect();
        let Some(indices) = vector.indices() else { return values };
        let count = values.as_list().map_or(0, <[Value]>::len);
        let indices = indices.take(count).map(|index| Value::Int(index.into())).collect();
        let length = Value::Int(vector.len().into());
        let members = [("length", length), ("indices", indices), ("values", values)];
        Value::Map(members.map(|(name, value)| (String::from(name), value)).into())
    }
}

/// A single value of a row.
fn value(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Number(element) => Value::from(*element),
        Scalar::Text(it) => text(it),
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Key(rank) => Value::Int((*rank).into()),
        Scalar::TimeSpan(ticks) | Scalar::DateTime(ticks) => Value::Int((*ticks).into()),
        Scalar::DateTimeOffset { ticks, minutes } => {
            [Value::Int((*ticks).into()), Value::Int((*minutes).into())].into_iter().collect()
        }
        Scalar::RowId { low, high } => {
            [Value::Int((*low).into()), Value::Int((*high).into())].into_iter().collect()
        }
        _ => Value::Null,
    }
}

/// A text, or its UTF-16 units if one is an unpaired surrogate, which JSON readers reject.
fn text(text: &Text<'_>) -> Value {
    match text.as_str() {
        Some(text) => text.into(),
        None => {
            let units = text.utf16().map(|unit| Value::Int(unit.into())).collect();
            Value::Map(Vec::from([(String::from("utf16"), units)]))
        }
    }
}

#[cfg(feature = "serde")]
mod written {
    use super::{Row, RowView, value};
    use core::cell::Cell;
    use serde::ser::{Serialize, SerializeStruct as _, Serializer};

    /// Serialises while reading, in the form of [`RowView::to_value`].
    impl Serialize for RowView<'_> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let vector = match self.row {
                Row::Scalar(scalar) => return value(scalar).serialize(to),
                Row::Vector(vector) => vector,
            };
            let all = || vector.values().take(self.count);
            let values = Once::new(all().map(|scalar| value(&scalar)));
            let Some(indices) = vector.indices() else { return values.serialize(to) };
            let mut object = to.serialize_struct("Row", 3)?;
            object.serialize_field("length", &vector.len())?;
            object.serialize_field("indices", &Once::new(indices.take(all().count())))?;
            object.serialize_field("values", &values)?;
            object.end()
        }
    }

    /// Items that are serialised as they arrive, once.
    struct Once<I>(Cell<Option<I>>);

    impl<I> Once<I> {
        fn new(items: I) -> Self {
            Once(Cell::new(Some(items)))
        }
    }

    impl<I: Iterator<Item: Serialize>> Serialize for Once<I> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq(self.0.take().into_iter().flatten())
        }
    }
}
