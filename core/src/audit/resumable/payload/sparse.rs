//! Validates the indices of sparse tensors as the data streams through.

use crate::base::{limits::SPARSE_RANK, widen};
use crate::file::{Slot, slot::sort};
use crate::model::{
    Layout, Tensor,
    sparse::{Fault, WORD as WORD_LEN, unit, word},
};

const WORD: u64 = widen(WORD_LEN);

/// A fault, the offset of its word in the decoded data, and the numbers of its finding.
pub(super) type Report<'r> = dyn FnMut(Fault, u64, u64, u64) + 'r;

/// Validates indices and skips values; plain numbers, to be kept between pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sparse {
    rows: bool,
    /// Length of a value in bytes.
    width: u64,
    /// Number of bytes that are reversed together; 1 if nothing is reversed.
    unit: usize,
    /// The dims; if there are too many, they are in the first slots instead.
    dims: [u64; SPARSE_RANK],
    rank: usize,
    pass: Pass,
    /// Length of all data in bytes, if known.
    total: Option<u64>,
    step: Step,
    /// Number of bytes passed.
    at: u64,
    /// Number of bytes of values still to be skipped.
    skip: u64,
    /// The first bytes of an incomplete word.
    carry: [u8; WORD_LEN],
    carried: usize,
    /// Number of words read in this step: coordinates, pointers or columns.
    words: u64,
    /// The linear position of the current entry's coordinates.
    position: u64,
    /// The position of the previous entry, or the previous row pointer.
    before: Option<u64>,
    /// Entries do not ascend, so duplicates need not be neighbours.
    unordered: bool,
    /// Two neighbours have the same coordinates; the entries after them were still read.
    doubled: bool,
    entries: u64,
    /// Number of non-empty rows among the pointers read.
    filled: u64,
    /// Number of rows whose columns were read.
    row: u64,
}

/// How slots are used in each pass over the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pass {
    /// Unused.
    #[default]
    First,
    /// The first entry of each row, where columns start again.
    Rows,
    /// The position of each entry, to be sorted.
    Positions,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Coordinates,
    Pointers,
    Columns,
    /// Everything was read, or validation has ended.
    Over,
}

impl Sparse {
    /// Number of slots for the dims of `tensor`; `None` if none are needed.
    pub(super) fn extents(tensor: &Tensor) -> Option<u64> {
        let rank = u64::from(tensor.dims.rank);
        (tensor.layout == Layout::Coo && rank > widen(SPARSE_RANK)).then_some(rank)
    }

    /// A validator for the indices of `tensor`, with its dims in `slots` if there are many;
    /// `None` if it is not sparse.
    pub(super) fn new(
        tensor: &Tensor,
        dims: impl Iterator<Item = u64>,
        total: Option<u64>,
        slots: &mut [Slot],
    ) -> Option<Self> {
        let mut sparse = Sparse { total, ..Sparse::default() };
        let kept = Sparse::extents(tensor).is_some();
        for dim in dims {
            match kept {
                true => slots.get_mut(sparse.rank)?.key = dim,
                false => *sparse.dims.get_mut(sparse.rank)? = dim,
            }
            sparse.rank = sparse.rank.saturating_add(1);
        }
        sparse.width = u64::from(tensor.dtype.bits() >> 3);
        sparse.unit = unit(tensor);
        match tensor.layout {
            Layout::Coo if sparse.rank > 0 => {}
            Layout::Csr if sparse.rank == 2 => {
                sparse.rows = true;
                sparse.step = Step::Pointers;
            }
            _ => return None,
        }
        Some(sparse)
    }

    /// A validator for the next pass over the same tensor.
    pub(super) fn again(&self) -> Self {
        let Sparse { rows, width, unit, dims, rank, total, .. } = *self;
        let (step, pass) = match (rows, self.pass) {
            (true, Pass::First) => (Step::Pointers, Pass::Rows),
            (true, _) => (Step::Pointers, Pass::Positions),
            _ => (Step::Coordinates, Pass::Positions),
        };
        Sparse { rows, width, unit, dims, rank, total, step, pass, ..Sparse::default() }
    }

    /// Number of slots needed to read the data again; `None` if that is not necessary.
    pub(super) fn needs(&self) -> Option<u64> {
        let slots = match self.pass {
            Pass::First if self.rows => self.filled,
            Pass::Positions => return None,
            _ => self.entries.saturating_add(widen(self.before_entries())),
        };
        (self.unordered && !self.doubled).then_some(slots)
    }

    /// The fault, offset and number of two stored entries at the same position.
    pub(super) fn twin(&self, slots: &mut [Slot]) -> Option<(Fault, u64, u64)> {
        if self.pass != Pass::Positions {
            return None;
        }
        let entries = usize::try_from(self.entries).unwrap_or(0);
        let slots = slots.get_mut(self.before_entries()..)?.get_mut(..entries)?;
        sort(slots);
        let [_, twin] = slots.array_windows().find(|[one, two]| one.key == two.key)?;
        if self.rows {
            let [_, columns, ..] = self.dims;
            return Some((Fault::ColumnTwice, twin.at, twin.key.checked_rem(columns)?));
        }
        Some((Fault::Duplicate, twin.at, twin.key))
    }

    /// Number of slots that hold dims.
    fn before_entries(&self) -> usize {
        if self.rank > SPARSE_RANK { self.rank } else { 0 }
    }

    /// Dim `axis`.
    fn dim(&self, axis: usize, slots: &[Slot]) -> u64 {
        let dim = match self.before_entries() {
            0 => self.dims.get(axis).copied(),
            _ => slots.get(axis).map(|slot| slot.key),
        };
        dim.unwrap_or(0)
    }

    /// The slot of entry `entry`.
    fn slot<'s>(&self, entry: u64, slots: &'s mut [Slot]) -> Option<&'s mut Slot> {
        let place = usize::try_from(entry).ok()?.checked_add(self.before_entries())?;
        slots.get_mut(place)
    }

    /// Most bytes that the data can decode to: every position once.
    pub(super) fn most(&self, elements: u64) -> u64 {
        let words = if self.rows { 1 } else { widen(self.rank) };
        let entry = words.saturating_mul(WORD).saturating_add(self.width);
        let pointers = match (self.rows, self.dims) {
            (true, [rows, ..]) => rows.saturating_add(1).saturating_mul(WORD),
            _ => 0,
        };
        elements.saturating_mul(entry).saturating_add(pointers)
    }

    /// Validates the next decoded bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8], slots: &mut [Slot], report: &mut Report<'_>) {
        while !bytes.is_empty() {
            if self.step == Step::Over && self.skip == 0 {
                if self.rows {
                    let len = self.at.saturating_add(widen(bytes.len()));
                    self.miscounted(self.at, len, report);
                }
                return;
            }
            if self.skip > 0 {
                let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
                self.skip = self.skip.saturating_sub(widen(skipped));
                self.at = self.at.saturating_add(widen(skipped));
                bytes = bytes.get(skipped..).unwrap_or_default();
                continue;
            }
            let missing = self.carry.len().saturating_sub(self.carried);
            let (head, rest) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
            let free = self.carry.get_mut(self.carried..).unwrap_or_default();
            free.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
            self.carried = self.carried.saturating_add(head.len());
            bytes = rest;
            if self.carried == self.carry.len() {
                self.carried = 0;
                let at = self.at;
                self.at = at.saturating_add(WORD);
                self.word(word(self.carry, self.unit), at, slots, report);
            }
        }
    }

    /// Finishes at the end of the data.
    pub(super) fn finish(&mut self, report: &mut Report<'_>) {
        let inside = self.carried > 0 || self.skip > 0 || self.words > 0;
        match self.step {
            Step::Coordinates if inside => {
                let (at, found) = (self.at, self.at.saturating_add(widen(self.carried)));
                let entry = widen(self.rank).saturating_mul(WORD).saturating_add(self.width);
                self.over();
                report(Fault::Partial, at, entry, found);
            }
            Step::Pointers | Step::Columns => self.miscounted(self.at, self.at, report),
            Step::Over if self.skip > 0 => self.miscounted(self.at, self.at, report),
            _ => {}
        }
    }

    fn word(&mut self, word: u64, at: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        match self.step {
            Step::Coordinates => self.coordinate(word, at, slots, report),
            Step::Pointers => self.pointer(word, at, slots, report),
            Step::Columns => self.column(word, at, slots, report),
            Step::Over => {}
        }
    }

    fn coordinate(&mut self, word: u64, at: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        let axis = usize::try_from(self.words).unwrap_or(usize::MAX);
        let dim = self.dim(axis, slots);
        if word >= dim {
            self.over();
            report(Fault::Coordinate, at, dim, word);
            return;
        }
        // The product of the dims fits in 64 bits, and so does every position.
        self.position = self.position.saturating_mul(dim).saturating_add(word);
        self.words = self.words.saturating_add(1);
        if self.words < widen(self.rank) {
            return;
        }
        let position = core::mem::take(&mut self.position);
        if self.pass == Pass::Positions {
            if let Some(slot) = self.slot(self.entries, slots) {
                *slot = Slot { key: position, at, who: 0 };
            }
        } else if self.before == Some(position) && !self.doubled {
            // What follows may be worse.
            self.doubled = true;
            report(Fault::Duplicate, at, self.entries, position);
        }
        self.unordered |= self.before > Some(position);
        self.before = Some(position);
        self.entries = self.entries.saturating_add(1);
        self.words = 0;
        self.skip = self.width;
    }

    fn column(&mut self, word: u64, at: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        let [_, columns, ..] = self.dims;
        if word >= columns {
            self.over();
            report(Fault::Column, at, columns, word);
            return;
        }
        let entry = self.words;
        if self.pass != Pass::First
            && self.row < self.filled
            && self.slot(self.row, slots).is_some_and(|slot| slot.who == entry)
        {
            self.row = self.row.saturating_add(1);
            self.before = None;
        }
        if self.pass != Pass::First && self.before == Some(word) {
            self.over();
            report(Fault::ColumnTwice, at, entry, word);
            return;
        }
        self.unordered |= self.before >= Some(word);
        self.before = Some(word);
        if self.pass == Pass::Positions {
            // Empty rows are not counted, so this is at most the entry's position.
            let position = self.row.wrapping_sub(1).wrapping_mul(columns).wrapping_add(word);
            if let Some(slot) = self.slot(entry, slots) {
                // The starts of rows stay in `who`.
                (slot.key, slot.at) = (position, at);
            }
        }
        self.words = entry.saturating_add(1);
        if self.words >= self.entries {
            self.step = Step::Over;
            self.skip = self.entries.saturating_mul(self.width);
        }
    }

    fn pointer(&mut self, word: u64, at: u64, slots: &mut [Slot], report: &mut Report<'_>) {
        let [rows, ..] = self.dims;
        let sound = match self.before {
            None => word == 0,
            Some(before) => word >= before,
        };
        if !sound {
            self.over();
            report(Fault::Pointer, at, self.before.unwrap_or(0), word);
            return;
        }
        if let Some(start) = self.before.filter(|start| word > *start) {
            if self.pass != Pass::First
                && let Some(slot) = self.slot(self.filled, slots)
            {
                slot.who = start;
            }
            self.filled = self.filled.saturating_add(1);
        }
        self.before = Some(word);
        if self.words < rows {
            self.words = self.words.saturating_add(1);
            return;
        }
        // The last pointer counts the entries.
        let entry = WORD.saturating_add(self.width);
        if let Some(total) = self.total {
            let room = total.saturating_sub(self.at).checked_div(entry).unwrap_or(0);
            if word != room {
                self.over();
                report(Fault::Count, at, room, word);
                return;
            }
        }
        self.entries = word;
        self.words = 0;
        self.before = None;
        self.step = if word == 0 { Step::Over } else { Step::Columns };
    }

    /// Reports data of `len` bytes or more that has more or fewer entries than the row pointers say.
    fn miscounted(&mut self, at: u64, len: u64, report: &mut Report<'_>) {
        let [rows, ..] = self.dims;
        let pointers = rows.saturating_add(1).saturating_mul(WORD);
        let entry = WORD.saturating_add(self.width);
        let found = match self.step {
            Step::Pointers => self.before.unwrap_or(0),
            _ => self.entries,
        };
        let whole = len.saturating_sub(pointers).checked_div(entry).unwrap_or(0);
        // A part of a further entry is one too many.
        let room = if whole == found { found.saturating_add(1) } else { whole };
        self.over();
        report(Fault::Count, at, room, found);
    }

    /// Ends validation after the first fault: the meaning of what follows is unknown.
    fn over(&mut self) {
        self.step = Step::Over;
        self.rows = false;
        self.skip = 0;
        self.carried = 0;
        self.words = 0;
        self.unordered = false;
    }
}
