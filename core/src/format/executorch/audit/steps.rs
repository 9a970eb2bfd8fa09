//! The audit of files in windows. It runs in phases; this file has what they share, and the bytes
//! outside the flatbuffer.

mod call;
mod operators;
mod plan;

use super::{LEAST, MOST, instruction};
use crate::base::widen;
use crate::format::executorch::open::place_of;
use crate::format::executorch::segment::Segments;
use crate::format::executorch::{Cursor, Header, rules};
use crate::format::flatbuffer::reads::{self, Reads, Vector, offsets, some};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Where the audit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::executorch) struct Run {
    /// Number of the current entry: a segment, a method, a list of offsets.
    pub(super) entry: u32,
    /// The current step within it.
    pub(super) step: u8,
    /// The list that is read, and the number of its items passed.
    pub(super) list: Vector,
    pub(super) passed: u32,
    /// The current value, chain or device of a method, and the current instruction of a chain.
    pub(super) part: u32,
    pub(super) instruction: u32,
    /// The current method.
    plan: plan::Plan,
    /// The instructions of the current chain.
    pub(super) instructions: Vector,
    /// Kind of the current list of values.
    pub(super) kind: u32,
    /// Where the next segment begins.
    next: u64,
    /// Where segments have ended so far, or the number of bytes of one.
    pub(super) end: u64,
    /// What is said once was said.
    pub(super) told: bool,
    /// Segments are in order so far.
    pub(super) sorted: bool,
}

impl Run {
    pub(in crate::format::executorch) const START: Run = Run {
        entry: 0,
        step: 0,
        list: Vector::NONE,
        passed: 0,
        part: 0,
        instruction: 0,
        plan: plan::Plan::NONE,
        instructions: Vector::NONE,
        kind: 0,
        next: 0,
        end: 0,
        told: false,
        sorted: true,
    };

    /// Moves to a step, in which `list` is read.
    pub(super) fn go(&mut self, step: u8, list: Vector) {
        (self.step, self.list, self.passed) = (step, list, 0);
    }

    /// The next items of the list, as far as they are resident, `width` bytes each, and the offset
    /// of the first; none after the last. The caller passes them.
    pub(super) fn items<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        width: u8,
    ) -> Result<Option<(&'a [u8], u64)>, Halt> {
        self.list.items(r, self.passed, width)
    }

    /// Passes items.
    pub(super) fn pass(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.passed = self.passed.saturating_add(count);
    }
}

/// The phases.
const CONSTANTS: u8 = 0;
const MUTABLE: u8 = 1;
const PLANS: u8 = 2;
const GAPS: u8 = 3;

/// Continues the audit.
pub(in crate::format::executorch) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    reads::steps(r, c, |r, c| step(header, r, c))
}

fn step(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    r.about(EntryKind::File, 0);
    match c.phase {
        CONSTANTS | MUTABLE if header.is_program() => constants(header, r, c),
        CONSTANTS | MUTABLE => {
            c.next_phase();
            Ok(())
        }
        PLANS => plan::step(header, r, c),
        GAPS => gaps(header, r, c),
        _ => {
            c.finish();
            Ok(())
        }
    }
}

/// Checks lists of offsets in segments: that of constants, or those of mutable tensors.
fn constants(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.step == 1 {
        return offset_list(r, c);
    }
    let count = if c.phase == CONSTANTS { 1 } else { header.mutable.count };
    if run.entry >= count {
        c.next_phase();
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let (index, place, list) = if c.phase == CONSTANTS {
        let place = Span::new(header.constant_at.into(), 4);
        (header.constant, place, header.offsets)
    } else {
        let table = reads.item(header.mutable, run.entry)?;
        let index = reads.small(&table, 0, 4)?;
        (index.value, place_of(index.at(), 4, table.span()), reads.vector(&table, 1)?)
    };
    let segment = Segments::find(header, &mut reads, index)?;
    c.state.memo.clear();
    run.entry = run.entry.saturating_add(1);
    // A single offset stands for no data, and its segment is not read.
    if list.count < 2 {
        return Ok(());
    }
    r.charge(list.span(8).len);
    if !segment.exists() {
        let expected = header.segments.list.count.into();
        r.flag(rules::C_SEGMENT, place.offset, place.len, expected, index.into());
        return Ok(());
    }
    // The place of the segment has been reported.
    run.end = segment.span().map_or(u64::MAX, |span| span.len);
    run.go(1, list);
    Ok(())
}

/// Checks the offsets of a list.
fn offset_list(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let Some((bytes, at)) = run.items(r, 8)? else {
        run.go(0, Vector::NONE);
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<8>();
    for (item, at) in items.iter().zip(offsets(at, 8)) {
        let offset = u64::from_le_bytes(*item);
        if run.passed == 0 {
            r.check(offset == 0, rules::C_FIRST, Span::new(at, 8), 0, offset);
        } else {
            r.check(offset <= run.end, rules::C_OFFSET, Span::new(at, 8), run.end, offset);
        }
        run.pass(1);
    }
    Ok(())
}

/// Checks the bytes between the flatbuffer and segments, between segments, and after the last.
fn gaps(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.end == 0 {
        run.end = header.end.into();
    }
    // What is between segments is not known if they are not in order.
    if header.segments.list.count > 0 && (!header.sorted || header.base() == 0) {
        c.next_phase();
        return Ok(());
    }
    if run.step == 1 {
        return padding(r, c);
    }
    let len = r.source().len();
    if run.entry >= header.segments.list.count {
        let rest = len.saturating_sub(run.end);
        r.check(rest == 0 || run.told, rules::F_TRAILING, Span::new(run.end, rest), 0, rest);
        c.next_phase();
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let span = Segments::find(header, &mut reads, run.entry)?.span();
    c.state.memo.clear();
    run.entry = run.entry.saturating_add(1);
    let Some(span) = span else {
        // What belongs to a segment whose place is wrong is not known.
        run.told = true;
        return Ok(());
    };
    // An empty one may have padding before it.
    let Some(end) = span.end().filter(|end| *end > run.end) else {
        return Ok(());
    };
    if span.offset > run.end {
        run.next = span.offset;
        run.step = 1;
    } else {
        run.end = end;
        return Ok(());
    }
    // The segment is visited again after its padding.
    run.entry = run.entry.saturating_sub(1);
    Ok(())
}

/// Checks the bytes up to the next segment.
fn padding(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let left = run.next.saturating_sub(run.end);
    if left == 0 {
        run.step = 0;
        return Ok(());
    }
    let bytes = some(r, Span::new(run.end, left), 1)?;
    if let Some((at, byte)) = (run.end..).zip(bytes).find(|(_, byte)| **byte != 0) {
        r.flag(rules::S_GAP, at, 1, 0, (*byte).into());
        run.end = run.next;
    } else {
        run.end = run.end.saturating_add(widen(bytes.len()).max(1));
    }
    Ok(())
}
