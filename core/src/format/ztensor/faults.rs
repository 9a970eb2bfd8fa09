//! The rules for faults in compressed and sparse data.

use super::rules;
use crate::codec::{self, zstd::walk::Fault};
use crate::model::sparse;
use crate::rule::Rule;

/// The rule for a fault in a frame's structure.
pub(super) const fn frame(fault: Fault) -> Rule {
    match fault {
        Fault::Magic => rules::ZSTD_MAGIC,
        Fault::Truncated => rules::ZSTD_TRUNCATED,
        Fault::Reserved => rules::ZSTD_RESERVED,
        Fault::Dictionary => rules::ZSTD_DICTIONARY,
        Fault::Window => rules::ZSTD_WINDOW,
        Fault::Wide => rules::ZSTD_WINDOW_WIDE,
        Fault::BlockType => rules::ZSTD_BLOCK_TYPE,
        Fault::BlockSize => rules::ZSTD_BLOCK_SIZE,
        Fault::Trailing => rules::ZSTD_TRAILING,
        Fault::ContentSize => rules::ZSTD_CONTENT_SIZE,
        Fault::DecodedSize => rules::ZSTD_DECODED_SIZE,
        Fault::Frames => rules::ZSTD_FRAMES,
    }
}

/// The rule for a decoding fault in a frame with valid structure.
pub(super) const fn stream(fault: codec::Fault) -> Rule {
    match fault {
        codec::Fault::Truncated => rules::ZSTD_TRUNCATED,
        codec::Fault::Trailing => rules::ZSTD_TRAILING,
        codec::Fault::Window => rules::ZSTD_WINDOW,
        codec::Fault::Dictionary => rules::ZSTD_DICTIONARY,
        codec::Fault::Checksum => rules::ZSTD_CHECKSUM,
        // The sizes in the headers were already compared with the shape.
        codec::Fault::Short | codec::Fault::Long | codec::Fault::ContentSize => {
            rules::ZSTD_DECODED_SIZE
        }
        _ => rules::ZSTD_CORRUPT,
    }
}

/// The rule for a fault in sparse indices.
pub(super) const fn sparse(fault: sparse::Fault) -> Rule {
    match fault {
        sparse::Fault::Coordinate => rules::SPARSE_COO_RANGE,
        sparse::Fault::Duplicate => rules::SPARSE_COO_DUPLICATE,
        sparse::Fault::Partial => rules::SPARSE_COO_SIZE,
        sparse::Fault::Pointer => rules::SPARSE_CSR_POINTERS,
        sparse::Fault::Count => rules::SPARSE_CSR_COUNT,
        sparse::Fault::Column => rules::SPARSE_CSR_COLUMN,
        sparse::Fault::ColumnTwice => rules::SPARSE_CSR_DUPLICATE,
    }
}
