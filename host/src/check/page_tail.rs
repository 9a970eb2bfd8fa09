//! Whether the data of a tensor breaks off in zeros, or in copies of one page.
//!
//! A download that was preallocated and broke off has the right length and ends in zeros, from a
//! page in the middle of a tensor on. A disk or a cache that fails may repeat a page instead. Real
//! zeros begin with a tensor or with a row of one, such as the rows that pad a vocabulary, and
//! seldom at a multiple of the page size; so do equal elements and equal rows.
//!
//! Few pages are read: the last one, and pages before it at distances that double, until one is
//! another. Between the two a page that differs and is followed by one that does not is searched by
//! halving.

use crate::check::report::Collected;
use crate::list::entry::read_extents;
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::{
    Absent, Cursor, EntryKind, File, Finding, Layout, Source, Span, Stop, Subject, Tensor, general,
};

/// Bytes of a page: what disks allocate, and what downloads and archives align to.
pub(crate) const PAGE: u64 = 4 << 10;
/// The bytes before the first page do not continue it: so many of them are looked at.
pub(crate) const EDGE: u64 = 8;

/// The search for a tensor that breaks off. Between steps it is plain data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    state: State,
    /// The page that the file ends with.
    page: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Begin,
    /// This page is the last one. It is not zero, so the page before it must be equal.
    Pair(u64),
    /// Page `equal` is equal to the last one; the page `step` before it is looked at next.
    Back {
        equal: u64,
        step: u64,
    },
    /// Page `live` is another, and page `equal` after it is not.
    Between {
        live: u64,
        equal: u64,
    },
    /// Equal pages begin at this offset; the tensor there is searched.
    Entries(u64, Box<Cursor>),
    Done(Option<Broken>),
}

/// A tensor that breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Where the zeros, or the copies of a page, begin.
    pub(crate) at: u64,
    /// Whether they are zeros.
    pub(crate) zeros: bool,
    /// Position of the tensor in the index.
    pub(crate) entry: u32,
}

impl Tail {
    /// Searches, and reports a tensor that breaks off.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        let before = matches!(self.state, State::Done(_));
        let found = self.find(source, file)?;
        if let Some(broken) = found.filter(|_| !before) {
            let Broken { at, zeros, entry } = broken;
            collected.push(lost((at, source.len()), zeros, entry));
        }
        Ok(())
    }

    /// Searches; the answer does not change after the first one.
    pub(crate) fn find(
        &mut self,
        source: &Source<'_>,
        file: &File,
    ) -> Result<Option<Broken>, Absent> {
        let Tail { state, page } = self;
        let is_equal = |at: u64, page: &[u8]| -> Result<bool, Absent> {
            Ok(source.get(Span::new(at * PAGE, PAGE))? == page)
        };
        loop {
            *state = match state {
                State::Begin => begin(source, page)?,
                State::Pair(last) => match is_equal(*last - 1, page)? {
                    // All of it is equal, so that nothing breaks off.
                    true if *last == 1 => State::Done(None),
                    true => State::Back { equal: *last - 1, step: 1 },
                    false => State::Done(None),
                },
                State::Back { equal, step } => {
                    let (equal, step) = (*equal, *step);
                    let before = equal.saturating_sub(step);
                    match is_equal(before, page)? {
                        true if before == 0 => State::Done(None),
                        true => State::Back { equal: before, step: step.saturating_mul(2) },
                        false => State::Between { live: before, equal },
                    }
                }
                State::Between { live, equal } if *equal - *live > 1 => {
                    let (live, equal) = (*live, *equal);
                    let middle = live + (equal - live) / 2;
                    match is_equal(middle, page)? {
                        true => State::Between { live, equal: middle },
                        false => State::Between { live: middle, equal },
                    }
                }
                State::Between { equal, .. } => {
                    let at = *equal * PAGE;
                    let before = source.get(Span::new(at - EDGE, EDGE))?;
                    match page.ends_with(before) {
                        true => State::Done(None),
                        false => State::Entries(at, Box::default()),
                    }
                }
                State::Entries(at, cursor) => {
                    let entry = cut(source, file, *at, cursor)?;
                    let (at, zeros) = (*at, is_zero(page));
                    State::Done(entry.map(|entry| Broken { at, zeros, entry }))
                }
                State::Done(found) => return Ok(*found),
            };
        }
    }
}

/// What follows the last whole page continues it, or there is nothing to search. Keeps the page.
fn begin(source: &Source<'_>, kept: &mut Vec<u8>) -> Result<State, Absent> {
    let pages = source.len() / PAGE;
    let Some(last) = pages.checked_sub(1).filter(|last| *last > 0) else {
        return Ok(State::Done(None));
    };
    let from = last * PAGE;
    let bytes = source.get(Span::new(from, source.len() - from))?;
    let (page, rest) = bytes.split_at_checked(PAGE as usize).unwrap_or_default();
    if !page.starts_with(rest) {
        return Ok(State::Done(None));
    }
    *kept = page.to_vec();
    Ok(match is_zero(page) {
        true => State::Back { equal: last, step: 1 },
        false if is_even(page) => State::Done(None),
        false => State::Pair(last),
    })
}

/// The finding on zeros, or on copies of one page, that lie from `from` to `end` and cut a tensor.
pub(crate) fn lost((from, end): (u64, u64), zeros: bool, entry: u32) -> Finding {
    Finding {
        offset: from,
        expected: 0,
        found: end,
        len: u32::try_from(end - from).unwrap_or(u32::MAX),
        entry,
        part: Subject::NO_PART,
        rule: if zeros { general::DATA_ZEROS } else { general::DATA_REPEATED },
        kind: EntryKind::Tensor,
    }
}

/// Whether a page holds equal elements, as a layer of ones does.
pub(crate) fn is_even(page: &[u8]) -> bool {
    page.get(EDGE as usize..).is_some_and(|rest| page.starts_with(rest))
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The position of the tensor that this offset cuts inside a row.
fn cut(
    source: &Source<'_>,
    file: &File,
    at: u64,
    cursor: &mut Cursor,
) -> Result<Option<u32>, Absent> {
    loop {
        let mut next = *cursor;
        let tensor = match file.next_tensor(source, &mut next, &mut |_| {}) {
            Ok(Some(found)) => found.tensor,
            Err(Stop::NeedBytes(absent)) => return Err(absent),
            Ok(None) | Err(_) => return Ok(None),
        };
        let inside = tensor.raw().and_then(|span| {
            let into = at.checked_sub(span.offset).filter(|into| *into > 0 && *into < span.len)?;
            Some((into, span.len))
        });
        if let Some((into, len)) = inside {
            let row = match row(source, &tensor, len) {
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                row => row.unwrap_or_default(),
            };
            let is_cut = row.is_some_and(|row| into % row != 0);
            return Ok(is_cut.then_some(tensor.index));
        }
        *cursor = next;
    }
}

/// Bytes of a row of a tensor whose data has this length: of the last axis of a matrix, and of
/// all axes after the second of other tensors. `None` if its rows are not one after another.
///
/// # Errors
/// [`Stop::NeedBytes`] for the shape.
pub(crate) fn row(source: &Source<'_>, tensor: &Tensor, len: u64) -> Result<Option<u64>, Stop> {
    if tensor.layout != Layout::RowMajor {
        return Ok(None);
    }
    let mut extents = Vec::new();
    read_extents(source, tensor, &mut extents)?;
    let rows = match extents[..] {
        // One row.
        [] | [_] => Some(1),
        [Some(rows), _] => Some(rows),
        [Some(a), Some(b), ..] => a.checked_mul(b),
        _ => None,
    };
    let rows = rows.filter(|rows| *rows > 0 && len.is_multiple_of(*rows));
    Ok(rows.map(|rows| len / rows).filter(|row| *row > 0))
}
