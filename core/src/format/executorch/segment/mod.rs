//! Segments: where they are, and their places in the file.

#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod way;

use crate::format::flatbuffer::reads::Vector;
use crate::input::Span;
pub(super) use way::{Checked, check_all, check_base};

/// The list of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Segments {
    pub(super) list: Vector,
}

/// A segment, by its number.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// There is none.
    None,
    /// Its place is wrong, which opening has reported.
    Lost,
    /// Its bytes.
    At(Span),
}

impl Found {
    /// Its bytes, if their place is right.
    pub(super) fn span(self) -> Option<Span> {
        match self {
            Found::At(span) => Some(span),
            _ => None,
        }
    }

    /// Whether there is a segment of this number.
    pub(super) fn exists(self) -> bool {
        !matches!(self, Found::None)
    }
}
