//! Passing over members that nothing is wrong with.
//!
//! Every writer emits members without white space and with the fields in one
//! order. Such a member is taken apart with few branches; at anything else the
//! sweep ends and the member is judged with care.

use super::{Header, METADATA, field, rules, stands};
use crate::cursor::Cursor;
use crate::dtype::DType;
use crate::format::Glance;
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::Reader;
use crate::source::widen;

impl Header {
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
    let (dtype, rest) = dtype(rest)?;
    let mut rest = rest.strip_prefix(b",\"shape\":[")?;
    let mut elements = 1_u64;
    if let Some(after) = rest.strip_prefix(b"]") {
        rest = after;
    } else {
        loop {
            let (extent, after) = int(rest)?;
            elements = elements.checked_mul(extent)?;
            let (byte, after) = after.split_first()?;
            rest = after;
            match byte {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
    }
    let rest = rest.strip_prefix(b",\"data_offsets\":[")?;
    let (begin, rest) = int(rest)?;
    let (end, rest) = int(rest.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"]}")?;
    let bits = elements.checked_mul(u64::from(dtype.bits()))?;
    let size = end.checked_sub(begin)?;
    // An extent of 0 may hide an overflow of the others.
    let sound = elements > 0 && bits & 7 == 0 && bits >> 3 == size && dtype != DType::Unknown;
    sound.then_some((Brief { name, begin, end }, rest))
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
