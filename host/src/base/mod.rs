//! What every other layer uses: errors, texts, values, JSON, and small helpers.

pub(crate) mod error;
#[cfg(feature = "pytorch")]
pub(crate) mod hash;
#[cfg(all(feature = "serde", feature = "std"))]
pub(crate) mod json;
pub(crate) mod lock;
pub(crate) mod memory;
#[cfg(feature = "serde")]
pub(crate) mod program;
pub(crate) mod python_json;
pub(crate) mod sort;
pub(crate) mod span;
pub mod text;
pub(crate) mod value;
