//! Assigns each element to its cell.

use super::Cell;
use alloc::vec::Vec;
use core::ops::Range;

/// Maps elements to cells. Elements along the last axis are contiguous: the cells of such a run
/// are known in advance, and the other axes advance once per run.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// All axes but the last.
    pub(super) outer: Vec<Axis>,
    pub(super) last: Axis,
    /// The end of each cell on the last axis.
    pub(super) ends: Vec<u64>,
    /// The next cell of the run.
    pub(super) next: usize,
    /// The first cell of the run; `None` if the run is not drawn.
    pub(super) base: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) extent: u64,
    /// Position of the next element.
    pub(super) at: u64,
    /// Positions that are drawn.
    pub(super) drawn: Range<u64>,
    /// Number of cells they are divided into.
    pub(super) cells: u64,
    /// Distance from one cell to the next.
    pub(super) step: u64,
}

impl Axis {
    /// The first cell of the current position; `None` if it is not drawn.
    pub(super) fn cell(&self) -> Option<u64> {
        if !self.drawn.contains(&self.at) {
            return None;
        }
        let (at, len) = (self.at - self.drawn.start, self.drawn.end - self.drawn.start);
        let cell = match at.checked_mul(self.cells) {
            Some(product) => product / len,
            None => (u128::from(at) * u128::from(self.cells) / u128::from(len)) as u64,
        };
        Some(cell * self.step)
    }

    /// The end of cell `i`, exclusive.
    pub(super) fn end(&self, i: u64) -> u64 {
        let len = u128::from(self.drawn.end - self.drawn.start);
        let end = (u128::from(i + 1) * len).div_ceil(u128::from(self.cells.max(1)));
        self.drawn.start + end as u64
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    sum: f64,
    count: u32,
    bad: u32,
    least: f64,
    greatest: f64,
}

impl Walk {
    /// Puts the next elements into their cells.
    pub(super) fn take(&mut self, mut values: &[f64], cells: &mut [Sums]) {
        while !values.is_empty() {
            let left = self.last.extent.saturating_sub(self.last.at);
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(values.len());
            let (run, rest) = values.split_at(len);
            values = rest;
            if let Some(base) = self.base {
                self.run(base, run, cells);
            }
            self.last.at += len as u64;
            if self.last.at >= self.last.extent {
                self.last.at = 0;
                self.forth();
                self.begin();
            }
        }
    }

    /// Adds elements of one run.
    fn run(&mut self, base: u64, mut values: &[f64], cells: &mut [Sums]) {
        let before = self.last.drawn.start.saturating_sub(self.last.at);
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        values = values.get(before..).unwrap_or_default();
        let mut at = self.last.at.max(self.last.drawn.start);
        let Axis { drawn, cells: many, step, .. } = &self.last;
        if *many == drawn.end - drawn.start {
            // One cell per element.
            let first = (base + (at.min(drawn.end) - drawn.start) * step) as usize;
            let left = drawn.end.saturating_sub(at) as usize;
            let cells = cells.get_mut(first..).unwrap_or_default();
            let cells = cells.iter_mut().step_by((*step).max(1) as usize).take(left);
            cells.zip(values).for_each(|(cell, value)| cell.add_one(*value));
            return;
        }
        while !values.is_empty()
            && let Some(end) = self.ends.get(self.next)
        {
            let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(values.len());
            let (head, rest) = values.split_at(len);
            let cell = base + self.next as u64 * self.last.step;
            if let Some(cell) = cells.get_mut(cell as usize) {
                cell.add(head);
            }
            at += len as u64;
            values = rest;
            if at == *end {
                self.next += 1;
            }
        }
    }

    /// Starts a run, possibly in the middle.
    pub(super) fn begin(&mut self) {
        self.base = self.outer.iter().map(Axis::cell).sum();
        self.next = self.ends.partition_point(|end| *end <= self.last.at);
    }

    /// Advances by one run.
    fn forth(&mut self) {
        for axis in self.outer.iter_mut().rev() {
            axis.at += 1;
            if axis.at < axis.extent {
                break;
            }
            axis.at = 0;
        }
    }

    /// Goes back by one element.
    pub(super) fn back(&mut self) {
        for axis in core::iter::once(&mut self.last).chain(self.outer.iter_mut().rev()) {
            match axis.at.checked_sub(1) {
                Some(before) => {
                    axis.at = before;
                    break;
                }
                None => axis.at = axis.extent.saturating_sub(1),
            }
        }
    }
}

impl Sums {
    pub(super) const NONE: Sums =
        Sums { sum: 0.0, count: 0, bad: 0, least: f64::INFINITY, greatest: f64::NEG_INFINITY };

    pub(super) fn cell(&self) -> Cell {
        let Sums { sum, count, bad, least, greatest } = *self;
        if count == 0 {
            return Cell { mean: f32::NAN, least: f32::NAN, greatest: f32::NAN, bad };
        }
        let mean = (sum / f64::from(count)) as f32;
        Cell { mean, least: least as f32, greatest: greatest as f32, bad }
    }

    /// Adds elements. A finite sum proves that all of them are finite.
    fn add(&mut self, values: &[f64]) {
        let Sums { mut least, mut greatest, .. } = *self;
        let mut sum = 0.0;
        for value in values.iter().copied() {
            sum += value;
            least = if value < least { value } else { least };
            greatest = if value > greatest { value } else { greatest };
        }
        if sum.is_finite() {
            *self = Sums { sum: self.sum + sum, least, greatest, ..*self };
            self.count = self.count.saturating_add(values.len() as u32);
        } else {
            values.iter().for_each(|value| self.add_one(*value));
        }
    }

    fn add_one(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count = self.count.saturating_add(1);
            self.least = if value < self.least { value } else { self.least };
            self.greatest = if value > self.greatest { value } else { self.greatest };
        } else {
            self.bad = self.bad.saturating_add(1);
        }
    }
}
