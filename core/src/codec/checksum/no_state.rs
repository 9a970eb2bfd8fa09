//! A build without checksums.

use super::{Algorithm, Checksum};

/// Never constructed.
#[derive(Clone)]
pub(super) enum State {}

impl State {
    pub(super) fn new(_: Algorithm) -> Option<Self> {
        None
    }

    pub(super) fn update(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(super) fn finish(self) -> Checksum {
        match self {}
    }
}
