//! Continuing to read after a failure.
//!
//! An entry has a dozen fields, and a branch after each takes much code. Instead, the first field
//! that cannot be read halts the reader: later fields read as zero or as no bytes, and the caller
//! checks once at the end, with [`settle`](Reader::settle).

use super::Reader;
use crate::base::{Word, wide};
use crate::rule::Halt;
use crate::rule::general::BYTES_CHANGED;

impl<'a> Reader<'_, 'a> {
    /// Halts the reader, unless it is already halted.
    #[cold]
    pub(crate) fn halt(&mut self, halt: Halt) {
        self.halted = self.halted.or(Some(halt));
    }

    /// Whether a field could not be read.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.is_some()
    }

    /// Returns why the first failed field could not be read, and lets the reader continue.
    pub(crate) fn settle(&mut self) -> Result<(), Halt> {
        match self.halted.take() {
            Some(halt) => Err(halt),
            None => Ok(()),
        }
    }

    /// `len` bytes, or an empty slice if the reader is halted.
    pub(crate) fn bytes(&mut self, len: Word) -> &'a [u8] {
        if self.is_halted() {
            return &[];
        }
        match self.take(wide(len)) {
            Ok(bytes) => bytes,
            Err(halt) => {
                self.halt(halt);
                &[]
            }
        }
    }

    /// A little-endian `u32`.
    pub(crate) fn next_u32(&mut self) -> u32 {
        self.bytes(4).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// A little-endian `u64`.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.bytes(8).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Goes to the `len` bytes from `at`, which are known to be inside the file.
    pub(crate) fn within(&mut self, at: Word, len: Word) {
        let end = at.wrapping_add(len);
        self.begin(at, end, BYTES_CHANGED);
        self.read_ahead(wide(end));
    }

    /// Offset of the next byte.
    pub(crate) fn here(&self) -> Word {
        self.at
    }
}
