//! Zstandard frames (RFC 8878), decoded without a heap into the caller's buffer.
//!
//! **State.** Code tables, a checksum and the frame header: [`Frames`], 14.5 KiB, in the
//! [`Decoder`](super::Decoder).
//!
//! **Output.** The buffer is the window. If it holds the whole stream, it is filled from start to
//! end, and matches refer into it. A smaller one is a ring: it holds a frame's window, at most
//! [`ZSTD_WINDOW`](crate::base::limits::ZSTD_WINDOW), and room for one block, or the whole frame
//! if that is less. Room for two blocks makes decoding faster.
//!
//! **Input.** A block is decoded when all of it is available: at most 128 KiB and three
//! bytes.
//!
//! **Strictness.** Whatever the reference decoder rejects is rejected. So are matches beyond the
//! window, literal streams that do not end with their last literal, codes of more than 11 bits,
//! and reserved bits, some of which the reference decoder accepts. Frames may follow one another,
//! with skippable frames between them. A fault is in the header or block that starts at
//! [`Decoder::read`](super::Decoder::read).
//!
//! **Work.** Decoding a block takes time proportional to its stored and decoded bytes, its
//! sequences (each produces at least three bytes) and its tables; all of them are counted.

#[cfg_attr(not(feature = "zstd"), path = "no_decode.rs")]
mod decode;
#[cfg_attr(
    not(feature = "zstd"),
    allow(dead_code, reason = "a walk alone reads headers field by field")
)]
pub(super) mod frame;
pub(crate) mod walk;

pub(super) use decode::Frames;

/// The ring size with which a window never has to be moved.
pub(super) const fn ring(window: u64) -> u64 {
    // Two blocks of 128 KiB, and the bytes that copies may touch past them.
    window.saturating_add(258 << 10)
}
