//! Validates the indices of sparse tensors that have them in parts of their own, as each part is
//! decoded: row pointers, then columns; or coordinates. The number of entries follows from the row
//! pointers, or from the values.

use crate::base::{division::div_rem, widen};
use crate::file::{Slot, slot::sort};
use crate::model::{
    Chunk, DType, Tensor,
    parted::Parted,
    sparse::{Fault, WORD},
};

/// A fault, the offset of its index in the decoded part, and the numbers of its finding.
pub(super) type Report<'r> = dyn FnMut(Fault, u64, u64, u64) + 'r;

/// Progress through the parts; plain numbers, to be kept between pieces.
///
/// Slots hold the row pointers, if columns must ascend; or the dims, then the position of each
/// entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indices {
    parts: Parted,
    pass: Pass,
    rank: u64,
    rows: u64,
    columns: u64,
    /// The type of a value.
    dtype: DType,
    /// Number of entries, once it is known.
    count: Option<u64>,
    /// The first bytes of an incomplete index, as a number, and how many.
    carry: u64,
    carried: u8,
    /// Number of indices read in this pass.
    read: u64,
    /// The index before, in the same row.
    before: Option<u64>,
    /// Row of the current column; dimension and entry of the current coordinate.
    row: u64,
    axis: u64,
    entry: u64,
    /// The first column that does not ascend: its number, that before it, and itself.
    fallen: Option<(u64, u64, u64)>,
    /// A fault ends all passes.
    over: bool,
}

/// The part that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Pointers,
    Columns,
    Coordinates,
    /// Values, only for their number.
    Values,
    Over,
}

impl Indices {
    /// A validator for `parts` of `tensor`, which has these dims.
    pub(super) fn new(
        parts: Parted,
        tensor: &Tensor,
        mut dims: impl Iterator<Item = u64>,
    ) -> Option<Indices> {
        let rank = tensor.dims.rank.into();
        let width = u64::from(parts.width);
        let (rows, columns) = (dims.next().unwrap_or(0), dims.next().unwrap_or(0));
        let each = width.saturating_mul(if parts.pointers.is_some() { 1 } else { rank });
        let stated = parts.indices.decoded.and_then(|bytes| div_rem(bytes, each));
        let mut indices = Indices {
            parts,
            pass: Pass::Pointers,
            rank,
            rows,
            columns,
            dtype: tensor.dtype,
            count: stated.map(|(count, _)| count),
            carry: 0,
            carried: 0,
            read: 0,
            before: None,
            row: 0,
            axis: 0,
            entry: 0,
            fallen: None,
            over: false,
        };
        if parts.pointers.is_none() {
            indices.pass = if indices.count.is_some() { Pass::Coordinates } else { Pass::Values };
        }
        Some(indices)
    }

    /// The part that this pass decodes, with the length that is due; `None` after the last pass.
    pub(super) fn chunk(&self) -> Option<Chunk> {
        let width = u64::from(self.parts.width);
        // No stream is as long as a length that overflows.
        let words = |count: u64| count.saturating_mul(width);
        let (chunk, due) = match self.pass {
            Pass::Pointers => (self.parts.pointers?, Some(words(self.rows.saturating_add(1)))),
            Pass::Columns => (self.parts.indices, self.count.map(words)),
            Pass::Coordinates => {
                let indices = self.count.map(|count| count.saturating_mul(self.rank));
                (self.parts.indices, indices.map(words))
            }
            Pass::Values => {
                let overflow = (self.dtype.bits() != 0).then_some(u64::MAX);
                (
                    self.parts.values,
                    self.count.and_then(|count| self.dtype.bytes(count).or(overflow)),
                )
            }
            Pass::Over => return None,
        };
        Some(Chunk { decoded: chunk.decoded.or(due), ..chunk })
    }

    /// Whether only this pass tells the length of its part. Any other part with a faulty stream is
    /// reported by itself.
    pub(super) fn is_measured(&self) -> bool {
        let stated = match self.pass {
            Pass::Pointers => self.parts.pointers.and_then(|chunk| chunk.decoded),
            Pass::Columns | Pass::Coordinates => self.parts.indices.decoded,
            Pass::Values => self.parts.values.decoded,
            Pass::Over => None,
        };
        stated.is_none()
    }

    /// Number of slots that this pass needs.
    pub(super) fn slots(&self) -> u64 {
        match self.pass {
            Pass::Pointers if self.parts.ascends => self.rows.saturating_add(1),
            Pass::Coordinates => self.count.unwrap_or(u64::MAX).saturating_add(self.rank),
            _ => 0,
        }
    }

    /// Whether a fault was found, so that nothing more is read.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Puts the dims where the coordinates are compared with them.
    pub(super) fn place(&self, dims: impl Iterator<Item = u64>, slots: &mut [Slot]) {
        if self.pass == Pass::Coordinates {
            slots.iter_mut().zip(dims).for_each(|(slot, dim)| slot.key = dim);
        }
    }

    /// Validates the next decoded bytes of this pass.
    pub(super) fn feed(&mut self, piece: &[u8], slots: &mut [Slot], report: &mut Report<'_>) {
        if self.pass == Pass::Values {
            self.read = self.read.saturating_add(widen(piece.len()));
            return;
        }
        for byte in piece {
            if self.over {
                return;
            }
            let shift = u32::from(self.carried).wrapping_mul(8);
            self.carry |= u64::from(*byte).checked_shl(shift).unwrap_or(0);
            self.carried = self.carried.wrapping_add(1);
            if self.carried >= self.parts.width {
                let index = core::mem::take(&mut self.carry);
                self.carried = 0;
                self.index(index, slots, report);
                self.read = self.read.saturating_add(1);
            }
        }
    }

    /// Finishes a part that was decoded to its end, and turns to the next.
    pub(super) fn finish(&mut self, slots: &mut [Slot], report: &mut Report<'_>) {
        match self.pass {
            _ if self.over => {}
            Pass::Pointers => self.counted(report),
            Pass::Columns => self.ordered(report),
            Pass::Coordinates => self.compare(slots, report),
            Pass::Values if self.count.is_none() => self.measured(report),
            _ => {}
        }
        let measured = self.parts.values.decoded.is_none();
        self.pass = match self.pass {
            _ if self.over => Pass::Over,
            Pass::Pointers => Pass::Columns,
            Pass::Columns if measured => Pass::Values,
            Pass::Values if self.parts.pointers.is_none() => Pass::Coordinates,
            _ => Pass::Over,
        };
        (self.read, self.before, self.carried, self.carry) = (0, None, 0, 0);
    }

    /// Ends all passes without a finding of their own.
    pub(super) fn stop(&mut self) {
        (self.over, self.pass) = (true, Pass::Over);
    }

    fn index(&mut self, index: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        match self.pass {
            Pass::Pointers => self.pointer(index, slots, report),
            Pass::Columns => self.column(index, slots, report),
            Pass::Coordinates => self.coordinate(index, slots, report),
            Pass::Values | Pass::Over => {}
        }
    }

    fn fail(&mut self, report: &mut Report<'_>, fault: Fault, expected: u64, found: u64) {
        self.over = true;
        let at = self.read.saturating_mul(self.parts.width.into());
        report(fault, at, expected, found);
    }

    fn pointer(&mut self, pointer: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        let least = self.before.unwrap_or(0);
        if pointer < least || (self.before.is_none() && pointer != 0) {
            return self.fail(report, Fault::Pointer, least, pointer);
        }
        self.before = Some(pointer);
        if self.parts.ascends
            && let Some(slot) = usize::try_from(self.read).ok().and_then(|at| slots.get_mut(at))
        {
            slot.key = pointer;
        }
    }

    /// Takes the number of entries from the length of the values.
    fn measured(&mut self, report: &mut Report<'_>) {
        let bits = self.read.saturating_mul(8);
        let count = div_rem(bits, self.dtype.bits().into()).map_or(0, |(count, _)| count);
        let whole = self.dtype.bytes(count).unwrap_or(0);
        if whole != self.read {
            self.over = true;
            report(Fault::Partial, 0, self.dtype.bytes(1).unwrap_or(0), self.read);
        }
        self.count = Some(count);
    }

    /// Compares the last row pointer with the number of entries, if that is stated.
    fn counted(&mut self, report: &mut Report<'_>) {
        let last = self.before.unwrap_or(0);
        match self.count {
            Some(count) if count != last => {
                self.read = self.rows;
                self.fail(report, Fault::Count, count, last);
            }
            _ => self.count = Some(last),
        }
    }

    fn column(&mut self, column: u64, slots: &[Slot], report: &mut Report<'_>) {
        if column >= self.columns {
            self.ordered(report);
            return self.fail(report, Fault::Column, self.columns, column);
        }
        if !self.parts.ascends {
            return;
        }
        let end_of = |row: u64| {
            let next = usize::try_from(row).ok().and_then(|row| row.checked_add(1));
            next.and_then(|next| slots.get(next)).map_or(u64::MAX, |slot| slot.key)
        };
        while self.read >= end_of(self.row) {
            (self.row, self.before) = (self.row.saturating_add(1), None);
        }
        if let (Some(before), None) = (self.before, self.fallen)
            && column <= before
        {
            // A column after it may be outside, which is worse.
            self.fallen = Some((self.read, before, column));
        }
        self.before = Some(column);
    }

    /// Reports the first column that does not ascend.
    fn ordered(&mut self, report: &mut Report<'_>) {
        if let Some((number, before, column)) = self.fallen.take() {
            let at = number.saturating_mul(self.parts.width.into());
            report(Fault::ColumnTwice, at, before, column);
        }
    }

    fn coordinate(&mut self, index: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        let slot_of = |number: u64| usize::try_from(number).ok();
        let dim = slot_of(self.axis).and_then(|axis| slots.get(axis)).map_or(0, |slot| slot.key);
        if index >= dim {
            return self.fail(report, Fault::Coordinate, dim, index);
        }
        let at = self.read.saturating_mul(u64::from(self.parts.width));
        let place = slot_of(self.rank.saturating_add(self.entry));
        if let Some(slot) = place.and_then(|place| slots.get_mut(place)) {
            // The product of the dims fits in 64 bits, and so does every position.
            let outer = if self.axis == 0 { 0 } else { slot.key.saturating_mul(dim) };
            *slot = Slot { key: outer.saturating_add(index), at, who: self.entry };
        }
        self.entry = self.entry.saturating_add(1);
        if Some(self.entry) >= self.count {
            (self.entry, self.axis) = (0, self.axis.saturating_add(1));
        }
    }

    /// Looks for two entries with the same coordinates.
    fn compare(&mut self, slots: &mut [Slot], report: &mut Report<'_>) {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (rank, count) = (number(self.rank), number(self.count.unwrap_or(0)));
        let placed = slots.get_mut(rank..).and_then(|slots| slots.get_mut(..count));
        let slots = placed.unwrap_or_default();
        sort(slots);
        let twin = slots.array_windows().find(|[one, two]| one.key == two.key);
        if let Some([_, twin]) = twin {
            report(Fault::Duplicate, twin.at, 0, twin.who);
        }
    }
}

/// An index takes at most one word.
#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(WORD == size_of::<u64>());
