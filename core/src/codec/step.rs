//! How many bytes there may be, and what one step did.

use super::{Fault, zstd};
use crate::input::Absent;
use crate::model::Encoding;
use core::ops::Range;

/// How many bytes a stream may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// This many; otherwise it is [`Fault::Short`] or [`Fault::Long`].
    Exactly(u64),
    /// Up to this many.
    AtMost(u64),
}

impl Size {
    pub(super) const fn most(self) -> u64 {
        match self {
            Size::Exactly(size) | Size::AtMost(size) => size,
        }
    }
}

/// Most bytes that `stored` bytes can decode to; `None` where the encoding is
/// unknown.
///
/// Who reserves memory for a declared size compares it with this first, so
/// that a small file cannot ask for much.
pub const fn most(encoding: Encoding, stored: u64) -> Option<u64> {
    match encoding {
        Encoding::Raw => Some(stored),
        // A match of 258 bytes takes two bits at least.
        Encoding::Deflate | Encoding::Zlib => Some(stored.saturating_mul(1032)),
        // A block of 128 KiB takes four bytes at least.
        Encoding::Zstd => Some(stored.saturating_mul(32 << 10)),
        Encoding::Unknown => None,
    }
}

/// The output buffer in which zstd frames with a window of so many bytes are decoded
/// without moving it: room for two blocks more. One is enough.
pub const fn ring(window: u64) -> u64 {
    zstd::ring(window)
}

/// What one [`step`](super::Decoder::step) did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the input were used.
    pub read: usize,
    /// Where in the output the new bytes lie.
    pub written: Range<usize>,
    /// The stream is complete, and everything about it was compared.
    pub done: bool,
}

/// Why [`next`](super::Decoder::next) came back empty-handed.
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
