//! The audit: validates everything about a file, in stages.

pub(crate) mod overlaps;
mod report_duplicate;
#[cfg(feature = "windows")]
mod resumable;
mod single_pass;
mod stage;

#[cfg(feature = "windows")]
pub use resumable::Audit;
#[cfg(feature = "payloads")]
pub use resumable::{Scratch, ScratchIn};
pub use single_pass::{MappedAudit, NumberedAudit};
pub use stage::Stage;
