//! Replaces the payload stage and its watchdog in a build without payloads.

use super::Audit;
use crate::file::Slot;
use crate::input::Source;
use crate::parse::{Reader, Stop};
use crate::rule::Halt;

pub(super) trait Streams {}

pub(super) struct NoStreams;

impl Streams for NoStreams {}

/// Empty: no payload is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payloads;

impl Payloads {
    pub(super) fn new() -> Self {
        Payloads
    }

    pub(super) fn leave_out(&mut self) {}

    pub(super) fn is_wanted(&self) -> bool {
        false
    }

    pub(super) fn wants(&self, _: u32) -> bool {
        true
    }

    pub(super) fn shared(&self) -> u64 {
        0
    }

    pub(super) fn set_shared(&mut self, _: u64) {}
}

impl Audit {
    pub(super) fn last(
        &mut self,
        _: &mut Reader<'_, '_>,
        _: &mut [Slot],
        _: &mut dyn Streams,
    ) -> Result<(), Halt> {
        Ok(())
    }

    pub(super) fn skip_payload(&mut self, _: &mut Reader<'_, '_>) {}

    pub(super) fn resume(&mut self, _: &Source<'_>, _: usize, _: &dyn Streams) {}

    pub(super) fn is_stuck(&mut self, _: &Stop, _: &Source<'_>, _: usize, _: &dyn Streams) -> bool {
        false
    }

    pub(super) fn stand_still(&mut self, _: &mut Reader<'_, '_>) {}
}
