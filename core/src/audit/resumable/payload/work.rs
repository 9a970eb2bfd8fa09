//! Decoding work, and the results that an audit remembers.

use crate::base::limits;
use crate::codec::{Fault, checksum::Checksum};
use crate::input::Span;
use crate::model::{Chunk, Encoding};
use crate::parse::Reader;
use crate::rule::general;

/// Work done and its limit, counted like [`Decoder::work`](crate::codec::Decoder::work).
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(in crate::audit) struct Work {
    /// The caller's limit, if it replaces the default.
    pub(in crate::audit) most: Option<u64>,
    /// A stream has been started.
    begun: bool,
    done: u64,
    /// The current tensor's data was not decoded to its end.
    cut: bool,
    /// Number of such tensors, and the offset of the first one's entry.
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

    /// The work left; `None` if there is none, which leaves the current tensor unchecked.
    pub(super) fn rest(&mut self, r: &Reader<'_, '_>) -> Option<u64> {
        let rest = self.limit(r).saturating_sub(self.done);
        self.cut |= rest == 0;
        (rest > 0).then_some(rest)
    }

    /// Adds the work of a stream that has ended; returns whether it ended because of the
    /// limit.
    pub(super) fn charge(&mut self, work: u64, fault: Option<Fault>) -> bool {
        self.done = self.done.saturating_add(work);
        let spent = fault == Some(Fault::Work);
        self.cut |= spent;
        spent
    }

    /// Finishes the tensor whose entry is at `at`.
    pub(super) fn pass(&mut self, at: u64) {
        if core::mem::take(&mut self.cut) {
            if self.left == 0 {
                self.first = at;
            }
            self.left = self.left.saturating_add(1);
        }
    }

    /// Reports at the end how many tensors were left unchecked.
    pub(super) fn report(&self, r: &mut Reader<'_, '_>) {
        if self.left > 0 {
            r.about(crate::rule::EntryKind::File, 0);
            r.flag(general::WORK_UNCHECKED, self.first, 0, self.limit(r), self.left);
        }
    }
}

/// Number of results remembered. Real files share a payload between two or three tensors.
const RESULTS: usize = 8;

/// The results of the last payloads, which tensors may share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Results {
    known: [Known; RESULTS],
    next: usize,
}

/// The result of one payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    stored: Span,
    encoding: Encoding,
    decoded: Option<u64>,
    /// The fault of the stream, and the number of bytes before it.
    pub(super) fault: Option<(Fault, u64)>,
    /// The checksum of the stored bytes, if it was computed.
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
    /// The result for the same bytes, decoded to the same length.
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
