//! Where bytes come from, and the windows that are in memory.

#[cfg(feature = "beside")]
pub(crate) mod concatenation;
pub(crate) mod place;
pub(crate) mod reader;
pub(crate) mod store;
