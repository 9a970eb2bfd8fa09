//! A fast path for maps in the form that real writers emit.
//!
//! Nearly every map is valid and has the same keys in the same order. The fast path accepts
//! maps for which [`Header::validate`] would report nothing. Anything else (a custom field, a
//! head that is longer than necessary, a size that does not match) is read and checked in
//! full, which takes ten times as long.
//!
//! [`Header::validate`]: super::Header

use super::listed::pass_blob;
use super::{Cursor, Header, field, rules};
use crate::base::{wide, widen};
use crate::format::Glance;
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Encoding, Endianness, Layout, Name, NameAt, NameEncoding,
    Status, Tensor,
};
use crate::parse::Reader;

/// Keys and values in sequence, each with its head.
mod text {
    pub(super) const NAME: &[u8; 6] = b"\xBF\x64name";
    pub(super) const OFFSET: &[u8; 7] = b"\x66offset";
    pub(super) const SIZE: &[u8; 5] = b"\x64size";
    pub(super) const DTYPE: &[u8; 6] = b"\x65dtype";
    pub(super) const DENSE_SHAPE: &[u8; 19] = b"\x66layout\x65dense\x65shape";
    pub(super) const ENCODING: &[u8; 9] = b"\x68encoding";
    pub(super) const RAW: &[u8; 4] = b"\x63raw";
    pub(super) const ZSTD: &[u8; 5] = b"\x64zstd";
    pub(super) const LITTLE: &[u8; 23] = b"\x6Fdata_endianness\x66little";
    pub(super) const BIG: &[u8; 20] = b"\x6Fdata_endianness\x63big";
    pub(super) const CRC32C: &[u8; 19] = b"\x68checksum\x71crc32c:0x";
    pub(super) const END: &[u8; 1] = b"\xFF";
}

/// The fields of a map. Offsets are relative to its start.
struct Map<'a> {
    name: &'a [u8],
    name_at: usize,
    blob: Span,
    dtype: DType,
    dims_at: usize,
    dims_len: usize,
    rank: u32,
    elements: u64,
    encoding: Encoding,
    endianness: Endianness,
}

impl Header {
    /// The tensor of the next map, if the map is valid and completely resident.
    #[inline]
    pub(super) fn next_sound(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Option<Tensor> {
        let (at, run) = (r.at(), r.resident());
        let (map, rest) = self.map(run, c.state.data_end)?;
        let offset = |within: usize| at.saturating_add(widen(within));
        let tensor = Tensor {
            index: c.index,
            offset: at,
            name: NameAt::plain(offset(map.name_at), widen(map.name.len())),
            dtype: map.dtype,
            status: Status::Sound,
            layout: Layout::RowMajor,
            encoding: map.encoding,
            endianness: map.endianness,
            dims: DimsAt {
                offset: offset(map.dims_at),
                len: u32::try_from(map.dims_len).ok()?,
                rank: map.rank,
                lead: None,
                encoding: DimEncoding::Cbor,
            },
            elements: map.elements,
            chunks: Chunks::One(map.blob),
            extra: Span::new(at, widen(run.len().saturating_sub(rest.len()))),
            width: crate::model::Width::NONE,
        };
        r.pass(rest);
        pass_blob(r.source(), c, map.blob);
        c.advance(r.at());
        Some(tensor)
    }

    /// Skips valid maps while `goes_on` returns true.
    pub(super) fn sweep_sound<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        r.region(c.at.max(wide(self.first)), wide(self.index_end), rules::CBOR_TRUNCATED);
        let (at, run) = (r.at(), r.resident());
        let mut rest = run;
        let mut swept = *c;
        while self.open || swept.index < self.count {
            let Some((map, after)) = self.map(rest, swept.state.data_end) else { break };
            let offset = at.saturating_add(widen(run.len().saturating_sub(rest.len())));
            let name_at = offset.saturating_add(widen(map.name_at));
            let glance = Glance {
                index: swept.index,
                at: offset,
                name_at: NameAt::plain(name_at, widen(map.name.len())),
                name: Name::new(map.name, NameEncoding::Plain),
            };
            if !goes_on(&glance) {
                break;
            }
            rest = after;
            pass_blob(r.source(), &mut swept, map.blob);
            swept.index = swept.index.saturating_add(1);
        }
        if swept.index > c.index {
            r.pass(rest);
            *c = Cursor { at: r.at(), ..swept };
        }
    }

    /// The map at the start of `input`, and the rest; `None` if it needs the full check.
    /// `listed` is the end of the data listed so far.
    #[inline]
    fn map<'a>(&self, input: &'a [u8], listed: u64) -> Option<(Map<'a>, &'a [u8])> {
        let offset = |rest: &[u8]| input.len().saturating_sub(rest.len());
        let (name, rest) = string(input.strip_prefix(text::NAME)?)?;
        let name_at = offset(rest).saturating_sub(name.len());
        let (at, rest) = uint(rest.strip_prefix(text::OFFSET)?)?;
        let (len, rest) = uint(rest.strip_prefix(text::SIZE)?)?;
        let (dtype, rest) = dtype(rest.strip_prefix(text::DTYPE)?)?;
        let rest = rest.strip_prefix(text::DENSE_SHAPE)?;
        let (head, mut rest) = rest.split_first()?;
        let rank = head.checked_sub(0x80).filter(|rank| *rank < 24)?;
        let dims_at = offset(rest);
        let mut elements = 1_u64;
        for _ in 0..rank {
            let (dim, after) = uint(rest)?;
            // A dim of 0 is left to the validator, because the others may overflow.
            elements = elements.checked_mul(dim).filter(|elements| *elements > 0)?;
            rest = after;
        }
        let dims_len = offset(rest).saturating_sub(dims_at);
        let bytes = dtype.bytes(elements)?;
        let rest = rest.strip_prefix(text::ENCODING)?;
        let ordered = dtype.bits() > 8;
        let (encoding, endianness, rest) = if let Some(rest) = rest.strip_prefix(text::RAW) {
            if bytes != len {
                return None;
            }
            let (endianness, rest) = match ordered {
                true => endianness(rest)?,
                false => (Endianness::Little, rest),
            };
            (Encoding::Raw, endianness, rest)
        } else {
            let rest = rest.strip_prefix(text::ZSTD)?;
            (Encoding::Zstd, Endianness::Little, (len > 0).then_some(rest)?)
        };
        let rest = match rest.strip_prefix(text::END) {
            Some(rest) => rest,
            None => crc32c(rest)?.strip_prefix(text::END)?,
        };

        let blob = Span::new(at, len);
        let placed = at >= field::ALIGN
            && at & field::ALIGN.wrapping_sub(1) == 0
            && blob.end().is_some_and(|end| end <= wide(self.index_at))
            // An entry that is read out of order is not compared.
            && (len == 0 || listed == Cursor::UNKNOWN || at >= listed);
        if !placed || !plain(name) {
            return None;
        }
        let rank = u32::from(rank);
        let map = Map {
            name,
            name_at,
            blob,
            dtype,
            dims_at,
            dims_len,
            rank,
            elements,
            encoding,
            endianness,
        };
        Some((map, rest))
    }
}

/// Whether a name is valid: UTF-8, not empty, without zero bytes.
#[inline]
fn plain(name: &[u8]) -> bool {
    // No early exit, so that it vectorises.
    let ascii = name.iter().fold(true, |all, byte| all & matches!(byte, 1..=0x7F));
    !name.is_empty() && (ascii || (crate::base::utf8::is(name) && !name.contains(&0)))
}

/// The unsigned integer at the start of `input`, if it has its shortest form.
#[inline(always)]
fn uint(input: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = input.split_first()?;
    match first {
        0..=23 => Some((u64::from(*first), rest)),
        24..=27 => argument(*first, rest),
        _ => None,
    }
}

/// The argument after the first byte of a head, if it has its shortest form.
#[inline(always)]
fn argument(info: u8, rest: &[u8]) -> Option<(u64, &[u8])> {
    let (value, least, rest) = match info {
        24 => rest.split_first().map(|(n, rest)| (u64::from(*n), 24, rest))?,
        25 => {
            let (n, rest) = rest.split_first_chunk()?;
            (u64::from(u16::from_be_bytes(*n)), 1 << 8, rest)
        }
        26 => {
            let (n, rest) = rest.split_first_chunk()?;
            (u64::from(u32::from_be_bytes(*n)), 1 << 16, rest)
        }
        _ => {
            let (n, rest) = rest.split_first_chunk()?;
            (u64::from_be_bytes(*n), 1 << 32, rest)
        }
    };
    (value >= least).then_some((value, rest))
}

/// The definite-length text string at the start of `input`, if its head has its shortest form.
#[inline(always)]
fn string(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = input.split_first()?;
    let (len, rest) = match first.checked_sub(0x60)? {
        len @ 0..=23 => (u64::from(len), rest),
        info @ 24..=27 => argument(info, rest)?,
        _ => return None,
    };
    rest.split_at_checked(usize::try_from(len).ok()?)
}

#[inline(always)]
fn dtype(input: &[u8]) -> Option<(DType, &[u8])> {
    let (name, rest) = string(input)?;
    let dtype = match name {
        b"float32" => DType::F32,
        b"float16" => DType::F16,
        b"float64" => DType::F64,
        b"bfloat16" => DType::BF16,
        b"int8" => DType::I8,
        b"int16" => DType::I16,
        b"int32" => DType::I32,
        b"int64" => DType::I64,
        b"uint8" => DType::U8,
        b"uint16" => DType::U16,
        b"uint32" => DType::U32,
        b"uint64" => DType::U64,
        b"bool" => DType::Bool,
        _ => return None,
    };
    Some((dtype, rest))
}

#[inline(always)]
fn endianness(input: &[u8]) -> Option<(Endianness, &[u8])> {
    match input.strip_prefix(text::LITTLE) {
        Some(rest) => Some((Endianness::Little, rest)),
        None => Some((Endianness::Big, input.strip_prefix(text::BIG)?)),
    }
}

/// Skips a CRC-32C as spelled by real writers.
#[inline]
fn crc32c(input: &[u8]) -> Option<&[u8]> {
    let (digits, rest) = input.strip_prefix(text::CRC32C)?.split_first_chunk::<8>()?;
    digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F')).then_some(rest)
}
