//! Offsets and lengths, as wide as a reader's memory.

/// Files in windows: as long as a file may be.
#[cfg(feature = "windows")]
mod width {
    /// An offset or a hash, as wide as a reader's memory.
    pub(crate) type Word = u64;

    /// An offset inside the file, or a hash cut to the width of a slot.
    pub(crate) const fn word(n: u64) -> Word {
        n
    }

    /// The inverse of [`word`].
    pub(crate) const fn wide(word: Word) -> u64 {
        word
    }
}

/// Files in memory as a whole: as long as the memory.
#[cfg(not(feature = "windows"))]
mod width {
    /// An offset or a hash, as wide as a reader's memory.
    pub(crate) type Word = usize;

    /// An offset inside the file, or a hash cut to the width of a slot.
    #[allow(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "of a hash some bits do"
    )]
    pub(crate) const fn word(n: u64) -> Word {
        n as usize
    }

    /// The inverse of [`word`].
    pub(crate) const fn wide(word: Word) -> u64 {
        super::widen(word)
    }
}

pub(crate) use width::{Word, wide, word};

/// Any offset or length; a value beyond the addressable range stays beyond it.
#[cfg_attr(not(feature = "names"), inline(always))]
pub(crate) fn place(n: u64) -> Word {
    Word::try_from(n).unwrap_or(Word::MAX)
}

/// `usize` to `u64`, which is lossless on every target that Rust has.
#[allow(clippy::as_conversions, reason = "no target has a usize above 64 bits")]
pub(crate) const fn widen(n: usize) -> u64 {
    n as u64
}
