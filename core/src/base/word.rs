//! Offsets and lengths, as wide as a reader's memory.

/// For files in windows: wide enough for any file.
#[cfg(feature = "windows")]
mod width {
    /// An offset or a hash, as wide as a reader's memory.
    pub(crate) type Word = u64;

    /// A number that is usually small, in stores of fixed size.
    pub(crate) type Cell = u32;

    /// Narrows an offset inside the file, or a hash, to the width of a slot.
    pub(crate) const fn word(n: u64) -> Word {
        n
    }

    /// The inverse of [`word`].
    pub(crate) const fn wide(word: Word) -> u64 {
        word
    }
}

/// For files wholly in memory: as wide as an address.
#[cfg(not(feature = "windows"))]
mod width {
    /// An offset or a hash, as wide as a reader's memory.
    pub(crate) type Word = usize;

    /// A number that is usually small, in stores of fixed size.
    pub(crate) type Cell = u16;

    /// Narrows an offset inside the file, or a hash, to the width of a slot.
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "part of a hash is enough"
    )]
    pub(crate) const fn word(n: u64) -> Word {
        n as usize
    }

    /// The inverse of [`word`].
    pub(crate) const fn wide(word: Word) -> u64 {
        super::widen(word)
    }
}

pub(crate) use width::*;

/// Converts any offset or length; a value beyond the addressable range stays beyond it.
pub(crate) fn place(n: u64) -> Word {
    Word::try_from(n).unwrap_or(Word::MAX)
}

/// `usize` to `u64`, lossless on every Rust target.
#[allow(clippy::as_conversions, reason = "no target has a usize above 64 bits")]
pub(crate) const fn widen(n: usize) -> u64 {
    n as u64
}
