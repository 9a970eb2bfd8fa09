//! Where tensors are: in planned memory, in segments, in the flatbuffer.

#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod way;

use crate::base::features::WINDOWS;
use crate::format::flatbuffer::reads::Vector;
use crate::input::Span;
use crate::parse::Reader;
pub(super) use way::Fields;
#[cfg(feature = "windows")]
pub(super) use way::{Data, put};

/// These bytes, if the file has them.
pub(super) fn inside(r: &Reader<'_, '_>, span: Span) -> Option<Span> {
    // What opening has verified stays verified in memory.
    let holds = !WINDOWS || span.end().is_some_and(|end| end <= r.source().len());
    holds.then_some(span)
}

/// The bytes of the count before the items of a vector.
pub(super) fn count_of(vector: Vector) -> Span {
    Span::new(u64::from(vector.at).saturating_sub(4), 4)
}
