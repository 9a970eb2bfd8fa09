//! Whether the data of a tensor breaks off in zeros.
//!
//! A download that was preallocated and broke off has the right length and ends in zeros, from a
//! page in the middle of a tensor on. Real zeros begin with a tensor or with a row of one, such
//! as the rows that pad a vocabulary, and seldom at a multiple of the page size.
//!
//! Few pages are read: the last one, and pages before it at distances that double, until one is
//! not zero. Between the two a page that is not zero and is followed by a page of zeros is
//! searched by halving.

use crate::check::report::Collected;
use crate::list::entry::read_extents;
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::{
    Absent, Cursor, EntryKind, File, Finding, Layout, Source, Span, Stop, Subject, Tensor, general,
};

/// Bytes of a page: what disks allocate, and what downloads and archives align to.
const PAGE: u64 = 4 << 10;
/// Elements before the zeros are not zero themselves: their last bytes are looked at.
const EDGE: u64 = 8;

/// The search for a tensor that breaks off in zeros. Between steps it is plain data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(State);

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Begin,
    /// Page `zero` is zero; the page `step` before it is looked at next.
    Back {
        zero: u64,
        step: u64,
    },
    /// Page `live` is not zero, and page `zero` after it is.
    Between {
        live: u64,
        zero: u64,
    },
    /// Zeros begin at this offset; the tensor there is searched.
    Entries(u64, Box<Cursor>),
    Done(Option<Broken>),
}

/// A tensor that breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Where the zeros begin.
    pub(crate) at: u64,
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
        let before = matches!(self.0, State::Done(_));
        let found = self.find(source, file)?;
        if let Some(broken) = found.filter(|_| !before) {
            collected.push(broken.finding());
        }
        Ok(())
    }

    /// Searches; the answer does not change after the first one.
    pub(crate) fn find(
        &mut self,
        source: &Source<'_>,
        file: &File,
    ) -> Result<Option<Broken>, Absent> {
        loop {
            self.0 = match &mut self.0 {
                State::Begin => begin(source)?,
                State::Back { zero, step } => {
                    let before = zero.saturating_sub(*step);
                    match is_zero(source, Span::new(before * PAGE, PAGE))? {
                        // All of it is zero, so that nothing breaks off.
                        true if before == 0 => State::Done(None),
                        true => State::Back { zero: before, step: step.saturating_mul(2) },
                        false => State::Between { live: before, zero: *zero },
                    }
                }
                State::Between { live, zero } if *zero - *live > 1 => {
                    let middle = *live + (*zero - *live) / 2;
                    match is_zero(source, Span::new(middle * PAGE, PAGE))? {
                        true => State::Between { live: *live, zero: middle },
                        false => State::Between { live: middle, zero: *zero },
                    }
                }
                State::Between { zero, .. } => {
                    let at = *zero * PAGE;
                    match is_zero(source, Span::new(at - EDGE, EDGE))? {
                        true => State::Done(None),
                        false => State::Entries(at, Box::default()),
                    }
                }
                State::Entries(at, cursor) => State::Done(cut(source, file, *at, cursor)?),
                State::Done(found) => return Ok(*found),
            };
        }
    }
}

impl Broken {
    fn finding(self) -> Finding {
        Finding {
            offset: self.at,
            expected: 0,
            found: 0,
            len: PAGE as u32,
            entry: self.entry,
            part: Subject::NO_PART,
            rule: general::DATA_ZEROS,
            kind: EntryKind::Tensor,
        }
    }
}

/// The last whole page and what follows it are zero, or there is nothing to search.
fn begin(source: &Source<'_>) -> Result<State, Absent> {
    let pages = source.len() / PAGE;
    let Some(last) = pages.checked_sub(1).filter(|last| *last > 0) else {
        return Ok(State::Done(None));
    };
    let from = last * PAGE;
    Ok(match is_zero(source, Span::new(from, source.len() - from))? {
        true => State::Back { zero: last, step: 1 },
        false => State::Done(None),
    })
}

fn is_zero(source: &Source<'_>, span: Span) -> Result<bool, Absent> {
    Ok(source.get(span)?.iter().all(|byte| *byte == 0))
}

/// The tensor that this offset cuts inside a row.
fn cut(
    source: &Source<'_>,
    file: &File,
    at: u64,
    cursor: &mut Cursor,
) -> Result<Option<Broken>, Absent> {
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
            return Ok(is_cut.then_some(Broken { at, entry: tensor.index }));
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
