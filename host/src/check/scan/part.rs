//! Parts of a file that may be pickles: the file itself, the members of an archive, the data of an
//! array.

use crate::check::pickle_part::PicklePart;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Span};

/// Bytes of a part: in the file, or decoded.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    /// The span of the file, or of what was decoded.
    pub(super) span: Span,
    decoded: Option<Decoded>,
}

/// What was decoded from one stream of the file.
#[derive(Clone, Debug)]
struct Decoded {
    bytes: Arc<Vec<u8>>,
    /// The stream in the file.
    from: Span,
    /// The stream was in decoded bytes itself.
    is_nested: bool,
}

impl Bytes {
    pub(crate) fn of_file(span: Span) -> Self {
        Bytes { span, decoded: None }
    }

    /// All that was decoded from `from`, a span of these bytes.
    pub(super) fn decoded(&self, from: Span, bytes: Vec<u8>) -> Self {
        let is_nested = self.decoded.is_some();
        let from = self.decoded.as_ref().map_or(from, |decoded| decoded.from);
        let span = Span::new(0, bytes.len() as u64);
        Bytes { span, decoded: Some(Decoded { bytes: Arc::new(bytes), from, is_nested }) }
    }

    pub(super) fn is_decoded(&self) -> bool {
        self.decoded.is_some()
    }

    pub(super) fn len(&self) -> u64 {
        self.span.len
    }

    /// The source that [`span`](Self::span) is in.
    pub(super) fn source<'s>(&'s self, file: &Source<'s>) -> Source<'s> {
        match &self.decoded {
            Some(decoded) => Source::whole(&decoded.bytes),
            None => *file,
        }
    }

    /// `len` bytes from `at`, counted from the start of these bytes.
    ///
    /// # Errors
    /// The bytes that are missing.
    pub(super) fn get<'s>(
        &'s self,
        file: &Source<'s>,
        at: u64,
        len: u64,
    ) -> Result<&'s [u8], Absent> {
        let span = Span::new(self.span.offset.saturating_add(at), len);
        match &self.decoded {
            Some(decoded) => Ok(Source::whole(&decoded.bytes).get(span).unwrap_or_default()),
            None => file.get(span),
        }
    }

    /// A part of these bytes; `at` counts from their start.
    pub(super) fn within(&self, at: u64, len: u64) -> Self {
        let at = at.min(self.len());
        let span = Span::new(self.span.offset + at, len.min(self.len() - at));
        Bytes { span, decoded: self.decoded.clone() }
    }

    /// The place in the file of an operation at this offset of the source, which takes `len` bytes,
    /// and its offset in what was decoded.
    pub(super) fn place(&self, at: u64, len: u32) -> (u64, u32, Option<u64>) {
        match &self.decoded {
            Some(decoded) => {
                let whole = u32::try_from(decoded.from.len).unwrap_or(u32::MAX);
                (decoded.from.offset, whole, Some(at))
            }
            None => {
                let left = self.span.end().unwrap_or(u64::MAX).saturating_sub(at);
                (at, u32::try_from(left).unwrap_or(u32::MAX).min(len), None)
            }
        }
    }
}

/// How a part's pickles follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// One, and further ones if they are pickles beyond doubt.
    Plain,
    /// A number, then as many pickles of storages, each with its data, and one more: the member
    /// `storages` of torch 0.1.
    Storages,
    /// A number, then as many pickles of tensors, each with its extents: the member `tensors`.
    Tensors,
}

/// A part that is to be looked at.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) bytes: Bytes,
    /// The member that it is, with those around it; `None` for the file.
    pub(super) name: Option<Arc<String>>,
    /// Archives around it.
    pub(super) depth: u32,
    /// Whether it must be a pickle: by its name, or because an array says so.
    pub(super) is_pickle: bool,
    /// Whether it is in an array of NumPy's.
    pub(super) in_array: bool,
    /// Whether the archive says that it is encrypted.
    pub(super) is_encrypted: bool,
    /// Whether it is in an archive of torch.package.
    pub(super) is_package: bool,
    /// Whether it goes on, but was not decoded to its end.
    pub(super) is_cut: bool,
    pub(super) sequence: Sequence,
}

impl Part {
    pub(super) fn of_file(len: u64) -> Self {
        Part {
            bytes: Bytes::of_file(Span::new(0, len)),
            name: None,
            depth: 0,
            is_pickle: false,
            in_array: false,
            is_encrypted: false,
            is_package: false,
            is_cut: false,
            sequence: Sequence::Plain,
        }
    }

    /// The pickle of this part from `start` to `end`, offsets of its source.
    pub(super) fn pickle(&self, start: u64, end: u64) -> PicklePart {
        let (stored, decoded, is_nested) = match &self.bytes.decoded {
            Some(decoded) => (decoded.from, Some(start), decoded.is_nested),
            None => (Span::between(start, end), None, false),
        };
        PicklePart { name: self.name.clone(), stored, decoded, is_nested }
    }

    /// A member of this part with these bytes.
    pub(super) fn member(&self, name: &str, bytes: Bytes) -> Self {
        let name = match &self.name {
            Some(around) => alloc::format!("{around}/{name}"),
            None => name.into(),
        };
        Part {
            bytes,
            is_pickle: weighbridge_core::format::is_pickle(name.as_bytes()),
            name: Some(Arc::new(name)),
            depth: self.depth + 1,
            is_package: self.is_package,
            ..Part::of_file(0)
        }
    }
}
