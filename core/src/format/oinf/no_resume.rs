//! Replaces the audit in steps in a build without windows, where all of a file is in memory.

use super::{Cursor, Header};
use crate::parse::Reader;
use crate::rule::Halt;

/// Nothing is held of an entry.
pub(super) type State = ();

impl Header {
    pub(super) fn audit_step(&self, _: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<(), Halt> {
        Ok(())
    }
}
