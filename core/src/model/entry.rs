//! Entries with their names or keys.

use crate::input::{Absent, Source, Span};
use crate::model::{Dims, Metadata, Name, Tensor};
use core::ops::Deref;

/// A tensor with its name and shape. It dereferences to the [`Tensor`], which outlives the
/// windows it was read from.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The tensor, as plain numbers.
    pub tensor: Tensor,
    /// Its name.
    pub name: Name<'a>,
    /// Its extents.
    pub dims: Dims<'a>,
}

impl<'a> Entry<'a> {
    /// The entry of `tensor`.
    ///
    /// # Errors
    /// [`Absent`] when the entry, its name and its shape are not resident in one window.
    pub(crate) fn of(tensor: Tensor, source: &Source<'a>) -> Result<Self, Absent> {
        match (tensor.name(source), tensor.dims(source)) {
            (Ok(name), Ok(dims)) => Ok(Entry { tensor, name, dims }),
            _ => Err(around(tensor.offset, [tensor.name.span(), tensor.dims.span()])),
        }
    }
}

impl Deref for Entry<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

/// A metadata entry with its key. It dereferences to the [`Metadata`], which outlives the windows
/// it was read from.
#[derive(Clone, Debug)]
pub struct KeyedMetadata<'a> {
    /// The metadata entry, as plain numbers.
    pub metadata: Metadata,
    /// Its key.
    pub key: Name<'a>,
}

impl<'a> KeyedMetadata<'a> {
    /// The entry of `metadata`.
    ///
    /// # Errors
    /// [`Absent`] when the entry and its key are not resident in one window.
    pub(crate) fn of(metadata: Metadata, source: &Source<'a>) -> Result<Self, Absent> {
        match metadata.key.read(source) {
            Ok(key) => Ok(KeyedMetadata { metadata, key }),
            Err(_) => Err(around(metadata.offset, [metadata.key.span()])),
        }
    }
}

impl Deref for KeyedMetadata<'_> {
    type Target = Metadata;

    fn deref(&self) -> &Metadata {
        &self.metadata
    }
}

/// The bytes that span the start of an entry and all its `parts`.
#[cold]
fn around<const N: usize>(entry: u64, parts: [Span; N]) -> Absent {
    let (mut start, mut end) = (entry, entry);
    for part in parts.iter().filter(|part| !part.is_empty()) {
        start = start.min(part.offset);
        end = end.max(part.end().unwrap_or(u64::MAX));
    }
    let need = end.saturating_sub(start);
    Absent { offset: start, need, want: need }
}
