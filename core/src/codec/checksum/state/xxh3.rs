//! XXH3 of 64 bits.

use core::hash::Hasher as _;
use twox_hash::xxhash3_64::{RawHasher, SecretBuffer};

/// Length of the secret.
const SECRET: usize = 192;

#[derive(Clone)]
pub(in super::super) struct Xxh3(RawHasher<&'static [u8; SECRET]>);

impl Xxh3 {
    #[allow(clippy::unnecessary_wraps, reason = "as in a build without it")]
    pub(super) fn new() -> Option<Self> {
        Some(Xxh3(RawHasher::new(SecretBuffer::default())))
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub(super) fn finish(self) -> u64 {
        self.0.finish()
    }
}
