//! The position of an iteration between two calls.

#[cfg(feature = "idv")]
use crate::base::Word;
use crate::rule::Halt;

/// The position of an iteration: plain numbers, to be kept between calls.
///
/// A cursor belongs to one file and one kind of iteration. The default cursor is at the
/// start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Offset of the next entry; 0 at the start.
    pub(crate) at: u64,
    /// State of the format between entries.
    pub(crate) state: u64,
    /// Further state.
    #[cfg(any(
        feature = "bintensors",
        feature = "gguf",
        feature = "safetensors",
        feature = "ztensor"
    ))]
    pub(crate) extra: u64,
    /// Position in an entry's own table, for formats with nested tables.
    #[cfg(any(
        feature = "gguf",
        feature = "safetensors",
        all(feature = "idv", feature = "windows")
    ))]
    pub(crate) inner: [u64; 4],
    /// The same as words, which take less code.
    #[cfg(all(feature = "idv", not(feature = "windows")))]
    pub(crate) table: [Word; 4],
    /// Index of the next entry in its table.
    pub(crate) index: u32,
    /// The current table, for iterations over several.
    pub(crate) phase: u8,
    /// No entry follows: the table has ended, or the rest cannot be parsed.
    pub(crate) done: bool,
    /// The depth inside a list of the previous entry, and whether the innermost list has
    /// strings. If not 0, progress is kept when bytes are missing.
    #[cfg(feature = "gguf")]
    pub(crate) within: u8,
}

impl Cursor {
    /// The start.
    pub(crate) const START: Cursor = Cursor {
        at: 0,
        state: 0,
        #[cfg(any(
            feature = "bintensors",
            feature = "gguf",
            feature = "safetensors",
            feature = "ztensor"
        ))]
        extra: 0,
        #[cfg(any(
            feature = "gguf",
            feature = "safetensors",
            all(feature = "idv", feature = "windows")
        ))]
        inner: [0; 4],
        #[cfg(all(feature = "idv", not(feature = "windows")))]
        table: [0; 4],
        index: 0,
        phase: 0,
        done: false,
        #[cfg(feature = "gguf")]
        within: 0,
    };

    /// Value of `state` when an entry is read out of order.
    pub(crate) const UNKNOWN: u64 = u64::MAX;

    /// A cursor before the entry at `at`, out of order.
    pub(crate) const fn before(at: u64, index: u32) -> Self {
        Cursor { at, state: Cursor::UNKNOWN, index, ..Cursor::START }
    }

    /// State of an entry's own table, in words.
    #[cfg(feature = "idv")]
    pub(crate) fn table(&mut self) -> &mut [Word; 4] {
        #[cfg(feature = "windows")]
        return &mut self.inner;
        #[cfg(not(feature = "windows"))]
        &mut self.table
    }

    /// Number of entries passed.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Whether the iteration has ended.
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// Advances past an entry that ended at `at`.
    #[cfg_attr(not(feature = "names"), inline(always))]
    pub(crate) fn advance(&mut self, at: u64) {
        self.at = at;
        self.index = self.index.wrapping_add(1);
    }

    /// Takes a step that leaves the cursor unchanged if it stops.
    ///
    /// In a build without windows no step is repeated, so the cursor may change even if it
    /// stops.
    #[inline(always)]
    pub(crate) fn step<O>(
        &mut self,
        step: impl FnOnce(&mut Cursor) -> Result<O, Halt>,
    ) -> Result<O, Halt> {
        if cfg!(not(feature = "windows")) {
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

    /// Goes on with the next table.
    pub(crate) fn next_phase(&mut self) {
        let phase = self.phase.wrapping_add(1);
        *self = Cursor { phase, ..Cursor::START };
    }
}
