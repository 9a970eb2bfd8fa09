//! Fast paths that read or skip valid members.
//!
//! Every writer emits members without white space and with the fields in one order. Such a
//! member is parsed with few branches; any other gets the full check.

mod member;
mod words;

use super::{Cursor, Header, State, rules, stands};
use crate::base::widen;
use crate::format::Glance;
use crate::input::Span;
use crate::model::{Chunks, DimEncoding, DimsAt, Name, NameAt, NameEncoding, Status, Tensor};
use crate::parse::Reader;
use crate::rule::EntryKind;
use member::{brief, known, skim_one};

/// The member that is not a tensor.
const METADATA: &str = "__metadata__";

impl Header {
    /// Reads the tensor of the next member, unless it needs the full check.
    pub(super) fn next_plain(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Option<Tensor> {
        let start = self.next_member(c);
        if c.state.stands == stands::END || c.done {
            return None;
        }
        r.region(start, u64::from(self.data_at), rules::JSON_TRUNCATED);
        r.about(EntryKind::Tensor, c.index);
        self.plain_tensor(r, c, start)
    }

    /// The tensor of the member at the reader's position, `start`; `None` if it needs the
    /// full check.
    fn plain_tensor(&self, r: &Reader<'_, '_>, c: &mut Cursor, start: u64) -> Option<Tensor> {
        let run = r.resident();
        let (brief, after) = brief(run)?;
        let last = match after.first()? {
            b',' => false,
            b'}' => true,
            _ => return None,
        };
        let data_len = r.source().len().saturating_sub(u64::from(self.data_at));
        if brief.end > data_len || brief.name == METADATA.as_bytes() {
            return None;
        }
        let offset = |at: usize| start.saturating_add(widen(at));
        let from = |rest: usize| offset(run.len().saturating_sub(rest));
        let tensor = Tensor {
            index: c.index,
            offset: start,
            name: NameAt::plain(offset(1), widen(brief.name.len())),
            status: Status::Sound,
            dtype: brief.dtype,
            dims: DimsAt {
                offset: from(brief.dims_left),
                len: u32::try_from(brief.dims_len).ok()?,
                rank: brief.rank,
                lead: None,
                encoding: DimEncoding::Decimal,
            },
            elements: brief.elements,
            chunks: Chunks::One(Span::new(
                u64::from(self.data_at).saturating_add(brief.begin),
                brief.end.saturating_sub(brief.begin),
            )),
            // The name is followed by `":{"dtype":"`.
            extra: Span::new(offset(brief.name.len().saturating_add(13)), brief.spelling),
            ..Tensor::default()
        };
        let end = from(after.len()).saturating_add(1);
        c.state.data_end =
            if brief.begin == c.state.data_end { brief.end } else { Cursor::UNKNOWN };
        c.advance(end);
        c.state.stands = if last { stands::END } else { stands::AFTER };
        Some(tensor)
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if c.state.stands >= stands::END {
            return;
        }
        r.region(c.at.max(u64::from(self.first)), u64::from(self.data_at), rules::JSON_TRUNCATED);
        let (start, run) = (r.at(), r.resident());
        let data_len = r.source().len().saturating_sub(u64::from(self.data_at));
        let mut rest = run;
        let mut swept = *c;
        while let Some((brief, after)) = brief(rest) {
            let last = match after.first() {
                Some(b',') => false,
                Some(b'}') => true,
                _ => break,
            };
            if brief.end > data_len || brief.name == METADATA.as_bytes() {
                break;
            }
            let at = start.saturating_add(widen(run.len().saturating_sub(rest.len())));
            if !goes_on(&glance(swept.index, at, brief.name)) {
                break;
            }
            rest = after.get(1..).unwrap_or_default();
            swept.state.data_end =
                if brief.begin == swept.state.data_end { brief.end } else { Cursor::UNKNOWN };
            swept.index = swept.index.saturating_add(1);
            swept.state.stands = if last { stands::END } else { stands::AFTER };
            if last {
                break;
            }
        }
        if swept.index > c.index {
            r.pass(rest);
            *c = Cursor { at: r.at(), ..swept };
        }
    }

    /// Skips members that [`Header::sweep_sound`] has skipped before, up to `until`, without
    /// checking their form again.
    pub(super) fn sweep_names<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if c.state.stands >= stands::END {
            return;
        }
        r.region(c.at.max(u64::from(self.first)), u64::from(self.data_at), rules::JSON_TRUNCATED);
        let (start, run) = (r.at(), r.resident());
        let mut rest = run;
        let mut index = c.index;
        let mut last = false;
        while index < until
            && !last
            && let Some((name, ends, after)) = known(rest)
        {
            let at = start.saturating_add(widen(run.len().saturating_sub(rest.len())));
            if !goes_on(&glance(index, at, name)) {
                break;
            }
            (rest, last) = (after, ends);
            index = index.saturating_add(1);
        }
        if index > c.index {
            r.pass(rest);
            let stands = if last { stands::END } else { stands::AFTER };
            let state = State { stands, data_end: Cursor::UNKNOWN, ..c.state };
            *c = Cursor { at: r.at(), index, state, ..*c };
        }
    }
}

/// The member at `at`, whose name follows a quote.
#[inline(always)]
fn glance(index: u32, at: u64, name: &[u8]) -> Glance<'_> {
    let name_at = NameAt::plain(at.saturating_add(1), widen(name.len()));
    Glance { index, at, name_at, name: Name::new(name, NameEncoding::Plain) }
}

/// Skips members in the form that writers emit; returns their number, the rest, and whether
/// the closing brace was reached. The scan would give the same result.
pub(super) fn skim(run: &[u8]) -> (u32, &[u8], bool) {
    let (mut rest, mut count) = (run, 0_u32);
    while let Some(after) = skim_one(rest) {
        match after.split_first() {
            Some((b',', after)) => rest = after,
            Some((b'}', after)) => return (count.saturating_add(1), after, true),
            _ => break,
        }
        count = count.saturating_add(1);
    }
    (count, rest, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Container;
    use crate::input::Source;
    use std::vec::Vec;

    const HEADER: &[u8] = br#"{"a.b":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"c":{"dtype":"F8_E4M3FNUZ","shape":[],"data_offsets":[24,25]},"d":{"dtype":"BF16","shape":[10],"data_offsets":[30,50]}}"#;

    /// Compares both ways of reading each member of `text`; returns how many were plain.
    fn compare(text: &[u8]) -> usize {
        let mut file = widen(text.len()).to_le_bytes().to_vec();
        file.extend_from_slice(text);
        file.resize(file.len() + 50, 0);
        let source = Source::whole(&file);
        let mut opened = |_| {};
        let mut reader = Reader::new(&source, &mut opened);
        let Ok(header) = Header::open(&mut reader, &mut Cursor::default()) else { return 0 };
        let found = core::cell::Cell::new(0);
        let mut sink = |_| found.set(found.get() + 1);
        let mut r = Reader::new(&source, &mut sink);
        let mut cursor = Cursor::default();
        let mut plain = 0;
        loop {
            let start = cursor.at.max(u64::from(header.first));
            r.region(start, u64::from(header.data_at), rules::JSON_TRUNCATED);
            let mut other = cursor;
            let before = found.get();
            let quick = header.plain_tensor(&r, &mut other, start);
            let mut tensor = Tensor::default();
            match header.any_tensor(&mut r, &mut cursor, &mut tensor) {
                Ok(true) if quick.is_some() => {
                    assert_eq!(quick, Some(tensor));
                    assert_eq!((other, found.get()), (cursor, before));
                    plain += 1;
                }
                Ok(true) => assert_eq!(quick, None),
                _ => {
                    assert_eq!(quick, None);
                    break;
                }
            }
            if cursor.state.stands == stands::END || cursor.done {
                break;
            }
        }
        plain
    }

    #[test]
    fn safetensors_fast_path_equals_careful_path() {
        assert_eq!(compare(HEADER), 3);
        let mut plain = 0;
        for at in 0..HEADER.len() {
            for byte in (b' '..=b'~').chain([0, b'\n', 0x7F, 0x80, 0xFF]) {
                let mut text = HEADER.to_vec();
                if let Some(slot) = text.get_mut(at) {
                    *slot = byte;
                }
                plain += compare(&text);
            }
        }
        assert!(plain > 10_000, "{plain}");
    }

    /// The members that a sweep skips, and its end. With `until`, the sweep is the one for
    /// members that were skipped before.
    fn swept(text: &[u8], until: Option<u32>) -> (Vec<(u32, NameAt, Vec<u8>)>, Cursor) {
        let mut file = widen(text.len()).to_le_bytes().to_vec();
        file.extend_from_slice(text);
        file.resize(file.len() + 50, 0);
        let source = Source::whole(&file);
        let mut sink = |_| {};
        let mut r = Reader::new(&source, &mut sink);
        let mut cursor = Cursor::default();
        let mut passed = Vec::new();
        if let Ok(header) = Header::open(&mut r, &mut Cursor::default()) {
            let mut note = |glance: &Glance<'_>| {
                assert_eq!(glance.at + 1, glance.name_at.offset);
                passed.push((glance.index, glance.name_at, glance.name.bytes().collect()));
                true
            };
            match until {
                Some(until) => header.sweep_names(&mut r, &mut cursor, until, &mut note),
                None => header.sweep_sound(&mut r, &mut cursor, &mut note),
            }
        }
        (passed, cursor)
    }

    #[test]
    fn second_sweep_accepts_the_same_members() {
        let mut all = 0;
        for at in 0..HEADER.len() {
            for byte in (b' '..=b'~').chain([0, 0x80]) {
                let mut text = HEADER.to_vec();
                if let Some(slot) = text.get_mut(at) {
                    *slot = byte;
                }
                let (first, cursor) = swept(&text, None);
                for until in 0..=cursor.index {
                    let (again, short) = swept(&text, Some(until));
                    assert_eq!(Some(&again[..]), first.get(..again.len()));
                    assert_eq!((again.len(), short.index), (until as usize, until));
                    if until > 0 && until == cursor.index {
                        assert_eq!(
                            (short.at, short.state.stands),
                            (cursor.at, cursor.state.stands)
                        );
                    }
                }
                all += first.len();
            }
        }
        assert!(all > 15_000, "{all}");
    }
}
