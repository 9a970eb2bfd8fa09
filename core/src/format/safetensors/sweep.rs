//! Members that nothing is wrong with: a fast way to read or pass over them.
//!
//! Every writer emits members without white space and with the fields in one
//! order. Such a member is taken apart with few branches; anything else is
//! judged with care.

use super::{Header, METADATA, field, rules, stands};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, DimsAt, product};
use crate::dtype::DType;
use crate::format::Glance;
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::Reader;
use crate::source::{Span, widen};
use crate::tensor::{Chunks, Status, Tensor};

impl Header {
    /// The tensor of the member that lies at the reader's position, `start`;
    /// `None` if anything about it needs a closer look.
    pub(super) fn plain_tensor(
        &self,
        r: &Reader<'_, '_>,
        c: &mut Cursor,
        start: u64,
    ) -> Option<Tensor> {
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
            at: start,
            name: NameAt::plain(offset(1), widen(brief.name.len())),
            status: Status::Sound,
            dtype: brief.dtype,
            dims: DimsAt {
                at: from(brief.dims_left),
                len: u32::try_from(brief.dims_len).ok()?,
                rank: brief.rank,
                lead: None,
                encoding: DimEncoding::Json,
            },
            elements: brief.elements,
            chunks: Chunks::One(Span::new(
                u64::from(self.data_at).saturating_add(brief.begin),
                brief.end.saturating_sub(brief.begin),
            )),
            // Behind the name stands `":{"dtype":"`.
            extra: Span::new(offset(brief.name.len().saturating_add(13)), brief.spelling),
            ..Tensor::default()
        };
        let end = from(after.len()).saturating_add(1);
        c.state = if brief.begin == c.state { brief.end } else { Cursor::UNKNOWN };
        c.advance(end);
        c.extra = if last { stands::END } else { stands::BEHIND };
        Some(tensor)
    }

    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        if c.extra >= stands::END {
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
            let name_at = NameAt::plain(at.saturating_add(1), widen(brief.name.len()));
            let name = Name::new(brief.name, NameEncoding::Plain);
            if !goes_on(&Glance { index: swept.index, at, name_at, name }) {
                break;
            }
            rest = after.get(1..).unwrap_or_default();
            swept.state = if brief.begin == swept.state { brief.end } else { Cursor::UNKNOWN };
            swept.index = swept.index.saturating_add(1);
            swept.extra = if last { stands::END } else { stands::BEHIND };
            if last {
                break;
            }
        }
        if swept.index > c.index {
            r.pass(rest);
            *c = Cursor { at: r.at(), ..swept };
        }
    }
}

/// Passes over members in the form that writers emit: how many, what follows,
/// and whether the closing brace was among it. The scan would find the same.
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

#[inline(always)]
fn skim_one(input: &[u8]) -> Option<&[u8]> {
    let (name, rest) = name(input)?;
    if name == METADATA.as_bytes() {
        return None;
    }
    let rest = past_list(past_spelling(rest).strip_prefix(b"\",\"shape\":[")?);
    let rest = past_list(rest.strip_prefix(b"],\"data_offsets\":[")?);
    rest.strip_prefix(b"]}")
}

#[inline(always)]
fn past_spelling(input: &[u8]) -> &[u8] {
    let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let len = input.iter().position(ends).unwrap_or(input.len());
    input.get(len..).unwrap_or_default()
}

/// Behind digits and commas, and whatever lies between the two in ASCII.
#[inline(always)]
fn past_list(input: &[u8]) -> &[u8] {
    let (words, tail) = input.as_chunks::<8>();
    let mut len = 0_usize;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let above = word.wrapping_add(ONES.wrapping_mul(0x7F - 0x39)) | word;
        let ends = (above | below(word, 0x2C)) & HIGH;
        if ends != 0 {
            let rest = input.get(len.wrapping_add(first_byte(ends))..);
            return rest.unwrap_or_default();
        }
        len = len.wrapping_add(8);
    }
    let tail_len = tail.iter().take_while(|byte| matches!(byte, b','..=b'9')).count();
    input.get(len.wrapping_add(tail_len)..).unwrap_or_default()
}

/// A word of eight bytes, each of them 1, and each of them 128.
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// Marks the top bit of bytes below `byte`. Borrows and carries of this and of its
/// like spoil only what is above the first marked byte.
#[inline(always)]
fn below(word: u64, byte: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(byte)) & !word
}

/// The first byte whose top bit is marked; 8 if none is.
#[inline(always)]
fn first_byte(marks: u64) -> usize {
    usize::try_from(marks.trailing_zeros() >> 3).unwrap_or(8)
}

/// The name of a member that begins with its type, and what follows the quote
/// before the spelling. What is escaped, no ASCII, or no printable character, is
/// judged with care.
#[inline(always)]
fn name(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let input = input.strip_prefix(b"\"")?;
    let (name, rest) = input.split_at_checked(text_len(input))?;
    Some((name, rest.strip_prefix(b"\":{\"dtype\":\"")?))
}

/// How many printable ASCII characters other than quote and backslash come first.
#[inline(always)]
fn text_len(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut len = 0_usize;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let is = |byte: u64| below(word ^ ONES.wrapping_mul(byte), 1);
        let ends = (word | below(word, 0x20) | is(0x22) | is(0x5C) | is(0x7F)) & HIGH;
        if ends != 0 {
            return len.wrapping_add(first_byte(ends));
        }
        len = len.wrapping_add(8);
    }
    let plain = |byte: &&u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    len.wrapping_add(tail.iter().take_while(plain).count())
}

/// What a sweep looks at.
struct Brief<'a> {
    name: &'a [u8],
    dtype: DType,
    /// Length of its spelling.
    spelling: u64,
    /// Bytes from the first extent to the end of the input.
    dims_left: usize,
    dims_len: usize,
    rank: u32,
    elements: u64,
    begin: u64,
    end: u64,
}

/// The member that `input` begins with, in the form that writers emit, and what
/// follows it; `None` if anything about it needs a closer look.
#[inline(always)]
fn brief(input: &[u8]) -> Option<(Brief<'_>, &[u8])> {
    let (name, rest) = name(input)?;
    let before = rest.len();
    let (dtype, rest) = dtype(rest)?;
    let spelling = widen(before.saturating_sub(rest.len()).saturating_sub(1));
    let mut rest = rest.strip_prefix(b",\"shape\":[")?;
    let dims_left = rest.len();
    let mut elements = 1_u64;
    let mut rank = 0_u32;
    if let Some(after) = rest.strip_prefix(b"]") {
        rest = after;
    } else {
        loop {
            let (extent, after) = int(rest)?;
            elements = product(elements, extent)?;
            rank = rank.saturating_add(1);
            let (byte, after) = after.split_first()?;
            rest = after;
            match byte {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
    }
    let dims_len = dims_left.saturating_sub(rest.len()).saturating_sub(1);
    let rest = rest.strip_prefix(b",\"data_offsets\":[")?;
    let (begin, rest) = long_int(rest)?;
    let (end, rest) = long_int(rest.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"]}")?;
    let bits = product(elements, u64::from(dtype.bits()))?;
    let size = end.checked_sub(begin)?;
    // An extent of 0 may hide an overflow of the others.
    let sound = elements > 0 && bits & 7 == 0 && bits >> 3 == size && dtype != DType::Unknown;
    let brief = Brief { name, dtype, spelling, dims_left, dims_len, rank, elements, begin, end };
    sound.then_some((brief, rest))
}

/// The element type, and what follows its closing quote.
#[inline(always)]
fn dtype(input: &[u8]) -> Option<(DType, &[u8])> {
    match input {
        [b'B', b'F', b'1', b'6', b'"', rest @ ..] => return Some((DType::BF16, rest)),
        [b'F', b'1', b'6', b'"', rest @ ..] => return Some((DType::F16, rest)),
        [b'F', b'3', b'2', b'"', rest @ ..] => return Some((DType::F32, rest)),
        _ => {}
    }
    field::DTYPES.iter().find_map(|(spelling, dtype)| {
        Some((*dtype, input.strip_prefix(spelling.as_bytes())?.strip_prefix(b"\"")?))
    })
}

/// The number that `input` begins with, without a leading zero.
#[inline(always)]
fn int(input: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut len = 0_usize;
    // 19 digits fit 64 bits.
    while len < 19
        && let Some(byte @ b'0'..=b'9') = input.get(len)
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0')));
        len = len.wrapping_add(1);
    }
    let rest = input.get(len..)?;
    let one_form = len == 1 || input.first() != Some(&b'0');
    (len > 0 && one_form && !matches!(rest.first(), Some(b'0'..=b'9'))).then_some((value, rest))
}

/// The same, for numbers of many digits.
#[inline(always)]
fn long_int(input: &[u8]) -> Option<(u64, &[u8])> {
    if let Some(word) = input.first_chunk::<8>() {
        let digits = u64::from_le_bytes(*word) ^ ONES.wrapping_mul(b'0'.into());
        let ends = (digits.wrapping_add(ONES.wrapping_mul(0x76)) | digits) & HIGH;
        let len = first_byte(ends);
        if (1..8).contains(&len) {
            // Zeros come before the first digit; then pairs, and pairs of pairs.
            let digits = digits.wrapping_shl((ends.trailing_zeros() & !7).wrapping_neg());
            let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
            let low = (pairs & 0xFF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
            let high = ((pairs >> 16) & 0xFF_0000_00FF).wrapping_mul(0x2710_0000_0001);
            let one_form = len == 1 || input.first() != Some(&b'0');
            return one_form.then_some((low.wrapping_add(high) >> 32, input.get(len..)?));
        }
    }
    int(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Container;
    use crate::source::Source;
    use std::string::ToString;
    use std::vec::Vec;

    const HEADER: &[u8] = br#"{"a.b":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"c":{"dtype":"F8_E4M3FNUZ","shape":[],"data_offsets":[24,25]},"d":{"dtype":"BF16","shape":[10],"data_offsets":[30,50]}}"#;

    /// Both ways to read each member of `text`; how many were plain.
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
        let mut cursor = Cursor { extra: stands::FIRST, ..Cursor::default() };
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
            if cursor.extra == stands::END || cursor.done {
                break;
            }
        }
        plain
    }

    #[test]
    fn what_is_plain_reads_as_with_care() {
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

    #[test]
    fn numbers_and_texts_end_where_they_end() {
        for value in [0, 7, 10, 409, 1234, 99_999, 654_321, 9_999_999, 12_345_678, u64::MAX / 10] {
            for after in [&b""[..], b",", b"]}\"dtype\"", b"/12345678", b":\xFF1234567", b"\0\x80"]
            {
                let mut text = value.to_string().into_bytes();
                text.extend_from_slice(after);
                assert_eq!(int(&text), Some((value, after)), "{value}");
                assert_eq!(long_int(&text), Some((value, after)), "{value}");
            }
        }
        for wrong in [&b""[..], b"-1", b"01", b"00000001,", b"x12345678", b"18446744073709551616"] {
            assert_eq!((int(wrong), long_int(wrong)), (None, None));
        }
        for len in 0..40 {
            for end in 0..=255 {
                let mut text = [b'n'; 40][..len].to_vec();
                text.extend_from_slice(&[
                    end, b'"', 0xFF, b'~', b' ', b'a', b'b', b'c', b'd', b'e',
                ]);
                let first = text
                    .iter()
                    .position(|b| !matches!(b, b' '..=b'~') || matches!(b, b'"' | b'\\'));
                assert_eq!(Some(text_len(&text)), first, "{len} {end}");
                let list: Vec<_> =
                    text.iter().map(|b| if *b == b'n' { b'1' } else { *b }).collect();
                let first = list.iter().position(|b| !matches!(b, b','..=b'9')).unwrap_or(0);
                assert_eq!(past_list(&list), &list[first..], "{len} {end}");
            }
        }
    }
}
