//! Codec definitions, as they are stored.
//!
//! | field | type |
//! |---|---|
//! | loadname | string |
//! | n | LEB128 |
//! | parameters | n bytes |
//!
//! `VBuffer`, `Key` and `Key2` begin their parameters with a whole definition,
//! the one of their items.

use super::codec::{Codec, Item, Key, Vector};
use super::rules;
use super::text::{leb64, string};
use crate::dims::{DimEncoding, DimsAt};
use crate::dtype::DType;
use crate::limits;
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::Span;

/// A definition as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) span: Span,
    pub(super) codec: Codec,
    /// No rule is broken that it cannot be read without.
    pub(super) sound: bool,
}

/// A definition whose parameters are not read yet.
#[derive(Clone, Copy, Default)]
struct Head {
    start: u64,
    /// Where the parameters begin, and how many bytes they have.
    at: u64,
    len: u64,
    /// Where the region around them ends, and the rule that this would break.
    outer: u64,
    rule: Option<Rule>,
    family: Option<Family>,
    sound: bool,
}

impl Head {
    /// Offset behind the parameters, which the region has.
    fn end(&self) -> u64 {
        self.at.wrapping_add(self.len)
    }

    /// Takes the name and the length, and goes to the parameters.
    #[inline(never)]
    fn take(r: &mut Reader<'_, '_>, depth: usize) -> Result<Head, Halt> {
        let start = r.at();
        let name = string(r, rules::T_CODEC_NAME)?;
        let length_at = r.at();
        let length = r.parse(leb64)?;
        let largest = i64::MAX.unsigned_abs();
        if !length.whole || length.value > largest {
            r.flag(rules::T_CODEC_LEN, length_at, length.len, largest, length.value);
            return Err(Halt::refused(rules::T_CODEC_LEN));
        }
        if length.value > r.left() {
            // The region's rule, with the reader before what does not fit.
            return r.skip(length.value).and(Err(Halt::broken(rules::T_EOF)));
        }
        let mut head = Head {
            start,
            at: r.at(),
            len: length.value,
            outer: r.end(),
            rule: Some(r.overrun_rule()),
            family: Family::of(name.bytes),
            sound: true,
        };
        let span = name.span();
        if !name.sound || name.bytes.is_empty() || !name.is_utf8() {
            r.flag(rules::T_CODEC_NAME, span.at, span.len, 0, 0);
            head.sound = false;
        }
        if !length.shortest {
            r.flag(rules::T_CODEC_LEN, length_at, length.len, largest, length.value);
            head.sound = false;
        }
        if depth >= LEVELS {
            let levels = u64::from(limits::CODEC_DEPTH);
            r.flag(rules::T_CODEC_DEPTH, span.at, span.len, levels, levels.saturating_add(1));
            (head.family, head.sound) = (None, false);
        }
        if head.family.is_some() {
            r.limit(head.end(), rules::T_CODEC_PARAM);
        }
        Ok(head)
    }

    /// The definition, whose parameters were read, or were not because of a halt.
    #[inline(never)]
    fn complete(
        mut self,
        r: &mut Reader<'_, '_>,
        parameters: Result<Codec, Halt>,
    ) -> Result<Definition, Halt> {
        let reached = r.at();
        let taken = reached.wrapping_sub(self.at);
        r.limit(self.outer, self.rule.unwrap_or(rules::T_EOF));
        let mut codec = Codec { item: Item::Unknown, vector: None };
        match parameters {
            Ok(_) if self.family.is_none() => {}
            Ok(known) => {
                codec = known;
                if self.sound && taken != self.len {
                    r.flag(rules::T_CODEC_PARAM, self.at, self.len, taken, self.len);
                    self.sound = false;
                }
            }
            Err(halt) => {
                if let Some(rule) = halt.unreported() {
                    let takes = taken.saturating_add(r.needed());
                    r.flag(rule, self.at, self.len, takes, self.len);
                } else if !halt.is_refused() {
                    return Err(halt);
                }
                self.sound = false;
            }
        }
        r.skip(self.end().wrapping_sub(r.at()))?;
        Ok(Definition { span: Span::between(self.start, self.end()), codec, sound: self.sound })
    }
}

/// How many definitions may lie in one another; those further in are not read.
#[allow(clippy::as_conversions, reason = "a small number")]
const LEVELS: usize = limits::CODEC_DEPTH as usize;

/// Takes a definition and judges it. What is wrong inside the parameters is
/// reported and leaves the rest of the entry readable.
///
/// Definitions nest: heads are taken on the way in and kept, because a call for
/// each would be large for a small stack; parameters are read on the way out.
#[inline(never)]
pub(super) fn definition(r: &mut Reader<'_, '_>) -> Result<Definition, Halt> {
    let mut heads = [Head::default(); LEVELS];
    let mut depth = 0;
    let mut inner = loop {
        match Head::take(r, depth) {
            Ok(head @ Head { family: Some(Family::Vector | Family::Key | Family::OldKey), .. }) => {
                if let Some(place) = heads.get_mut(depth) {
                    *place = head;
                }
                depth = depth.saturating_add(1);
            }
            Ok(head) => {
                let item = match head.family {
                    Some(Family::Simple(item)) => item,
                    _ => Item::Unknown,
                };
                break head.complete(r, Ok(Codec { item, vector: None }));
            }
            Err(halt) => break Err(halt),
        }
    };
    for head in heads.iter().take(depth).rev() {
        let parameters = match &inner {
            Ok(inner) if !inner.sound => Err(Halt::refused(rules::T_CODEC_PARAM)),
            Ok(inner) => match head.family {
                Some(Family::Vector) => vector(r, inner),
                Some(Family::Key) => key(r, inner),
                _ => old_key(r, inner),
            },
            Err(halt) => Err(*halt),
        };
        inner = head.complete(r, parameters);
    }
    inner
}

/// What a loadname stands for.
#[derive(Clone, Copy)]
enum Family {
    Simple(Item),
    Vector,
    Key,
    OldKey,
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
}

// The parameters of each family in a frame of their own: the stack is small.
#[inline(never)]
fn vector(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Codec, Halt> {
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
    Ok(Codec { vector: Some(vector), ..inner.codec })
}

fn is_negative(dim: &[u8; 4]) -> bool {
    i32::from_le_bytes(*dim) < 0
}

fn dims_at(at: u64, rank: u32) -> DimsAt {
    let len = rank.saturating_mul(4);
    DimsAt { at, len, rank, lead: None, encoding: DimEncoding::U32 }
}

#[inline(never)]
fn key(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Codec, Halt> {
    let at = r.at();
    let count = r.u64()?;
    let Some(stored) = rank_type(r, inner)? else {
        return Ok(inner.codec);
    };
    let most = largest(stored);
    let fits = (1..=most).contains(&count);
    r.check(fits, rules::T_CODEC_KEY_COUNT, Span::new(at, 8), most, count);
    let key = Key { stored, count: Some(count), min: 0, contiguous: true };
    Ok(Codec { item: Item::Key(key), vector: None })
}

#[inline(never)]
fn old_key(r: &mut Reader<'_, '_>, inner: &Definition) -> Result<Codec, Halt> {
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
        return Ok(inner.codec);
    };
    let contiguous = contiguous == 1;
    let most = if contiguous { largest(stored).min(u64::from(i32::MAX.unsigned_abs())) } else { 0 };
    let count = u64::from(count);
    r.check(count <= most, rules::T_CODEC_KEY_COUNT, Span::new(count_at, 4), most, count);
    r.check(contiguous, rules::T_CODEC_KEY_GAPS, Span::new(at, 1), 1, 0);
    r.check(min == 0, rules::T_CODEC_KEY_MIN, Span::new(min_at, 8), 0, min);
    let key = Key { stored, count: (count != 0).then_some(count), min, contiguous };
    Ok(Codec { item: Item::Key(key), vector: None })
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
