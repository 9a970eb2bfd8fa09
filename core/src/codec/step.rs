//! The declared size of a stream, and the result of one step.

use super::{Fault, zstd};
use crate::input::Absent;
use crate::model::Encoding;
use core::ops::Range;

/// The declared decoded size of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Exactly this many bytes; otherwise the fault is [`Fault::Short`] or [`Fault::Long`].
    Exactly(u64),
    /// Up to this many bytes.
    AtMost(u64),
}

impl Size {
    pub(super) const fn most(self) -> u64 {
        match self {
            Size::Exactly(size) | Size::AtMost(size) => size,
        }
    }
}

/// What a deflate or zlib stream may lack and still be complete. A file with such a stream is
/// faulty, but all data is there. Other encodings tolerate nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tolerance {
    /// Nothing.
    #[default]
    None,
    /// Stored bytes may follow it.
    Rest,
    /// Stored bytes may follow it, or its end may be missing after all declared bytes.
    NoEnd,
}

/// Most bytes that `stored` bytes can decode to; `None` if the encoding is unknown.
///
/// Compare a declared size with this before reserving memory, so that a small file cannot request
/// much.
pub const fn most(encoding: Encoding, stored: u64) -> Option<u64> {
    match encoding {
        Encoding::Raw => Some(stored),
        // A match of 258 bytes takes at least two bits.
        Encoding::Deflate | Encoding::Zlib => Some(stored.saturating_mul(1032)),
        // A block of 128 KiB takes at least four bytes.
        Encoding::Zstd => Some(stored.saturating_mul(32 << 10)),
        // An integer of one byte stands for an element of at most eight.
        Encoding::Varints(_) => Some(stored.saturating_mul(8)),
        Encoding::Unknown => None,
    }
}

/// The output buffer size with which zstd frames with this window are decoded without moving it:
/// the window and room for two blocks. Room for one suffices.
pub const fn ring(window: u64) -> u64 {
    zstd::ring(window)
}

/// The result of one [`step`](super::Decoder::step).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of input bytes used.
    pub read: usize,
    /// Range of the new bytes in the output.
    pub written: Range<usize>,
    /// The stream is complete and all its checks have passed.
    pub done: bool,
}

/// Why [`next`](super::Decoder::next) returned no piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// Bytes are not resident: fetch them and call again.
    Absent(Absent),
    /// The stream is faulty.
    Fault(Fault),
}

impl From<Absent> for Undecoded {
    fn from(absent: Absent) -> Self {
        Undecoded::Absent(absent)
    }
}

impl From<Fault> for Undecoded {
    fn from(fault: Fault) -> Self {
        Undecoded::Fault(fault)
    }
}
