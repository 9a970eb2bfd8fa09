//! Offsets and lengths, as wide as what a reader may have in memory.

/// An offset, or a hash: as wide as what a reader may have in memory.
#[cfg(feature = "windows")]
pub(crate) type Word = u64;
#[cfg(not(feature = "windows"))]
pub(crate) type Word = usize;

/// An offset inside of the file, or a hash, of which a slot keeps as many bits as
/// it has.
#[cfg(feature = "windows")]
pub(crate) const fn word(n: u64) -> Word {
    n
}

#[cfg(not(feature = "windows"))]
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "of a hash some bits do"
)]
pub(crate) const fn word(n: u64) -> Word {
    n as usize
}

/// An offset or a length that may be anything: what is beyond all that may be in
/// memory stays so.
#[cfg_attr(not(feature = "names"), inline(always))]
pub(crate) fn place(n: u64) -> Word {
    Word::try_from(n).unwrap_or(Word::MAX)
}

/// What [`word`] made of an offset.
#[cfg(feature = "windows")]
pub(crate) const fn wide(word: Word) -> u64 {
    word
}

#[cfg(not(feature = "windows"))]
pub(crate) const fn wide(word: Word) -> u64 {
    widen(word)
}

/// `usize` to `u64`, which is lossless on every target that Rust has.
#[allow(clippy::as_conversions, reason = "no target has a usize above 64 bits")]
pub(crate) const fn widen(n: usize) -> u64 {
    n as u64
}
