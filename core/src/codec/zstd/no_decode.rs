//! A build without a frame decoder.

use crate::codec::{Job, Outcome};

/// An empty state.
pub(in crate::codec) struct Frames;

impl Frames {
    pub(in crate::codec) const IS_BUILT: bool = false;

    pub(in crate::codec) const fn new() -> Self {
        Frames
    }

    pub(in crate::codec) fn start(&mut self) {}

    pub(in crate::codec) const fn count(&self) -> u64 {
        0
    }

    pub(in crate::codec) const fn needs(&self) -> usize {
        0
    }

    pub(in crate::codec) const fn buffer(&self) -> u64 {
        0
    }

    pub(in crate::codec) const fn work(&self) -> u64 {
        0
    }

    pub(in crate::codec) fn step(&mut self, _: &mut Job<'_>) -> Outcome {
        Outcome::UNSUPPORTED
    }
}
