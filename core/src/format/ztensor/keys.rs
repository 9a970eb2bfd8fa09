//! Checks that the keys of each map are unique (RFC 8949 §5.6), in one pass over the entry.
//!
//! Keys that ascend or descend are unique, and real writers sort them. The keys of all open
//! maps share one store, a stack, because maps nest. Keys in order are kept as read, while
//! there is room, and sorted at the first one out of order. From then on each key is looked
//! up among the earlier ones.

use super::value;
use crate::base::{
    Word,
    limits::{CBOR_DEPTH, CBOR_KEYS},
};

/// State of an open array or map: the number of its kept keys in the low bits, and these
/// flags.
mod section {
    pub(super) const LEN: u16 = 0x7FF;
    /// A map, not an array.
    pub(super) const MAP: u16 = 0x800;
    /// Keys have ascended so far.
    pub(super) const UP: u16 = 0x1000;
    /// Keys have descended so far.
    pub(super) const DOWN: u16 = 0x2000;
    /// Keys have ascended so far, with shorter strings first.
    pub(super) const FORM: u16 = 0x4000;
    pub(super) const ORDERED: u16 = UP | DOWN | FORM;
    /// Not all keys were kept.
    pub(super) const CUT: u16 = 0x8000;
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(CBOR_KEYS < 0x7FF);

/// The keys of all open maps. An entry is on level 0, its values on level 1.
#[derive(Debug)]
pub(super) struct Keys<'a> {
    /// The bytes from the start of the entry.
    run: &'a [u8],
    /// Start of the entry.
    at: Word,
    /// Offsets of keys in the entry.
    held: [u32; CBOR_KEYS],
    used: usize,
    sections: [u16; CBOR_DEPTH],
    pub(super) found: Found,
}

/// Offsets of faulty keys in an entry; 0 if there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// The first key that equals an earlier one.
    pub(super) twin: Word,
    /// The first key that did not fit the store.
    pub(super) unkept: Word,
    /// The first key that is too complex to be compared.
    pub(super) complex: Word,
}

impl<'a> Keys<'a> {
    /// Returns an empty store for the entry at `at`, which begins with the bytes `run`.
    pub(super) fn new(at: Word, run: &'a [u8]) -> Self {
        let (held, sections) = ([0; CBOR_KEYS], [0; CBOR_DEPTH]);
        Keys { run, at, held, used: 0, sections, found: Found::default() }
    }

    /// Begins an array or a map on `level`.
    #[inline]
    pub(super) fn begin(&mut self, level: usize, map: bool) {
        let start = if map { section::MAP | section::ORDERED } else { 0 };
        self.set(level, start);
    }

    /// Begins a key at `at` if `level` holds a map; does nothing for an array.
    #[inline]
    pub(super) fn start(&mut self, level: usize, at: Word) {
        if self.section(level) & section::MAP != 0 {
            self.keep(level, at);
        }
    }

    /// Ends the current key and compares it with the earlier ones.
    #[inline]
    pub(super) fn add(&mut self, level: usize) {
        let now = self.section(level);
        if now & section::MAP != 0 && !is_given_up(now) {
            self.compare(level, now);
        }
    }

    /// Ends the array or map on `level`.
    #[inline]
    pub(super) fn end(&mut self, level: usize) {
        let len = self.section(level) & section::LEN;
        self.used = self.used.saturating_sub(usize::from(len));
        self.set(level, 0);
    }

    #[inline]
    fn section(&self, level: usize) -> u16 {
        self.sections.get(level).copied().unwrap_or(0)
    }

    #[inline]
    fn set(&mut self, level: usize, now: u16) {
        if let Some(section) = self.sections.get_mut(level) {
            *section = now;
        }
    }

    /// Pushes the offset of a key on top of the earlier ones.
    fn keep(&mut self, level: usize, at: Word) {
        let now = self.section(level);
        if is_given_up(now) {
            note(&mut self.found.unkept, at);
            return self.set(level, 0);
        }
        let len = now & section::LEN;
        if self.used >= CBOR_KEYS && len > 1 && now & section::ORDERED != 0 {
            // While keys are in order, only the last one is needed.
            let last = self.held.last().copied().unwrap_or(0);
            self.used = self.used.saturating_sub(usize::from(len));
            self.push(last);
            self.set(level, (now & !section::LEN) | section::CUT | 1);
        }
        let place = u32::try_from(at.wrapping_sub(self.at)).ok();
        if place.is_none_or(|place| !self.push(place)) {
            // A map with one key needs no room; only a second key does.
            if len > 0 {
                note(&mut self.found.unkept, at);
            }
            self.end(level);
            self.set(level, if len > 0 { 0 } else { section::MAP | section::CUT });
        }
    }

    fn push(&mut self, place: u32) -> bool {
        let slot = self.held.get_mut(self.used);
        if let Some(slot) = slot {
            *slot = place;
            self.used = self.used.saturating_add(1);
            return true;
        }
        false
    }

    /// Compares the last key with the earlier ones of its map.
    #[inline(never)]
    fn compare(&mut self, level: usize, mut now: u16) {
        self.used = self.used.saturating_sub(1);
        let key = self.held.get(self.used).copied().unwrap_or(0);
        let len = usize::from(now & section::LEN);
        if now & section::ORDERED != 0 && len > 0 {
            let last = self.used.checked_sub(1).and_then(|last| self.held.get(last));
            let last = last.copied().unwrap_or(0);
            let Some(order) = order(self.run, last, key) else {
                return self.too_complex(level, key);
            };
            if !order.value.is_lt() {
                now &= !section::UP;
            }
            if !order.value.is_gt() {
                now &= !section::DOWN;
            }
            if !order.form.is_lt() {
                now &= !section::FORM;
            }
            if now & section::ORDERED == 0 {
                return self.sort(level, now, key, order.value.is_eq());
            }
        }
        if now & section::ORDERED != 0 {
            // If not all keys are kept, only the last one is.
            if now & section::CUT != 0 {
                self.end(level);
                now &= !section::LEN;
            }
            self.push(key);
            self.set(level, now.wrapping_add(1));
        } else {
            self.look_up(level, now, key);
        }
    }

    /// Sorts the keys of a map; `key` is the first out of order.
    fn sort(&mut self, level: usize, now: u16, key: u32, equal: bool) {
        let at = self.at_of(key);
        if equal {
            note(&mut self.found.twin, at);
        }
        if now & section::CUT != 0 {
            note(&mut self.found.unkept, at);
            return self.end(level);
        }
        let len = usize::from(now & section::LEN);
        let first = self.used.saturating_sub(len);
        self.used = first;
        self.set(level, now & !section::LEN);
        for i in first..first.saturating_add(len) {
            let key = self.held.get(i).copied().unwrap_or(0);
            self.look_up(level, self.section(level), key);
        }
        let now = self.section(level);
        if !is_given_up(now) {
            self.look_up(level, now, key);
        }
    }

    /// Looks up a key among the sorted keys of its map, and inserts it.
    fn look_up(&mut self, level: usize, now: u16, key: u32) {
        if is_given_up(now) {
            return;
        }
        let len = usize::from(now & section::LEN);
        let (mut low, mut high) = (self.used.saturating_sub(len), self.used);
        while low < high {
            let middle = low.midpoint(high);
            let other = self.held.get(middle).copied().unwrap_or(0);
            match order(self.run, other, key).map(|order| order.value) {
                None => return self.too_complex(level, key),
                Some(order) if order.is_eq() => {
                    let at = self.at_of(key.max(other));
                    return note(&mut self.found.twin, at);
                }
                Some(order) if order.is_lt() => low = middle.wrapping_add(1),
                Some(_) => high = middle,
            }
        }
        self.used = self.used.saturating_add(1);
        let mut carried = key;
        for place in self.held.get_mut(low..self.used).unwrap_or_default() {
            core::mem::swap(place, &mut carried);
        }
        self.set(level, now.wrapping_add(1));
    }

    fn too_complex(&mut self, level: usize, key: u32) {
        let at = self.at_of(key);
        note(&mut self.found.complex, at);
        self.end(level);
    }

    fn at_of(&self, key: u32) -> Word {
        self.at.wrapping_add(crate::base::word(key.into()))
    }
}

/// Whether the keys of a map are no longer compared. A map that was reported is treated like
/// an array.
fn is_given_up(now: u16) -> bool {
    now & section::MAP == 0 || (now & section::CUT != 0 && now & section::ORDERED == 0)
}

/// Keeps the lower of two offsets; 0 means none.
fn note(place: &mut Word, at: Word) {
    *place = if *place == 0 { at } else { at.min(*place) };
}

/// The order of the keys at offsets `first` and `second`.
fn order(run: &[u8], first: u32, second: u32) -> Option<value::Order> {
    let of = |place| run.get(usize::try_from(place).ok()?..);
    value::order(of(first)?, of(second)?)
}
