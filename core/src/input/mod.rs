//! The bytes of a file that may be only partially in memory.

mod aligned;
pub(crate) mod leaf;
#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod resident;
mod source;

pub use source::{Absent, Source, Span, Window};
