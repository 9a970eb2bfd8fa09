//! The CRC-32 of ZIP with processor instructions.

use crc32fast::Hasher;

#[derive(Clone)]
pub(in super::super) struct Crc32(Hasher);

impl Crc32 {
    pub(super) fn new() -> Option<Self> {
        Some(Crc32(Hasher::new()))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> u32 {
        self.0.finalize()
    }
}
