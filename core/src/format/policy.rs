//! A format's rules for the checks that all formats share.

use crate::codec;
use crate::model::{Region, sparse};
use crate::rule::{EntryKind, Rule};

/// A format's rules for the checks that all formats share; `None` if the format makes the
/// fault impossible or harmless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Two tensors have the same name.
    pub(crate) duplicate_tensor: Option<Rule>,
    /// Two metadata entries have the same key.
    pub(crate) duplicate_meta: Option<Rule>,
    /// Two metadata entries of one tensor have the same key, stored plainly. If set, the
    /// audit validates every tensor's metadata entries.
    pub(crate) duplicate_attribute: Option<Rule>,
    /// Two size variables have the same name.
    pub(crate) duplicate_size: Option<Rule>,
    /// Two parts of the file overlap.
    pub(crate) overlap: Option<Rule>,
    /// Two payloads occupy the same range of bytes.
    pub(crate) alias: Option<Rule>,
    /// Whether empty payloads, too, must lie outside all others.
    pub(crate) empties: bool,
    /// Bytes are neither padding nor part of anything.
    pub(crate) gap: Option<Rule>,
    /// Bytes at the end of the file are part of nothing.
    pub(crate) trailing: Option<Rule>,
    /// Padding up to the next multiple of the alignment is not all zero.
    pub(crate) padding: Option<Rule>,
    /// The alignment of payloads in bytes.
    pub(crate) align: u64,
    /// A `bool` byte is neither 0 nor 1.
    pub(crate) boolean: Option<Rule>,
    /// A two-bit ternary code is 10.
    pub(crate) ternary: Option<Rule>,
    /// Unused bits of the last byte of packed elements are not zero.
    pub(crate) tail_bits: Option<Rule>,
    /// The checksum of stored bytes differs from the recorded one.
    pub(crate) checksum: Option<Rule>,
    /// Whether the checksum covers the decoded bytes instead, including the chunk's
    /// [lead](crate::model::Chunk::lead).
    pub(crate) sums_decoded: bool,
    /// Maps a fault in an encoded stream to a rule; required if the format has encodings
    /// other than raw.
    pub(crate) stream: Option<fn(codec::Fault) -> Rule>,
    /// Maps a fault in a sparse tensor's indices to a rule.
    pub(crate) sparse: Option<fn(sparse::Fault) -> Rule>,
    /// Maps a fault in the structure of Zstandard frames to a rule.
    pub(crate) frame: Option<fn(codec::zstd::walk::Fault) -> Rule>,
}

impl Policy {
    /// No shared check applies.
    pub(crate) const NONE: Policy = Policy {
        duplicate_tensor: None,
        duplicate_meta: None,
        duplicate_attribute: None,
        duplicate_size: None,
        overlap: None,
        alias: None,
        empties: false,
        gap: None,
        trailing: None,
        padding: None,
        align: 1,
        boolean: None,
        ternary: None,
        tail_bits: None,
        checksum: None,
        sums_decoded: false,
        stream: None,
        sparse: None,
        frame: None,
    };

    /// Whether a part of the file is compared with others.
    pub(crate) fn places(&self, region: &Region) -> bool {
        !region.span.is_empty() || (self.empties && region.kind == EntryKind::Tensor)
    }

    /// Whether entry names are compared with one another.
    pub(crate) const fn names(&self) -> bool {
        self.duplicate_tensor.is_some()
            || self.duplicate_size.is_some()
            || self.duplicate_meta.is_some()
            || self.duplicate_attribute.is_some()
    }

    /// Whether the file's regions are compared with one another.
    pub(crate) const fn covers(&self) -> bool {
        self.overlap.is_some()
            || self.alias.is_some()
            || self.gap.is_some()
            || self.padding.is_some()
    }
}
