//! The CRC-32 of ZIP, with a table.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

/// A table of 16 KiB, with which hosts take 16 bytes at once: zeros inflate faster than a table of
/// 1 KiB follows them.
type Lanes = Table<{ if cfg!(feature = "std") { 16 } else { 1 } }>;

static TABLE: Crc<u32, Lanes> = Crc::<u32, Lanes>::new(&CRC_32_ISO_HDLC);

#[derive(Clone)]
pub(in super::super) struct Crc32(Digest<'static, u32, Lanes>);

impl Crc32 {
    pub(super) fn new() -> Option<Self> {
        Some(Crc32(TABLE.digest()))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> u32 {
        self.0.finalize()
    }
}
