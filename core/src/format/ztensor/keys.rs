//! Checks that the keys of each map are unique (RFC 8949 §5.6), in one pass over the entry.
//!
//! Keys that ascend or descend are unique, and real writers sort them. Keys in order are kept as
//! read, while there is room, and sorted at the first one out of order. From then on each key is
//! looked up among the earlier ones.

use super::cbor::{Seen, note, odd};
use super::nest::Levels;
use super::value;
use crate::base::word::Cell;
use crate::base::{Word, limits::CBOR_KEYS, wide};

/// State of the keys of a map: the number of kept keys, with the current one, in the low bits, and
/// these flags; 0 if keys are not compared.
pub(super) mod state {
    use super::{Cell, value};

    pub(in super::super) const LEN: Cell = 0x7FF;
    /// Keys are compared.
    pub(in super::super) const MAP: Cell = 0x800;
    /// Not all keys were kept.
    pub(in super::super) const CUT: Cell = 0x8000;
    /// What all keys have been so far.
    pub(in super::super) const ORDER: Cell = value::UP | value::DOWN | value::FORM;
    /// No key has been read.
    pub(in super::super) const NEW: Cell = MAP | ORDER;
    /// One key is kept.
    pub(in super::super) const ONE: Cell = NEW | 1;
    /// One key was read, but not kept.
    pub(in super::super) const UNKEPT: Cell = CUT;
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(CBOR_KEYS < 0x7FF);

impl Levels<'_> {
    /// Begins a key at `at`, on top of the earlier ones; does nothing in an array.
    pub(super) fn start_key(&mut self, at: Word, seen: &mut Seen) {
        if self.keys == 0 {
            return;
        }
        if is_compared(self.keys) {
            if self.kept() >= CBOR_KEYS && self.len() > 1 && self.keys & state::ORDER != 0 {
                // While keys are in order, only the last one is needed.
                let last = self.pop_key();
                self.drop_keys();
                self.push_key(last);
                self.keys |= state::CUT;
            }
            let place = Cell::try_from(at.wrapping_sub(self.at)).ok();
            if let Some(place) = place
                && self.kept() < CBOR_KEYS
                && self.push_key(place)
            {
                return;
            }
        }
        if self.keys == state::NEW {
            // A map with one key needs no room; only a second key does.
            self.keys = state::UNKEPT;
        } else {
            note(seen, odd::KEYS, at);
            self.give_up();
        }
    }

    /// Ends the current key and compares it with the earlier ones; does nothing in an array.
    pub(super) fn end_key(&mut self, seen: &mut Seen) {
        if !is_compared(self.keys) {
            return;
        }
        let end = self.used;
        let key = self.pop_key();
        if self.keys & state::ORDER != 0 && self.len() > 0 {
            let Some(order) = self.order(self.used.wrapping_sub(1), key) else {
                return self.too_complex(key, seen);
            };
            self.keys &= order | !state::ORDER;
            if self.keys & state::ORDER == 0 {
                let at = self.at_of(key);
                if order == 0 {
                    note(seen, odd::KEY_TWICE, at);
                }
                if self.keys & state::CUT != 0 {
                    note(seen, odd::KEYS, at);
                    return self.give_up();
                }
                // The first key out of order: all are sorted.
                self.drop_keys();
            }
        }
        if self.keys & state::ORDER == 0 {
            for i in self.used..end {
                self.look_up(i, seen);
            }
            return;
        }
        // If not all keys are kept, only the last one is.
        if self.keys & state::CUT != 0 {
            self.drop_keys();
        }
        self.push_key(key);
    }

    /// Looks up the key in cell `i` among the sorted keys of its map, and inserts it.
    #[inline(never)]
    fn look_up(&mut self, i: usize, seen: &mut Seen) {
        let Some(key) = self.cells.get(i).copied() else { return };
        if !is_compared(self.keys) {
            return;
        }
        let (mut low, mut high) = (self.used.wrapping_sub(self.len()), self.used);
        while low < high {
            let middle = low.midpoint(high);
            match self.order(middle, key) {
                None => return self.too_complex(key, seen),
                Some(0) => {
                    let other = self.cells.get(middle).copied().unwrap_or(0);
                    return note(seen, odd::KEY_TWICE, self.at_of(key.max(other)));
                }
                Some(order) if order & value::UP != 0 => low = middle.wrapping_add(1),
                Some(_) => high = middle,
            }
        }
        self.push_key(0);
        let mut carried = key;
        while low < self.used
            && let Some(place) = self.cells.get_mut(low)
        {
            core::mem::swap(place, &mut carried);
            low = low.wrapping_add(1);
        }
    }

    /// The order of the key in cell `first` and the key `second`.
    fn order(&self, first: usize, second: Cell) -> Option<Cell> {
        let of = |key: Cell| self.run.get(size(key)..);
        value::order(of(*self.cells.get(first)?)?, of(second)?)
    }

    fn too_complex(&mut self, key: Cell, seen: &mut Seen) {
        note(seen, odd::KEY_NESTED, self.at_of(key));
        self.give_up();
    }

    /// Treats the map like an array from now on.
    pub(super) fn give_up(&mut self) {
        self.drop_keys();
        self.keys = 0;
    }

    /// Keeps a key of the innermost level; returns whether there was room.
    fn push_key(&mut self, key: Cell) -> bool {
        let kept = self.push(key);
        self.keys = self.keys.wrapping_add(kept.into());
        kept
    }

    /// Takes back the last key of the innermost level.
    fn pop_key(&mut self) -> Cell {
        self.keys = self.keys.wrapping_sub(1);
        self.pop()
    }

    /// Drops the kept keys of the innermost level.
    pub(super) fn drop_keys(&mut self) {
        self.used = self.used.wrapping_sub(self.len());
        self.keys &= !state::LEN;
    }

    /// Number of keys that are kept on the innermost level.
    fn len(&self) -> usize {
        size(self.keys & state::LEN)
    }

    fn at_of(&self, key: Cell) -> Word {
        self.at.wrapping_add(key.into())
    }
}

/// Widens a number from a cell.
fn size(cell: Cell) -> usize {
    usize::try_from(wide(cell.into())).unwrap_or(usize::MAX)
}

/// Whether the next key of a map is compared with the earlier ones.
fn is_compared(keys: Cell) -> bool {
    keys & state::MAP != 0
}
