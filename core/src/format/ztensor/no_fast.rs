//! Replaces the fast path in builds without it, where every map is checked in full.

use super::{Cursor, Header};
use crate::format::Glance;
use crate::model::Tensor;
use crate::parse::Reader;

impl Header {
    pub(super) fn next_sound(&self, _: &mut Reader<'_, '_>, _: &mut Cursor) -> Option<Tensor> {
        None
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        _: &mut Reader<'_, 'a>,
        _: &mut Cursor,
        _: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
    }
}
