//! The stages of an audit.

/// A stage of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Stage {
    /// Validating metadata entries.
    Metadata,
    /// Checking that no metadata key occurs twice.
    MetadataNames,
    /// Validating tensors.
    Tensors,
    /// Checking that no tensor name occurs twice.
    TensorNames,
    /// Format-specific checks, such as values of metadata.
    Values,
    /// Validating metadata entries of tensors, and checking that no key occurs twice in one
    /// tensor.
    Attributes,
    /// Checking whether the parts of the file are in order.
    Order,
    /// Checking overlaps, gaps and padding.
    Coverage,
    /// Checking payloads.
    Payloads,
    /// Complete.
    Done,
}
