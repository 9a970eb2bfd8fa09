//! The element types.

use crate::model::DType;

/// The element type with this number; `None` if the schema does not give it out. Quantised types
/// are integers whose scale is not in the file. Types of which several elements share a byte take a
/// whole byte in each extent.
pub(super) fn dtype(code: u32) -> Option<DType> {
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

/// Bytes of an element of the type with this number. Takes less code than [`DType::bytes`], which
/// knows the types of all formats.
pub(super) fn width(code: u32) -> u32 {
    /// Widths as powers of two. Nothing asks for the other types.
    const SHIFTS: [u8; 30] =
        [0, 0, 1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3];
    let shift = usize::try_from(code).ok().and_then(|code| SHIFTS.get(code)).copied();
    1_u32.wrapping_shl(shift.unwrap_or(0).into())
}

/// A signed number of one byte, as findings have it.
pub(super) fn signed(code: u32) -> u64 {
    let signed = u8::try_from(code).unwrap_or(0).cast_signed();
    i64::from(signed).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_types() {
        for code in 0..=255 {
            if let Some(dtype) = dtype(code) {
                assert_eq!(dtype.bytes(1), Some(width(code).into()), "{code}");
            }
        }
    }
}
