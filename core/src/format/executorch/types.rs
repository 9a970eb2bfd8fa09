//! The element types.

use crate::model::DType;

/// The element type with this number; `None` if the schema does not give it out. Quantised types
/// are integers whose scale is not in the file. Types of which several elements share a byte take a
/// whole byte in each extent.
pub(super) fn dtype(code: u64) -> Option<DType> {
    Some(match code {
        0 | 13 | 16 | 17 => DType::U8,
        1 | 12 => DType::I8,
        2 => DType::I16,
        3 | 14 => DType::I32,
        4 => DType::I64,
        5 => DType::F16,
        6 => DType::F32,
        7 => DType::F64,
        11 => DType::Bool,
        15 => DType::BF16,
        22 | 27 => DType::U16,
        23 => DType::F8E5M2,
        24 => DType::F8E4M3,
        25 => DType::F8E5M2Fnuz,
        26 => DType::F8E4M3Fnuz,
        28 => DType::U32,
        29 => DType::U64,
        _ => return None,
    })
}

/// A signed number of one byte, as findings have it.
pub(super) fn signed(code: u64) -> u64 {
    let signed = u8::try_from(code).unwrap_or(0).cast_signed();
    i64::from(signed).cast_unsigned()
}
