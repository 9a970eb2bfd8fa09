//! Codec definitions: what the values of a column are, and how they are stored.
//!
//! | field | type |
//! |---|---|
//! | loadname | string |
//! | n | LEB128 |
//! | parameters | n bytes |
//!
//! `VBuffer`, `Key` and `Key2` begin their parameters with a whole definition,
//! the one of their items.

use super::rules;
use super::text::{leb64, string};
use crate::dims::{DimEncoding, DimsAt};
use crate::dtype::DType;
use crate::limits;
use crate::read::{Halt, Reader};
use crate::source::Span;

/// A codec with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// The codec of one value, or of the items of a vector.
    pub item: Item,
    /// Set if values are vectors of items.
    pub vector: Option<Vector>,
}

/// The codec of one value that is no vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item {
    /// A codec that this build does not know.
    #[default]
    Unknown,
    /// A number, packed: `SByte` to `Double`.
    Number(DType),
    /// Text (`TextSpan`).
    Text,
    /// One bit a value (`Boolean`).
    Bit,
    /// Two bits a value in words of 32, 10 for missing (`DvBool`).
    TwoBits,
    /// Ticks of 100 ns, i64 (`TimeSpan`, `DvTimeSpan`).
    TimeSpan,
    /// Ticks of 100 ns since 0001-01-01, i64 (`DateTime`, `DvDateTime`).
    DateTime,
    /// Offsets in minutes, i16 each, then clock ticks, i64 each
    /// (`DateTimeOffset`, `DvDateTimeZone`).
    DateTimeOffset,
    /// 128 bits (`DataViewRowId`, `RowId`, `UInt128`).
    RowId,
    /// Ranks from 1, 0 for missing (`Key2`, `Key`).
    Key(Key),
}

/// The parameters of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The unsigned integer that a rank is stored as.
    pub stored: DType,
    /// How many values there are; `None` if the file does not say.
    pub count: Option<u64>,
    /// The value of rank 1. Other than 0 in old files only.
    pub min: u64,
    /// Whether ranks are dense. Not so in old files only.
    pub contiguous: bool,
}

/// The parameters of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Product of the dimensions; 0 if the length varies from row to row.
    pub size: u32,
    /// The dimensions, of which 0 is one that varies.
    pub dims: DimsAt,
    /// Product of the dimensions that do not vary.
    pub unit: u64,
}

impl Codec {
    /// Bits of one row, where all rows take the same and nothing comes with
    /// them.
    pub(super) fn fixed_bits(&self) -> Option<u64> {
        if self.vector.is_some() {
            return None;
        }
        match self.item {
            Item::Bit => Some(1),
            Item::TwoBits => Some(2),
            Item::Number(dtype) => Some(u64::from(dtype.bits())),
            Item::Key(key) => Some(u64::from(key.stored.bits())),
            Item::TimeSpan | Item::DateTime => Some(64),
            Item::DateTimeOffset => Some(80),
            Item::RowId => Some(128),
            Item::Text | Item::Unknown => None,
        }
    }

    /// Whether a payload can be wrong in more than its length.
    pub(crate) const fn has_rules(&self) -> bool {
        let any =
            matches!(self.item, Item::Number(_) | Item::TimeSpan | Item::RowId | Item::Unknown);
        self.vector.is_some() || !any
    }

    /// Whether every part of it is known.
    pub const fn is_known(&self) -> bool {
        !matches!(self.item, Item::Unknown)
    }

    /// The type of its elements.
    pub const fn dtype(&self) -> DType {
        match self.item {
            Item::Unknown => DType::Unknown,
            Item::Number(dtype) => dtype,
            Item::Text => DType::Text,
            Item::Bit | Item::TwoBits => DType::Bool,
            Item::TimeSpan => DType::TimeSpan,
            Item::DateTime => DType::DateTime,
            Item::DateTimeOffset => DType::DateTimeOffset,
            Item::RowId => DType::RowId,
            Item::Key(key) => match key.stored {
                DType::U8 => DType::Key8,
                DType::U16 => DType::Key16,
                DType::U32 => DType::Key32,
                _ => DType::Key64,
            },
        }
    }
}

/// A definition as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) span: Span,
    pub(super) codec: Codec,
    /// No rule is broken that it cannot be read without.
    pub(super) sound: bool,
}

/// Takes a definition and judges it. What is wrong inside the parameters is
/// reported and leaves the rest of the entry readable.
pub(super) fn definition(r: &mut Reader<'_, '_>, depth: u32) -> Result<Definition, Halt> {
    let start = r.at();
    let name = string(r, rules::T_CODEC_NAME)?;
    let length_at = r.at();
    let length = r.parse(leb64)?;
    let largest = i64::MAX.unsigned_abs();
    if !length.whole || length.value > largest {
        r.flag(rules::T_CODEC_LEN, length_at, length.len, largest, length.value);
        return Err(Halt::refused(rules::T_CODEC_LEN));
    }
    let at = r.at();
    let Some(end) = at.checked_add(length.value).filter(|end| *end <= r.end()) else {
        // The region's rule, with the reader before what does not fit.
        return r.skip(length.value).and(Err(Halt::broken(rules::T_EOF)));
    };

    let mut codec = Codec { item: Item::Unknown, vector: None };
    let mut sound = true;
    if !name.sound || name.bytes.is_empty() || !name.is_utf8() {
        let span = name.span();
        r.flag(rules::T_CODEC_NAME, span.at, span.len, 0, 0);
        sound = false;
    }
    if !length.shortest {
        r.flag(rules::T_CODEC_LEN, length_at, length.len, largest, length.value);
        sound = false;
    }
    if depth >= limits::CODEC_DEPTH {
        let span = name.span();
        let levels = u64::from(limits::CODEC_DEPTH);
        r.flag(rules::T_CODEC_DEPTH, span.at, span.len, levels, levels.saturating_add(1));
        sound = false;
    } else if let Some(family) = Family::of(name.bytes) {
        let (outer, rule) = (r.end(), r.overrun_rule());
        r.limit(end, rules::T_CODEC_PARAM);
        let parameters = family.parameters(r, depth);
        let reached = r.at();
        r.limit(outer, rule);
        match parameters {
            Ok(known) => {
                sound &= known.sound;
                codec = known.codec;
                if sound && reached != end {
                    let taken = reached.saturating_sub(at);
                    r.flag(rules::T_CODEC_PARAM, at, length.value, taken, length.value);
                    sound = false;
                }
            }
            Err(halt) => {
                if let Some(rule) = halt.unreported() {
                    let takes = reached.saturating_sub(at).saturating_add(r.needed());
                    r.flag(rule, at, length.value, takes, length.value);
                } else if !halt.is_refused() {
                    return Err(halt);
                }
                sound = false;
            }
        }
    }
    r.skip(end.saturating_sub(r.at()))?;
    Ok(Definition { span: Span::between(start, end), codec, sound })
}

/// What a loadname stands for.
#[derive(Clone, Copy)]
enum Family {
    Simple(Item),
    Vector,
    Key,
    OldKey,
}

/// What parameters say.
struct Parameters {
    codec: Codec,
    sound: bool,
}

impl Family {
    /// Names are compared byte for byte.
    fn of(name: &[u8]) -> Option<Family> {
        let item = match name {
            b"SByte" => Item::Number(DType::I8),
            b"Byte" => Item::Number(DType::U8),
            b"Int16" => Item::Number(DType::I16),
            b"UInt16" => Item::Number(DType::U16),
            b"Int32" => Item::Number(DType::I32),
            b"UInt32" => Item::Number(DType::U32),
            b"Int64" => Item::Number(DType::I64),
            b"UInt64" => Item::Number(DType::U64),
            b"Single" => Item::Number(DType::F32),
            b"Double" => Item::Number(DType::F64),
            b"TextSpan" => Item::Text,
            b"Boolean" => Item::Bit,
            b"DvBool" => Item::TwoBits,
            b"TimeSpan" | b"DvTimeSpan" => Item::TimeSpan,
            b"DateTime" | b"DvDateTime" => Item::DateTime,
            b"DateTimeOffset" | b"DvDateTimeZone" => Item::DateTimeOffset,
            b"DataViewRowId" | b"RowId" | b"UInt128" => Item::RowId,
            b"VBuffer" => return Some(Family::Vector),
            b"Key2" => return Some(Family::Key),
            b"Key" => return Some(Family::OldKey),
            _ => return None,
        };
        Some(Family::Simple(item))
    }

    fn parameters(self, r: &mut Reader<'_, '_>, depth: u32) -> Result<Parameters, Halt> {
        if let Family::Simple(item) = self {
            return Ok(Parameters { codec: Codec { item, vector: None }, sound: true });
        }
        let inner = definition(r, depth.saturating_add(1))?;
        if !inner.sound {
            return Err(Halt::refused(rules::T_CODEC_PARAM));
        }
        match self {
            Family::Vector => vector(r, &inner),
            Family::Key => key(r, &inner),
            _ => old_key(r, &inner),
        }
    }
}

// The parameters of each family in a frame of their own: definitions nest, and the
// stack is small.
#[inline(never)]
fn vector(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Parameters, Halt> {
    if inner.codec.vector.is_some() {
        r.flag(rules::T_CODEC_VEC_INNER, inner.span.at, inner.span.len, 0, 0);
        return Err(Halt::refused(rules::T_CODEC_VEC_INNER));
    }
    let count_at = r.at();
    let rank = r.u32()?;
    if i32::try_from(rank).is_err() {
        r.flag(rules::T_CODEC_VEC_DIMS, count_at, 4, 0, u64::from(rank));
        return Err(Halt::refused(rules::T_CODEC_VEC_DIMS));
    }
    let at = r.at();
    let len = u64::from(rank).saturating_mul(4);
    let dims = r.take(len)?;
    let mut size = Some(1_u32);
    let mut unit = 1_u64;
    for dim in dims.as_chunks::<4>().0 {
        // The product has to fit at every step, whatever a later 0 makes of it.
        size = size
            .and_then(|size| size.checked_mul(u32::from_le_bytes(*dim)))
            .filter(|size| i32::try_from(*size).is_ok() && !is_negative(dim));
        unit = unit.saturating_mul(u64::from(u32::from_le_bytes(*dim)).max(1));
    }
    let Some(size) = size else {
        r.flag(rules::T_CODEC_VEC_DIMS, at, len, 0, 0);
        return Err(Halt::refused(rules::T_CODEC_VEC_DIMS));
    };
    let vector = if rank == 0 {
        // No dimension means one that varies; the count itself reads as its 0.
        Vector { size: 0, dims: dims_at(count_at, 1), unit }
    } else {
        Vector { size, dims: dims_at(at, rank), unit }
    };
    Ok(Parameters { codec: Codec { vector: Some(vector), ..inner.codec }, sound: true })
}

fn is_negative(dim: &[u8; 4]) -> bool {
    i32::from_le_bytes(*dim) < 0
}

fn dims_at(at: u64, rank: u32) -> DimsAt {
    let len = rank.saturating_mul(4);
    DimsAt { at, len, rank, lead: None, encoding: DimEncoding::U32 }
}

#[inline(never)]
fn key(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Parameters, Halt> {
    let at = r.at();
    let count = r.u64()?;
    let Some(stored) = rank_type(r, inner)? else {
        return Ok(Parameters { codec: inner.codec, sound: true });
    };
    let most = largest(stored);
    let fits = (1..=most).contains(&count);
    r.check(fits, rules::T_CODEC_KEY_COUNT, Span::new(at, 8), most, count);
    let key = Key { stored, count: Some(count), min: 0, contiguous: true };
    Ok(Parameters { codec: Codec { item: Item::Key(key), vector: None }, sound: true })
}

#[inline(never)]
fn old_key(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Parameters, Halt> {
    let at = r.at();
    let contiguous = r.u8()?;
    if contiguous > 1 {
        r.flag(rules::T_CODEC_KEY_CONTIG, at, 1, 1, u64::from(contiguous));
        return Err(Halt::refused(rules::T_CODEC_KEY_CONTIG));
    }
    let min_at = r.at();
    let min = r.u64()?;
    let count_at = r.at();
    let count = r.u32()?;
    let Some(stored) = rank_type(r, inner)? else {
        return Ok(Parameters { codec: inner.codec, sound: true });
    };
    let contiguous = contiguous == 1;
    let most = if contiguous { largest(stored).min(u64::from(i32::MAX.unsigned_abs())) } else { 0 };
    let count = u64::from(count);
    r.check(count <= most, rules::T_CODEC_KEY_COUNT, Span::new(count_at, 4), most, count);
    r.check(contiguous, rules::T_CODEC_KEY_GAPS, Span::new(at, 1), 1, 0);
    r.check(min == 0, rules::T_CODEC_KEY_MIN, Span::new(min_at, 8), 0, min);
    let key = Key { stored, count: (count != 0).then_some(count), min, contiguous };
    Ok(Parameters { codec: Codec { item: Item::Key(key), vector: None }, sound: true })
}

/// The integer that a key over `inner` stores; `None` if `inner` is unknown.
fn rank_type(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Option<DType>, Halt> {
    match (inner.codec.vector, inner.codec.item) {
        (None, Item::Unknown) => Ok(None),
        (None, Item::Number(dtype @ (DType::U8 | DType::U16 | DType::U32 | DType::U64))) => {
            Ok(Some(dtype))
        }
        // The loader takes a key of a key.
        (None, Item::Key(key)) => Ok(Some(key.stored)),
        _ => {
            r.flag(rules::T_CODEC_KEY_INNER, inner.span.at, inner.span.len, 0, 0);
            Err(Halt::refused(rules::T_CODEC_KEY_INNER))
        }
    }
}

/// The largest value of an unsigned integer.
fn largest(stored: DType) -> u64 {
    match stored {
        DType::U8 => u64::from(u8::MAX),
        DType::U16 => u64::from(u16::MAX),
        DType::U32 => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}
