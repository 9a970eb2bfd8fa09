//! Partially resident files: the state kept while bytes are missing, and which bytes are
//! requested together.

use super::blocks::Blocks;
use super::regions::{COLUMNS_AHEAD, join};
use super::toc::Column;
use super::{Cursor, Header, field};
use crate::base::limits;
use crate::input::{Absent, Span};
use crate::parse::Reader;
use crate::rule::Halt;

/// State kept while bytes are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    /// The blocks of a column that remain to be validated.
    blocks: Blocks,
    /// The header, kept while opening.
    header: Header,
}

impl Held {
    /// The state at the start.
    pub(super) const NONE: Held = Held {
        blocks: Blocks::NONE,
        header: Header { version: 0, rows: 0, toc: 0, tail: 0, columns: 0, revision: 0 },
    };
}

/// The header, if it was validated before.
pub(super) fn header(c: &Cursor) -> Option<Header> {
    (c.phase > 0).then_some(c.state.held.header)
}

/// Keeps a validated header, unless validation halted the reader.
pub(super) fn hold(r: &mut Reader<'_, '_>, c: &mut Cursor, header: Header) -> Result<(), Halt> {
    r.settle()?;
    c.state.held.header = header;
    c.phase = 1;
    Ok(())
}

impl Header {
    /// Validates one block, or reads one entry of the table of contents into `column`.
    pub(super) fn audit_step(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        column: &mut Column,
    ) -> Result<(), Halt> {
        let mut blocks = c.state.held.blocks;
        if blocks.left == 0 {
            self.silently_next(r, c, column)?;
            if !c.done {
                blocks = Blocks::of(self, column);
                r.charge(blocks.left.saturating_mul(field::ENTRY));
                c.state.held.blocks = blocks;
            }
            return Ok(());
        }
        self.validate_block_at(r, c, &mut blocks)?;
        c.state.held.blocks = blocks;
        Ok(())
    }

    /// Extends the current request to tables of this and later columns that begin shortly
    /// after it.
    #[cold]
    pub(super) fn widen(&self, r: &mut Reader<'_, '_>, (at, index): (u64, u32)) {
        let column = Cursor::before(at, index);
        let Absent { offset: at, want, .. } = r.absent();
        let mut joined = Span::new(at, want);
        let limit = at.saturating_add(limits::TABLE_AHEAD);
        let source = *r.source();
        let _ = self.tables(&source, column, COLUMNS_AHEAD, &mut |table| {
            if table.offset >= at {
                let Some(both) =
                    join(joined, table).filter(|both| both.end().is_some_and(|end| end <= limit))
                else {
                    return false;
                };
                joined = both;
            }
            true
        });
        r.want_until(joined.end().unwrap_or(u64::MAX));
    }
}
