//! Members that nothing is wrong with: a fast way to read or pass over them.
//!
//! Every writer emits members without white space and with the fields in one
//! order. Such a member is taken apart with few branches; anything else is
//! judged with care.

use super::{Header, METADATA, field, rules, stands};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, DimsAt};
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
    let rest = input.strip_prefix(b"\"")?;
    let mut len = 0_usize;
    for byte in rest {
        // What is escaped, no ASCII, or no printable character, is judged with care.
        if !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\') {
            break;
        }
        len = len.wrapping_add(1);
    }
    let (name, rest) = rest.split_at_checked(len)?;
    let rest = rest.strip_prefix(b"\":{\"dtype\":\"")?;
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
            elements = elements.checked_mul(extent)?;
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
    let (begin, rest) = int(rest)?;
    let (end, rest) = int(rest.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"]}")?;
    let bits = elements.checked_mul(u64::from(dtype.bits()))?;
    let size = end.checked_sub(begin)?;
    // An extent of 0 may hide an overflow of the others.
    let sound = elements > 0 && bits & 7 == 0 && bits >> 3 == size && dtype != DType::Unknown;
    let brief = Brief { name, dtype, spelling, dims_left, dims_len, rank, elements, begin, end };
    sound.then_some((brief, rest))
}

/// The element type, and what follows its closing quote.
#[inline(always)]
fn dtype(input: &[u8]) -> Option<(DType, &[u8])> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Container;
    use crate::source::Source;

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
            match header.any_tensor(&mut r, &mut cursor, start) {
                Ok(Some(tensor)) if quick.is_some() => {
                    assert_eq!(quick, Some(tensor));
                    assert_eq!((other, found.get()), (cursor, before));
                    plain += 1;
                }
                Ok(Some(_)) => assert_eq!(quick, None),
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
}
