//! The width of elements whose type does not say it, and whether they have fields of text.

use core::fmt;

/// Width of an element in bytes, or 0. It takes no memory in builds without such types, and prints
/// the same in all builds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Width {
    #[cfg(feature = "items")]
    bytes: u32,
}

/// The bit that no width needs: fields are text, which this build checks.
#[cfg(feature = "items")]
const TEXTS: u32 = if crate::base::features::TEXTS { 1 << 31 } else { 0 };

impl Width {
    pub(crate) const NONE: Width = Width {
        #[cfg(feature = "items")]
        bytes: 0,
    };

    #[cfg(feature = "items")]
    pub(crate) const fn new(bytes: u32) -> Width {
        Width { bytes: bytes & !TEXTS }
    }

    /// The same width of elements whose fields have text to be checked.
    #[cfg(feature = "items")]
    pub(crate) const fn with_texts(self) -> Width {
        Width { bytes: self.bytes | TEXTS }
    }

    /// Whether fields of the elements are text to be checked.
    #[cfg(feature = "payloads")]
    pub(crate) const fn has_texts(self) -> bool {
        #[cfg(feature = "items")]
        return self.bytes & TEXTS != 0;
        #[cfg(not(feature = "items"))]
        false
    }

    pub(crate) const fn get(self) -> u32 {
        #[cfg(feature = "items")]
        return self.bytes & !TEXTS;
        #[cfg(not(feature = "items"))]
        0
    }
}

impl fmt::Debug for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
