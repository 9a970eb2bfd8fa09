//! Replaces the payload stage in a build without it.

use super::Audit;
use crate::file::Slot;
use crate::parse::Reader;
use crate::rule::Halt;

pub(super) trait Streams {}

pub(super) struct NoStreams;

impl Streams for NoStreams {}

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
}
