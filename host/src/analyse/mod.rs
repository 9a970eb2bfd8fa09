//! Numbers and pictures of models: statistics, health, summaries, tables, differences.

pub(crate) mod difference;
#[cfg(feature = "digest")]
pub mod digest;
pub(crate) mod feed;
pub(crate) mod gguf_names;
pub(crate) mod health;
pub mod heatmap;
pub(crate) mod outline;
pub(crate) mod preview;
pub(crate) mod stats;
pub(crate) mod summary;
pub(crate) mod sweep;
pub mod table;
