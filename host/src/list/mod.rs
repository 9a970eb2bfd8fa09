//! What a file lists: entries, an index of them, its areas, what it states about a set.

pub(crate) mod areas;
pub(crate) mod entry;
pub(crate) mod index;
#[cfg(feature = "gguf")]
pub(crate) mod part;
pub(crate) mod walk;
