//! Fast paths that read or skip valid tensors.
//!
//! They handle entries for which the full check would report nothing. At any other entry the
//! sweep ends, and the entry gets the full check.

mod lists;

pub(super) use lists::texts;

use super::elements::{Stored, stored};
use super::{Cursor, Header, field, head};
use crate::base::{ascii, utf8, widen};
use crate::format::Glance;
use crate::input::{Source, Span};
use crate::model::{
    Chunks, DimEncoding, DimsAt, Endianness, Name, NameAt, NameEncoding, Status, Tensor,
    dims::product,
};
use crate::parse::Reader;
use lists::text;

/// Coverage of the file by the data listed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cover {
    /// So far, only padding lies between tensors.
    Tight,
    /// Other bytes may lie between tensors.
    Loose,
    /// All tensors are listed, the file ends with them, and only padding lies in between.
    Proved,
}

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Swept {
    cover: Cover,
    /// The longest list so far, and the start of the list that opening is in.
    longest: lists::Longest,
}

impl Swept {
    pub(super) const NONE: Swept = Swept { cover: Cover::Tight, longest: lists::Longest::NONE };

    /// Location of the items of the longest list.
    pub(super) fn longest(&self) -> List {
        self.longest.span()
    }

    /// Records that other bytes may lie between tensors.
    pub(super) fn loosen(&mut self) {
        self.cover = Cover::Loose;
    }

    /// Whether the data of all tensors was listed in order, with only padding in between.
    pub(super) fn is_covered(&self) -> bool {
        self.cover == Cover::Proved
    }
}

/// Location of the items of a list.
pub(super) type List = Span;

/// No list.
pub(super) const NO_LIST: List = Span::new(0, 0);

#[inline(always)]
fn u64(input: &[u8], big: bool) -> Option<(u64, &[u8])> {
    let (bytes, rest) = input.split_first_chunk()?;
    Some((if big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) }, rest))
}

#[inline(always)]
fn u32(input: &[u8], big: bool) -> Option<(u32, &[u8])> {
    let (bytes, rest) = input.split_first_chunk()?;
    Some((if big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) }, rest))
}

/// A tensor entry that breaks no rule, whatever precedes it.
struct Brief<'a> {
    name: &'a [u8],
    rank: u32,
    stored: Stored,
    elements: u64,
    size: u64,
    offset: u64,
}

/// Splits the entry at the start of `input` into name, dims and rest, if its rank is valid.
#[inline(always)]
fn parts(input: &[u8], big: bool) -> Option<(&[u8], &[u8], &[u8])> {
    let (name, rest) = text(input, big)?;
    let (rank, rest) = u32(rest, big)?;
    if rank > field::LARGEST_RANK {
        return None;
    }
    let (dims, rest) = rest.split_at_checked(usize::try_from(rank << 3).ok()?)?;
    Some((name, dims, rest))
}

/// The entry at the start of `input`, and the rest; `None` if it needs the full check.
#[inline(always)]
fn brief(input: &[u8], big: bool) -> Option<(Brief<'_>, &[u8])> {
    let (name, dims, rest) = parts(input, big)?;
    let (ty, rest) = u32(rest, big)?;
    let (offset, rest) = u64(rest, big)?;
    let (extents, _) = dims.as_chunks::<8>();
    let extent = |bytes: &[u8; 8]| {
        if big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) }
    };
    let row = extent(extents.first()?);
    let (mut elements, mut rank) = (1_u64, 0_u32);
    for bytes in extents {
        let extent = extent(bytes);
        // A 0 needs a lint. The product bounds the other dims.
        elements = product(elements, extent).filter(|n| *n != 0)?;
        rank = rank.saturating_add(1);
    }
    let stored = stored(ty)?;
    let size = stored.size(elements);
    let sound = elements <= field::LARGEST_EXTENT
        && size <= field::LARGEST_EXTENT
        && row & stored.block().wrapping_sub(1) == 0
        && widen(name.len()) < field::LONGEST_NAME
        && !name.contains(&0)
        && (ascii::is_ascii(name) || utf8::is(name));
    sound.then_some((Brief { name, rank, stored, elements, size, offset }, rest))
}

/// Skips entries with valid ranks and name lengths at the start of `input`, at most `most`;
/// returns their number and the rest. Reading them one by one would find the same ends.
pub(super) fn skim(input: &[u8], most: u32, big: bool) -> (u32, &[u8]) {
    let (mut rest, mut count) = (input, 0_u32);
    while count < most
        && let Some((name, _, after)) = parts(rest, big)
        && widen(name.len()) <= field::LONGEST_NAME
        && let Some(after) = after.get(12..)
    {
        rest = after;
        count = count.saturating_add(1);
    }
    (count, rest)
}

impl Header {
    /// Reads the tensor at the reader's position; `None` if it needs the full check.
    pub(super) fn plain_tensor(&self, r: &Reader<'_, '_>, c: &mut Cursor) -> Option<Tensor> {
        let (at, run) = (r.at(), r.resident());
        let (brief, rest) = brief(run, self.big)?;
        let mut next = *c;
        let begin = self.pass_data(r.source(), &mut next, &brief)?;
        let name_at = at.saturating_add(8);
        let dims_at = name_at.saturating_add(widen(brief.name.len())).saturating_add(4);
        let dims_len = brief.rank << 3;
        let (endianness, encoding) = match self.big {
            true => (Endianness::Big, DimEncoding::ReversedBig),
            false => (Endianness::Little, DimEncoding::Reversed),
        };
        let tensor = Tensor {
            index: c.index,
            offset: at,
            name: NameAt::plain(name_at, widen(brief.name.len())),
            status: Status::Sound,
            dtype: brief.stored.dtype,
            endianness,
            dims: DimsAt { offset: dims_at, len: dims_len, rank: brief.rank, lead: None, encoding },
            elements: brief.elements,
            chunks: Chunks::One(Span::new(begin, brief.size)),
            extra: Span::new(dims_at.saturating_add(dims_len.into()), 4),
            ..Tensor::default()
        };
        next.advance(at.saturating_add(widen(run.len().saturating_sub(rest.len()))));
        *c = next;
        Some(tensor)
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if self.tensors_at == 0 {
            return;
        }
        head::go(r, c.at.max(self.tensors_at));
        let (start, run) = (r.at(), r.resident());
        let mut rest = run;
        let mut swept = *c;
        while swept.index < self.count
            && let Some((brief, after)) = brief(rest, self.big)
        {
            let mut next = swept;
            if self.pass_data(r.source(), &mut next, &brief).is_none() {
                break;
            }
            let at = start.saturating_add(widen(run.len().saturating_sub(rest.len())));
            let name_at = NameAt::plain(at.saturating_add(8), widen(brief.name.len()));
            let name = Name::new(brief.name, NameEncoding::Plain);
            if !goes_on(&Glance { index: swept.index, at, name_at, name }) {
                break;
            }
            rest = after;
            swept = next;
            swept.index = swept.index.saturating_add(1);
        }
        if swept.index > c.index {
            r.pass(rest);
            *c = Cursor { at: r.at(), ..swept };
        }
    }

    /// Moves the cursor's state past a tensor's data, and returns the data's offset; `None`
    /// if the data is not at the expected offset.
    #[inline(always)]
    fn pass_data(&self, source: &Source<'_>, c: &mut Cursor, brief: &Brief<'_>) -> Option<u64> {
        let expected = c.state.next_data;
        let mask = u64::from(self.alignment).wrapping_sub(1);
        let begin = self.data_at.checked_add(brief.offset)?;
        let end = begin.checked_add(brief.size)?;
        let placed =
            brief.offset == expected || (expected == Cursor::UNKNOWN && brief.offset & mask == 0);
        // Other alignments need a division.
        if !self.alignment.is_power_of_two() || !placed || end > source.len() || self.data_at == 0 {
            return None;
        }
        c.state.next_data = brief.offset.saturating_add(brief.size).saturating_add(mask) & !mask;
        self.cover(source, c, expected, brief.offset, end);
        Some(begin)
    }

    /// Records valid data at `offset` up to `end`, which was expected at `expected`.
    #[inline(always)]
    pub(super) fn cover(
        &self,
        source: &Source<'_>,
        c: &mut Cursor,
        expected: u64,
        offset: u64,
        end: u64,
    ) {
        let next = self.data_at.saturating_add(c.state.next_data);
        if c.state.swept.cover == Cover::Tight
            && (offset != expected || !is_padding(source, end, next))
        {
            c.state.swept.loosen();
        }
    }

    /// Records that all tensors were listed.
    pub(super) fn prove(&self, source: &Source<'_>, c: &mut Cursor) {
        let end = self.data_at.saturating_add(c.state.next_data);
        if c.state.swept.cover == Cover::Tight
            && c.index > 0
            && self.tables_end != 0
            && end >= source.len()
            && is_padding(source, self.tables_end, self.data_at)
        {
            c.state.swept.cover = Cover::Proved;
        }
    }
}

/// Whether the bytes from `from` to `to`, or to the end of the file, are resident and all
/// zero.
#[inline(always)]
fn is_padding(source: &Source<'_>, from: u64, to: u64) -> bool {
    let gap = Span::between(from, to.min(source.len()));
    gap.is_empty()
        || source.get(gap).is_ok_and(|bytes| bytes.iter().fold(0, |any, byte| any | byte) == 0)
}

#[cfg(test)]
mod tests {
    use super::super::tensor;
    use super::*;
    use crate::format::Container;
    use std::vec::Vec;

    /// A file with three tensors of F32, Q8_0 and F16, the last one padded.
    fn file(big: bool) -> (Vec<u8>, usize) {
        let mut file = b"GGUF".to_vec();
        let mut put = |width: usize, n: u64| {
            let mut bytes = n.to_le_bytes()[..width].to_vec();
            if big {
                bytes.reverse();
            }
            file.extend(bytes);
        };
        for (width, n) in [(4, 3), (8, 3), (8, 0)] {
            put(width, n);
        }
        for (name, dims, ty, offset) in
            [(0x61_u64, &[2, 4][..], 0, 0), (0x62, &[32, 2], 8, 32), (0x63, &[3], 1, 128)]
        {
            for (width, n) in [(8, 1), (1, name), (4, dims.len() as u64)] {
                put(width, n);
            }
            dims.iter().for_each(|extent| put(8, *extent));
            put(4, ty);
            put(8, offset);
        }
        let tables = file.len();
        file.resize(tables.next_multiple_of(32) + 160, 0);
        (file, tables)
    }

    /// Compares both ways of reading each tensor; returns how many were plain, and whether
    /// the file is covered.
    fn compare(file: &[u8]) -> (usize, bool) {
        let source = Source::whole(file);
        let mut ignore = |_| {};
        let mut opened = Reader::new(&source, &mut ignore);
        let Ok(header) = Header::open(&mut opened, &mut Cursor::default()) else {
            return (0, false);
        };
        let found = core::cell::Cell::new(0);
        let mut sink = |_| found.set(found.get() + 1);
        let mut r = Reader::new(&source, &mut sink);
        let (mut cursor, mut plain) = (Cursor::default(), 0);
        while header.tensors_at != 0 && cursor.index < header.count {
            head::go(&mut r, cursor.at.max(header.tensors_at));
            let (mut other, before) = (cursor, found.get());
            let quick = header.plain_tensor(&r, &mut other);
            let tensor = header.any_tensor(&mut r, &mut cursor);
            if quick.is_some() {
                assert_eq!(tensor, Ok(quick));
                assert_eq!((other, found.get()), (cursor, before));
                plain += 1;
            }
            if tensor.is_err() || cursor.done {
                break;
            }
        }
        if !cursor.done {
            header.prove(&source, &mut cursor);
        }
        (plain, cursor.state.swept.is_covered())
    }

    #[test]
    fn gguf_fast_path_equals_careful_path() {
        let (mut plain, mut proved) = (0, 0);
        for big in [false, true] {
            let (file, tables) = file(big);
            assert_eq!(compare(&file), (3, true));
            for at in 8..tables {
                for byte in (0..70).chain([0x7F, 0x80, 0xA9, 0xC3, 0xE2, 0xFF]) {
                    let mut file = file.clone();
                    file[at] = byte;
                    let (some, all) = compare(&file);
                    plain += some;
                    proved += usize::from(all);
                }
            }
        }
        assert!(plain > 10_000 && proved > 500, "{plain} {proved}");
    }

    #[test]
    fn only_zero_padding_is_covered() {
        let (file, tables) = file(false);
        let data = tables.next_multiple_of(32);
        // Before the data, between the second and the third tensor, and after the third.
        for at in [tables, data - 1, data + 32 + 68, data + 127, data + 134, data + 159] {
            let mut file = file.clone();
            file[at] = 1;
            assert_eq!(compare(&file), (3, false), "{at}");
        }
        for at in [data, data + 32, data + 128, data + 133] {
            let mut file = file.clone();
            file[at] = 1;
            assert_eq!(compare(&file), (3, true), "{at}");
        }
        // Without the last tensor's padding, cut off, and with a trailing byte.
        assert_eq!(compare(&file[..data + 134]), (3, true));
        assert_eq!(compare(&file[..data + 133]), (2, false));
        assert_eq!(compare(&[&file[..], &[0]].concat()), (3, false));
    }

    #[test]
    fn skimming_ends_at_the_end_of_the_entry() {
        for big in [false, true] {
            let (file, tables) = file(big);
            for at in 24..tables {
                for byte in [0, 1, 4, 5, 64, 65, 0xFF] {
                    let mut file = file.clone();
                    file[at] = byte;
                    let source = Source::whole(&file);
                    let mut sink = |_| {};
                    let mut r = Reader::new(&source, &mut sink);
                    head::go(&mut r, 24);
                    let (count, rest) = skim(r.resident(), 3, big);
                    let ends = file.len() - rest.len();
                    let read = (0..count).try_for_each(|_| {
                        tensor::entry(&mut r, big, &mut tensor::Entry::default())
                    });
                    assert_eq!((read, r.at()), (Ok(()), ends as u64));
                }
            }
        }
    }
}
