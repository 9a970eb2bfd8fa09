//! The parts of a file that are in memory.

use crate::error::ReadError;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Span, Window};

/// Files up to this length are read as a whole.
const SMALL_FILE: u64 = 64 << 10;
/// The most that is read ahead of what is needed. Reads that follow one
/// another double up to it.
const MOST_AHEAD: u64 = 4 << 20;
/// The most that is needed in one piece: above the largest index region that
/// the core accepts, and small enough for a container.
const MOST_NEEDED: u64 = 512 << 20;
/// What is kept in memory before the oldest windows go.
const RESIDENT: u64 = 32 << 20;
/// How many windows are kept: the core searches them in a row.
const WINDOWS: usize = 48;
/// How many of the newest windows stay whatever else goes, so that a question
/// that needs several at once is answered.
const NEWEST: usize = 4;

/// A file, and what of it is in memory.
#[derive(Debug)]
pub(crate) enum Store<'a> {
    Whole(&'a [u8]),
    Parts(Parts),
}

/// Windows of a file that were supplied, the newest last.
#[derive(Debug)]
pub(crate) struct Parts {
    len: u64,
    granule: u64,
    windows: VecDeque<Block>,
    resident: u64,
    /// How much to ask for next, if it follows what was asked for last.
    ahead: u64,
    /// What must lie in one window.
    needed: Span,
    /// What was asked for to have it there.
    asked: Span,
    supplied: u64,
}

#[derive(Debug)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

impl<'a> Store<'a> {
    pub(crate) fn parts(len: u64, granule: u64) -> Self {
        Store::Parts(Parts {
            len,
            granule,
            windows: VecDeque::new(),
            resident: 0,
            ahead: granule,
            needed: Span::default(),
            asked: Span::default(),
            supplied: 0,
        })
    }

    /// Length of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Store::Whole(bytes) => bytes.len() as u64,
            Store::Parts(parts) => parts.len,
        }
    }

    /// How many bytes were supplied so far.
    pub(crate) fn supplied(&self) -> u64 {
        match self {
            Store::Whole(bytes) => bytes.len() as u64,
            Store::Parts(parts) => parts.supplied,
        }
    }

    /// Calls `ask` with what is in memory.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Source<'_>) -> T) -> T {
        match self {
            Store::Whole(bytes) => ask(&Source::whole(bytes)),
            Store::Parts(parts) => {
                let windows = parts.windows();
                ask(&Source::windows(parts.len, &windows))
            }
        }
    }
}

impl Parts {
    /// What is in memory.
    fn windows(&self) -> Vec<Window<'_>> {
        self.windows.iter().map(|block| Window { offset: block.at, bytes: &block.bytes }).collect()
    }

    /// The range to read for what is missing, rounded outwards.
    pub(crate) fn plan(&mut self, absent: Absent) -> Result<Span, ReadError> {
        let Absent { offset: at, need, want } = absent;
        let needed = Span::new(at, need);
        if self.needed == needed {
            return Ok(self.asked);
        }
        let needed_end = at.checked_add(need).filter(|end| *end <= self.len);
        let Some(needed_end) = needed_end.filter(|_| need <= MOST_NEEDED) else {
            return Err(ReadError::TooLarge(needed));
        };
        let follows = self.windows.back().is_some_and(|last| last.at < at && at <= last.end());
        self.ahead = if follows { (self.ahead * 2).min(MOST_AHEAD) } else { self.granule };

        let (start, end) = if self.len <= SMALL_FILE {
            (0, self.len)
        } else {
            let start = at - at % self.granule;
            let ahead = want.min(MOST_AHEAD).max(self.ahead);
            let end = start.saturating_add(ahead).max(needed_end);
            (start, end.checked_next_multiple_of(self.granule).unwrap_or(end).min(self.len))
        };
        self.needed = needed;
        self.asked = Span::between(start, end);
        Ok(self.asked)
    }

    /// Whether the bytes that were planned for last are in one window.
    pub(crate) fn has(&self, absent: &Absent) -> bool {
        let windows = self.windows();
        Source::windows(self.len, &windows).get(Span::new(absent.offset, absent.need)).is_ok()
    }

    /// Adds a window. Pieces of what was asked for that follow one another are joined.
    pub(crate) fn supply(&mut self, at: u64, mut bytes: Vec<u8>) {
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        bytes.truncate(left);
        if bytes.is_empty() {
            return;
        }
        self.supplied = self.supplied.saturating_add(bytes.len() as u64);
        let asked = self.asked.offset..self.asked.end().unwrap_or(u64::MAX);
        let mut new = Block { at, bytes };
        if let Some(last) = self
            .windows
            .pop_back_if(|last| last.end() == at && asked.contains(&last.at) && asked.contains(&at))
        {
            self.resident -= last.bytes.len() as u64;
            let mut joined = last;
            joined.bytes.append(&mut new.bytes);
            new = joined;
        }
        let resident = &mut self.resident;
        self.windows.retain(|old| {
            let keep = old.at < new.at || old.end() > new.end();
            if !keep {
                *resident -= old.bytes.len() as u64;
            }
            keep
        });
        self.resident += new.bytes.len() as u64;
        self.windows.push_back(new);
        self.evict();
    }

    /// Lets windows go when they are too many or too large.
    ///
    /// Of too many the smallest goes, which costs the least to read again: it
    /// is a place that was passed over once, where the large ones are the
    /// index. Of too large ones the largest goes.
    fn evict(&mut self) {
        while self.windows.len() > NEWEST {
            let needed_end = self.needed.end().unwrap_or(u64::MAX);
            let is_needed =
                |block: &Block| block.at <= self.needed.offset && needed_end <= block.end();
            let old = self.windows.iter().take(self.windows.len() - NEWEST).enumerate();
            let old = old.filter(|(_, block)| !is_needed(block));
            let size = |(_, block): &(usize, &Block)| block.bytes.len();
            let victim = if self.resident > RESIDENT {
                // The first of equals, as `max_by_key` would give the last.
                old.rev().max_by_key(size)
            } else if self.windows.len() > WINDOWS {
                old.min_by_key(size)
            } else {
                return;
            };
            let Some((victim, _)) = victim else { return };
            if let Some(gone) = self.windows.remove(victim) {
                self.resident -= gone.bytes.len() as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const GRANULE: u64 = 512;

    /// The store of a file of `len` bytes of zeros.
    fn parts(len: u64) -> Parts {
        match Store::parts(len, GRANULE) {
            Store::Parts(parts) => parts,
            Store::Whole(_) => unreachable!(),
        }
    }

    fn absent(at: u64, need: u64, want: u64) -> Absent {
        Absent { offset: at, need, want }
    }

    /// Reads what is missing, as a host does.
    fn fetch(parts: &mut Parts, absent: Absent) {
        let Span { offset: at, len } = parts.plan(absent).expect("it may be read");
        parts.supply(at, vec![0; len as usize]);
        assert!(parts.has(&absent));
    }

    #[test]
    fn what_was_asked_for_is_rounded() {
        let mut parts = parts(100_000);
        assert_eq!(parts.plan(absent(50_000, 10, 10)).expect("fits"), Span::new(49_664, GRANULE));
        parts.supply(49_664, vec![7; 512]);
        assert!(parts.has(&absent(50_000, 10, 10)));
        assert_eq!(parts.windows().len(), 1);
    }

    #[test]
    fn pieces_become_one_window() {
        let mut parts = parts(1 << 20);
        let asked = parts.plan(absent(1000, 3000, 3000)).expect("fits");
        assert_eq!(asked, parts.plan(absent(1000, 3000, 3000)).expect("asked again"));
        for at in (asked.offset..asked.offset + asked.len).step_by(512) {
            assert!(!parts.has(&absent(1000, 3000, 3000)));
            parts.supply(at, vec![0; 512]);
        }
        assert!(parts.has(&absent(1000, 3000, 3000)));
        assert_eq!(parts.resident, asked.len);
    }

    #[test]
    fn reads_that_follow_one_another_grow_and_swallow_none() {
        let mut parts = parts(1 << 20);
        let (mut at, mut fetches) = (0, 0);
        while at < parts.len {
            let run = Source::windows(parts.len, &parts.windows()).run(at).len() as u64;
            if run == 0 {
                fetch(&mut parts, absent(at, 1, 1));
                fetches += 1;
            }
            at += run;
        }
        assert!(fetches <= 12, "{fetches} reads for a megabyte");
        assert!(parts.supplied < (1 << 20) + 8 * GRANULE);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut parts = parts(1 << 30);
        for n in 0..200 {
            fetch(&mut parts, absent(n * (5 << 20) % (1 << 30), 3 << 20, 3 << 20));
            let newest = NEWEST as u64 * (3 << 20);
            assert!(parts.resident <= RESIDENT.max(newest) && parts.windows.len() <= WINDOWS);
        }
        for n in 0..200 {
            fetch(&mut parts, absent(n * (1 << 20), 1, 1));
            assert!(parts.windows.len() <= WINDOWS);
        }
    }

    #[test]
    fn the_index_stays_while_small_places_are_passed_over() {
        let mut parts = parts(1 << 30);
        fetch(&mut parts, absent(0, 80_000, 80_000));
        for n in 1..500 {
            fetch(&mut parts, absent(n << 20, 8, 8));
            let windows = parts.windows();
            assert!(Source::windows(parts.len, &windows).run(0).len() >= 80_000);
        }
        assert!(parts.supplied < 81_000 + 500 * 512);
    }

    #[test]
    fn a_request_that_no_memory_holds_is_refused() {
        let mut parts = parts(1 << 40);
        let planned = parts.plan(absent(0, 1 << 39, 1 << 39));
        assert!(matches!(planned, Err(ReadError::TooLarge(Span { len, .. })) if len == 1 << 39));
        assert!(parts.plan(absent(u64::MAX, 2, 2)).is_err());
    }
}
