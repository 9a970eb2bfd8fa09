//! The regions of a file, and the missing parts of its tables.

use super::blocks::Entry;
use super::metadata::Attribute;
use super::toc::Column;
use super::{Cursor, Header, field};
use crate::base::{Word, limits, place, wide, word};
use crate::input::{Absent, Source, Span};
use crate::model::{Part, Region};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Phases of the iteration, in the order in which ML.NET writes regions, so that offsets
/// ascend in its files with one block per column.
mod phase {
    pub(super) const HEADER: u8 = 0;
    pub(super) const BLOCKS: u8 = 1;
    pub(super) const LOOKUPS: u8 = 2;
    pub(super) const METADATA: u8 = 3;
    pub(super) const TOC: u8 = 4;
    pub(super) const TAIL: u8 = 5;
}

/// Maximum number of table of contents entries scanned to decide what to read ahead. The
/// decision is made for each request, and a file may have millions of entries.
pub(super) const COLUMNS_AHEAD: u32 = 4096;

/// A region; empty if there is none.
#[derive(Clone, Copy, Default)]
struct Piece {
    part: Part,
    kind: EntryKind,
    at: Word,
    len: Word,
}

impl Header {
    pub(super) fn next_region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        loop {
            let mut piece = Piece::default();
            if r.is_spent() {
                c.finish();
            } else {
                self.next_piece(r, c, &mut piece)?;
            }
            if c.done {
                return Ok(None);
            }
            if piece.len != 0 {
                let Piece { part, kind, at, len } = piece;
                let entry = if kind == EntryKind::File { 0 } else { c.index.wrapping_sub(1) };
                let span = Span::new(wide(at), wide(len));
                return Ok(Some(Region { part, span, kind, entry }));
            }
        }
    }

    fn next_piece(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        piece: &mut Piece,
    ) -> Result<(), Halt> {
        let phase = c.phase;
        match phase {
            phase::BLOCKS | phase::LOOKUPS | phase::METADATA => {
                piece.kind = EntryKind::Tensor;
                return self.of_column(r, c, piece);
            }
            phase::HEADER => {
                (piece.part, piece.len) = (Part::Header, place(field::HEADER));
            }
            phase::TOC => {
                // The cursor still stands after the last entry.
                let end = word(self.entry_at(c));
                (piece.part, piece.at) = (Part::Table, self.toc);
                piece.len = end.wrapping_sub(self.toc);
            }
            phase::TAIL => {
                (piece.part, piece.at) = (Part::Tail, self.tail);
                piece.len = place(field::TAIL);
            }
            _ => c.finish(),
        }
        c.phase = phase.wrapping_add(1);
        Ok(())
    }

    /// Finds the next region of the column that the cursor has passed, or of the next column;
    /// none after the last.
    ///
    /// The cursor keeps the offset of the next lookup table entry and the number of entries
    /// left, or the state of [`next_annotation`](Self::next_annotation); and last, the offset
    /// of the column's entry.
    fn of_column(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        piece: &mut Piece,
    ) -> Result<(), Halt> {
        let number = c.index.wrapping_sub(1);
        let phase = c.phase;
        let [at, left, _, entry] = &mut c.state.table;
        let owner = (wide(*entry), number);
        if phase == phase::BLOCKS && *left != 0 {
            let mut found = Entry::default();
            self.lookup(r, *at, *left, owner, &mut found)?;
            *at = at.wrapping_add(field::ENTRY);
            *left = left.wrapping_sub(1);
            piece.part = Part::Payload;
            (piece.at, piece.len) = found.block(self);
            return Ok(());
        }
        if phase == phase::METADATA && *at != 0 {
            let mut found = Attribute::NONE;
            self.next_annotation(r, owner, c, &mut found)?;
            if found.found {
                (piece.part, piece.kind) = (Part::Metadata, EntryKind::Attribute);
                (piece.at, piece.len) = (found.stored, found.stored_len);
                return Ok(());
            }
            // The table is a region if all of it was read.
            let [at, end, ..] = core::mem::take(&mut c.state.table);
            (piece.part, piece.at, piece.len) = (Part::Table, at, end.wrapping_sub(at));
            return Ok(());
        }
        let mut column = Column::NONE;
        self.next_column(r, c, &mut column)?;
        if c.done && phase == phase::METADATA {
            (c.phase, c.done) = (phase::TOC, false);
        } else if c.done {
            c.next_phase();
        } else if phase == phase::LOOKUPS {
            piece.part = Part::Table;
            (piece.at, piece.len) = (column.lookup, column.table_len());
        } else if phase == phase::METADATA {
            c.state.table = [column.metadata, 0, 0, column.head.at];
            piece.part = Part::Metadata;
            (piece.at, piece.len) = (column.slots, column.slots_len);
        } else {
            let left = column.blocks();
            r.charge(wide(left.saturating_mul(field::ENTRY)));
            c.state.table = [column.lookup, left, 0, column.head.at];
        }
        Ok(())
    }

    /// Reports the missing lookup and metadata tables of the first columns. Those of other
    /// columns are requested when they are needed.
    pub(super) fn report_missing(&self, r: &mut Reader<'_, '_>, report: &mut dyn FnMut(Absent)) {
        let source = *r.source();
        let mut joined: Option<Span> = None;
        let complete = self.tables(&source, Cursor::START, COLUMNS_AHEAD, &mut |table| {
            if source.get(table).is_ok() {
                return true;
            }
            match joined.and_then(|before| join(before, table)) {
                Some(both) => joined = Some(both),
                None => {
                    if let Some(Span { offset: at, len }) = joined.replace(table) {
                        report(Absent { offset: at, need: len, want: len });
                    }
                }
            }
            true
        });
        if let Some(Span { offset: at, len }) = joined {
            report(Absent { offset: at, need: len, want: len });
        }
        if let Err(absent) = complete {
            report(absent);
        }
    }

    /// Visits the lookup tables of at most `columns` columns, then their metadata tables,
    /// whose length is unknown. If `visit` returns false, continues with the next kind.
    ///
    /// # Errors
    /// [`Absent`] if the table of contents itself is not resident.
    pub(super) fn tables(
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
                    let len = wide(column.table_len()).min(limits::TABLE_AHEAD);
                    Span::new(wide(column.lookup), len)
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

/// The span of both and the bytes between them, if they are in order and close together.
pub(super) fn join(before: Span, after: Span) -> Option<Span> {
    let reach = before.end()?.checked_add(limits::TABLE_SLACK)?;
    let end = after.end()?.max(before.end()?);
    (after.offset >= before.offset && after.offset <= reach)
        .then(|| Span::between(before.offset, end))
}
