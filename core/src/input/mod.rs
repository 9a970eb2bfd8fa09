//! The bytes of a file that may be only partially in memory.

mod aligned;
#[cfg(feature = "beside")]
mod beside;
pub(crate) mod leaf;
#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod resident;
mod source;

#[cfg(feature = "beside")]
pub use beside::Beside;
pub use source::{Absent, Source, Span, Window};
