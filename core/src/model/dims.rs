//! Shapes as files store them: any rank, read lazily.

use crate::base::features::{SWEEP, WINDOWS};
use crate::input::{
    Absent, Source, Span,
    leaf::{Parsed, byte, incomplete, le_u16, le_u32, le_u64},
};

/// How the dims of a shape are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DimEncoding {
    /// Little-endian `u64`.
    #[default]
    U64,
    /// Little-endian `u32`.
    U32,
    /// Variable-length integers of bincode 2, in any width.
    Bincode,
    /// CBOR unsigned integers (RFC 8949 §3.1), in any width.
    Cbor,
    /// Decimal numbers, separated by anything but digits.
    Decimal,
    /// Little-endian `u64`, innermost first.
    Reversed,
    /// Big-endian `u64`, innermost first.
    ReversedBig,
    /// In the [`DimsAt`] itself, for files that store them compressed.
    Packed,
    /// Not in the file; only their number is known.
    External,
}

/// Where a shape is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimsAt {
    /// Absolute offset of the first stored dim.
    pub offset: u64,
    /// Number of stored bytes.
    pub len: u32,
    /// Number of stored dims.
    pub rank: u32,
    /// A dim before the stored ones: the rows of a data view.
    pub lead: Option<u64>,
    /// How they are stored.
    pub encoding: DimEncoding,
}

impl DimsAt {
    /// Number of dims, the leading one included.
    pub const fn rank(&self) -> u64 {
        #[allow(clippy::as_conversions, reason = "u32 to u64 in a const fn")]
        let rank = self.rank as u64;
        let packed = DimEncoding::Packed.is_used() && matches!(self.encoding, DimEncoding::Packed);
        let leads = self.lead.is_some() && !packed;
        if leads { rank.saturating_add(1) } else { rank }
    }

    /// The stored bytes of the dims; empty if they are packed.
    pub fn span(&self) -> Span {
        match self.encoding {
            DimEncoding::Packed if DimEncoding::Packed.is_used() => Span::default(),
            _ => Span::new(self.offset, self.len.into()),
        }
    }

    /// Reads the dims.
    ///
    /// # Errors
    /// [`Absent`] when their bytes are not resident in one window.
    pub fn read<'a>(&self, source: &Source<'a>) -> Result<Dims<'a>, Absent> {
        let DimsAt { offset, len, rank, lead, encoding } = *self;
        if DimEncoding::Packed.is_used() && encoding == DimEncoding::Packed {
            let packed = Packed { low: offset, high: lead.unwrap_or(0), ..Packed::default() };
            let packed = [packed; PACKED];
            return Ok(Dims { packed, left: rank, encoding, ..Dims::default() });
        }
        let bytes = source.get(Span { offset, len: u64::from(len) })?;
        Ok(Dims { lead, bytes, left: rank, encoding, ..Dims::default() })
    }
}

/// Extents packed into 32 hexadecimal digits of three bits each; the highest bit of a digit means
/// that more digits of the same extent follow. The extents of an array of at most 2^63 bytes fit
/// for up to eleven dimensions, and usually more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Packed {
    low: u64,
    high: u64,
    used: u32,
    rank: u32,
}

impl Packed {
    /// No extents.
    pub(crate) const NONE: Packed = Packed { low: 0, high: 0, used: 0, rank: 0 };

    /// A single extent.
    pub(crate) fn of(extent: u64) -> Packed {
        let mut packed = Packed::NONE;
        packed.push(extent);
        packed
    }

    /// Whether the extents take more digits than are available.
    pub(crate) fn is_cut(&self) -> bool {
        self.used > 32
    }

    /// Appends an extent.
    pub(crate) fn push(&mut self, extent: u64) {
        let mut left = extent;
        self.rank = self.rank.saturating_add(1);
        loop {
            let more = left >> 3 != 0;
            let digit = (left & 7) | u64::from(more) << 3;
            match self.used {
                used @ 0..16 => self.low |= digit << (used << 2),
                used @ 16..32 => self.high |= digit << ((used & 15) << 2),
                _ => {}
            }
            self.used = self.used.saturating_add(1);
            left >>= 3;
            if !more {
                return;
            }
        }
    }

    /// The shape; without its extents if they take more digits than are available.
    pub(crate) fn dims(&self) -> DimsAt {
        let Packed { low, high, used, rank } = *self;
        match used {
            0..=32 => DimsAt {
                offset: low,
                len: 0,
                rank,
                lead: Some(high),
                encoding: DimEncoding::Packed,
            },
            _ => DimsAt { rank, encoding: DimEncoding::External, ..DimsAt::default() },
        }
    }

    /// Removes and returns the first extent.
    pub(crate) fn pop(&mut self) -> u64 {
        let (mut extent, mut shift) = (0, 0_u32);
        loop {
            let digit = self.low & 15;
            self.low = self.low >> 4 | self.high << 60;
            self.high >>= 4;
            extent |= (digit & 7).checked_shl(shift).unwrap_or(0);
            shift = shift.saturating_add(3);
            if digit & 8 == 0 {
                return extent;
            }
        }
    }
}

/// Number of packed shapes that [`Dims`] has room for.
const PACKED: usize = if DimEncoding::Packed.is_used() { 1 } else { 0 };

/// The dims of a shape, outermost first.
#[derive(Clone, Debug, Default)]
pub struct Dims<'a> {
    lead: Option<u64>,
    bytes: &'a [u8],
    left: u32,
    encoding: DimEncoding,
    /// Packed extents; empty if no format packs them.
    packed: [Packed; PACKED],
}

impl DimEncoding {
    /// Whether a format of this build stores shapes this way; code for the others is not
    /// compiled in.
    pub(crate) const fn is_used(self) -> bool {
        match self {
            DimEncoding::U64 => cfg!(any(feature = "dims64", test)),
            DimEncoding::U32 => cfg!(any(feature = "dims32", test)),
            DimEncoding::Bincode => cfg!(any(feature = "bincode", test)),
            DimEncoding::Cbor => cfg!(any(feature = "cbor", test)),
            DimEncoding::Decimal => cfg!(any(feature = "decimal", test)),
            DimEncoding::Packed => cfg!(any(feature = "packed", test)),
            DimEncoding::Reversed | DimEncoding::ReversedBig => {
                cfg!(any(feature = "dims-reversed", test))
            }
            DimEncoding::External => false,
        }
    }
}

impl Dims<'_> {
    /// The product of the dims: 1 for rank 0, and 0 if a dim is 0. `None` if the product of
    /// the other dims exceeds `u64`, even with a 0 among them, so that the result does not
    /// depend on their order.
    pub fn product(self) -> Option<u64> {
        let (mut product, mut zero, mut fits) = (1_u64, false, true);
        for extent in self {
            let (next, exceeds) = product.overflowing_mul(extent.max(1));
            (product, zero) = (next, zero | (extent == 0));
            fits &= !exceeds;
        }
        fits.then_some(if zero { 0 } else { product })
    }
}

/// Ends early if the stored bytes have changed since the shape was found.
impl Iterator for Dims<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(lead) = self.lead.take() {
            return Some(lead);
        }
        self.left = self.left.checked_sub(1)?;
        // The guards are constants: merging these arms with the one above would compile the
        // others in.
        let parsed = match self.encoding {
            DimEncoding::U64 if DimEncoding::U64.is_used() => le_u64(self.bytes),
            DimEncoding::U32 if DimEncoding::U32.is_used() => {
                le_u32(self.bytes).map(|(rest, n)| (rest, u64::from(n)))
            }
            DimEncoding::Bincode if DimEncoding::Bincode.is_used() => bincode_uint(self.bytes),
            DimEncoding::Cbor if DimEncoding::Cbor.is_used() => cbor_uint(self.bytes),
            DimEncoding::Decimal if DimEncoding::Decimal.is_used() => decimal(self.bytes),
            DimEncoding::Reversed if DimEncoding::Reversed.is_used() => le_u64_last(self.bytes),
            DimEncoding::ReversedBig if DimEncoding::ReversedBig.is_used() => {
                le_u64_last(self.bytes).map(|(rest, n)| (rest, n.swap_bytes()))
            }
            DimEncoding::Packed if DimEncoding::Packed.is_used() => {
                Ok((&[][..], self.packed.first_mut().map_or(0, Packed::pop)))
            }
            _ => incomplete(1),
        };
        match parsed {
            Ok((rest, extent)) => {
                self.bytes = rest;
                Some(extent)
            }
            Err(_) => {
                self.left = 0;
                None
            }
        }
    }
}

/// The little-endian `u64` at the end of `input`, and the bytes before it.
#[inline]
fn le_u64_last(input: &[u8]) -> Parsed<'_, u64> {
    match input.split_last_chunk() {
        Some((rest, last)) => Ok((rest, u64::from_le_bytes(*last))),
        None => incomplete(1),
    }
}

/// The product; `None` if it exceeds `u64`. Nearly all factors have 32 bits, and 32-bit
/// hosts are slow at checked 64-bit multiplication.
#[inline(always)]
pub(crate) fn product(a: u64, b: u64) -> Option<u64> {
    if SWEEP && (a | b) >> 32 == 0 {
        return Some(a.wrapping_mul(b));
    }
    if !WINDOWS {
        // The product of two numbers above 32 bits exceeds 64 bits.
        let (long, short) = if a >> 32 == 0 { (b, a) } else { (a, b) };
        return scaled(long, u32::try_from(short).ok()?);
    }
    a.checked_mul(b)
}

/// The product with a number of 32 bits; `None` if it exceeds `u64`.
#[inline(always)]
pub(crate) fn scaled(number: u64, factor: u32) -> Option<u64> {
    if WINDOWS {
        return product(number, factor.into());
    }
    // Takes much less code than a checked multiplication of 64 bits.
    let low = (number & 0xFFFF_FFFF).wrapping_mul(factor.into());
    let high = (number >> 32).wrapping_mul(factor.into()).wrapping_add(low >> 32);
    (high >> 32 == 0).then_some((high << 32) | (low & 0xFFFF_FFFF))
}

/// The product, saturated at `u64::MAX`.
pub(crate) fn times(a: u64, b: u64) -> u64 {
    product(a, b).unwrap_or(u64::MAX)
}

/// An unsigned integer of bincode 2's variable-length encoding; a first byte
/// of 254 or 255 is an error.
#[inline]
pub(crate) fn bincode_uint(input: &[u8]) -> Parsed<'_, u64> {
    let (rest, first) = byte(input)?;
    match first {
        251 => le_u16(rest).map(|(rest, n)| (rest, u64::from(n))),
        252 => le_u32(rest).map(|(rest, n)| (rest, u64::from(n))),
        253 => le_u64(rest),
        254 | 255 => Err(nom::Err::Error(crate::rule::general::BYTES_CHANGED)),
        _ => Ok((rest, u64::from(first))),
    }
}

/// A CBOR unsigned integer in any width.
#[inline]
pub(crate) fn cbor_uint(input: &[u8]) -> Parsed<'_, u64> {
    let (rest, first) = byte(input)?;
    match first {
        0..=23 => Ok((rest, u64::from(first))),
        24 => byte(rest).map(|(rest, n)| (rest, u64::from(n))),
        25 => le_u16(rest).map(|(rest, n)| (rest, u64::from(n.swap_bytes()))),
        26 => le_u32(rest).map(|(rest, n)| (rest, u64::from(n.swap_bytes()))),
        27 => le_u64(rest).map(|(rest, n)| (rest, n.swap_bytes())),
        _ => incomplete(1),
    }
}

/// Parses the next decimal number, skipping anything but digits before it.
fn decimal(input: &[u8]) -> Parsed<'_, u64> {
    let mut rest = input;
    let mut value = None;
    while let Some((0..b'0' | b':'..=0xFF, after)) = rest.split_first() {
        rest = after;
    }
    while let Some((byte @ b'0'..=b'9', after)) = rest.split_first() {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        let next = product(value.unwrap_or(0), 10).and_then(|n| n.checked_add(digit));
        value = Some(next.ok_or(nom::Err::Error(crate::rule::general::BYTES_CHANGED))?);
        rest = after;
    }
    match value {
        Some(value) => Ok((rest, value)),
        None => incomplete(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(values: &[u64]) -> Option<u64> {
        let mut bytes = std::vec::Vec::new();
        for value in values {
            bytes.extend(value.to_le_bytes());
        }
        let at = DimsAt { len: bytes.len() as u32, rank: values.len() as u32, ..DimsAt::default() };
        at.read(&Source::whole(&bytes)).unwrap().product()
    }

    #[test]
    fn product_does_not_depend_on_dim_order() {
        assert_eq!(dims(&[]), Some(1));
        assert_eq!(dims(&[3, 5]), Some(15));
        assert_eq!(dims(&[0, 1 << 40]), Some(0));
        assert_eq!(dims(&[1 << 32, 1 << 32]), None);
        assert_eq!(dims(&[0, 1 << 32, 1 << 32]), None);
        assert_eq!(dims(&[1 << 32, 1 << 32, 0]), None);
    }

    #[test]
    fn packed_dims_round_trip() {
        let shapes: [&[u64]; 8] =
            [&[], &[0], &[1; 32], &[7, 8, 63, 64], &[u64::MAX], &[1 << 62], &[128; 9], &[56; 10]];
        for shape in shapes {
            let mut packed = Packed::default();
            shape.iter().for_each(|extent| packed.push(*extent));
            let dims = packed.dims();
            assert_eq!(dims.rank(), shape.len() as u64);
            let read: std::vec::Vec<u64> = dims.read(&Source::whole(&[])).unwrap().collect();
            assert_eq!(read, shape);
        }
        let mut packed = Packed::default();
        [2; 33].iter().for_each(|extent| packed.push(*extent));
        assert_eq!((packed.dims().rank(), packed.dims().encoding), (33, DimEncoding::External));
    }

    #[test]
    fn product_matches_checked_mul() {
        let most = u64::from(u32::MAX);
        let near = |n: u64| [n.wrapping_sub(1), n, n.wrapping_add(1)];
        for a in [0, 1, 3, most, 1 << 33, u64::MAX].into_iter().flat_map(near) {
            for b in [0, 1, 3, most, 1 << 31, u64::MAX].into_iter().flat_map(near) {
                assert_eq!(product(a, b), a.checked_mul(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn dims_of_every_width_are_read() {
        let bytes = [250, 251, 0, 1, 252, 0, 0, 1, 0, 253, 0, 0, 0, 0, 1, 0, 0, 0];
        let dims = |bytes, left, encoding| Dims { bytes, left, encoding, ..Dims::default() };
        let read: std::vec::Vec<u64> = dims(&bytes, 4, DimEncoding::Bincode).collect();
        assert_eq!(read, [250, 256, 65_536, 1 << 32]);
        let bytes = [23, 24, 24, 25, 1, 0, 26, 0, 1, 0, 0, 27, 0, 0, 0, 1, 0, 0, 0, 0];
        let read: std::vec::Vec<u64> = dims(&bytes, 5, DimEncoding::Cbor).collect();
        assert_eq!(read, [23, 24, 256, 65_536, 1 << 32]);
        assert_eq!(dims(&[254], 1, DimEncoding::Bincode).count(), 0);
    }
}
