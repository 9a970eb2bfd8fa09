//! The indices of sparse objects, followed in place: one dimension at a time, in the pieces that
//! are resident.

use super::super::rules;
use super::layout::{Sparse, in_place};
use super::object::{Kind, Object};
use super::{Generation, Header};
use crate::base::division::div_rem;
use crate::base::limits::ZTENSOR_COORDINATES;
use crate::base::widen;
use crate::input::{Absent, Span};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// Number of entries whose coordinates are compared with all others if they are unordered.
const FEW: u64 = 256;

/// One more than the number of dimensions that are followed: the object is read for each.
const MOST: usize = 65;

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Over,
    /// Row pointers.
    Pointers,
    /// The bound of the columns, or of the coordinates in one dimension.
    Bound,
    /// All columns, or the coordinates in one dimension.
    Indices,
    /// The pointers of a row, and its columns.
    Row,
    Columns,
    /// Whether coordinates are equal.
    Twice,
}

/// Progress within the indices of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Follow {
    stage: Stage,
    /// The object, and the number of its entry.
    owner: Span,
    index: u32,
    csr: bool,
    two: bool,
    /// Bytes of an index, and the number of values.
    width: u8,
    count: u64,
    pointers: Span,
    indices: Span,
    rank: u32,
    dim: u32,
    bound: u64,
    /// Number of indices passed in this stage, the end of the row, and the index before.
    done: u64,
    row: u64,
    row_end: u64,
    before: Option<u64>,
    /// Columns that do not ascend were reported.
    disordered: bool,
}

impl Follow {
    pub(super) const NONE: Follow = Follow {
        stage: Stage::Over,
        owner: Span { offset: 0, len: 0 },
        index: 0,
        csr: false,
        two: false,
        width: 8,
        count: 0,
        pointers: Span { offset: 0, len: 0 },
        indices: Span { offset: 0, len: 0 },
        rank: 0,
        dim: 0,
        bound: 0,
        done: 0,
        row: 0,
        row_end: 0,
        before: None,
        disordered: false,
    };

    /// The indices of a valid sparse object.
    pub(super) fn of(
        header: &Header,
        r: &mut Reader<'_, '_>,
        object: &Object<'_>,
        index: u32,
    ) -> Follow {
        let parts = Sparse::of(header, r, object);
        let csr = object.kind == Kind::Csr;
        let Some(indices) = parts.indices else { return Follow::NONE };
        if indices.elsewhere {
            // Reported with the part.
            return Follow::NONE;
        }
        #[cfg(feature = "payloads")]
        if super::parted::of(header, object, &parts).is_some() {
            // The payload stage decodes them.
            return Follow::NONE;
        }
        let (first, rows) = (in_place(&indices), parts.pointers.as_ref().map(in_place));
        let rank = object.shape.map_or(0, |shape| shape.items().take(MOST).count());
        let followed = rows.is_none_or(|rows| rows.is_some()) && rank < MOST;
        let (Some(places), true) = (first, followed) else {
            let place = object.key.span();
            r.flag(rules::INDEX_ENCODED, place.offset, place.len, 0, 0);
            return Follow::NONE;
        };
        let width = u8::try_from(indices.plain.bits() >> 3).unwrap_or(8).max(1);
        let each = if csr { 1 } else { widen(rank).max(1) };
        let bytes = u64::from(width).saturating_mul(each);
        let count = div_rem(places.len, bytes).map_or(0, |(count, _)| count);
        r.charge(places.len.saturating_add(rows.flatten().map_or(0, |rows| rows.len)));
        Follow {
            stage: if csr { Stage::Pointers } else { Stage::Bound },
            owner: Span::between(object.key.at, object.end),
            index,
            csr,
            two: header.generation == Generation::Two,
            width,
            count,
            pointers: rows.flatten().unwrap_or(Follow::NONE.pointers),
            indices: places,
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
            dim: u32::from(csr),
            ..Follow::NONE
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// One step. Each needs one place in the file.
    pub(super) fn step(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        r.about(EntryKind::Tensor, self.index);
        match self.stage {
            Stage::Over => Ok(()),
            Stage::Pointers => self.pointers(r),
            Stage::Bound => self.read_bound(header, r),
            Stage::Indices => self.run(r, self.count),
            Stage::Row => self.next_row(r),
            Stage::Columns => self.run(r, self.row_end),
            Stage::Twice => self.twice(r),
        }
    }

    fn go(&mut self, stage: Stage) {
        (self.stage, self.done, self.before) = (stage, 0, None);
    }

    /// Ends with a fault.
    fn fail(&mut self, r: &mut Reader<'_, '_>, rule: Rule, at: u64, expected: u64, found: u64) {
        r.flag(rule, at, self.width.into(), expected, found);
        self.stage = Stage::Over;
    }

    /// The resident numbers from number `from` of `span` on, at most `most`; at least one.
    fn numbers<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        span: Span,
        from: u64,
        most: u64,
    ) -> Result<impl Iterator<Item = u64> + use<'a>, Halt> {
        let width = usize::from(self.width);
        let at = span.offset.saturating_add(from.saturating_mul(self.width.into()));
        let left = most.saturating_mul(self.width.into());
        let run = r.source().run(at);
        let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
        if run.len() < width && left > 0 {
            let need = u64::from(self.width);
            return Err(r.lack(Absent { offset: at, need, want: left.max(need) }));
        }
        let mut rest = run;
        Ok(core::iter::from_fn(move || {
            let (first, after) = rest.split_at_checked(width)?;
            rest = after;
            Some(first.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        }))
    }

    /// Where number `number` of `span` lies.
    fn place(&self, span: Span, number: u64) -> u64 {
        span.offset.saturating_add(number.saturating_mul(self.width.into()))
    }

    fn pointers(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let total = div_rem(self.pointers.len, self.width.into()).map_or(0, |(total, _)| total);
        let left = total.saturating_sub(self.done);
        for pointer in self.numbers(r, self.pointers, self.done, left)? {
            let before = self.before.unwrap_or(0);
            let falls = pointer < before || (self.before.is_none() && pointer != 0);
            if falls {
                let at = self.place(self.pointers, self.done);
                self.fail(r, rules::SPARSE_CSR_POINTERS, at, before, pointer);
                return Ok(());
            }
            self.before = Some(pointer);
            self.done = self.done.saturating_add(1);
        }
        if self.done < total {
            return Ok(());
        }
        let last = self.before.unwrap_or(0);
        if last != self.count {
            let at = self.place(self.pointers, total.saturating_sub(1));
            self.fail(r, rules::SPARSE_CSR_COUNT, at, self.count, last);
            return Ok(());
        }
        self.go(Stage::Bound);
        Ok(())
    }

    /// Reads the extent of the current dimension.
    fn read_bound(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let object = Object::of(header.generation, r.get(self.owner)?, self.owner.offset);
        let dim = usize::try_from(self.dim).unwrap_or(usize::MAX);
        let extent = object.shape.and_then(|shape| shape.items().nth(dim));
        self.bound = extent.and_then(|extent| extent.uint()).unwrap_or(0);
        self.go(if self.csr && self.two { Stage::Row } else { Stage::Indices });
        Ok(())
    }

    /// Reads the two pointers of the current row.
    fn next_row(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let done = self.done;
        if done >= self.count {
            self.stage = Stage::Over;
            return Ok(());
        }
        let next = self.row.saturating_add(1);
        let end = self.numbers(r, self.pointers, next, 1)?.next().unwrap_or(0);
        (self.row, self.row_end) = (next, end.min(self.count));
        if self.row_end > done {
            self.go(Stage::Columns);
            self.done = done;
        }
        Ok(())
    }

    /// Checks the resident indices up to number `end`.
    fn run(&mut self, r: &mut Reader<'_, '_>, end: u64) -> Result<(), Halt> {
        let first = if self.csr { 0 } else { self.count.saturating_mul(self.dim.into()) };
        let from = first.saturating_add(self.done);
        for index in self.numbers(r, self.indices, from, end.saturating_sub(self.done))? {
            let at = self.place(self.indices, first.saturating_add(self.done));
            if index >= self.bound {
                let coordinate = rules::SPARSE_COO_RANGE;
                let rule = if self.csr { rules::SPARSE_CSR_COLUMN } else { coordinate };
                self.fail(r, rule, at, self.bound, index);
                return Ok(());
            }
            if let (Stage::Columns, Some(before), false) =
                (self.stage, self.before, self.disordered)
                && index <= before
            {
                // A column after it may be outside, which is worse.
                self.disordered = true;
                r.flag(rules::INDEX_ORDER, at, self.width.into(), before, index);
            }
            self.before = Some(index);
            self.done = self.done.saturating_add(1);
        }
        if self.done < end {
            return Ok(());
        }
        self.dim = self.dim.saturating_add(1);
        match self.stage {
            Stage::Columns => {
                let done = self.done;
                self.go(Stage::Row);
                self.done = done;
            }
            _ if self.csr => self.stage = Stage::Over,
            _ if self.dim < self.rank => self.go(Stage::Bound),
            _ => self.go(Stage::Twice),
        }
        Ok(())
    }

    /// Whether two entries have the same coordinates.
    fn twice(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        self.stage = Stage::Over;
        if self.indices.len > ZTENSOR_COORDINATES {
            r.flag(rules::INDEX_TWICE, self.indices.offset, self.indices.len, 0, 0);
            return Ok(());
        }
        let bytes = r.get(self.indices).inspect_err(|_| self.stage = Stage::Twice)?;
        let (width, rank, count) = (usize::from(self.width), self.rank, self.count);
        let entry = |number: u64| {
            (0..rank).map(move |dim| {
                let place = count.saturating_mul(dim.into()).saturating_add(number);
                let at = usize::try_from(place).unwrap_or(usize::MAX).saturating_mul(width);
                let word = bytes.get(at..at.saturating_add(width)).unwrap_or_default();
                word.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
            })
        };
        let mut ordered = true;
        for number in 1..self.count {
            let before = number.saturating_sub(1);
            let order = entry(before).cmp(entry(number));
            ordered &= order.is_lt();
            let compared = !ordered && count <= FEW;
            let equal = order.is_eq()
                || compared && (0..before).any(|other| entry(other).eq(entry(number)));
            if equal {
                let at = self.place(self.indices, number);
                r.flag(rules::SPARSE_COO_DUPLICATE, at, self.width.into(), 0, number);
                return Ok(());
            }
        }
        if !ordered && self.count > FEW {
            r.flag(rules::INDEX_TWICE, self.indices.offset, self.indices.len, 0, 0);
        }
        Ok(())
    }
}
