//! Where bytes come from, and the windows that are in memory.

pub(crate) mod place;
pub(crate) mod reader;
pub(crate) mod store;
#[cfg(feature = "beside")]
pub(crate) mod together;
