//! CRC-32C with processor instructions.

#[derive(Clone)]
pub(in super::super) struct Crc32c(u32);

impl Crc32c {
    pub(super) fn new() -> Self {
        Crc32c(0)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    pub(super) fn finish(self) -> u32 {
        self.0
    }
}
