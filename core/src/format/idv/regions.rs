//! The regions of a file, and which of its tables are not resident.

use super::blocks::Entry;
use super::metadata::Attribute;
use super::toc::Column;
use super::{Header, field};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::limits;
use crate::read::{Halt, Reader};
use crate::slot::wide;
use crate::source::{Absent, Source, Span};
use crate::tensor::{Part, Region};

/// Phases of the iteration, in the order in which the writer of ML.NET lays
/// regions out, so that its files with one block a column ascend.
mod phase {
    pub(super) const HEADER: u8 = 0;
    pub(super) const BLOCKS: u8 = 1;
    pub(super) const LOOKUPS: u8 = 2;
    pub(super) const METADATA: u8 = 3;
    pub(super) const TOC: u8 = 4;
    pub(super) const TAIL: u8 = 5;
}

/// How many entries of the table of contents are looked at to tell how far
/// reading ahead pays.
const COLUMNS_AHEAD: u32 = 4096;

impl Header {
    pub(super) fn next_region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        loop {
            if r.is_spent() {
                c.finish();
                return Ok(None);
            }
            let mut kind = Kind::File;
            let (part, span) = match c.phase {
                phase::HEADER => {
                    c.next_phase();
                    (Part::Header, Span::new(0, field::HEADER))
                }
                phase::BLOCKS | phase::LOOKUPS | phase::METADATA => {
                    kind = Kind::Tensor;
                    self.of_column(r, c, &mut kind)?
                }
                phase::TOC => {
                    let toc = Span::between(wide(self.toc), c.at);
                    c.next_phase();
                    (Part::Table, toc)
                }
                phase::TAIL => {
                    c.next_phase();
                    (Part::Tail, Span::new(wide(self.tail), field::TAIL))
                }
                _ => {
                    c.finish();
                    return Ok(None);
                }
            };
            if !span.is_empty() {
                let entry = if kind == Kind::File { 0 } else { c.index.wrapping_sub(1) };
                return Ok(Some(Region { part, span, kind, entry }));
            }
        }
    }

    /// The next region of the column that the cursor has passed, or of the next
    /// one, and behind the last one nothing.
    ///
    /// The cursor keeps the offset of the next entry of a lookup table, how many
    /// are left, and the offset of the column's entry; or what
    /// [`next_annotation`](Self::next_annotation) wants, with the same behind it.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn of_column(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        kind: &mut Kind,
    ) -> Result<(Part, Span), Halt> {
        let number = c.index.wrapping_sub(1);
        let phase = c.phase;
        let [at, left, _, entry] = c.table();
        let owner = (wide(*entry), number);
        if phase == phase::BLOCKS && *left != 0 {
            let mut found = Entry::default();
            self.lookup(r, *at, *left, owner, &mut found)?;
            *at = at.wrapping_add(field::ENTRY);
            *left = left.wrapping_sub(1);
            return Ok((Part::Payload, found.block(self)));
        }
        if phase == phase::METADATA && *at != 0 {
            let mut found = Attribute::NONE;
            self.next_annotation(r, owner, c, &mut found)?;
            if found.found {
                *kind = Kind::Attribute;
                return Ok((Part::Metadata, found.block()));
            }
            // Its table is a region if all of it was read.
            let [metadata, end, ..] = core::mem::take(c.table());
            return Ok((Part::Table, Span::between(wide(metadata), wide(end))));
        }
        let mut column = Column::NONE;
        self.next_column(r, c, &mut column)?;
        if c.done {
            let end = self.entry_at(c);
            c.next_phase();
            c.at = if c.phase == phase::TOC { end } else { 0 };
            return Ok((Part::Table, Span::default()));
        }
        Ok(match phase {
            phase::BLOCKS => {
                let left = column.blocks();
                r.charge(wide(left.saturating_mul(field::ENTRY)));
                *c.table() = [column.lookup, left, 0, column.at];
                (Part::Table, Span::default())
            }
            phase::LOOKUPS => (Part::Table, column.table()),
            _ => {
                *c.table() = [column.metadata, 0, 0, column.at];
                (Part::Metadata, column.slots())
            }
        })
    }

    /// Reports what is not resident of the lookup and metadata tables of all
    /// columns.
    pub(crate) fn lacking(&self, r: &mut Reader<'_, '_>, report: &mut dyn FnMut(Absent)) {
        let source = *r.source();
        let mut joined: Option<Span> = None;
        let complete = self.tables(&source, Cursor::START, u32::MAX, &mut |table| {
            if source.get(table).is_ok() {
                return true;
            }
            match joined.and_then(|before| join(before, table)) {
                Some(both) => joined = Some(both),
                None => {
                    if let Some(Span { at, len }) = joined.replace(table) {
                        report(Absent { at, need: len, want: len });
                    }
                }
            }
            true
        });
        if let Some(Span { at, len }) = joined {
            report(Absent { at, need: len, want: len });
        }
        if let Err(absent) = complete {
            report(absent);
        }
    }

    /// Tells the host to fetch, with what is lacking, the tables of this and
    /// later columns that begin close behind it.
    #[cfg(feature = "windows")]
    #[cold]
    pub(super) fn widen(&self, r: &mut Reader<'_, '_>, (at, index): (u64, u32)) {
        let column = Cursor::before(at, index);
        let Absent { at, want, .. } = r.absent();
        let mut joined = Span::new(at, want);
        let limit = at.saturating_add(limits::TABLE_AHEAD);
        let source = *r.source();
        let _ = self.tables(&source, column, COLUMNS_AHEAD, &mut |table| {
            if table.at >= at {
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

    /// Nothing is ever absent.
    #[cfg(not(feature = "windows"))]
    pub(super) fn widen(&self, _: &mut Reader<'_, '_>, _: (u64, u32)) {}

    /// Visits the lookup tables of at most `columns` columns, then their
    /// metadata tables, of which the beginning is taken for the whole. Goes on
    /// to the next kind when `visit` answers no.
    ///
    /// # Errors
    /// [`Absent`] when the table of contents itself is not resident.
    fn tables(
        &self,
        source: &Source<'_>,
        start: Cursor,
        columns: u32,
        visit: &mut dyn FnMut(Span) -> bool,
    ) -> Result<(), Absent> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        r.mute();
        for lookups in [true, false] {
            let mut c = start;
            let mut left = columns;
            let mut column = Column::NONE;
            while left > 0 {
                match self.next_column(&mut r, &mut c, &mut column) {
                    Ok(()) if !c.done => {}
                    Err(Halt::ABSENT) => return Err(r.absent()),
                    _ => break,
                }
                left = left.saturating_sub(1);
                let metadata = wide(column.metadata);
                let table = if lookups {
                    let Span { at, len } = column.table();
                    Span::new(at, len.min(limits::TABLE_AHEAD))
                } else if metadata != 0 {
                    let end = metadata.saturating_add(limits::METADATA_AHEAD);
                    Span::between(metadata, end.min(wide(self.tail)))
                } else {
                    column.slots()
                };
                if !table.is_empty() && !visit(table) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Both spans and what lies between them, if they are neighbours in order.
fn join(before: Span, after: Span) -> Option<Span> {
    let reach = before.end()?.checked_add(limits::TABLE_SLACK)?;
    let end = after.end()?.max(before.end()?);
    (after.at >= before.at && after.at <= reach).then(|| Span::between(before.at, end))
}
