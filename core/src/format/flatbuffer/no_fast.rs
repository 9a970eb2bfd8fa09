//! Replaces the fast path in builds without it, where every flatbuffer is walked.

use super::{Counts, Schema, Walk};
use crate::parse::Reader;

impl Walk {
    pub(crate) fn is_counted(&self, _: &Reader<'_, '_>, _: &Schema, _: &mut Counts) -> bool {
        false
    }
}
