//! The regions of a file, and which of its tables are not resident.

use super::toc::Column;
use super::{Header, field};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::limits;
use crate::read::{Halt, Reader};
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
        let file = |part, span| Some(Region { part, span, kind: Kind::File, entry: 0 });
        loop {
            if r.is_spent() {
                c.finish();
                return Ok(None);
            }
            let found = match c.phase {
                phase::HEADER => {
                    c.next_phase();
                    file(Part::Header, Span::new(0, field::HEADER))
                }
                phase::BLOCKS => self.next_block(r, c)?,
                phase::LOOKUPS => match self.step(r, c)? {
                    Some((column, _)) => of_column(Part::Table, column.place.lookup, c),
                    None => None,
                },
                phase::METADATA => self.next_metadata(r, c)?,
                phase::TOC => {
                    let toc = Span::between(self.toc, c.at);
                    c.next_phase();
                    file(Part::Table, toc).filter(|_| !toc.is_empty())
                }
                phase::TAIL => {
                    c.next_phase();
                    file(Part::Tail, Span::new(self.tail, field::TAIL))
                }
                _ => {
                    c.finish();
                    return Ok(None);
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The next column and the offset of its entry; behind the last one, goes
    /// on with the next phase.
    fn step(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<(Column, u64)>, Halt> {
        let at = if c.index == 0 { self.toc } else { c.at };
        match self.next_column(r, c)? {
            Some(column) => Ok(Some((column, at))),
            None => {
                let end = if c.index == 0 { self.toc } else { c.at };
                c.next_phase();
                if c.phase == phase::TOC {
                    c.at = end;
                }
                Ok(None)
            }
        }
    }

    fn next_block(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let [at, left, entry, _] = c.inner;
        if left == 0 {
            if let Some((column, entry)) = self.step(r, c)? {
                let left = if column.sound { column.place.blocks } else { 0 };
                r.charge(left.saturating_mul(field::LOOKUP));
                c.inner = [column.place.lookup.at, left, entry, 0];
            }
            return Ok(None);
        }
        let from = Cursor::before(entry, c.index.wrapping_sub(1));
        let found = self.lookup(r, at, left, from)?;
        c.inner = [at.wrapping_add(field::LOOKUP), left.wrapping_sub(1), entry, 0];
        Ok(found.block(self).and_then(|span| of_column(Part::Payload, span, c)))
    }

    /// The next block of an annotation, metadata table of contents, or slot
    /// names.
    fn next_metadata(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Region>, Halt> {
        let [metadata, at, left, entry] = c.inner;
        if metadata == 0 {
            let Some((column, entry)) = self.step(r, c)? else {
                return Ok(None);
            };
            c.inner = [column.place.metadata, 0, 0, entry];
            return Ok(of_column(Part::Metadata, column.place.slots, c));
        }
        let from = Cursor::before(entry, c.index.wrapping_sub(1));
        if at == 0 {
            let (at, left) = self.count(r, metadata, from)?.unwrap_or_default();
            c.inner = if at == 0 { [0; 4] } else { [metadata, at, left, entry] };
            return Ok(None);
        }
        if left == 0 {
            c.inner = [0; 4];
            return Ok(of_column(Part::Table, Span::between(metadata, at), c));
        }
        let next = if self.runs_out(metadata, at) {
            None
        } else {
            self.annotation(r, metadata, at, from)?
        };
        let Some(next) = next else {
            c.inner = [0; 4];
            return Ok(None);
        };
        c.inner = [metadata, next.end, left.wrapping_sub(1), entry];
        let region = of_column(Part::Metadata, next.block, c);
        Ok(region.map(|region| Region { kind: Kind::Attribute, ..region }))
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
    pub(super) fn widen(&self, r: &mut Reader<'_, '_>, column: Cursor) {
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
    pub(super) fn widen(&self, _: &mut Reader<'_, '_>, _: Cursor) {}

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
            while left > 0 {
                let column = match self.next_column(&mut r, &mut c) {
                    Ok(Some(column)) => column,
                    Err(Halt::ABSENT) => return Err(r.absent()),
                    _ => break,
                };
                left = left.saturating_sub(1);
                let place = column.place;
                let table = if lookups {
                    let len = place.lookup.len.min(limits::TABLE_AHEAD);
                    Span::new(place.lookup.at, len)
                } else if place.metadata != 0 {
                    let end = place.metadata.saturating_add(limits::METADATA_AHEAD);
                    Span::between(place.metadata, end.min(self.tail))
                } else {
                    place.slots
                };
                if !table.is_empty() && !visit(table) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A region of the column that the cursor has just passed, unless it is empty.
fn of_column(part: Part, span: Span, c: &Cursor) -> Option<Region> {
    let entry = c.index.wrapping_sub(1);
    (!span.is_empty()).then_some(Region { part, span, kind: Kind::Tensor, entry })
}

/// Both spans and what lies between them, if they are neighbours in order.
fn join(before: Span, after: Span) -> Option<Span> {
    let reach = before.end()?.checked_add(limits::TABLE_SLACK)?;
    let end = after.end()?.max(before.end()?);
    (after.at >= before.at && after.at <= reach).then(|| Span::between(before.at, end))
}
