//! A build without formats that use CRC-32.

/// Never constructed.
#[derive(Clone)]
pub(in super::super) enum Crc32 {}

impl Crc32 {
    pub(super) fn new() -> Option<Self> {
        None
    }

    pub(super) fn update(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(super) fn finish(self) -> u32 {
        match self {}
    }
}
