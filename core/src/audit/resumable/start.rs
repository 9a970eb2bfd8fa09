//! Where the values stage starts.

use crate::file::Cursor;

/// Where [`Stage::Values`](crate::audit::Stage::Values) starts: after what listing has checked.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Start(Cursor);

impl Start {
    pub(super) fn at(cursor: Cursor) -> Self {
        Start(cursor)
    }

    pub(super) fn cursor(self) -> Cursor {
        self.0
    }
}
