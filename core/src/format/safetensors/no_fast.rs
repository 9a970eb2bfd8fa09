//! Stubs for a build without the fast paths: every member gets the full check.

use super::{Cursor, Header};
use crate::format::Glance;
use crate::model::Tensor;
use crate::parse::Reader;

pub(super) fn skim(run: &[u8]) -> (u32, &[u8], bool) {
    (0, run, false)
}

impl Header {
    pub(super) fn next_plain(&self, _: &mut Reader<'_, '_>, _: &mut Cursor) -> Option<Tensor> {
        None
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor,
        _: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }

    pub(super) fn sweep_names<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor,
        _: u32,
        _: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }
}
