//! What an audit is doing.

/// What an audit is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Stage {
    /// Validating metadata entries.
    Metadata,
    /// Looking for metadata keys that occur twice.
    MetadataNames,
    /// Validating tensors.
    Tensors,
    /// Looking for tensor names that occur twice.
    TensorNames,
    /// What only the format knows, such as values of metadata.
    Values,
    /// Validating metadata entries of tensors, and looking for keys that occur
    /// twice in one tensor.
    Attributes,
    /// Looking whether the parts of the file come in order.
    Order,
    /// Looking for overlaps and for bytes that belong to nothing.
    Coverage,
    /// Payloads.
    Payloads,
    /// Nothing any more.
    Done,
}
