//! Parsing of one member in the form that writers emit.

use super::super::field;
use super::METADATA;
use super::words::{before_byte, int, long_int, past_list, text_len};
use crate::base::widen;
use crate::model::{DType, dims::product};

/// A parsed member.
pub(super) struct Brief<'a> {
    pub(super) name: &'a [u8],
    pub(super) dtype: DType,
    /// Length of the type's spelling.
    pub(super) spelling: u64,
    /// Number of bytes from the first dim to the end of the input.
    pub(super) dims_left: usize,
    pub(super) dims_len: usize,
    pub(super) rank: u32,
    pub(super) elements: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The member at the start of `input`, in the form that writers emit, and the rest; `None`
/// if it needs the full check.
#[inline(always)]
pub(super) fn brief(input: &[u8]) -> Option<(Brief<'_>, &[u8])> {
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
    // A dim of 0 may hide an overflow of the other dims.
    let sound = elements > 0 && bits & 7 == 0 && bits >> 3 == size && dtype != DType::Unknown;
    let brief = Brief { name, dtype, spelling, dims_left, dims_len, rank, elements, begin, end };
    sound.then_some((brief, rest))
}

/// The element type, and the rest after its closing quote.
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

/// The name of a member whose first field is its type, and the rest after the quote before
/// the type's spelling. Names with escapes, non-ASCII or non-printable characters need the
/// full check.
#[inline(always)]
fn name(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let input = input.strip_prefix(b"\"")?;
    let (name, rest) = input.split_at_checked(text_len(input))?;
    Some((name, rest.strip_prefix(b"\":{\"dtype\":\"")?))
}

#[inline(always)]
pub(super) fn skim_one(input: &[u8]) -> Option<&[u8]> {
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

/// Length of the shortest text between a member's name and its closing brace.
const SHORTEST: usize = br#"":{"dtype":"F4","shape":[],"data_offsets":[0,0]"#.len();

/// The name of the member at the start of `input`, whether it is the last, and the rest.
/// The member must be known to have the form that writers emit.
#[inline(always)]
pub(super) fn known(input: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let input = input.strip_prefix(b"\"")?;
    let (name, rest) = input.split_at_checked(before_byte(input, b'"'))?;
    let rest = rest.get(SHORTEST..)?;
    let (last, rest) = match rest.get(before_byte(rest, b'}')..)? {
        [b'}', b',', rest @ ..] => (false, rest),
        [b'}', b'}', rest @ ..] => (true, rest),
        _ => return None,
    };
    Some((name, last, rest))
}
