//! Zstandard frames (RFC 8878), decoded without a heap into the caller's buffer.
//!
//! **State.** Tables of codes, a checksum and what a frame says: [`Frames`],
//! 14.5 KiB, in the [`Decoder`](super::Decoder).
//!
//! **Output.** The buffer is the window. One that holds all of the stream is
//! filled from its start to its end, and matches refer into it. A smaller one is
//! a ring: it holds the window of a frame, at most
//! [`ZSTD_WINDOW`](crate::base::limits::ZSTD_WINDOW), and room for one block, or all
//! that the frame becomes where that is less. Two blocks make it faster.
//!
//! **Input.** A block is decoded once all of it is at hand: 128 KiB and three
//! bytes at most.
//!
//! **Strictness.** What the reference decoder refuses is refused, and so are
//! matches beyond the window, streams of literals that do not end with their
//! last literal, codes of more than 11 bits and reserved bits, which it lets
//! pass in part. Frames may follow one another, and skippable frames may lie
//! between them. A fault lies in the header or block that begins at
//! [`Decoder::read`](super::Decoder::read).
//!
//! **Work.** A block takes steps in proportion to its stored and decoded bytes,
//! its sequences (each stands for three bytes or more) and the tables that it
//! describes, all of which are counted.

#[cfg_attr(
    not(feature = "zstd"),
    allow(dead_code, reason = "who only walks reads headers field by field")
)]
pub(super) mod frame;
pub(crate) mod walk;

#[cfg(feature = "zstd")]
mod bits;
#[cfg(feature = "zstd")]
mod block;
#[cfg(feature = "zstd")]
mod cut;
#[cfg(feature = "zstd")]
mod execute;
#[cfg(feature = "zstd")]
mod frames;
#[cfg(feature = "zstd")]
mod fse;
#[cfg(feature = "zstd")]
mod huffman;
#[cfg(feature = "zstd")]
mod ring;
#[cfg(feature = "zstd")]
mod room;
#[cfg(feature = "zstd")]
mod sequences;
#[cfg(feature = "zstd")]
mod streams;
#[cfg(feature = "zstd")]
mod xxh64;

/// The ring for a window in which nothing is moved.
pub(super) const fn ring(window: u64) -> u64 {
    // Two blocks of 128 KiB, and what copies touch beyond them.
    window.saturating_add(258 << 10)
}

#[cfg(feature = "zstd")]
use super::Fault;
#[cfg(feature = "zstd")]
pub(super) use frames::Frames;
