//! Zeros, or copies of one page, that cut the data of tensors somewhere in a file.
//!
//! A download in several parts that broke off, and a disk or a cache that fails, leave runs of pages
//! in a file of the right length. `Tail` finds the run that a file ends with; this finds the others.
//!
//! Reading everything would take a hundred times as long as the rest of a check, so that only some
//! pages are looked at, evenly spread: every page of a small file, and every run of 8 MiB in files up
//! to 8 GiB. Where one of them begins a run, both its ends are searched by halving, its edges are
//! compared with the rows of tensors, and all of it is read before it is reported.

use crate::check::page_tail::{EDGE, PAGE, is_even, is_zero, lost, row};
use crate::check::report::Collected;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Cursor, File, Finding, Source, Span, Stop, Tensor};

/// Fewest and most pages that are looked at, and the bytes of which one is.
const FEWEST: u64 = 64;
const MOST: u64 = 1024;
const ONE_OF: u64 = 8 << 20;
/// Bytes of a page that are compared first.
const HEAD: u64 = 16;
/// Bytes that are read at a time to verify a run: a multiple of a page.
const PIECE: u64 = 256 << 10;
/// Most bytes of a file that are read for that: a run is reported as far as it was read.
const MOST_READ: u64 = 1 << 30;

/// The search. Between steps it is plain data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pierced {
    /// The page that is looked at next.
    next: u64,
    /// The page that is repeated; empty if no run was begun.
    page: Vec<u8>,
    /// Which pages are equal to it.
    equal: BTreeMap<u64, bool>,
    runs: Vec<Run>,
    /// All pages were looked at; the tensors are passed, and the runs then.
    tensors: Option<Box<Cursor>>,
    /// The run that is verified, how far it is, and the bytes read in all.
    verified: (usize, u64, u64),
}

/// A run of equal pages with a sharp edge.
#[derive(Clone, Debug)]
struct Run {
    from: u64,
    end: u64,
    /// Where the bytes begin and end that continue it.
    around: Span,
    page: Vec<u8>,
    /// Each edge lies inside a row of a tensor, and the bytes beside it do not continue the run.
    cuts: [bool; 2],
    /// Each edge is that, or the bytes that continue the run begin or end with a tensor.
    plain: [bool; 2],
    /// The tensors that the edges lie in.
    entry: [Option<u32>; 2],
}

impl Pierced {
    /// Searches, and reports the tensors that are cut.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        if self.tensors.is_none() {
            self.look(source)?;
            self.tensors = Some(Box::default());
        }
        if !self.runs.is_empty() {
            self.compare(source, file)?;
            self.verify(source, collected)?;
        }
        Ok(())
    }

    /// Looks at pages, and finds runs.
    fn look(&mut self, source: &Source<'_>) -> Result<(), Absent> {
        let pages = source.len() / PAGE;
        let probes = (source.len() / ONE_OF).clamp(FEWEST, MOST);
        let step = pages.div_ceil(probes).max(1);
        while self.next.saturating_add(1) < pages {
            let at = self.next;
            if self.page.is_empty() {
                let both = source.get(Span::new(at * PAGE, PAGE + HEAD))?;
                let (page, head) = both.split_at_checked(PAGE as usize).unwrap_or_default();
                let zeros = is_zero(page);
                if !zeros && (!page.starts_with(head) || is_even(page)) {
                    self.next += step;
                    continue;
                }
                self.page = page.to_vec();
                self.equal = BTreeMap::from([(at, true)]);
            }
            let (first, last) = (self.edge(source, at, 0)?, self.edge(source, at, pages - 1)?);
            if let Some(run) = self.run(source, first, last)? {
                self.runs.push(run);
            }
            self.page.clear();
            self.next += (last - at) / step * step + step;
        }
        Ok(())
    }

    /// The last page of a run from `at` on in the direction of the page `most`.
    fn edge(&mut self, source: &Source<'_>, at: u64, most: u64) -> Result<u64, Absent> {
        let toward = |from: u64, step: u64| match most < at {
            true => from.saturating_sub(step).max(most),
            false => from.saturating_add(step).min(most),
        };
        let (mut equal, mut step) = (at, 1_u64);
        let mut other = loop {
            let next = toward(equal, step);
            if next == equal {
                return Ok(equal);
            }
            if !self.is_equal(source, next)? {
                break next;
            }
            (equal, step) = (next, step.saturating_mul(2));
        };
        while other.abs_diff(equal) > 1 {
            let middle = other.midpoint(equal);
            match self.is_equal(source, middle)? {
                true => equal = middle,
                false => other = middle,
            }
        }
        Ok(equal)
    }

    /// Whether a page is equal to the repeated page.
    fn is_equal(&mut self, source: &Source<'_>, page: u64) -> Result<bool, Absent> {
        if let Some(known) = self.equal.get(&page) {
            return Ok(*known);
        }
        let equal = source.get(Span::new(page * PAGE, PAGE))? == self.page;
        self.equal.insert(page, equal);
        Ok(equal)
    }

    /// A run of these pages; `None` if neither edge is sharp, or if another check looks for it.
    fn run(&self, source: &Source<'_>, first: u64, last: u64) -> Result<Option<Run>, Absent> {
        let (from, end) = (first * PAGE, (last + 1) * PAGE);
        let least = from.saturating_sub(PAGE);
        let before = source.get(Span::between(least, from))?;
        let after = source.get(Span::between(end, end.saturating_add(PAGE).min(source.len())))?;
        let pairs = self.page.iter().rev().zip(before.iter().rev());
        let back = pairs.take_while(|(one, two)| one == two).count() as u64;
        let on = self.page.iter().zip(after).take_while(|(one, two)| one == two).count() as u64;
        let zeros = is_zero(&self.page);
        let is_run = zeros || last > first;
        // The file ends in it.
        if !is_run || on == after.len() as u64 || (back >= EDGE && on >= EDGE) {
            return Ok(None);
        }
        Ok(Some(Run {
            from,
            end,
            around: Span::between(from - back, end + on),
            page: self.page.clone(),
            cuts: [false; 2],
            plain: [true; 2],
            entry: [None; 2],
        }))
    }

    /// Compares the edges of runs with the rows of tensors.
    fn compare(&mut self, source: &Source<'_>, file: &File) -> Result<(), Absent> {
        let Some(cursor) = &mut self.tensors else { return Ok(()) };
        loop {
            let mut next = **cursor;
            let tensor = match file.next_tensor(source, &mut next, &mut |_| {}) {
                Ok(Some(found)) => found.tensor,
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                Ok(None) | Err(_) => return Ok(()),
            };
            if let Some(span) = tensor.raw() {
                let end = span.end().unwrap_or(u64::MAX);
                let first = self.runs.partition_point(|run| run.end <= span.offset);
                let touched = self.runs.iter_mut().skip(first);
                for run in touched.take_while(|run| run.from < end) {
                    run.meet(source, &tensor, Span::between(span.offset, end))?;
                }
            }
            **cursor = next;
        }
    }

    /// Reads the runs that cut a tensor, and reports them.
    fn verify(&mut self, source: &Source<'_>, collected: &mut Collected) -> Result<(), Absent> {
        let (mut number, mut at, mut total) = self.verified;
        while let Some(run) = self.runs.get(number) {
            let is_cut = run.plain == [true; 2] && run.cuts != [false; 2];
            at = at.max(run.from);
            while is_cut && at < run.end && total < MOST_READ {
                let piece = Span::between(at, at.saturating_add(PIECE).min(run.end));
                let state = (number, at, total);
                let bytes = source.get(piece).inspect_err(|_| self.verified = state)?;
                if bytes.chunks(PAGE as usize).any(|page| page != run.page) {
                    break;
                }
                at = piece.end().unwrap_or(run.end);
                total += piece.len;
            }
            if is_cut && at > run.from && (at >= run.end || total >= MOST_READ) {
                collected.push(run.finding(at));
            }
            (number, at) = (number + 1, 0);
        }
        self.verified = (number, at, total);
        Ok(())
    }
}

impl Run {
    /// Compares the edges with a tensor whose data overlaps the run.
    fn meet(&mut self, source: &Source<'_>, tensor: &Tensor, data: Span) -> Result<(), Absent> {
        let end = data.end().unwrap_or(u64::MAX);
        let around = (self.around.offset, self.around.end().unwrap_or(u64::MAX));
        let row = match row(source, tensor, data.len) {
            Err(Stop::NeedBytes(absent)) => return Err(absent),
            row => row.unwrap_or_default(),
        };
        let sharp = [self.from - around.0 < EDGE, around.1 - self.end < EDGE];
        let whole = [data.offset >= around.0, end <= around.1];
        for (i, edge) in [self.from, self.end].into_iter().enumerate() {
            if data.offset < edge && edge < end {
                let into = edge - data.offset;
                self.cuts[i] = sharp[i] && row.is_some_and(|row| !into.is_multiple_of(row));
                self.plain[i] = self.cuts[i] || whole[i];
                self.entry[i] = Some(tensor.index);
            }
        }
        Ok(())
    }

    /// The finding on what was read of it, up to `end`.
    fn finding(&self, end: u64) -> Finding {
        let [first, last] = self.entry;
        let cut = if self.cuts[0] { first } else { last };
        lost((self.from, end), is_zero(&self.page), cut.unwrap_or(0))
    }
}
