//! The bytes of a file, of which only parts may be in memory.

mod aligned;
pub(crate) mod leaf;
mod source;

pub use source::{Absent, Source, Span, Window};
