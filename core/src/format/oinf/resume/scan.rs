//! Scans the bytes of values in the pieces that the windows provide.

use super::Cursor;
use crate::base::widen;
use crate::input::{Absent, Span};
use crate::parse::Reader;
use crate::rule::Halt;

/// The result of one step of a scan.
pub(super) enum Scan {
    /// Nothing found yet; there is more to scan.
    More,
    /// Nothing found.
    Clean,
    /// The bytes at this offset are bad; the scan ends there.
    Bad(u64),
}

/// Scans the resident part of `span`, continuing after `c.state.scanned` bytes.
///
/// `width` is the length of an element, 1 or 4 bytes. `bad` returns the position of the
/// first bad byte.
pub(super) fn step(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    span: Span,
    width: u64,
    bad: impl Fn(&[u8]) -> Option<usize>,
) -> Result<Scan, Halt> {
    let at = span.offset.wrapping_add(c.state.scanned);
    let left = span.len.wrapping_sub(c.state.scanned);
    if left < width {
        return Ok(Scan::Clean);
    }
    let run = r.source().run(at);
    let whole = widen(run.len()).min(left) & !width.wrapping_sub(1);
    if whole == 0 {
        return Err(r.lack(Absent { offset: at, need: width, want: left }));
    }
    let run = usize::try_from(whole).ok().and_then(|len| run.get(..len)).unwrap_or_default();
    if let Some(i) = bad(run) {
        return Ok(Scan::Bad(at.wrapping_add(widen(i))));
    }
    c.state.scanned = c.state.scanned.wrapping_add(whole);
    Ok(if whole < left { Scan::More } else { Scan::Clean })
}
