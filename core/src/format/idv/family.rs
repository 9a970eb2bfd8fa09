//! Loadnames and the codec families they name.

use super::blocks::Measure;
use super::codec::Item;
use crate::model::DType;

/// A codec family, as an index into [`ITEMS`].
pub(super) type Family = u8;

pub(super) const UNKNOWN: Family = 0;
/// The four unsigned integers, then keys stored as them.
const UNSIGNED: Family = 1;
const KEYS: Family = 5;
pub(super) const TEXT: Family = 9;
const BIT: Family = 10;
const TWO_BITS: Family = 11;
const TIME_SPAN: Family = 12;
const DATE_TIME: Family = 13;
const DATE_TIME_OFFSET: Family = 14;
const ROW_ID: Family = 15;
/// The four signed integers.
const SIGNED: Family = 16;
const SINGLE: Family = 20;
const DOUBLE: Family = 21;
pub(super) const VECTOR: Family = 22;
pub(super) const KEY: Family = 23;
pub(super) const OLD_KEY: Family = 24;

/// Type and length of the values of each family except the last three, whose parameters
/// begin with another definition.
const ITEMS: &[(DType, Measure)] = &[
    (DType::Unknown, Measure::UNKNOWN),
    (DType::U8, Measure::bits(8)),
    (DType::U16, Measure::bits(16)),
    (DType::U32, Measure::bits(32)),
    (DType::U64, Measure::bits(64)),
    (DType::Key8, Measure::bits(8)),
    (DType::Key16, Measure::bits(16)),
    (DType::Key32, Measure::bits(32)),
    (DType::Key64, Measure::bits(64)),
    (DType::Text, Measure::TEXT),
    (DType::Bool, Measure::bits(1)),
    (DType::Bool, Measure::WORDS),
    (DType::TimeSpan, Measure::bits(64)),
    (DType::DateTime, Measure::bits(64)),
    (DType::DateTimeOffset, Measure::bits(80)),
    (DType::RowId, Measure::bits(128)),
    (DType::I8, Measure::bits(8)),
    (DType::I16, Measure::bits(16)),
    (DType::I32, Measure::bits(32)),
    (DType::I64, Measure::bits(64)),
    (DType::F32, Measure::bits(32)),
    (DType::F64, Measure::bits(64)),
];

/// Loadnames; the most common come first.
const NAMES: &[(&[u8], Family)] = &[
    (b"VBuffer", VECTOR),
    (b"Single", SINGLE),
    (b"TextSpan", TEXT),
    (b"Key2", KEY),
    (b"Double", DOUBLE),
    (b"Int32", SIGNED + 2),
    (b"Boolean", BIT),
    (b"UInt32", UNSIGNED + 2),
    (b"Int64", SIGNED + 3),
    (b"Byte", UNSIGNED),
    (b"UInt16", UNSIGNED + 1),
    (b"UInt64", UNSIGNED + 3),
    (b"SByte", SIGNED),
    (b"Int16", SIGNED + 1),
    (b"TimeSpan", TIME_SPAN),
    (b"DateTime", DATE_TIME),
    (b"DateTimeOffset", DATE_TIME_OFFSET),
    (b"DataViewRowId", ROW_ID),
    (b"RowId", ROW_ID),
    (b"UInt128", ROW_ID),
    (b"Key", OLD_KEY),
    (b"DvBool", TWO_BITS),
    (b"DvTimeSpan", TIME_SPAN),
    (b"DvDateTime", DATE_TIME),
    (b"DvDateTimeZone", DATE_TIME_OFFSET),
];

/// The family with this loadname, compared byte for byte.
pub(super) fn of(name: &[u8]) -> Family {
    let found = NAMES.iter().find(|(loadname, _)| *loadname == name);
    found.map_or(UNKNOWN, |(_, family)| *family)
}

/// Whether the family's parameters begin with another definition.
pub(super) fn nests(family: Family) -> bool {
    family >= VECTOR
}

/// The family of keys stored as `item`, and the largest key. `item` must be an unsigned
/// integer, or a key, which the loader accepts.
pub(super) fn key_of(item: Family) -> Option<(Family, u64)> {
    const MOST: [u64; 4] = [0xFF, 0xFFFF, 0xFFFF_FFFF, u64::MAX];
    let width = item.wrapping_sub(UNSIGNED);
    let most = MOST.get(usize::from(width & 3))?;
    (width < 8).then_some((KEYS.wrapping_add(width & 3), *most))
}

/// Type and length of the values of a family.
pub(super) fn values(item: Family) -> (DType, Measure) {
    ITEMS.get(usize::from(item)).copied().unwrap_or((DType::Unknown, Measure::UNKNOWN))
}

/// The item of a family without parameters.
pub(super) fn item(family: Family) -> Item {
    match (family, values(family)) {
        (TEXT, _) => Item::Text,
        (_, (DType::Unknown, _)) => Item::Unknown,
        (_, (DType::Bool, Measure::WORDS)) => Item::TwoBits,
        (_, (DType::Bool, _)) => Item::Bit,
        (_, (DType::TimeSpan, _)) => Item::TimeSpan,
        (_, (DType::DateTime, _)) => Item::DateTime,
        (_, (DType::DateTimeOffset, _)) => Item::DateTimeOffset,
        (_, (DType::RowId, _)) => Item::RowId,
        (_, (dtype, _)) => Item::Number(dtype),
    }
}
