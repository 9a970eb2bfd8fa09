//! Leaf parsers, with nom's signatures: a slice in, the rest and a value out,
//! and [`nom::Err::Incomplete`] with the number of missing bytes when the slice
//! is too short.
//!
//! nom's own parsers cost several times as much and keep a panic path in optimised builds.
//! [`Reader`](crate::parse::Reader) runs these.

use crate::rule::Rule;
use nom::{Err, IResult, Needed};

/// Result of a leaf parser; its error is the rule that the bytes break.
pub(crate) type Parsed<'a, O> = IResult<&'a [u8], O, Rule>;

/// The error of a leaf that needs `missing` more bytes.
#[cold]
pub(crate) fn incomplete<O>(missing: usize) -> Result<O, Err<Rule>> {
    Err(Err::Incomplete(Needed::new(missing)))
}

/// `N` bytes.
#[inline]
pub(crate) fn array<const N: usize>(input: &[u8]) -> Parsed<'_, [u8; N]> {
    match input.split_first_chunk::<N>() {
        Some((head, rest)) => Ok((rest, *head)),
        None => incomplete(N.saturating_sub(input.len())),
    }
}

/// One byte.
#[inline]
pub(crate) fn byte(input: &[u8]) -> Parsed<'_, u8> {
    match input.split_first() {
        Some((head, rest)) => Ok((rest, *head)),
        None => incomplete(1),
    }
}

/// A little-endian `u16`.
#[inline]
pub(crate) fn le_u16(input: &[u8]) -> Parsed<'_, u16> {
    let (rest, bytes) = array(input)?;
    Ok((rest, u16::from_le_bytes(bytes)))
}

/// A little-endian `u32`.
#[inline]
pub(crate) fn le_u32(input: &[u8]) -> Parsed<'_, u32> {
    let (rest, bytes) = array(input)?;
    Ok((rest, u32::from_le_bytes(bytes)))
}

/// A little-endian `u64`.
#[inline]
pub(crate) fn le_u64(input: &[u8]) -> Parsed<'_, u64> {
    let (rest, bytes) = array(input)?;
    Ok((rest, u64::from_le_bytes(bytes)))
}
