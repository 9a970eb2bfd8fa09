//! Codecs: the type of a column's values, and how they are stored.

use super::definition::Definition;
use super::family::{self, Family};
use super::spelling::split;
use crate::base::limits;
use crate::input::{
    Source,
    leaf::{Parsed, byte, le_u32, le_u64},
};
use crate::model::{DType, DimsAt};

/// A codec with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Codec {
    /// The codec of one value, or of the items of a vector.
    pub item: Item,
    /// Set if values are vectors of items.
    pub vector: Option<Vector>,
}

/// The codec of a single value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Item {
    /// A codec unknown to this build.
    #[default]
    Unknown,
    /// A number, packed: `SByte` to `Double`.
    Number(DType),
    /// Text (`TextSpan`).
    Text,
    /// One bit per value (`Boolean`).
    Bit,
    /// Two bits per value in 32-bit words; 10 means missing (`DvBool`).
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
    /// Ranks starting at 1; 0 means missing (`Key2`, `Key`).
    Key(Key),
}

/// The parameters of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The unsigned integer type in which a rank is stored.
    pub stored: DType,
    /// Number of values; `None` if the file does not record it.
    pub count: Option<u64>,
    /// The value of rank 1; nonzero only in old files.
    pub min: u64,
    /// Whether ranks are dense; false only in old files.
    pub contiguous: bool,
}

/// The parameters of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// Product of the dims; 0 if the length varies from row to row.
    pub size: u32,
    /// The dims; a varying dim is 0.
    pub dims: DimsAt,
    /// Product of the dims that do not vary.
    pub unit: u64,
}

impl Codec {
    /// The codec of a validated definition, with its parameters; unknown if the definition is
    /// broken or not resident.
    pub(super) fn of(source: &Source<'_>, definition: &Definition) -> Codec {
        let mut codec = Codec { item: Item::Unknown, vector: None };
        if let Ok(bytes) = source.get(definition.span())
            && definition.sound
        {
            codec.item = item(bytes, limits::CODEC_DEPTH).unwrap_or_default();
            codec.vector = definition.vector.then(|| Vector::of(source, definition));
        }
        codec
    }

    /// Number of bits per row, if all rows have the same width and nothing else is stored.
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

    /// Whether a payload can have faults other than its length.
    pub(crate) const fn has_rules(&self) -> bool {
        let any =
            matches!(self.item, Item::Number(_) | Item::TimeSpan | Item::RowId | Item::Unknown);
        self.vector.is_some() || !any
    }

    /// Whether every part of the codec is known.
    pub const fn is_known(&self) -> bool {
        !matches!(self.item, Item::Unknown)
    }

    /// The element type.
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

impl Vector {
    fn of(source: &Source<'_>, definition: &Definition) -> Vector {
        let dims = definition.dims();
        let varying = dims.read(source).into_iter().flatten();
        let unit = varying.fold(1_u64, |unit, dim| unit.saturating_mul(dim.max(1)));
        Vector { size: definition.size, dims, unit }
    }
}

/// The codec of a valid definition's values, or of its vectors' items.
fn item(bytes: &[u8], depth: u32) -> Option<Item> {
    let (_, (name, parameters)) = split(bytes).ok()?;
    let family = family::of(name.as_bytes()?);
    if !family::nests(family) {
        return Some(family::item(family));
    }
    let inner = item(parameters, depth.checked_sub(1)?)?;
    let (rest, _) = split(parameters).ok()?;
    let stored = match inner {
        _ if family == family::VECTOR => return Some(inner),
        Item::Number(dtype) => dtype,
        Item::Key(key) => key.stored,
        _ => return None,
    };
    key(rest, family, stored).ok().map(|(_, key)| Item::Key(key))
}

/// Reads the parameters of a key, which follow the definition of its stored type.
fn key(input: &[u8], family: Family, stored: DType) -> Parsed<'_, Key> {
    if family == family::KEY {
        let (rest, count) = le_u64(input)?;
        return Ok((rest, Key { stored, count: Some(count), min: 0, contiguous: true }));
    }
    let (rest, contiguous) = byte(input)?;
    let (rest, min) = le_u64(rest)?;
    let (rest, count) = le_u32(rest)?;
    let count = (count != 0).then_some(u64::from(count));
    Ok((rest, Key { stored, count, min, contiguous: contiguous == 1 }))
}
