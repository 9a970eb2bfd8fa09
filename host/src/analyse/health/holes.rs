//! Runs of zeros, and of copies of one page, that cut a tensor at the edges of pages.
//!
//! A page that a disk lost, or a piece that a download never wrote, is zero from a multiple of
//! 4,096 bytes to another; a cache that fails repeats a page instead. Real zeros, equal elements and
//! equal rows begin and end with rows, and seldom there. Masks and identities have so many of them that
//! some do: in most of their pages lie long runs of zeros, and their pages hold few values.

use crate::check::page_tail;
use alloc::vec::Vec;

/// Bytes of a page.
const PAGE: u64 = 4 << 10;
/// Bytes beside a run that are looked at: those of an element do not continue it.
const EDGE: usize = 8;
/// Bytes of zeros, at a multiple of their number, that make a page sparse.
const SPARSE: usize = 256;
/// One sparse page in so many is the most that data with a hole has.
const MANY: u64 = 4;

/// Where zeros, or copies of one page, cut the data of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hole {
    /// Offset of the first page, a multiple of 4,096.
    pub offset: u64,
    /// Number of bytes, a multiple of 4,096.
    pub len: u64,
    /// Whether they are zeros. Otherwise at least two pages are equal.
    pub zeros: bool,
}

/// Finds the first hole in the data of a tensor, which arrives in pieces of any length.
#[derive(Clone, Debug)]
pub(super) struct Holes {
    /// Where the data begins, and the offset of the next byte.
    start: u64,
    at: u64,
    /// Bytes of a row.
    row: u64,
    /// The bytes of this page so far.
    page: Vec<u8>,
    /// The page before this one, or the part of it that the data has; empty if there is none.
    before: Vec<u8>,
    run: Option<Run>,
    found: Option<Hole>,
    /// Number of whole pages that are not zero. `sparse` counts the sparse ones among them.
    pages: u64,
    sparse: u64,
}

/// A run of whole pages, all equal to the page before this one.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u64,
    /// Whether it begins inside a row, and the bytes before it do not continue it.
    sharp: bool,
    /// Whether all bytes before it continue it.
    first: bool,
}

impl Holes {
    /// A search in data of rows of this length that begins at this offset.
    pub(super) fn new(start: u64, row: u64) -> Self {
        let (page, before) = (Vec::new(), Vec::new());
        let (run, found) = (None, None);
        Holes { start, at: start, row, page, before, run, found, pages: 0, sparse: 0 }
    }

    /// Adds the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = PAGE - self.at % PAGE;
            let len = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
            let (now, later) = bytes.split_at(len);
            self.page.extend_from_slice(now);
            bytes = later;
            self.at = self.at.saturating_add(len as u64);
            if self.at.is_multiple_of(PAGE) {
                self.turn();
            }
        }
    }

    /// The first hole, after the last bytes.
    pub(super) fn finish(mut self) -> Option<Hole> {
        self.close(self.at - self.page.len() as u64, self.before.starts_with(&self.page));
        let is_sparse = self.sparse.saturating_mul(MANY) > self.pages;
        self.found.filter(|hole| !(hole.zeros && is_sparse))
    }

    /// Begins the next page.
    fn turn(&mut self) {
        let from = self.at - self.page.len() as u64;
        let whole = self.page.len() as u64 == PAGE;
        if whole && !page_tail::is_zero(&self.page) {
            self.pages += 1;
            self.sparse += u64::from(self.page.chunks_exact(SPARSE).any(page_tail::is_zero));
        }
        if self.run.is_none() || self.page != self.before {
            self.close(from, false);
            let sharp = !self.before.is_empty() && !continues(&self.before, &self.page);
            let run = Run {
                from,
                sharp: sharp && self.cuts(from),
                first: from.saturating_sub(self.before.len() as u64) == self.start
                    && self.page.ends_with(&self.before),
            };
            self.run = whole.then_some(run);
        }
        core::mem::swap(&mut self.page, &mut self.before);
        self.page.clear();
    }

    /// Ends the run, if there is one, before the bytes of this page. `last`: they are the last ones
    /// and continue it.
    fn close(&mut self, end: u64, last: bool) {
        let Some(run) = self.run.take() else { return };
        let head = self.page.get(..EDGE).unwrap_or(&self.page);
        let sharp = !head.is_empty() && !self.before.starts_with(head) && self.cuts(end);
        let edges = (run.sharp || run.first) && (sharp || last);
        let zeros = page_tail::is_zero(&self.before);
        let len = end.saturating_sub(run.from);
        let copies = len > PAGE && is_varied(&self.before);
        if self.found.is_none() && edges && (run.sharp || sharp) && (zeros || copies) {
            self.found = Some(Hole { offset: run.from, len, zeros });
        }
    }

    /// Whether a row lies on both sides of this offset.
    fn cuts(&self, at: u64) -> bool {
        !at.saturating_sub(self.start).is_multiple_of(self.row.max(1))
    }
}

/// Whether the end of `before` is the end of `page`, as if copies of the page had begun earlier.
fn continues(before: &[u8], page: &[u8]) -> bool {
    page.ends_with(&before[before.len().saturating_sub(EDGE)..])
}

/// Whether most words of a page differ from the next one, as those of weights do.
fn is_varied(page: &[u8]) -> bool {
    let words = || page.chunks_exact(EDGE);
    let differ = words().zip(words().skip(1)).filter(|(word, next)| word != next);
    2 * EDGE * differ.count() >= page.len()
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
                holes.finish().map(|hole| (hole.offset, hole.offset + hole.len))
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

    #[test]
    fn copies_of_a_page_are_holes() {
        const P: usize = PAGE as usize;
        // Bytes of a period that divides no page.
        let plain: Vec<u8> = (0..6 * P).map(|i| (i % 251) as u8).collect();
        let found = |start: usize, row: u64, copies: core::ops::Range<usize>| {
            let mut bytes = plain.clone();
            let page = bytes[copies.start * P..][..P].to_vec();
            copies.for_each(|at| bytes[at * P..][..P].copy_from_slice(&page));
            let mut holes = Holes::new(start as u64, row);
            bytes[start..].chunks(1000).for_each(|piece| holes.push(piece));
            holes.finish().map(|hole| (hole.offset as usize / P, hole.len as usize / P, hole.zeros))
        };
        assert_eq!(found(100, 1000, 2..4), Some((2, 2, false)));
        assert_eq!(found(100, 1000, 3..6), Some((3, 3, false)));
        // One page, and rows that are pages.
        assert_eq!(found(100, 1000, 2..3), None);
        assert_eq!(found(0, PAGE, 2..4), None);
        // Equal elements that begin and end elsewhere.
        let mut bytes = plain.clone();
        bytes[P - 20..5 * P + 20].fill(7);
        let mut holes = Holes::new(100, 1000);
        holes.push(&bytes[100..]);
        assert_eq!(holes.finish(), None);
        // They end inside a row at a page, and begin with the tensor.
        for (bytes, expected) in [
            (plain[..P].repeat(3), Some(Hole { offset: PAGE, len: 2 * PAGE, zeros: false })),
            (vec![7; 3 * P], None),
        ] {
            let mut holes = Holes::new(100, 1000);
            holes.push(&[&bytes[100..], &plain[..3 * P][7..]].concat());
            assert_eq!(holes.finish(), expected);
        }
    }

    /// What is found in a matrix of f32, of which these elements are one.
    fn in_matrix(n: usize, is_one: impl Fn(usize, usize) -> bool) -> Option<Hole> {
        let mut holes = Holes::new(96, 4 * n as u64);
        for row in 0..n {
            let one = |column| if is_one(row, column) { 1.0_f32 } else { 0.0 };
            let bytes: Vec<u8> = (0..n).flat_map(|column| one(column).to_le_bytes()).collect();
            holes.push(&bytes);
        }
        holes.finish()
    }

    #[test]
    fn masks_and_identities_have_no_holes() {
        for n in [255, 256, 511, 1_022, 1_023, 1_024, 1_025, 2_048] {
            assert_eq!(in_matrix(n, |row, column| row == column), None, "identity of {n}");
            assert_eq!(in_matrix(n, |row, column| row >= column), None, "causal mask of {n}");
            assert_eq!(in_matrix(n, |row, column| row < column), None, "upper mask of {n}");
            let block = |row: usize, column: usize| row / 64 == column / 64;
            assert_eq!(in_matrix(n, block), None, "blocks of {n}");
        }
    }

    #[test]
    fn a_hole_beside_rows_of_zeros_is_found() {
        let mut bytes: Vec<u8> = (0..40 * PAGE as usize).map(|i| (i % 251) as u8).collect();
        bytes[1_000..5_000].fill(0);
        bytes[9_000..15_000].fill(0);
        bytes[20 * PAGE as usize - 96..23 * PAGE as usize - 96].fill(0);
        let mut holes = Holes::new(96, 1_000);
        holes.push(&bytes);
        let expected = Hole { offset: 20 * PAGE, len: 3 * PAGE, zeros: true };
        assert_eq!(holes.finish(), Some(expected));
    }
}
