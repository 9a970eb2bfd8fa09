//! A build without a deflate decoder.

use super::{Job, Outcome};

/// An empty state.
pub(super) struct Inflate;

impl Inflate {
    pub(super) const IS_BUILT: bool = false;

    pub(super) fn new() -> Self {
        Inflate
    }

    pub(super) fn start(&mut self) {}

    pub(super) fn step(&mut self, _: &mut Job<'_>, _zlib: bool) -> Outcome {
        Outcome::UNSUPPORTED
    }
}
