//! The parts of a file that are in memory, and what is missing.

use crate::base::memory::Bytes;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Span, Window};

/// Files up to this length are read as a whole where reading ahead is cheap.
const SMALL_FILE: u64 = 64 << 10;
/// The largest piece that may be needed: above the largest index region that the core accepts,
/// and small enough for a container.
const MOST_NEEDED: u64 = 512 << 20;
/// Most windows that one query uses, such as a value, its key and its entry.
const AT_ONCE: usize = 4;

/// How much of a file is read at a time, and how much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Requests are rounded outwards to multiples of this power of two.
    pub(crate) granule: u64,
    /// Bytes to keep; more while a single window takes more than a quarter of that.
    pub(crate) kept: u64,
    /// Most windows to keep, because the core searches them in order.
    pub(crate) count: usize,
    /// Most bytes to read when the core wants more than it needs.
    pub(crate) wanted: u64,
    /// Contiguous reads double up to this length.
    pub(crate) ahead: u64,
}

impl Windows {
    /// For cheap reads: growing read-ahead, and a small granule, because scattered places in a
    /// large file, such as the padding after each tensor, cost one read each.
    pub(crate) const CHEAP: Windows =
        Windows { granule: 512, kept: 32 << 20, count: 48, wanted: 4 << 20, ahead: 4 << 20 };
}

/// A file, in memory as a whole or in parts, and the index that was made for it, if any.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    pub(crate) bytes: Stored<'a>,
    /// An index that is not in the file, and the offset at which it is read.
    index: Option<(u64, Vec<u8>)>,
}

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum Stored<'a> {
    Whole(Bytes<'a>),
    Parts(Parts),
}

/// The windows of a file that were supplied, oldest first.
#[derive(Debug)]
pub(crate) struct Parts {
    len: u64,
    limits: Windows,
    blocks: Vec<Block>,
    /// How much to request next, if it follows the last request.
    ahead: u64,
    /// Bytes that must lie in one window.
    pub(crate) needed: Span,
    /// Requested ranges that have not arrived yet, ascending and disjoint.
    asked: Vec<Span>,
    supplied: u64,
}

#[derive(Debug)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn end(&self) -> u64 {
        self.at.saturating_add(self.len())
    }

    /// Whether the block contains all bytes of a span.
    fn holds(&self, span: &Span) -> bool {
        self.at <= span.offset && end(span) <= self.end()
    }

    /// Whether the block contains some bytes of a span.
    fn meets(&self, span: &Span) -> bool {
        self.at < end(span) && span.offset < self.end()
    }

    /// Joins two windows that touch.
    fn join(self, other: Block) -> Block {
        let (mut first, second) = if self.at <= other.at { (self, other) } else { (other, self) };
        let skip = usize::try_from(first.end() - second.at).unwrap_or(usize::MAX);
        first.bytes.extend_from_slice(second.bytes.get(skip..).unwrap_or_default());
        first
    }
}

fn end(span: &Span) -> u64 {
    span.end().unwrap_or(u64::MAX)
}

impl<'a> Store<'a> {
    pub(crate) fn whole(bytes: Bytes<'a>) -> Self {
        Store { bytes: Stored::Whole(bytes), index: None }
    }

    pub(crate) fn parts(len: u64, mut limits: Windows) -> Self {
        if limits.ahead > 0 && len <= SMALL_FILE {
            limits.granule = SMALL_FILE;
        }
        let parts = Parts {
            len,
            limits,
            blocks: Vec::new(),
            ahead: 0,
            needed: Span::default(),
            asked: Vec::new(),
            supplied: 0,
        };
        Store { bytes: Stored::Parts(parts), index: None }
    }

    /// Keeps an index in memory, as a window at an offset behind the end of every file.
    pub(crate) fn adopt(&mut self, at: u64, index: Vec<u8>) {
        self.index = Some((at, index));
    }

    /// Length of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        match &self.bytes {
            Stored::Whole(bytes) => bytes.len() as u64,
            Stored::Parts(parts) => parts.len,
        }
    }

    /// Number of bytes supplied so far.
    pub(crate) fn supplied(&self) -> u64 {
        match &self.bytes {
            Stored::Whole(bytes) => bytes.len() as u64,
            Stored::Parts(parts) => parts.supplied,
        }
    }

    /// Number of bytes in memory.
    pub(crate) fn resident(&self) -> u64 {
        match &self.bytes {
            Stored::Whole(bytes) => bytes.len() as u64,
            Stored::Parts(parts) => parts.resident(),
        }
    }

    /// Calls `ask` with the bytes in memory.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Source<'_>) -> T) -> T {
        let windows = self.windows();
        ask(&self.source(&windows))
    }

    /// The windows in memory; empty if the whole file is, and there is no index.
    fn windows(&self) -> Vec<Window<'_>> {
        let mut windows = match &self.bytes {
            Stored::Whole(bytes) if self.index.is_some() => vec![Window { offset: 0, bytes }],
            Stored::Whole(_) => Vec::new(),
            Stored::Parts(parts) => parts.windows(),
        };
        if let Some((offset, bytes)) = &self.index {
            windows.push(Window { offset: *offset, bytes });
        }
        windows
    }

    fn source<'s>(&'s self, windows: &'s [Window<'s>]) -> Source<'s>
    where
        'a: 's,
    {
        match &self.bytes {
            Stored::Whole(bytes) if windows.is_empty() => Source::whole(bytes),
            _ => Source::windows(self.len(), windows),
        }
    }

    /// Requested ranges that have not arrived yet, ascending and disjoint.
    pub(crate) fn asked(&self) -> &[Span] {
        match &self.bytes {
            Stored::Whole(_) => &[],
            Stored::Parts(parts) => &parts.asked,
        }
    }

    /// Forgets the requests: nothing is missing.
    pub(crate) fn content(&mut self) {
        if let Stored::Parts(parts) = &mut self.bytes {
            parts.asked.clear();
        }
    }

    /// Records what is missing. The list ends at the first of `more` that exceeds half of what
    /// is kept.
    pub(crate) fn lack(&mut self, absent: Absent, more: &[Absent]) {
        if let Stored::Parts(parts) = &mut self.bytes {
            parts.lack(absent, more);
        }
    }
}

impl Parts {
    /// The windows in memory.
    fn windows(&self) -> Vec<Window<'_>> {
        self.blocks.iter().map(|block| Window { offset: block.at, bytes: &block.bytes }).collect()
    }

    fn resident(&self) -> u64 {
        self.blocks.iter().map(Block::len).sum()
    }

    fn lack(&mut self, absent: Absent, more: &[Absent]) {
        let needed = Span::new(absent.offset, absent.need);
        let Windows { granule, kept, count, wanted, ahead } = self.limits;
        // A caller that asks again after a piece gets the same answer.
        if self.needed != needed {
            let last = self.blocks.last();
            let follows =
                last.is_some_and(|last| last.at < needed.offset && needed.offset <= last.end());
            self.ahead = if follows { self.ahead.saturating_mul(2).min(ahead) } else { granule };
            self.needed = needed;
        }
        self.asked.clear();
        let mut total = 0_u64;
        for absent in core::iter::once(&absent).chain(more).take(count / 3) {
            // Reading ahead pays off, but not for more than can be kept.
            let len = absent.want.min(wanted).max(absent.need);
            let least = if self.asked.is_empty() { self.ahead } else { 0 };
            let range = self.rounded(absent.offset, len, least);
            // Counted as it is kept: the first range must still be there when the last arrives.
            total = total.saturating_add(range.len);
            if !self.asked.is_empty() && total > kept / 2 {
                break;
            }
            let place = self.asked.iter().position(|known| range.offset < known.offset);
            self.asked.insert(place.unwrap_or(self.asked.len()), range);
        }
        self.asked.dedup_by(|next, last| {
            let touch = next.offset <= end(last);
            if touch {
                *last = Span::between(last.offset, end(last).max(end(next)));
            }
            touch
        });
    }

    /// The range, rounded outwards, of at least `least` bytes.
    fn rounded(&self, at: u64, len: u64, least: u64) -> Span {
        let mask = self.limits.granule - 1;
        let start = at & !mask;
        let end = at.saturating_add(len).max(start.saturating_add(least));
        let end = end.checked_add(mask).map_or(self.len, |end| end & !mask);
        Span::between(start, end.min(self.len))
    }

    /// The requested range that contains the needed bytes; `None` if they are too many at once.
    pub(crate) fn first(&self) -> Option<Span> {
        let needed = self.needed;
        let inside = needed.end().is_some_and(|end| end <= self.len);
        let range = self
            .asked
            .iter()
            .find(|range| range.offset <= needed.offset && end(&needed) <= end(range));
        range.copied().filter(|_| inside && needed.len <= MOST_NEEDED)
    }

    /// Whether these bytes are in one window.
    pub(crate) fn has(&self, span: &Span) -> bool {
        self.blocks.iter().any(|block| block.holds(span))
    }

    /// Adds a window. Pieces of a requested range are joined, because it must lie in one
    /// window.
    pub(crate) fn supply(&mut self, at: u64, mut bytes: Vec<u8>) {
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        bytes.truncate(left);
        if bytes.is_empty() {
            return;
        }
        self.supplied = self.supplied.saturating_add(bytes.len() as u64);
        let mut new = Block { at, bytes };
        let whole = self.asked.iter().any(|asked| new.holds(asked));
        let asked = self.asked.iter().find(|asked| !whole && new.meets(asked)).copied();
        if let Some(asked) = asked {
            while let Some(i) = self
                .blocks
                .iter()
                .position(|old| old.meets(&asked) && old.at <= new.end() && new.at <= old.end())
            {
                new = self.blocks.remove(i).join(new);
            }
        }
        let span = Span::between(new.at, new.end());
        self.blocks.retain(|old| old.at < span.offset || old.end() > end(&span));
        self.asked.retain(|asked| !new.holds(asked));
        self.blocks.push(new);
        self.evict();
    }

    /// Evicts windows when they are too large or too many.
    ///
    /// If they are too large, the oldest goes. A query may use a few windows at once: if one of
    /// them were evicted to make room for the next, it would be requested again forever. So the
    /// largest of the newest counts several times. If they are too many, the smallest goes,
    /// because it costs the least to read again: small windows are places that were passed over
    /// once, the large ones are the index.
    fn evict(&mut self) {
        let mut resident = self.resident();
        loop {
            let newest = self.blocks.len().saturating_sub(AT_ONCE);
            let (mut largest, mut smallest) = (0, (u64::MAX, 0));
            for (i, block) in self.blocks.iter().enumerate() {
                if i >= newest {
                    largest = block.len().max(largest);
                } else if block.len() < smallest.0 && !block.holds(&self.needed) {
                    smallest = (block.len(), i);
                }
            }
            let gone = if resident > self.limits.kept.max(largest.saturating_mul(AT_ONCE as u64)) {
                0
            } else if self.blocks.len() > self.limits.count {
                smallest.1
            } else {
                return;
            };
            resident -= self.blocks.remove(gone).len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store of a file of `len` zero bytes.
    fn parts(len: u64, limits: Windows) -> Parts {
        match Store::parts(len, limits).bytes {
            Stored::Parts(parts) => parts,
            Stored::Whole(_) => unreachable!(),
        }
    }

    /// A store that reads no more than was requested.
    fn plain(len: u64, kept: u64, granule: u64) -> Parts {
        let wanted = kept / 4;
        parts(len, Windows { granule, kept, count: usize::MAX, wanted, ahead: 0 })
    }

    fn absent(at: u64, need: u64, want: u64) -> Absent {
        Absent { offset: at, need, want }
    }

    /// Reads what is missing, as a host does.
    fn fetch(parts: &mut Parts, absent: Absent) {
        parts.lack(absent, &[]);
        let Span { offset: at, len } = parts.first().expect("it may be read");
        parts.supply(at, vec![0; len as usize]);
        assert!(parts.has(&parts.needed));
    }

    fn asked(parts: &Parts) -> Vec<(u64, u64)> {
        parts.asked.iter().map(|range| (range.offset, end(range))).collect()
    }

    fn run(parts: &Parts, at: u64) -> usize {
        Source::windows(parts.len, &parts.windows()).run(at).len()
    }

    #[test]
    fn requests_are_rounded_and_joined() {
        let mut parts = plain(1000, 400, 64);
        parts.lack(absent(70, 10, 10), &[absent(130, 5, 5), absent(900, 1, 1)]);
        assert_eq!(asked(&parts), [(64, 192), (896, 960)]);
        parts.lack(absent(990, 10, 10), &[]);
        assert_eq!(asked(&parts), [(960, 1000)]);
    }

    #[test]
    fn read_ahead_respects_budget_but_needs_exceed_it() {
        let mut parts = plain(1 << 40, 1 << 20, 1 << 10);
        parts.lack(absent(0, 8, 1 << 39), &[absent(1 << 39, 1 << 18, 1 << 18)]);
        assert_eq!(asked(&parts), [(0, 1 << 18), (1 << 39, (1 << 39) + (1 << 18))]);
        parts.lack(absent(5, 2 << 20, 2 << 20), &[]);
        assert_eq!(asked(&parts), [(0, (2 << 20) + (1 << 10))]);
    }

    #[test]
    fn needed_windows_stay_until_request_is_complete() {
        let wide = Windows { granule: 4 << 20, ..Windows::CHEAP };
        for (limits, held) in [(Windows::CHEAP, 48), (wide, 0)] {
            let mut parts = parts(1 << 40, limits);
            (1..=held).for_each(|n| parts.supply(n << 24, vec![0; 1024]));
            let more: Vec<_> = (100..120).map(|n| absent((n << 24) + 256, 512, 512)).collect();
            parts.lack(absent(50 << 24, 8, 8), &more);
            for Span { offset, len } in parts.asked.clone() {
                parts.supply(offset, vec![0; len as usize]);
            }
            assert!(parts.has(&parts.needed), "{limits:?}");
        }
    }

    #[test]
    fn pieces_become_one_window() {
        let mut parts = parts(1 << 20, Windows::CHEAP);
        let wanted = absent(1000, 3000, 3000);
        parts.lack(wanted, &[]);
        let first = parts.first().expect("fits");
        for at in (first.offset..end(&first)).step_by(512) {
            assert!(!parts.has(&parts.needed));
            parts.lack(wanted, &[]);
            assert_eq!(parts.first(), Some(first), "asked again");
            parts.supply(at, vec![0; 512]);
        }
        assert!(parts.has(&parts.needed) && parts.asked.is_empty());
        assert_eq!(parts.resident(), first.len);
    }

    #[test]
    fn pieces_come_in_any_order_and_overlap() {
        let mut parts = plain(100, 1000, 1);
        parts.lack(absent(10, 20, 20), &[]);
        parts.supply(20, vec![2; 10]);
        parts.supply(10, vec![1; 12]);
        assert!(parts.asked.is_empty());
        assert_eq!((run(&parts, 10), parts.resident()), (20, 20));
    }

    #[test]
    fn unrequested_piece_stays_separate() {
        let mut parts = plain(100, 40, 1);
        for at in 0..10 {
            parts.supply(at * 10, vec![0; 10]);
        }
        assert_eq!(parts.resident(), 40);
    }

    #[test]
    fn sequential_reads_grow() {
        let mut parts = parts(1 << 20, Windows::CHEAP);
        let (mut at, mut fetches) = (0, 0);
        while at < parts.len {
            if run(&parts, at) == 0 {
                fetch(&mut parts, absent(at, 1, 1));
                fetches += 1;
            }
            at += run(&parts, at) as u64;
        }
        assert!(fetches <= 12, "{fetches} reads for a megabyte");
        assert!(parts.supplied < (1 << 20) + 8 * Windows::CHEAP.granule);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut parts = parts(1 << 30, Windows::CHEAP);
        let Windows { kept, count, .. } = Windows::CHEAP;
        for n in 0..200 {
            fetch(&mut parts, absent(n * (5 << 20) % (1 << 30), 3 << 20, 3 << 20));
            let newest = AT_ONCE as u64 * (3 << 20);
            assert!(parts.resident() <= kept.max(newest) && parts.blocks.len() <= count);
        }
        for n in 0..200 {
            fetch(&mut parts, absent(n * (1 << 20), 1, 1));
            assert!(parts.blocks.len() <= count);
        }
    }

    #[test]
    fn oldest_window_is_dropped_first() {
        let mut parts = plain(1000, 100, 1);
        for i in 0..10 {
            fetch(&mut parts, absent(i * 90, 20, 20));
        }
        assert_eq!(parts.resident(), 100);
        assert_eq!((run(&parts, 450), run(&parts, 360)), (20, 0));
    }

    #[test]
    fn windows_of_one_request_are_kept_together() {
        let mut parts = plain(10_000, 100, 1);
        for at in [0, 100, 200, 4000] {
            let len = if at == 4000 { 1000 } else { 40 };
            parts.supply(at, vec![0; len]);
        }
        assert_eq!(parts.resident(), 1120);
        // Once windows are as small as the budget expects, the budget decides again.
        for at in 0..200 {
            parts.supply(5000 + at * 2, vec![0]);
        }
        assert_eq!(parts.resident(), 100);
    }

    #[test]
    fn index_window_survives_small_reads() {
        let mut parts = parts(1 << 30, Windows::CHEAP);
        fetch(&mut parts, absent(0, 80_000, 80_000));
        for n in 1..500 {
            fetch(&mut parts, absent(n << 20, 8, 8));
            assert!(run(&parts, 0) >= 80_000);
        }
        assert!(parts.supplied < 81_000 + 500 * 512);
    }

    #[test]
    fn request_beyond_memory_is_refused() {
        let mut parts = parts(1 << 40, Windows::CHEAP);
        parts.lack(absent(0, 1 << 39, 1 << 39), &[]);
        assert_eq!(parts.first(), None);
        parts.lack(absent(u64::MAX, 2, 2), &[]);
        assert_eq!(parts.first(), None);
    }
}
