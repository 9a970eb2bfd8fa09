//! The audit: validates everything about a file, in stages.

mod duplicate_names;
pub(crate) mod overlaps;
#[cfg(feature = "windows")]
mod resumable;
mod single_pass;
mod stage;

#[cfg(feature = "windows")]
pub use resumable::Audit;
#[cfg(feature = "payloads")]
pub use resumable::{Paused, Scratch};
pub use single_pass::{MappedAudit, NumberedAudit};
pub use stage::Stage;
