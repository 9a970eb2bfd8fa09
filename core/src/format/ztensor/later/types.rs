//! The types of elements, by name.

use super::super::field;
use crate::base::division::div_rem;
use crate::model::{DType, Name};

/// Storage types; generation 2 has the first twelve. The last four are in the list of 1.1.
const SHORT: [(&str, DType); 17] = [
    ("f64", DType::F64),
    ("f32", DType::F32),
    ("f16", DType::F16),
    ("bf16", DType::BF16),
    ("i64", DType::I64),
    ("i32", DType::I32),
    ("i16", DType::I16),
    ("i8", DType::I8),
    ("u64", DType::U64),
    ("u32", DType::U32),
    ("u16", DType::U16),
    ("u8", DType::U8),
    ("bool", DType::Bool),
    ("f8_e4m3", DType::F8E4M3),
    ("f8_e5m2", DType::F8E5M2),
    ("complex64", DType::C64),
    ("complex128", DType::C128),
];
/// Number of storage types in generation 2.
const CLOSED: usize = 12;

/// Logical types, each with its storage type.
const LOGICAL: [(&str, DType, DType); 9] = [
    ("bool", DType::Bool, DType::U8),
    ("f8_e4m3fn", DType::F8E4M3, DType::U8),
    ("f8_e5m2", DType::F8E5M2, DType::U8),
    ("f8_e4m3fnuz", DType::F8E4M3Fnuz, DType::U8),
    ("f8_e5m2fnuz", DType::F8E5M2Fnuz, DType::U8),
    ("f8_e8m0", DType::F8E8M0, DType::U8),
    ("f4_e2m1", DType::F4, DType::U8),
    ("complex64", DType::C64, DType::F32),
    ("complex128", DType::C128, DType::F64),
];

/// What a logical type makes of a storage type.
pub(super) enum Typed {
    As(DType),
    /// It goes with another storage type.
    Otherwise,
    Unknown,
}

/// The type with this name in generation 1.0.
pub(super) fn long(name: &Name<'_>) -> Option<DType> {
    match name.word_of(field::DTYPE_NAMES) {
        Some((number, true)) => field::DTYPES.get(usize::from(number)).map(|(dtype, _)| *dtype),
        _ => None,
    }
}

/// The storage type with this name, from generation 1.1 on.
pub(super) fn short(name: &Name<'_>, two: bool) -> Option<DType> {
    let count = if two { CLOSED } else { SHORT.len() };
    let found = SHORT.iter().take(count).find(|(word, _)| *name == **word);
    found.map(|(_, dtype)| *dtype)
}

/// The logical type with this name over elements of `stored`.
pub(super) fn logical(name: &Name<'_>, stored: DType) -> Typed {
    match LOGICAL.iter().find(|(word, ..)| *name == **word) {
        Some((_, dtype, over)) if *over == stored => Typed::As(*dtype),
        Some(_) => Typed::Otherwise,
        None => Typed::Unknown,
    }
}

/// Number of elements in `bytes` bytes, and whether they fill them; `None` if their width is
/// unknown.
pub(super) fn elements(dtype: DType, bytes: u64) -> Option<(u64, bool)> {
    let (count, width) = dtype.unit()?;
    let (units, rest) = div_rem(bytes, width.into())?;
    Some((units.checked_mul(count.into())?, rest == 0))
}
