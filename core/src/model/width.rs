//! The width of elements whose type does not say it, and whether they have fields of text.

use core::fmt;

/// Width of an element in bytes, or 0. It takes no memory in builds without such types, and prints
/// the same in all builds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Width {
    #[cfg(feature = "items")]
    bytes: u32,
    /// Fields are text, which a host checks.
    #[cfg(all(feature = "items", feature = "packed", feature = "payloads"))]
    texts: bool,
}

impl Width {
    pub(crate) const NONE: Width = Width {
        #[cfg(feature = "items")]
        bytes: 0,
        #[cfg(all(feature = "items", feature = "packed", feature = "payloads"))]
        texts: false,
    };

    #[cfg(feature = "items")]
    pub(crate) const fn new(bytes: u32) -> Width {
        let mut width = Width::NONE;
        width.bytes = bytes;
        width
    }

    /// The same width of elements whose fields have text to be checked.
    #[cfg(feature = "items")]
    pub(crate) const fn with_texts(self) -> Width {
        #[cfg(all(feature = "packed", feature = "payloads"))]
        return Width { texts: true, ..self };
        #[cfg(not(all(feature = "packed", feature = "payloads")))]
        self
    }

    /// Whether fields of the elements are text to be checked.
    #[cfg(feature = "payloads")]
    pub(crate) const fn has_texts(self) -> bool {
        #[cfg(all(feature = "items", feature = "packed"))]
        return self.texts;
        #[cfg(not(all(feature = "items", feature = "packed")))]
        false
    }

    pub(crate) const fn get(self) -> u32 {
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
