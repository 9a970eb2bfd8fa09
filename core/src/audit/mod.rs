//! The audit: validates everything about a file, in stages.

pub(crate) mod cover;
#[cfg(feature = "windows")]
mod resumable;
#[cfg(not(feature = "windows"))]
mod single_pass;
mod stage;

#[cfg(feature = "windows")]
pub use resumable::Audit;
#[cfg(feature = "payloads")]
pub use resumable::{Paused, Scratch};
#[cfg(not(feature = "windows"))]
pub use single_pass::Audit;
pub use stage::Stage;
