//! Visits and verifies every object of a flatbuffer, in a loop with a small stack.

#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod way;

use crate::base::{Word, wide};
use crate::input::Span;
pub(crate) use way::{Kept, Walk};

/// The bytes of an object, in the words of this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(in crate::format) at: Word,
    pub(in crate::format) len: Word,
}

impl Place {
    /// The same as a span.
    pub(crate) fn span(self) -> Span {
        Span::new(wide(self.at), wide(self.len))
    }
}

/// An object that was visited. A shared one is visited again for each offset that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// A table of this number, with its vtable.
    Table {
        /// Its number in the schema.
        number: u8,
        /// Its bytes, as its vtable says.
        place: Place,
        /// The bytes of the vtable.
        vtable: Place,
    },
    /// A vector, its count included.
    Vector(Place),
    /// A string, its length and its zero byte included.
    String(Place),
}
