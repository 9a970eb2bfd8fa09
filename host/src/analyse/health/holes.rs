//! Runs of zeros that cut a tensor at the edges of pages.
//!
//! A page that a disk lost, or a piece that a download never wrote, is zero from a multiple of
//! 4,096 bytes to another. Real zeros begin and end with rows, and seldom there.

use weighbridge_core::Span;

/// Bytes of a page.
const PAGE: u64 = 4 << 10;
/// Bytes beside a run that are looked at: those of an element are not all zero.
const EDGE: u64 = 8;

/// Finds the first such run in the data of a tensor, which arrives in pieces of any length.
#[derive(Clone, Debug)]
pub(super) struct Holes {
    /// Where the data begins, and the offset of the next byte.
    start: u64,
    at: u64,
    /// Bytes of a row.
    row: u64,
    page: Page,
    /// The page before this one; `None` if there is none.
    before: Option<Page>,
    run: Option<Run>,
    found: Option<Span>,
}

/// What is known of a page, or of its part that the data has.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Where its part begins.
    from: u64,
    zero: bool,
    /// Whether its first and its last bytes are zero.
    head: bool,
    tail: bool,
}

/// A run of whole pages of zeros.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u64,
    /// Whether it begins with other bytes than zeros before it, inside a row.
    sharp: bool,
    /// Whether there are only zeros before it.
    first: bool,
}

impl Page {
    fn new(from: u64) -> Self {
        Page { from, zero: true, head: true, tail: true }
    }
}

impl Holes {
    /// A search in data of rows of this length that begins at this offset.
    pub(super) fn new(start: u64, row: u64) -> Self {
        let page = Page::new(start);
        Holes { start, at: start, row, page, before: None, run: None, found: None }
    }

    /// Adds the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.found.is_none() {
            let left = PAGE - self.at % PAGE;
            let len = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
            let (now, later) = bytes.split_at(len);
            self.look(now);
            bytes = later;
            self.at = self.at.saturating_add(len as u64);
            if self.at.is_multiple_of(PAGE) {
                self.turn();
            }
        }
    }

    /// The first run that cuts the data, after its last bytes.
    pub(super) fn finish(mut self) -> Option<Span> {
        if self.found.is_none() && self.page.from < self.at {
            // A part of a page is no page of zeros, but may be zero.
            self.close(self.page.head, self.page.zero);
        } else if self.found.is_none() {
            self.close(true, true);
        }
        self.found
    }

    /// Looks at bytes of the current page.
    fn look(&mut self, bytes: &[u8]) {
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let into = self.at % PAGE;
        let near = |from: u64, bytes: &[u8]| {
            let first = usize::try_from(from.saturating_sub(into)).unwrap_or(usize::MAX);
            bytes.get(first..).is_none_or(is_zero)
        };
        let Page { zero, head, tail, .. } = &mut self.page;
        *zero &= is_zero(bytes);
        if into < EDGE {
            let most = usize::try_from(EDGE - into).unwrap_or(bytes.len()).min(bytes.len());
            *head &= bytes.get(..most).is_none_or(is_zero);
        }
        *tail &= near(PAGE - EDGE, bytes);
    }

    /// Begins the next page.
    fn turn(&mut self) {
        let page = core::mem::replace(&mut self.page, Page::new(self.at));
        let whole = page.from.is_multiple_of(PAGE);
        if whole && page.zero {
            let before = self.before;
            let run = Run {
                from: page.from,
                sharp: before.is_some_and(|before| !before.tail) && self.cuts(page.from),
                first: before.is_none_or(|before| before.zero && before.from == self.start),
            };
            self.run.get_or_insert(run);
        } else {
            self.page_ends_run(page);
        }
        self.before = Some(page);
    }

    fn page_ends_run(&mut self, page: Page) {
        if let Some(run) = self.run.take() {
            self.decide(run, page.from, !page.head && self.cuts(page.from), false);
        }
    }

    /// Ends the run with the data: the part of a page after it begins with zeros, or is zero.
    fn close(&mut self, head: bool, zero: bool) {
        if let Some(run) = self.run.take() {
            let end = self.page.from;
            let sharp = !head && self.cuts(end);
            self.decide(run, end, sharp, zero);
        }
    }

    /// Whether a row lies on both sides of this offset.
    fn cuts(&self, at: u64) -> bool {
        !at.saturating_sub(self.start).is_multiple_of(self.row.max(1))
    }

    fn decide(&mut self, run: Run, end: u64, sharp: bool, last: bool) {
        let edges = (run.sharp || run.first) && (sharp || last);
        if edges && (run.sharp || sharp) {
            self.found = Some(Span::new(run.from, end.saturating_sub(run.from)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// What is found in data of 6 pages from `start` on, of which a part is zero.
    fn found(start: u64, row: u64, zeros: &[(u64, u64)]) -> Option<(u64, u64)> {
        let mut bytes = vec![7; 6 * PAGE as usize];
        for (from, end) in zeros {
            bytes[(from - start) as usize..(end - start) as usize].fill(0);
        }
        let answers: Vec<_> = [1, 7, 4096, 5000, bytes.len()]
            .into_iter()
            .map(|len| {
                let mut holes = Holes::new(start, row);
                bytes.chunks(len).for_each(|piece| holes.push(piece));
                holes.finish().map(|span| (span.offset, span.offset + span.len))
            })
            .collect();
        assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
        answers[0]
    }

    #[test]
    fn holes_end_at_pages_and_cut_rows() {
        const P: u64 = PAGE;
        let end = 100 + 6 * P;
        for (start, row, zeros, expected) in [
            (100, 1000, vec![(2 * P, 4 * P)], Some((2 * P, 4 * P))),
            (100, 1000, vec![(2 * P, 3 * P)], Some((2 * P, 3 * P))),
            // To the end, and from the begin.
            (100, 1000, vec![(2 * P, end)], Some((2 * P, 6 * P))),
            (100, 1000, vec![(100, 2 * P)], Some((P, 2 * P))),
            // The second of two runs.
            (100, 1000, vec![(P + 50, 2 * P + 80), (4 * P, 5 * P)], Some((4 * P, 5 * P))),
            // Less than a page, and edges elsewhere.
            (100, 1000, vec![(2 * P, 3 * P - 1)], None),
            (100, 1000, vec![(2 * P - 50, 4 * P)], None),
            (100, 1000, vec![(2 * P, 4 * P + 50)], None),
            (100, 1000, vec![(2 * P - 50, end)], None),
            // All, and rows that begin and end with pages.
            (100, 1000, vec![(100, end)], None),
            (0, P, vec![(2 * P, 4 * P)], None),
            (0, P, vec![(2 * P, 6 * P)], None),
            (0, 6 * P, vec![(2 * P, 6 * P)], Some((2 * P, 6 * P))),
            (0, 6 * P, vec![(0, 2 * P)], Some((0, 2 * P))),
            (0, 6 * P, vec![(0, 6 * P)], None),
            (100, 1000, vec![], None),
        ] {
            assert_eq!(found(start, row, &zeros), expected, "{start} {row} {zeros:?}");
        }
    }
}
