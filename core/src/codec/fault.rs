//! Faults of stored streams.

use core::fmt;

/// Why stored bytes cannot be decoded.
///
/// All bytes returned before a fault are valid; [`Decoder::written`](super::Decoder::written)
/// returns their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Fault {
    /// The bytes are not a valid stream of this encoding.
    Malformed,
    /// The stored bytes end before the stream does.
    Truncated,
    /// The stream is complete, but stored bytes follow it.
    Trailing,
    /// The stream is complete, but holds fewer bytes than declared.
    Short,
    /// The stream holds more bytes than declared.
    Long,
    /// A checksum inside the stream (the Adler-32 of zlib, the content checksum of a zstd
    /// frame) does not match its content.
    Checksum,
    /// A zstd frame holds more or fewer bytes than its header says.
    ContentSize,
    /// A zstd frame needs a window beyond
    /// [`ZSTD_WINDOW`](crate::base::limits::ZSTD_WINDOW), and the output buffer does not
    /// hold all of its content.
    Window,
    /// A zstd frame needs a dictionary, which no format provides.
    Dictionary,
    /// Decoding takes more work than [`Decoder::allow`](super::Decoder::allow)
    /// allows.
    Work,
    /// The encoding is unknown, or this build has no decoder for it.
    Unsupported,
    /// A second decoder does not accept the stream, or decodes it to other bytes.
    Second,
    /// The output buffer is too small for this encoding; this is the caller's error, not
    /// the file's.
    Buffer,
}

impl Fault {
    /// Whether the fault is in the file, rather than a limit of this build or its caller.
    pub const fn is_of_file(self) -> bool {
        !matches!(
            self,
            Fault::Window | Fault::Dictionary | Fault::Work | Fault::Unsupported | Fault::Buffer
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Malformed => "the stream is malformed",
            Fault::Truncated => "the stream is cut off",
            Fault::Trailing => "bytes follow the stream",
            Fault::Short => "the stream holds fewer bytes than declared",
            Fault::Long => "the stream holds more bytes than declared",
            Fault::Checksum => "the checksum of the stream is not that of its content",
            Fault::ContentSize => "a frame's size is not what its header says",
            Fault::Window => "a frame asks for a window beyond the limit",
            Fault::Dictionary => "a frame needs a dictionary",
            Fault::Work => "decoding takes more work than is allowed",
            Fault::Unsupported => "no decoder for this encoding",
            Fault::Second => "a second decoder reads the stream differently",
            Fault::Buffer => "the output buffer is too small",
        })
    }
}

impl core::error::Error for Fault {}
