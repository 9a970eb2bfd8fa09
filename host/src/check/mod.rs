//! The check of one file: options, steps, session, findings, report.

pub(crate) mod access;
#[cfg(feature = "pytorch")]
pub(crate) mod checkpoint;
pub(crate) mod criteria;
pub(crate) mod diagnosis;
pub(crate) mod entry_names;
pub(crate) mod file_audit;
pub(crate) mod finding;
pub(crate) mod folders;
mod hidden;
#[cfg(feature = "gguf")]
mod loader_keys;
#[cfg(feature = "pickles")]
pub(crate) mod operations;
pub(crate) mod options;
#[cfg(feature = "std")]
pub(crate) mod page_runs;
pub(crate) mod page_tail;
#[cfg(feature = "pickles")]
mod pickle_names;
pub(crate) mod pickle_part;
pub(crate) mod pickles;
#[cfg(feature = "policy")]
pub mod policy;
pub(crate) mod recognise;
pub(crate) mod report;
pub(crate) mod scan;
pub(crate) mod session;
pub(crate) mod steps;
#[cfg(feature = "onnx")]
mod wiring;
