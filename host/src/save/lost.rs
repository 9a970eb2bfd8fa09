//! What a safetensors file does not have of the model that it was made from.

use crate::base::text::Text;
use alloc::string::String;

/// A tensor or a metadata entry that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its name, or its key.
    pub name: Text,
    /// The reason.
    pub why: String,
}

/// A second name of the same elements. They are written once; the metadata has an entry with
/// this name whose value is the other, as `safetensors.torch.save_model` writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tied {
    /// The name without a tensor.
    pub name: String,
    /// The name of the tensor with its elements.
    pub kept: String,
}
