//! The parts of a file that are in memory, and what is missing.

use crate::base::memory::Bytes;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Span, Window};
pub(crate) use windows::Windows;

mod windows;

/// Files up to this length are read as a whole where reading ahead is cheap.
const SMALL_FILE: u64 = 64 << 10;
/// The largest piece that may be needed: above the largest index region that the core accepts,
/// and small enough for a container.
const MOST_NEEDED: u64 = 512 << 20;
/// A read that begins at most this far behind the last one continues it: a page costs no more
/// than another read.
const GAP: u64 = 4 << 10;
/// How many times the bytes of a file are read in windows before it is kept as a whole: its parts
/// refer to each other across more than the windows hold, as a hostile flatbuffer's do.
const TOO_OFTEN: u64 = 4;
/// Most windows that one query uses, such as a value, its key and its entry.
const AT_ONCE: usize = 4;
/// Buffers of this length are worth reusing, because the system clears new memory page by page.
const SPARE: usize = 1 << 20;

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
    /// The files that follow the file itself, and the length of that.
    #[cfg(feature = "beside")]
    others: Option<(u64, Vec<weighbridge_core::Beside>)>,
    limits: Windows,
    blocks: Vec<Block>,
    /// The buffer of a window that was evicted, for the next one.
    spare: Vec<u8>,
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
            #[cfg(feature = "beside")]
            others: None,
            limits,
            blocks: Vec::new(),
            spare: Vec::new(),
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

    /// Length of the file itself, without the files behind it.
    pub(crate) fn own_len(&self) -> u64 {
        #[cfg(feature = "beside")]
        if let Stored::Parts(Parts { others: Some((own, _)), .. }) = &self.bytes {
            return *own;
        }
        self.len()
    }

    /// Appends other files, up to a length of `len` in all. They are in order of the texts that
    /// name them.
    #[cfg(feature = "beside")]
    pub(crate) fn append(&mut self, len: u64, others: Vec<weighbridge_core::Beside>) {
        let own = self.own_len();
        if let Stored::Parts(parts) = &mut self.bytes {
            (parts.len, parts.others) = (len, Some((own, others)));
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
            Stored::Whole(bytes) => Source::windows(bytes.len() as u64, windows),
            Stored::Parts(parts) => parts.source(windows),
        }
    }

    /// Requested ranges that have not arrived yet, ascending and disjoint.
    pub(crate) fn asked(&self) -> &[Span] {
        match &self.bytes {
            Stored::Whole(_) => &[],
            Stored::Parts(parts) => &parts.asked,
        }
    }

    /// A buffer of `len` bytes, whatever they are, if an evicted window left one.
    pub(crate) fn reuse(&mut self, len: usize) -> Option<Vec<u8>> {
        match &mut self.bytes {
            Stored::Whole(_) => None,
            Stored::Parts(parts) => parts.reuse(len),
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
    fn source<'s>(&'s self, windows: &'s [Window<'s>]) -> Source<'s> {
        let source = Source::windows(self.len, windows);
        #[cfg(feature = "beside")]
        if let Some((own, others)) = &self.others {
            return source.with_beside(*own, others);
        }
        source
    }

    /// The windows in memory.
    fn windows(&self) -> Vec<Window<'_>> {
        self.blocks.iter().map(|block| Window { offset: block.at, bytes: &block.bytes }).collect()
    }

    fn resident(&self) -> u64 {
        self.blocks.iter().map(Block::len).sum()
    }

    fn lack(&mut self, absent: Absent, more: &[Absent]) {
        let needed = Span::new(absent.offset, absent.need);
        let Windows { granule, kept, count, wanted, ahead, .. } = self.limits;
        // A caller that asks again after a piece gets the same answer.
        if self.needed != needed {
            let follows = self.blocks.last().is_some_and(|last| {
                last.at < needed.offset && needed.offset <= last.end().saturating_add(GAP)
            });
            self.ahead = if follows { self.ahead.saturating_mul(2).min(ahead) } else { granule };
            self.needed = needed;
        }
        self.asked.clear();
        if self.is_read_too_often() {
            self.asked.push(Span::new(0, self.len));
            return;
        }
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

    /// Whether keeping the whole file costs less than reading on in windows.
    fn is_read_too_often(&self) -> bool {
        self.len <= self.limits.whole && self.supplied / TOO_OFTEN > self.len
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

    fn reuse(&mut self, len: usize) -> Option<Vec<u8>> {
        let room = self.spare.capacity();
        // Much more room than that would be memory that nobody counts.
        if len < SPARE || len > room || len < room / 2 {
            return None;
        }
        let mut spare = core::mem::take(&mut self.spare);
        spare.resize(len, 0);
        Some(spare)
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
            let gone = self.blocks.remove(gone);
            resident -= gone.len();
            if gone.len() <= self.limits.kept / AT_ONCE as u64 {
                self.spare = gone.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests;
