//! How much decoding an audit does, and what it remembers of it.

use crate::base::limits;
use crate::codec::{Fault, checksum::Checksum};
use crate::input::Span;
use crate::model::{Chunk, Encoding};
use crate::parse::Reader;
use crate::rule::general;

/// Work that was done and may be done, counted as
/// [`Decoder::work`](crate::codec::Decoder::work) counts it.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(in crate::audit) struct Work {
    /// What the caller allows, if it is not what the length of the file does.
    pub(in crate::audit) most: Option<u64>,
    /// Some stream was looked at.
    begun: bool,
    done: u64,
    /// The data of the current tensor was not decoded to its end.
    cut: bool,
    /// Tensors of which that was so, and where the entry for the first one lies.
    left: u64,
    first: u64,
}

impl Work {
    fn limit(&self, r: &Reader<'_, '_>) -> u64 {
        let len = r.source().len();
        let usual = len.saturating_mul(limits::WORK_PER_BYTE).saturating_add(limits::WORK);
        self.most.unwrap_or(usual)
    }

    /// Whether this is the first stream of the audit.
    pub(super) fn begins(&mut self) -> bool {
        !core::mem::replace(&mut self.begun, true)
    }

    /// What may still be done; `None`, and the current tensor is left, if nothing.
    pub(super) fn rest(&mut self, r: &Reader<'_, '_>) -> Option<u64> {
        let rest = self.limit(r).saturating_sub(self.done);
        self.cut |= rest == 0;
        (rest > 0).then_some(rest)
    }

    /// Takes note of what a stream took that has ended; whether it ended because
    /// it may take no more.
    pub(super) fn charge(&mut self, work: u64, fault: Option<Fault>) -> bool {
        self.done = self.done.saturating_add(work);
        let spent = fault == Some(Fault::Work);
        self.cut |= spent;
        spent
    }

    /// Is done with the tensor whose entry lies at `at`.
    pub(super) fn pass(&mut self, at: u64) {
        if core::mem::take(&mut self.cut) {
            if self.left == 0 {
                self.first = at;
            }
            self.left = self.left.saturating_add(1);
        }
    }

    /// Says, at the end, what was left.
    pub(super) fn report(&self, r: &mut Reader<'_, '_>) {
        if self.left > 0 {
            r.about(crate::rule::EntryKind::File, 0);
            r.flag(general::WORK_UNCHECKED, self.first, 0, self.limit(r), self.left);
        }
    }
}

/// How many results are remembered. Real files share a payload between two or three
/// tensors, which follow one another or are few.
const RESULTS: usize = 8;

/// What came of payloads that were looked at last: tensors may share them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Results {
    known: [Known; RESULTS],
    next: usize,
}

/// What came of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    stored: Span,
    encoding: Encoding,
    decoded: Option<u64>,
    /// What is wrong with the stream, and after how many bytes.
    pub(super) fault: Option<(Fault, u64)>,
    /// The sum of the stored bytes, if it was computed.
    pub(super) sum: Option<Checksum>,
}

impl Known {
    pub(super) fn new(chunk: &Chunk, fault: Option<(Fault, u64)>, sum: Option<Checksum>) -> Self {
        let Chunk { stored, encoding, decoded, .. } = *chunk;
        Known { stored, encoding, decoded, fault, sum }
    }

    fn is_of(&self, chunk: &Chunk) -> bool {
        (self.stored, self.encoding, self.decoded) == (chunk.stored, chunk.encoding, chunk.decoded)
    }
}

impl Results {
    /// What came of the same bytes, decoded to the same length.
    pub(super) fn of(&self, chunk: &Chunk) -> Option<Known> {
        let known = self.known.iter().find(|known| known.is_of(chunk));
        known.copied().filter(|_| !chunk.stored.is_empty())
    }

    pub(super) fn remember(&mut self, chunk: &Chunk, known: Known) {
        let same = self.known.iter_mut().find(|known| known.is_of(chunk));
        let place = match same {
            Some(place) => Some(place),
            None => {
                let next = self.next;
                self.next = next.wrapping_add(1) & (RESULTS - 1);
                self.known.get_mut(next)
            }
        };
        if let Some(place) = place {
            *place = known;
        }
    }
}
