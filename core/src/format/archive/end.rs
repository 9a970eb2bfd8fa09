//! The end of an archive: the end record, and the zip64 records before it (4.3.14 to
//! 4.3.16).

use super::{Fault, Rules, refuse, u16_at, u32_at, u64_at};
use crate::base::{limits, widen};
use crate::input::Span;
use crate::parse::{Cursor, Reader};
use crate::rule::Halt;

const SIGNATURE: [u8; 4] = *b"PK\x05\x06";
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const RECORD_64: [u8; 4] = *b"PK\x06\x06";
const LEN: u64 = 22;
const LOCATOR_LEN: u64 = 20;
/// Length of the zip64 record without extensible data, for which no format is defined.
const RECORD_64_LEN: u64 = 56;
/// Length of the longest comment.
const COMMENT: u64 = 0xFFFF;

/// The validated location of an archive's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    pub(crate) directory: Span,
    /// Recorded number of members.
    pub(crate) count: u64,
}

impl End {
    /// An unknown location.
    pub(crate) const NONE: End = End { directory: Span::new(0, 0), count: 0 };

    /// Finds the end record, and from it the directory. In the cursor, `at` is the offset of
    /// the record or of the search for it; `index` is 1 during the search and 2 after it.
    pub(crate) fn find<S>(
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<S>,
        rules: Rules,
    ) -> Result<End, Halt> {
        if c.index < 2 {
            search(r, c, rules)?;
            c.index = 2;
        }
        // The zip64 records, if any, must be resident together with the end record.
        let start = c.at.saturating_sub(LOCATOR_LEN).saturating_sub(RECORD_64_LEN);
        let bytes = r.get(Span::between(start, c.at.wrapping_add(LEN)))?;
        let (before, record) = split_end(bytes, LEN);
        let span = Span::new(c.at, LEN);
        let (record_64, locator) = split_end(before, LOCATOR_LEN);
        let located = locator.starts_with(&LOCATOR);
        let disk =
            |at| matches!(u16_at(record, at), 0) || located && u16_at(record, at) == u16::MAX;
        // With a zip64 record, each count of all ones is there instead.
        let (here, all) = (u16_at(record, 8), u16_at(record, 10));
        let counted = here == all || located && here.max(all) == u16::MAX;
        if !disk(4) || !disk(6) || !counted {
            return Err(refuse(r, rules(Fault::Disk), span, 0, 0));
        }
        let mut end = End {
            directory: Span::new(u32_at(record, 16).into(), u32_at(record, 12).into()),
            count: here.min(all).into(),
        };
        let mut tail = c.at;
        if located {
            let place = Span::new(c.at.wrapping_sub(LOCATOR_LEN), LOCATOR_LEN);
            tail = end.zip64(r, rules, place, locator, split_end(record_64, RECORD_64_LEN).1)?;
        } else if end.directory.end() != Some(tail)
            && (u16_at(record, 10) == u16::MAX
                || u32_at(record, 12) == u32::MAX
                || u32_at(record, 16) == u32::MAX)
        {
            return Err(refuse(r, rules(Fault::Zip64Missing), span, 0, 0));
        }
        if end.directory.end() != Some(tail) {
            let found = end.directory.end().unwrap_or(u64::MAX);
            return Err(refuse(r, rules(Fault::Directory), span, tail, found));
        }
        comment(r, rules, c.at, u16_at(record, 20).into());
        Ok(end)
    }

    /// Takes the numbers from the zip64 record, and returns the record's offset.
    fn zip64(
        &mut self,
        r: &mut Reader<'_, '_>,
        rules: Rules,
        place: Span,
        locator: &[u8],
        record: &[u8],
    ) -> Result<u64, Halt> {
        let (at, disks) = (u64_at(locator, 8), u32_at(locator, 16));
        if u32_at(locator, 4) != 0 || disks > 1 {
            return Err(refuse(r, rules(Fault::Disk), place, 1, disks.into()));
        }
        let len = RECORD_64_LEN.wrapping_sub(12);
        let expected = place.offset.saturating_sub(RECORD_64_LEN);
        if at != expected || !record.starts_with(&RECORD_64) || u64_at(record, 4) != len {
            return Err(refuse(r, rules(Fault::Zip64Record), place, expected, at));
        }
        let span = Span::new(at, RECORD_64_LEN);
        let (count, size, offset) = (u64_at(record, 32), u64_at(record, 40), u64_at(record, 48));
        if u64_at(record, 16) != 0 || u64_at(record, 24) != count {
            return Err(refuse(r, rules(Fault::Disk), span, 0, 0));
        }
        let agree = |small: u64, most: u64, large: u64| small == most || small == large;
        let agrees = agree(self.count, u16::MAX.into(), count)
            && agree(self.directory.len, u32::MAX.into(), size)
            && agree(self.directory.offset, u32::MAX.into(), offset);
        if !agrees {
            return Err(refuse(r, rules(Fault::Zip64Differs), span, 0, 0));
        }
        if disks == 0 {
            r.flag(rules(Fault::Zip64Disks), place.offset.wrapping_add(16), 4, 1, 0);
        }
        *self = End { directory: Span::new(offset, size), count };
        Ok(at)
    }
}

/// Splits off the last `len` bytes; returns the bytes before them, and them.
fn split_end(bytes: &[u8], len: u64) -> (&[u8], &[u8]) {
    let at = usize::try_from(widen(bytes.len()).saturating_sub(len)).unwrap_or(0);
    bytes.split_at_checked(at).unwrap_or((&[], bytes))
}

/// Checks the bytes after the end record at `at`: a comment of `stated` bytes.
fn comment(r: &mut Reader<'_, '_>, rules: Rules, at: u64, stated: u64) {
    let len = r.source().len();
    let after = at.wrapping_add(LEN);
    let found = len.saturating_sub(after);
    let end = after.wrapping_add(stated.min(found));
    if found < stated {
        r.flag(rules(Fault::CommentCut), at.wrapping_add(20), 2, stated, found);
    } else if stated > 0 {
        r.flag(rules(Fault::Comment), after, stated, 0, stated);
    }
    if found > stated {
        let rest = found.wrapping_sub(stated);
        r.flag(rules(Fault::Appended), end, rest, 0, rest);
    }
}

/// Searches for the last end record, backwards in pieces from the end of the file.
fn search<S>(r: &mut Reader<'_, '_>, c: &mut Cursor<S>, rules: Rules) -> Result<(), Halt> {
    let len = r.source().len();
    let Some(last) = len.checked_sub(LEN) else {
        return Err(refuse(r, rules(Fault::NoEnd), Span::new(0, len), 0, 0));
    };
    let first = last.saturating_sub(COMMENT);
    if c.index == 0 {
        // Python's zipfile rejects an archive whose last record begins too late to be whole.
        let end = r.get(Span::new(last, LEN))?;
        let late = last_signature(end).is_some_and(|place| place > 0);
        if late && !(end.starts_with(&SIGNATURE) && end.ends_with(&[0, 0])) {
            return Err(refuse(r, rules(Fault::NoEnd), Span::new(last, LEN), 0, 0));
        }
        (c.index, c.at) = (1, last);
    }
    // The record is almost always at the very end of the file.
    let mut most = if c.at == last { 0 } else { limits::ZIP_SEARCH };
    loop {
        // A record may begin at any offset from `from` to `c.at`.
        let from = c.at.saturating_sub(most).max(first);
        let bytes = r.get(Span::between(from, c.at.wrapping_add(4)))?;
        if let Some(place) = last_signature(bytes) {
            c.at = from.wrapping_add(widen(place));
            return Ok(());
        }
        if from == first {
            return Err(refuse(r, rules(Fault::NoEnd), Span::between(first, len), 0, 0));
        }
        c.at = from.wrapping_sub(1);
        most = limits::ZIP_SEARCH;
    }
}

/// Position of the last end record's signature, if any.
fn last_signature(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while !rest.ends_with(&SIGNATURE) {
        rest = rest.split_last()?.1;
    }
    rest.len().checked_sub(SIGNATURE.len())
}
