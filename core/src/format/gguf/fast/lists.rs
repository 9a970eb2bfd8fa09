//! A fast path for lists of strings, which can be long.
//!
//! The audit checks many valid UTF-8 strings at a time, and leaves the first invalid one to
//! the full check. Listing metadata jumps over the longest list.

use super::super::{Cursor, Header, State, head};
use super::u64;
use crate::base::{ascii, utf8, widen};
use crate::input::Span;
use crate::parse::Reader;

/// Number of bytes that are checked together; the last string is included as a whole.
const BATCH: usize = 4096;

/// Skips strings of the current list, as far as they are resident and UTF-8, or already
/// `validated`; returns whether there were any.
pub(in super::super) fn texts(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    big: bool,
    validated: bool,
) -> bool {
    if c.state.within & head::TEXTS == 0 {
        return false;
    }
    let from = c.at;
    if validated {
        head::texts(r, c, big);
        return c.at != from;
    }
    head::go(r, from);
    let mut rest = r.resident();
    let mut left = *head::left(c);
    loop {
        let batch = Batch::of(rest, left, big);
        if batch.count == 0 {
            break;
        }
        if batch.is_sound() {
            rest = batch.rest;
            left = left.saturating_sub(batch.count);
            continue;
        }
        // The batch may contain a long or an invalid string.
        let mut sound = 0;
        while sound < batch.count
            && let Some((text, after)) = text(rest, big)
            && utf8::is(text)
        {
            rest = after;
            sound = sound.saturating_add(1);
        }
        left = left.saturating_sub(sound);
        if sound < batch.count {
            break;
        }
    }
    r.pass(rest);
    c.at = r.at();
    *head::left(c) = left;
    c.at != from
}

/// Some strings, each after its length.
struct Batch<'a> {
    bytes: &'a [u8],
    count: u64,
    /// The bitwise or of all lengths.
    lengths: u64,
    rest: &'a [u8],
}

impl<'a> Batch<'a> {
    /// At most `left` strings at the start of `input`.
    #[inline]
    fn of(input: &'a [u8], left: u64, big: bool) -> Self {
        let (mut rest, mut count, mut lengths) = (input, 0_u64, 0);
        let enough = input.len().saturating_sub(BATCH);
        while count < left
            && rest.len() > enough
            && let Some((text, after)) = text(rest, big)
        {
            lengths |= widen(text.len());
            count = count.saturating_add(1);
            rest = after;
        }
        let len = input.len().saturating_sub(rest.len());
        Batch { bytes: input.get(..len).unwrap_or_default(), count, lengths, rest }
    }

    /// Whether all strings are UTF-8; `false` if they must be checked one by one.
    ///
    /// If the bytes of all lengths are ASCII, they are not part of a longer character, so
    /// the strings are UTF-8 if and only if the whole range is.
    #[inline]
    fn is_sound(&self) -> bool {
        ascii::is_ascii(self.bytes) || (self.lengths & ascii::HIGH == 0 && utf8::is(self.bytes))
    }
}

/// The string at the start of `input`, and the rest.
#[inline(always)]
pub(super) fn text(input: &[u8], big: bool) -> Option<(&[u8], &[u8])> {
    let (len, rest) = u64(input, big)?;
    rest.split_at_checked(usize::try_from(len).ok()?)
}

/// The longest list in the metadata, found during opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Longest {
    /// Start of the list that the cursor is in; 0 if none.
    begin: u64,
    at: u64,
    end: u64,
    /// Some list contains lists, so none is used.
    nested: bool,
}

impl Longest {
    /// No list yet.
    pub(super) const NONE: Longest = Longest { begin: 0, at: 0, end: 0, nested: false };

    /// Location of its items; empty if there is none.
    pub(super) fn span(&self) -> Span {
        if self.nested { Span::default() } else { Span::between(self.at, self.end) }
    }
}

impl State {
    /// Records that the cursor has passed the head of a value, and may be in a list at `at`.
    pub(in super::super) fn enter(&mut self, at: u64) {
        match self.within {
            0 => {}
            within if within == head::TEXTS | 1 => self.swept.longest.begin = at,
            _ => self.swept.longest.nested = true,
        }
    }

    /// Records that the cursor's list, if any, ended at `at`.
    pub(in super::super) fn leave(&mut self, at: u64) {
        let found = &mut self.swept.longest;
        let begin = core::mem::take(&mut found.begin);
        if begin != 0 && at.saturating_sub(begin) > found.end.saturating_sub(found.at) {
            (found.at, found.end) = (begin, at);
        }
    }
}

impl Header {
    /// Moves the cursor past the longest list if it is at the list's start. Opening has
    /// already scanned the items.
    pub(in super::super) fn leap(&self, c: &mut Cursor) {
        if c.state.within != 0 && c.at == self.longest.offset {
            c.at = self.longest.end().unwrap_or(u64::MAX);
            c.state.within = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Container;
    use crate::input::{Source, Span};
    use crate::model::Metadata;
    use crate::rule::{Finding, Halt};
    use std::vec::Vec;

    const TEXT: u32 = 8;
    const ARRAY: u32 = 9;

    fn number<const N: usize>(bytes: [u8; N], big: bool) -> Vec<u8> {
        if big { bytes.iter().rev().copied().collect() } else { bytes.to_vec() }
    }

    fn long(n: usize, big: bool) -> Vec<u8> {
        number((n as u64).to_le_bytes(), big)
    }

    fn array(ty: u32, items: &[Vec<u8>], big: bool) -> Vec<u8> {
        [number(ty.to_le_bytes(), big), long(items.len(), big), items.concat()].concat()
    }

    fn texts_of(texts: &[&[u8]], big: bool) -> Vec<u8> {
        let items: Vec<_> =
            texts.iter().map(|text| [&long(text.len(), big)[..], text].concat()).collect();
        array(TEXT, &items, big)
    }

    /// A file with only these arrays.
    fn file(arrays: &[Vec<u8>], big: bool) -> Vec<u8> {
        let head = [&b"GGUF"[..], &number(3_u32.to_le_bytes(), big)].concat();
        let mut file = [head, long(0, big), long(arrays.len(), big)].concat();
        for (i, array) in arrays.iter().enumerate() {
            file.extend(long(2, big));
            file.extend([b'k', b'a' + i as u8]);
            file.extend(number(ARRAY.to_le_bytes(), big));
            file.extend(array);
        }
        file
    }

    fn open(source: &Source<'_>) -> Option<Header> {
        Header::open(&mut Reader::new(source, &mut |_| {}), &mut Cursor::default()).ok()
    }

    /// The findings of the value audit, and whether it reached the end.
    fn audited(
        source: &Source<'_>,
        step: impl Fn(&mut Reader<'_, '_>, &mut Cursor) -> Result<(), Halt>,
    ) -> (Vec<Finding>, bool) {
        let mut found = Vec::new();
        let mut sink = |finding| found.push(finding);
        let mut reader = Reader::new(source, &mut sink);
        let mut cursor = Cursor::default();
        while !cursor.done && step(&mut reader, &mut cursor).is_ok() {}
        let done = cursor.done;
        (found, done)
    }

    /// Compares both ways through the values of `bytes`; returns the number of findings.
    fn compare(bytes: &[u8]) -> usize {
        let source = Source::whole(bytes);
        let Some(header) = open(&source) else { return 0 };
        let swept = audited(&source, |r, c| header.audit_values(r, c));
        let careful = audited(&source, |r, c| match header.audit_step(r, c) {
            Ok(()) => Ok(()),
            Err(Halt::ABSENT) => Err(Halt::ABSENT),
            Err(_) => {
                c.finish();
                Ok(())
            }
        });
        assert_eq!(swept, careful);
        // List the metadata with and without jumping over the longest list.
        let plain = Header { longest: Span::default(), ..header };
        assert_eq!(listed(&header, &source), listed(&plain, &source));
        swept.0.len()
    }

    fn listed(header: &Header, source: &Source<'_>) -> (Vec<Metadata>, Vec<Finding>) {
        let (mut metas, mut found) = (Vec::new(), Vec::new());
        let mut sink = |finding| found.push(finding);
        let mut reader = Reader::new(source, &mut sink);
        let mut cursor = Cursor::default();
        while let Ok(Some(meta)) = header.next_meta(&mut reader, &mut cursor) {
            metas.push(meta);
        }
        (metas, found)
    }

    #[test]
    fn each_string_is_validated_alone() {
        let long = [b'x'; 0xA9];
        let bad = [&[b'y'; 300][..], b"\xFF"].concat();
        for big in [false, true] {
            // The second string's length would complete the first string's last
            // character.
            let split = texts_of(&[b"a\xC3", &long, b""], big);
            assert_eq!(compare(&file(&[split], big)), 1);
            let sound = texts_of(&[b"", "zw\u{f6}lf".as_bytes(), &long, b"\xF0\x9F\x9A\xA2"], big);
            assert_eq!(compare(&file(&[sound.clone(), sound.clone()], big)), 0);
            let faulty = texts_of(&[&long, &bad, b"\x80", b"ok"], big);
            assert_eq!(compare(&file(&[faulty, sound], big)), 1);
        }
    }

    #[test]
    fn long_list_reports_its_faults() {
        let texts: Vec<_> = (0..3000).map(|i| std::format!("t{i}{}", "é".repeat(i % 3))).collect();
        for at in [0, 1, 511, 512, 1700, 2998, 2999] {
            let mut bytes: Vec<_> = texts.iter().map(|text| text.as_bytes()).collect();
            bytes[at] = b"\xE2\x82";
            let list = texts_of(&bytes, false);
            assert_eq!(compare(&file(&[list.clone(), list], false)), 2, "{at}");
        }
    }

    #[test]
    fn damaged_list_takes_careful_path() {
        let mut found = 0;
        for big in [false, true] {
            let flat = texts_of(&[b"one", "é".as_bytes(), b"", b"three"], big);
            let deep = array(ARRAY, &[texts_of(&[b"in"], big), texts_of(&[], big)], big);
            let longer = texts_of(&[b"some more bytes", b"than the first", b"has"], big);
            let whole = file(&[flat, longer, deep.clone(), texts_of(&[b"end"], big)], big);
            let first = file(&[deep, texts_of(&[b"", b"last"], big)], big);
            for file in [whole, first] {
                for at in 16..file.len() {
                    for byte in [0, 1, 2, 3, 7, 8, 9, 0x40, 0x7F, 0x80, 0xA9, 0xC3, 0xE2, 0xFF] {
                        let mut file = file.clone();
                        file[at] = byte;
                        found += compare(&file);
                    }
                }
            }
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn longest_list_is_skipped_by_listing() {
        let lists = [&[&b"a"[..], b"b"][..], &[b"longer", b"than"], &[b"c"]];
        let lists: Vec<_> = lists.iter().map(|texts| texts_of(texts, false)).collect();
        let bytes = file(&lists, false);
        let header = open(&Source::whole(&bytes)).unwrap();
        let at = bytes.windows(6).position(|six| six == b"longer").unwrap() - 8;
        assert_eq!(header.longest, Span::new(at as u64, 8 + 6 + 8 + 4));
        // With nested lists, no list is recorded.
        let deep = array(ARRAY, &lists, false);
        let bytes = file(&[lists[1].clone(), deep], false);
        assert_eq!(open(&Source::whole(&bytes)).unwrap().longest, Span::default());
    }
}
