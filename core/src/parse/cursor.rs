//! The position of an iteration over a file of one format.

use crate::base::features::WINDOWS;
use crate::rule::Halt;

/// State that a format keeps from one entry to the next.
pub(crate) trait State: Copy {
    /// Before the first entry.
    const START: Self;

    /// Before an entry that is read out of order.
    const ALONE: Self = Self::START;
}

/// A format that keeps no state.
impl State for () {
    const START: () = ();
}

/// The position of an iteration over a file of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cursor<S> {
    /// Offset of the next entry; 0 at the start.
    pub(crate) at: u64,
    /// Position of the next entry in its table.
    pub(crate) index: u32,
    /// The current table, for iterations over several.
    pub(crate) phase: u8,
    /// No entry follows: the table has ended, or the rest cannot be parsed.
    pub(crate) done: bool,
    /// The format's state.
    pub(crate) state: S,
}

impl<S> Cursor<S> {
    /// An unknown number in a state.
    pub(crate) const UNKNOWN: u64 = u64::MAX;
}

impl<S: State> Cursor<S> {
    /// The start.
    pub(crate) const START: Self =
        Cursor { at: 0, index: 0, phase: 0, done: false, state: S::START };

    /// A cursor before the entry at `at`, for reading out of order.
    pub(crate) const fn before(at: u64, index: u32) -> Self {
        Cursor { at, index, state: S::ALONE, ..Cursor::START }
    }

    /// Advances past an entry that ended at `at`.
    pub(crate) fn advance(&mut self, at: u64) {
        self.at = at;
        self.index = self.index.wrapping_add(1);
    }

    /// Runs a step, and leaves the cursor unchanged if it stops.
    ///
    /// In a build without windows no step is repeated, so the cursor may change even if the step
    /// stops.
    #[inline(always)]
    pub(crate) fn step<O>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<O, Halt>,
    ) -> Result<O, Halt> {
        if !WINDOWS {
            return step(self);
        }
        let mut next = *self;
        let result = step(&mut next);
        if result.is_ok() {
            *self = next;
        }
        result
    }

    /// Ends the iteration.
    pub(crate) fn finish(&mut self) {
        self.done = true;
    }

    /// Moves to the next table.
    pub(crate) fn next_phase(&mut self) {
        let phase = self.phase.wrapping_add(1);
        *self = Cursor { phase, ..Cursor::START };
    }
}

impl<S: State> Default for Cursor<S> {
    fn default() -> Self {
        Cursor::START
    }
}
