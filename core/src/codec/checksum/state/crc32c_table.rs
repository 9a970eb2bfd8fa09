//! CRC-32C with a table.

use crc::{CRC_32_ISCSI, Crc, Digest, Table};

static TABLE: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

#[derive(Clone)]
pub(in super::super) struct Crc32c(Digest<'static, u32, Table<1>>);

impl Crc32c {
    pub(super) fn new() -> Self {
        Crc32c(TABLE.digest())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> u32 {
        self.0.finalize()
    }
}
