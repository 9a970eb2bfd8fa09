//! Reads of an entry whose parts lie in distant places.
//!
//! Opening has verified the places. Each is checked against the file again, because the bytes may
//! have changed.

#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
pub(crate) mod entry;

use crate::base::features::WINDOWS;
use crate::base::{Word, limits, wide, widen, word};
use crate::input::{Absent, Span};
use crate::parse::{Cursor, Reader};
use crate::rule::Halt;
pub(crate) use entry::{Memo, Reads, Table, ready};

/// A vector: where its items are, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Vector {
    /// Offset of the first item; 0 if the field is absent.
    pub(crate) at: u32,
    /// Number of items.
    pub(crate) count: u32,
}

impl Vector {
    /// No vector.
    pub(crate) const NONE: Vector = Vector { at: 0, count: 0 };

    /// Whether the field is present.
    pub(crate) fn is_present(self) -> bool {
        self.at != 0
    }

    /// Offset of an item of `width` bytes.
    pub(crate) fn place(self, index: u32, width: u8) -> u64 {
        u64::from(self.at).wrapping_add(u64::from(index).wrapping_mul(width.into()))
    }

    /// The items after the first `passed`, as far as they are resident, `width` bytes each, and the
    /// offset of the first of them; none after the last.
    pub(crate) fn items<'a>(
        self,
        r: &mut Reader<'_, 'a>,
        passed: u32,
        width: u8,
    ) -> Result<Option<(&'a [u8], u64)>, Halt> {
        let left = self.count.saturating_sub(passed);
        if left == 0 {
            return Ok(None);
        }
        let at = self.place(passed, width);
        let span = Span::new(at, u64::from(left).wrapping_mul(width.into()));
        some(r, span, width).map(|bytes| Some((bytes, at)))
    }

    /// The bytes of its items.
    pub(crate) fn span(self, width: u8) -> Span {
        Span::new(self.at.into(), u64::from(self.count).wrapping_mul(width.into()))
    }
}

/// A scalar field of up to four bytes: its value, and where it is stored, in the words of this build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small {
    pub(crate) value: u32,
    at: Word,
}

impl Small {
    /// Where it is stored; 0 if it is absent.
    pub(crate) fn at(self) -> u64 {
        wide(self.at)
    }
}

/// The little-endian number of `width` bytes at `at`.
pub(crate) fn number(r: &mut Reader<'_, '_>, at: u64, width: u8) -> Result<u64, Halt> {
    if WINDOWS {
        // Widths are known at most calls, and then one branch is left.
        let run = r.source().run(at);
        let found = match width {
            1 => run.first().map(|byte| u64::from(*byte)),
            2 => run.first_chunk().map(|bytes| u64::from(u16::from_le_bytes(*bytes))),
            4 => run.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes))),
            8 => run.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
            _ => None,
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let mut bytes = [0; 8];
    let found = get(r, Span::new(at, width.into()))?;
    for (to, from) in bytes.iter_mut().zip(found) {
        *to = *from;
    }
    Ok(u64::from_le_bytes(bytes))
}

/// The bytes of `span` as one slice. The host may read ahead.
pub(crate) fn get<'a>(r: &mut Reader<'_, 'a>, span: Span) -> Result<&'a [u8], Halt> {
    match r.source().all(span) {
        Some(bytes) => Ok(bytes),
        None => {
            let left = r.source().len().saturating_sub(span.offset);
            let want = limits::READ_AHEAD.min(left).max(span.len);
            Err(r.lack(Absent { offset: span.offset, need: span.len, want }))
        }
    }
}

/// The bytes of a vector that is [`ready`], `width` an item; none if it is not.
///
/// No result: that would be another branch at every call, also where nothing is ever absent.
pub(crate) fn slice<'a>(r: &Reader<'_, 'a>, vector: Vector, width: u8) -> &'a [u8] {
    let len = usize::try_from(vector.count).ok().and_then(|count| count.checked_mul(width.into()));
    let piece = len.and_then(|len| r.source().piece(word(vector.at.into()), len));
    piece.unwrap_or_default()
}

/// Number of steps that an audit takes at a time: it copies the cursor before and after them.
const STEPS: u32 = 64;

/// Takes steps of an audit until the cursor is done, or bytes are missing, or for a while.
pub(crate) fn steps<'s, 'a, S: Copy + PartialEq>(
    r: &mut Reader<'s, 'a>,
    c: &mut Cursor<S>,
    mut step: impl FnMut(&mut Reader<'s, 'a>, &mut Cursor<S>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let before = *c;
    for _ in 0..STEPS {
        match step(r, c) {
            Ok(()) if c.done => break,
            Ok(()) => {}
            // The audit keeps the cursor only after a step.
            Err(halt) if halt.is_absent() && *c != before => break,
            Err(halt) => return Err(halt),
        }
    }
    Ok(())
}

/// The bytes of `span` that are resident, at least the first `width` of them, in whole items of
/// `width` bytes.
pub(crate) fn some<'a>(r: &mut Reader<'_, 'a>, span: Span, width: u8) -> Result<&'a [u8], Halt> {
    if let Some(bytes) = r.source().all(span) {
        return Ok(bytes);
    }
    if !WINDOWS {
        return Err(r.lack(Absent::all_of(span)));
    }
    let first = Span::new(span.offset, u64::from(width).min(span.len));
    let run = match r.source().all(first) {
        Some(_) => r.source().run(span.offset),
        None => {
            let want = limits::READ_AHEAD.min(span.len).max(first.len);
            let absent = Absent { offset: span.offset, need: first.len, want };
            return Err(r.lack(absent));
        }
    };
    let most = usize::try_from(span.len).unwrap_or(usize::MAX).min(run.len());
    let odd = widen(most).checked_rem(width.into()).unwrap_or(0);
    let whole = most.saturating_sub(usize::try_from(odd).unwrap_or(0));
    Ok(run.get(..whole).unwrap_or_default())
}

/// Offsets of items of `width` bytes, from `at` on.
pub(crate) fn offsets(at: u64, width: u8) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(at), move |at| Some(at.wrapping_add(width.into())))
}
