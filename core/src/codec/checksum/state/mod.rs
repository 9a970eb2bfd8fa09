//! The state of a checksum in progress.

#[cfg_attr(not(feature = "crc32"), path = "no_crc32.rs")]
#[cfg_attr(all(feature = "crc32", not(feature = "std")), path = "crc32_table.rs")]
mod crc32;
#[cfg_attr(not(feature = "std"), path = "crc32c_table.rs")]
mod crc32c;
#[cfg_attr(not(feature = "xxh3"), path = "no_xxh3.rs")]
mod xxh3;

use super::{Algorithm, Checksum};
use crc32::Crc32;
use crc32c::Crc32c;
use sha2::{Digest as _, Sha256};
use xxh3::Xxh3;

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time, and no heap")]
pub(super) enum State {
    Crc32(Crc32),
    Crc32c(Crc32c),
    Sha256(Sha256),
    Xxh3(Xxh3),
}

impl State {
    pub(super) fn new(algorithm: Algorithm) -> Option<Self> {
        Some(match algorithm {
            Algorithm::Crc32 => State::Crc32(Crc32::new()?),
            Algorithm::Crc32c => State::Crc32c(Crc32c::new()),
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Xxh3 => State::Xxh3(Xxh3::new()?),
        })
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            State::Crc32(crc) => crc.update(bytes),
            State::Crc32c(crc) => crc.update(bytes),
            State::Sha256(sha) => sha.update(bytes),
            State::Xxh3(hash) => hash.update(bytes),
        }
    }

    pub(super) fn finish(self) -> Checksum {
        match self {
            State::Crc32(crc) => Checksum::crc32(crc.finish()),
            State::Crc32c(crc) => Checksum::crc32c(crc.finish()),
            State::Sha256(sha) => Checksum::sha256(sha.finalize().into()),
            State::Xxh3(hash) => Checksum::xxh3(hash.finish()),
        }
    }
}
