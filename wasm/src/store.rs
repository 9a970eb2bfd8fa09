//! The windows of a file that are in memory, and what is missing.

use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Window};

/// Bytes that the file's host has supplied, oldest first.
#[derive(Debug)]
pub struct Store {
    len: u64,
    /// Bytes to keep; more while a single window takes more than a quarter of it.
    budget: u64,
    /// Requests are rounded outwards to multiples of this power of two.
    granule: u64,
    held: Vec<Held>,
    need: Vec<Range>,
    supplied: u64,
}

#[derive(Debug)]
struct Held {
    at: u64,
    bytes: Vec<u8>,
}

/// Bytes from `at` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// Absolute offset of the first byte.
    pub at: u64,
    /// Absolute offset after the last byte.
    pub end: u64,
}

impl Held {
    fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes.len() as u64)
    }
}

impl Store {
    /// A store of a file of `len` bytes, empty yet.
    pub fn new(len: u64, budget: u64, granule: u64) -> Self {
        let granule = granule.clamp(1, 1 << 24).next_power_of_two();
        Store { len, budget, granule, held: Vec::new(), need: Vec::new(), supplied: 0 }
    }

    /// Length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that were supplied so far.
    pub fn supplied(&self) -> u64 {
        self.supplied
    }

    /// Bytes to keep.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes that are kept.
    pub fn resident(&self) -> u64 {
        self.held.iter().map(|held| held.bytes.len() as u64).sum()
    }

    /// Calls `ask` with what is in memory.
    pub fn ask<T>(&self, ask: impl FnOnce(&Source<'_>) -> T) -> T {
        let windows: Vec<Window<'_>> =
            self.held.iter().map(|held| Window { offset: held.at, bytes: &held.bytes }).collect();
        ask(&Source::windows(self.len, &windows))
    }

    /// What is missing: ascending, apart from each other.
    pub fn need(&self) -> &[Range] {
        &self.need
    }

    /// Nothing is missing any more.
    pub fn content(&mut self) {
        self.need.clear();
    }

    /// Takes note of what is missing. The first of `more` that cannot be had
    /// within the budget ends the list.
    pub fn lack(&mut self, absent: Absent, more: impl IntoIterator<Item = Absent>) {
        self.need.clear();
        let most = self.budget / AT_ONCE as u64;
        let mut total = 0_u64;
        for absent in core::iter::once(absent).chain(more) {
            // Reading ahead pays, but not for more than can be kept.
            let len = absent.want.min(most).max(absent.need);
            total = total.saturating_add(len);
            if !self.need.is_empty() && total > self.budget / 2 {
                break;
            }
            let range = self.rounded(absent.offset, len);
            let place = self.need.iter().position(|known| range < *known);
            self.need.insert(place.unwrap_or(self.need.len()), range);
        }
        self.need.dedup_by(|next, last| {
            let touch = next.at <= last.end;
            if touch {
                last.end = last.end.max(next.end);
            }
            touch
        });
    }

    /// The range, rounded outwards.
    fn rounded(&self, at: u64, len: u64) -> Range {
        let mask = self.granule - 1;
        let end = at.saturating_add(len).checked_add(mask).map_or(self.len, |end| end & !mask);
        Range { at: at & !mask, end: end.min(self.len) }
    }

    /// Adds a window of `len` bytes, which `fill` writes to where they are kept; those beyond
    /// the end of the file are left out.
    pub fn supply_with(&mut self, at: u64, len: usize, fill: impl FnOnce(&mut [u8])) {
        let len = usize::try_from(self.len.saturating_sub(at)).map_or(len, |left| left.min(len));
        if len == 0 {
            return;
        }
        self.supplied = self.supplied.saturating_add(len as u64);
        let end = at + len as u64;
        // A host may supply a request in pieces: then they are joined, because
        // what is asked for must lie in one window.
        let whole = self.need.iter().any(|need| at <= need.at && need.end <= end);
        let before = self.held.iter().position(|old| !whole && old.end() == at);
        let mut held = match before {
            Some(i) => self.held.remove(i),
            None => Held { at, bytes: Vec::new() },
        };
        let from = held.bytes.len();
        held.bytes.resize(from + len, 0);
        fill(held.bytes.get_mut(from..).unwrap_or_default());
        if !whole {
            while let Some(i) =
                self.held.iter().position(|old| old.at <= held.end() && held.at <= old.end())
            {
                held = join(self.held.remove(i), held);
            }
        }
        let new = Range { at: held.at, end: held.end() };
        self.held.retain(|old| !(new.at <= old.at && old.end() <= new.end));
        self.held.push(held);
        self.evict();
        self.need.retain(|need| !(new.at <= need.at && need.end <= new.end));
    }

    /// Drops the oldest windows above the budget. A question may take a few
    /// windows at once, as a value, its key and its entry do: were one of them
    /// dropped to make room for the next, it would be asked for again, for
    /// ever. So the largest of the newest windows counts a few times.
    fn evict(&mut self) {
        let len = |held: &Held| held.bytes.len() as u64;
        let mut resident = self.resident();
        while self.held.len() > 1 {
            let newest = self.held.iter().rev().take(AT_ONCE);
            let largest = newest.map(len).max().unwrap_or(0);
            if resident <= self.budget.max(largest.saturating_mul(AT_ONCE as u64)) {
                break;
            }
            resident -= len(&self.held.remove(0));
        }
    }
}

/// Most windows that one question takes.
const AT_ONCE: usize = 4;

/// One window of two that touch.
fn join(a: Held, b: Held) -> Held {
    let (mut first, second) = if a.at <= b.at { (a, b) } else { (b, a) };
    let skip = usize::try_from(first.end() - second.at).unwrap_or(usize::MAX);
    first.bytes.extend_from_slice(second.bytes.get(skip..).unwrap_or_default());
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn absent(at: u64, need: u64, want: u64) -> Absent {
        Absent { offset: at, need, want }
    }

    impl Store {
        fn supply(&mut self, at: u64, bytes: &[u8]) {
            self.supply_with(at, bytes.len(), |into| into.copy_from_slice(&bytes[..into.len()]));
        }
    }

    fn ranges(store: &Store) -> Vec<(u64, u64)> {
        store.need().iter().map(|range| (range.at, range.end)).collect()
    }

    #[test]
    fn requests_are_rounded_and_joined() {
        let mut store = Store::new(1000, 400, 64);
        store.lack(absent(70, 10, 10), [absent(130, 5, 5), absent(900, 1, 1)]);
        assert_eq!(ranges(&store), [(64, 192), (896, 960)]);
        store.lack(absent(990, 10, 10), []);
        assert_eq!(ranges(&store), [(960, 1000)]);
    }

    #[test]
    fn reading_ahead_stays_within_the_budget_and_needs_do_not() {
        let mut store = Store::new(1 << 40, 1 << 20, 1 << 10);
        store.lack(absent(0, 8, 1 << 39), [absent(1 << 39, 1 << 18, 1 << 18)]);
        assert_eq!(ranges(&store), [(0, 1 << 18), (1 << 39, (1 << 39) + (1 << 18))]);
        store.lack(absent(5, 2 << 20, 2 << 20), []);
        assert_eq!(ranges(&store), [(0, (2 << 20) + (1 << 10))]);
    }

    #[test]
    fn pieces_become_one_window() {
        let mut store = Store::new(100, 1000, 1);
        store.lack(absent(10, 20, 20), []);
        store.supply(20, &[2; 10]);
        store.supply(10, &[1; 12]);
        assert!(store.need().is_empty());
        let run = store.ask(|source| source.run(10).to_vec());
        assert_eq!(run.len(), 20);
        assert_eq!(store.resident(), 20);
    }

    #[test]
    fn the_oldest_windows_go_first() {
        let mut store = Store::new(1000, 100, 1);
        for i in 0..10 {
            store.lack(absent(i * 90, 20, 20), []);
            store.supply(i * 90, &[0; 20]);
        }
        assert_eq!(store.resident(), 100);
        assert_eq!(store.ask(|s| (s.run(450).len(), s.run(360).len())), (20, 0));
    }

    #[test]
    fn windows_that_are_needed_together_stay_together() {
        let mut store = Store::new(10_000, 100, 1);
        for at in [0, 100, 200, 4000] {
            store.lack(absent(at, 40, 40), []);
            store.supply(at, &vec![0; if at == 4000 { 1000 } else { 40 }]);
        }
        assert_eq!(store.resident(), 1120);
        // Of windows as small as the budget expects, the budget decides again.
        for at in 0..200 {
            store.supply(5000 + at * 2, &[0]);
        }
        assert_eq!(store.resident(), 100);
    }
}
