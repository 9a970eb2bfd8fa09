//! Replaces the fast path in builds without it, where every flatbuffer is walked.

use super::{Object, Schema, Walk};
use crate::parse::Reader;

impl Walk {
    pub(crate) fn is_sound(
        &self,
        _: &Reader<'_, '_>,
        _: &Schema,
        _: &mut impl FnMut(Object, u8),
    ) -> bool {
        false
    }
}
