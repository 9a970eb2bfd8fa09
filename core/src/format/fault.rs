//! The faults that checks shared by all formats find.

use crate::codec::{self, zstd::walk};
use crate::model::{DType, sparse};
use crate::rule::EntryKind;

/// A fault that a shared check finds. Each format's `rules::shared` returns its rule for a fault;
/// `None` if the format makes the fault impossible or harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Two entries of this kind have the same name. With a rule for [`EntryKind::Attribute`],
    /// the audit validates every tensor's metadata entries.
    Duplicate(EntryKind),
    /// Two parts of the file overlap. Without a rule, parts are not compared.
    Overlap,
    /// Two payloads occupy the same range of bytes.
    Alias,
    /// Bytes are neither padding nor part of anything.
    Gap,
    /// Bytes at the end of the file are part of nothing.
    Trailing,
    /// Padding up to the next multiple of the alignment is not all zero.
    Padding,
    /// A byte is no element of this type, or a code in it is none: a [`DType::Bool`] that is
    /// neither 0 nor 1, or a [`DType::T2`] that is 10. Or a number in a [`DType::Utf32`] is no
    /// code point; only this is looked for in decoded data.
    Element(DType),
    /// Unused bits of the last byte of packed elements are not zero.
    TailBits,
    /// The checksum of the stored bytes differs from the recorded one.
    StoredChecksum,
    /// The checksum of the decoded bytes, including the chunk's
    /// [lead](crate::model::Chunk::lead), differs from the recorded one.
    DecodedChecksum,
    /// An encoded stream cannot be decoded to its end.
    Stream(codec::Fault),
    /// The structure of Zstandard frames is invalid. With rules for it, frames are followed even
    /// if nothing decodes them.
    Frame(walk::Fault),
    /// The indices of a sparse tensor are invalid.
    Sparse(sparse::Fault),
}
