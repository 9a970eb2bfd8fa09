//! Indices of sparse tensors, as they stream by.

use crate::slot::Slot;
use crate::source::widen;
use crate::sparse::{Fault, WORD as WORD_LEN, unit, word};
use crate::tensor::{Layout, Tensor};

/// The highest rank that coordinates are checked for: their extents are kept
/// while data is read, and real sparse tensors have two or three.
const RANK: usize = 8;

const WORD: u64 = widen(WORD_LEN);

/// A fault, the offset of its word in the decoded data, and the numbers of its
/// finding.
pub(super) type Report<'r> = dyn FnMut(Fault, u64, u64, u64) + 'r;

/// Reads indices and passes over values: plain numbers, to be kept between
/// pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sparse {
    rows: bool,
    /// Bytes of a value.
    width: u64,
    /// Bytes that are reversed together: 1 where nothing is.
    unit: usize,
    dims: [u64; RANK],
    rank: usize,
    /// Bytes of all of the data, where that is known.
    total: Option<u64>,
    step: Step,
    /// Bytes that were passed.
    at: u64,
    /// Bytes of values that are to be passed over.
    skip: u64,
    /// The beginning of a word.
    carry: [u8; WORD_LEN],
    carried: usize,
    /// Words of this step that were read: coordinates, pointers, columns.
    words: u64,
    /// The position that the coordinates of an entry amount to.
    position: u64,
    /// That of the entry before, or the row pointer before.
    before: Option<u64>,
    /// Entries do not ascend, so that repeated ones are not neighbours.
    unordered: bool,
    entries: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Coordinates,
    Pointers,
    Columns,
    /// All was read, or nothing more is judged.
    Over,
}

impl Sparse {
    /// A reader of the indices of `tensor`; `None` if it is not sparse, or of
    /// too high a rank.
    pub(super) fn new(
        tensor: &Tensor,
        dims: impl Iterator<Item = u64>,
        total: Option<u64>,
    ) -> Option<Self> {
        let mut sparse = Sparse { total, ..Sparse::default() };
        for dim in dims {
            *sparse.dims.get_mut(sparse.rank)? = dim;
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

    /// The same tensor from its start.
    pub(super) fn again(&self) -> Self {
        let Sparse { rows, width, unit, dims, rank, total, .. } = *self;
        let step = if rows { Step::Pointers } else { Step::Coordinates };
        Sparse { rows, width, unit, dims, rank, total, step, ..Sparse::default() }
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

    /// Whether repeated coordinates are only found by sorting.
    pub(super) fn needs_sorting(&self) -> bool {
        self.unordered
    }

    /// Entries that were read completely.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// The next decoded bytes. With `slots`, the positions of entries are
    /// noted there.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut slots: Option<&mut [Slot]>,
        report: &mut Report<'_>,
    ) {
        while !bytes.is_empty() {
            if self.step == Step::Over && self.skip == 0 {
                if self.rows {
                    let found = self.at.saturating_add(widen(bytes.len()));
                    self.give_up(Fault::Count, self.at, found, report);
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
                self.word(word(self.carry, self.unit), at, &mut slots, report);
            }
        }
    }

    /// The data is over.
    pub(super) fn finish(&mut self, report: &mut Report<'_>) {
        let inside = self.carried > 0 || self.skip > 0 || self.words > 0;
        match self.step {
            Step::Coordinates if inside => self.give_up(Fault::Partial, self.at, 0, report),
            Step::Pointers | Step::Columns => self.give_up(Fault::Count, self.at, self.at, report),
            Step::Over if self.skip > 0 => self.give_up(Fault::Count, self.at, self.at, report),
            _ => {}
        }
    }

    fn word(
        &mut self,
        word: u64,
        at: u64,
        slots: &mut Option<&mut [Slot]>,
        report: &mut Report<'_>,
    ) {
        match self.step {
            Step::Coordinates => self.coordinate(word, at, slots, report),
            Step::Pointers => self.pointer(word, at, report),
            Step::Columns => {
                let [_, columns, ..] = self.dims;
                if word >= columns {
                    self.over();
                    report(Fault::Column, at, columns, word);
                    return;
                }
                self.words = self.words.saturating_add(1);
                if self.words >= self.entries {
                    self.step = Step::Over;
                    self.skip = self.entries.saturating_mul(self.width);
                }
            }
            Step::Over => {}
        }
    }

    fn coordinate(
        &mut self,
        word: u64,
        at: u64,
        slots: &mut Option<&mut [Slot]>,
        report: &mut Report<'_>,
    ) {
        let axis = usize::try_from(self.words).unwrap_or(usize::MAX);
        let dim = self.dims.get(axis).copied().unwrap_or(0);
        if word >= dim {
            self.over();
            report(Fault::Coordinate, at, dim, word);
            return;
        }
        // The product of the extents fits, and so does a position below it.
        self.position = self.position.saturating_mul(dim).saturating_add(word);
        self.words = self.words.saturating_add(1);
        if self.words < widen(self.rank) {
            return;
        }
        let position = core::mem::take(&mut self.position);
        if let Some(slots) = slots {
            let slot = usize::try_from(self.entries).ok().and_then(|i| slots.get_mut(i));
            if let Some(slot) = slot {
                *slot = Slot { key: position, at, who: 0 };
            }
        } else if self.before == Some(position) {
            self.over();
            report(Fault::Duplicate, at, self.entries, position);
            return;
        }
        self.unordered |= self.before > Some(position);
        self.before = Some(position);
        self.entries = self.entries.saturating_add(1);
        self.words = 0;
        self.skip = self.width;
    }

    fn pointer(&mut self, word: u64, at: u64, report: &mut Report<'_>) {
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
        self.step = if word == 0 { Step::Over } else { Step::Columns };
    }

    /// Reports a fault of the data's length: `found` bytes, more or fewer than
    /// the indices say.
    fn give_up(&mut self, fault: Fault, at: u64, found: u64, report: &mut Report<'_>) {
        self.over();
        report(fault, at, at, found);
    }

    /// One fault is enough: what follows cannot be told apart any more.
    fn over(&mut self) {
        self.step = Step::Over;
        self.rows = false;
        self.skip = 0;
        self.carried = 0;
        self.words = 0;
        self.unordered = false;
    }
}
