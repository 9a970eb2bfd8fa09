//! The width of elements whose type does not say it.

use core::fmt;

/// Width of an element in bytes, or 0. It takes no memory in builds without such types, and prints
/// the same in all builds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Width {
    #[cfg(feature = "items")]
    bytes: u32,
}

impl Width {
    pub(crate) const NONE: Width = Width {
        #[cfg(feature = "items")]
        bytes: 0,
    };

    #[cfg(feature = "items")]
    pub(crate) const fn new(bytes: u32) -> Width {
        Width { bytes }
    }

    pub(super) const fn get(self) -> u32 {
        #[cfg(feature = "items")]
        return self.bytes;
        #[cfg(not(feature = "items"))]
        0
    }
}

impl fmt::Debug for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
