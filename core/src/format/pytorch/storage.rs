//! Classes of storages and names of types, as torch spells them.

use crate::model::DType;

/// What the elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type of its elements here.
    pub dtype: DType,
    /// Bytes of an element; for types of less than a byte, of the group that `packed` counts.
    pub width: u8,
    /// Elements in `width` bytes.
    pub packed: u8,
}

const fn of(dtype: DType, width: u8) -> Type {
    Type { dtype, width, packed: 1 }
}

/// Types by the name of torch: `float32`.
///
/// Bits, `float4_e2m1fn_x2` and integers below 8 bits take a byte each and are shown as such.
/// `complex32`, two binary16, has no type of its own here.
const TYPES: &[(&str, Type)] = &[
    ("float32", of(DType::F32, 4)),
    ("float64", of(DType::F64, 8)),
    ("float16", of(DType::F16, 2)),
    ("bfloat16", of(DType::BF16, 2)),
    ("int64", of(DType::I64, 8)),
    ("int32", of(DType::I32, 4)),
    ("int16", of(DType::I16, 2)),
    ("int8", of(DType::I8, 1)),
    ("uint8", of(DType::U8, 1)),
    ("uint16", of(DType::U16, 2)),
    ("uint32", of(DType::U32, 4)),
    ("uint64", of(DType::U64, 8)),
    ("bool", of(DType::Bool, 1)),
    ("complex64", of(DType::C64, 8)),
    ("complex128", of(DType::C128, 16)),
    ("complex32", of(DType::Void, 4)),
    ("bcomplex32", of(DType::Void, 4)),
    ("float8_e4m3fn", of(DType::F8E4M3, 1)),
    ("float8_e4m3fnuz", of(DType::F8E4M3Fnuz, 1)),
    ("float8_e5m2", of(DType::F8E5M2, 1)),
    ("float8_e5m2fnuz", of(DType::F8E5M2Fnuz, 1)),
    ("float8_e8m0fnu", of(DType::F8E8M0, 1)),
    ("float4_e2m1fn_x2", of(DType::U8, 1)),
    ("qint8", of(DType::I8, 1)),
    ("quint8", of(DType::U8, 1)),
    ("qint32", of(DType::I32, 4)),
    ("quint4x2", Type { dtype: DType::U4, width: 1, packed: 2 }),
    ("quint2x4", Type { dtype: DType::U2, width: 1, packed: 4 }),
    ("bits8", of(DType::U8, 1)),
    ("bits16", of(DType::U16, 2)),
    ("bits1x8", of(DType::U8, 1)),
    ("bits2x4", of(DType::U8, 1)),
    ("bits4x2", of(DType::U8, 1)),
    ("uint1", of(DType::U8, 1)),
    ("uint2", of(DType::U8, 1)),
    ("uint3", of(DType::U8, 1)),
    ("uint4", of(DType::U8, 1)),
    ("uint5", of(DType::U8, 1)),
    ("uint6", of(DType::U8, 1)),
    ("uint7", of(DType::U8, 1)),
    ("int1", of(DType::I8, 1)),
    ("int2", of(DType::I8, 1)),
    ("int3", of(DType::I8, 1)),
    ("int4", of(DType::I8, 1)),
    ("int5", of(DType::I8, 1)),
    ("int6", of(DType::I8, 1)),
    ("int7", of(DType::I8, 1)),
];

/// Classes of storages, with the type of their elements.
const CLASSES: &[(&str, &str)] = &[
    ("FloatStorage", "float32"),
    ("DoubleStorage", "float64"),
    ("HalfStorage", "float16"),
    ("BFloat16Storage", "bfloat16"),
    ("LongStorage", "int64"),
    ("IntStorage", "int32"),
    ("ShortStorage", "int16"),
    ("CharStorage", "int8"),
    ("ByteStorage", "uint8"),
    ("BoolStorage", "bool"),
    ("ComplexFloatStorage", "complex64"),
    ("ComplexDoubleStorage", "complex128"),
    ("QInt8Storage", "qint8"),
    ("QUInt8Storage", "quint8"),
    ("QInt32Storage", "qint32"),
    ("QUInt4x2Storage", "quint4x2"),
    ("QUInt2x4Storage", "quint2x4"),
    ("UntypedStorage", "uint8"),
];

/// The number of the type of elements that torch calls `name`.
///
/// ```
/// use weighbridge_core::DType;
/// use weighbridge_core::format::pytorch::storage::{dtype, type_number};
///
/// let number = type_number("bfloat16").unwrap();
/// assert_eq!(dtype(number).unwrap().dtype, DType::BF16);
/// ```
pub fn type_number(name: &str) -> Option<u64> {
    let at = TYPES.iter().position(|(known, _)| *known == name)?;
    u64::try_from(at).ok()
}

/// The number of the type of elements in storages of the class `name`.
pub fn class_number(name: &str) -> Option<u64> {
    CLASSES.iter().find(|(known, _)| *known == name).and_then(|(_, of)| type_number(of))
}

/// The type with this number.
pub fn dtype(number: u64) -> Option<Type> {
    usize::try_from(number).ok().and_then(|at| TYPES.get(at)).map(|(_, found)| *found)
}

/// The name that torch gives the type with this number.
pub fn type_name(number: u64) -> Option<&'static str> {
    usize::try_from(number).ok().and_then(|at| TYPES.get(at)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_type_of_the_stated_width() {
        for (class, _) in CLASSES {
            assert!(class_number(class).and_then(dtype).is_some(), "{class}");
        }
        for (name, found) in TYPES {
            let bits = u32::from(found.width) * 8;
            let fits =
                found.dtype == DType::Void || found.dtype.bits() * u32::from(found.packed) == bits;
            assert!(fits, "{name}");
        }
    }
}
