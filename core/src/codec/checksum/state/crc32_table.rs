//! The CRC-32 of ZIP with a table.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

static TABLE: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

#[derive(Clone)]
pub(in super::super) struct Crc32(Digest<'static, u32, Table<1>>);

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
