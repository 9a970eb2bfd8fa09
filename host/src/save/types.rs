//! The types of elements that safetensors has.

use weighbridge_core::DType;

/// The types with their spelling in the header, in the order by which writers lay out tensors:
/// the last come first in a file.
const TYPES: [(DType, &str); 22] = [
    (DType::Bool, "BOOL"),
    (DType::F4, "F4"),
    (DType::F6E2M3, "F6_E2M3"),
    (DType::F6E3M2, "F6_E3M2"),
    (DType::U8, "U8"),
    (DType::I8, "I8"),
    (DType::F8E5M2, "F8_E5M2"),
    (DType::F8E4M3, "F8_E4M3"),
    (DType::F8E8M0, "F8_E8M0"),
    (DType::F8E4M3Fnuz, "F8_E4M3FNUZ"),
    (DType::F8E5M2Fnuz, "F8_E5M2FNUZ"),
    (DType::I16, "I16"),
    (DType::U16, "U16"),
    (DType::F16, "F16"),
    (DType::BF16, "BF16"),
    (DType::I32, "I32"),
    (DType::U32, "U32"),
    (DType::F32, "F32"),
    (DType::C64, "C64"),
    (DType::F64, "F64"),
    (DType::I64, "I64"),
    (DType::U64, "U64"),
];

/// The place of a type in the order.
pub(super) fn rank(dtype: DType) -> Option<usize> {
    TYPES.iter().position(|(known, _)| *known == dtype)
}

/// The spelling of a type in the header.
pub(super) fn name(dtype: DType) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == dtype).map(|(_, name)| *name)
}
