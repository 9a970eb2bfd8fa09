//! Elements as numbers, packed.

use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{DType, Element, Endianness};

/// The narrowest JavaScript array that holds elements of a type without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// Floats of at most 32 bits.
    F32,
    /// Floats of 64 bits.
    F64,
    /// Signed integers of at most 32 bits.
    I32,
    /// Unsigned integers of at most 32 bits.
    U32,
    /// Signed integers of 64 bits.
    I64,
    /// Unsigned integers of 64 bits.
    U64,
    /// Booleans, and bits.
    U8,
}

impl Array {
    fn of(dtype: DType) -> Array {
        let zero = dtype.element(&[0; 256], 0, Endianness::Little);
        match (zero, dtype.bits()) {
            (Some(Element::F32(_)), _) => Array::F32,
            (Some(Element::F64(_)), _) => Array::F64,
            (Some(Element::Int(_)), 64) => Array::I64,
            (Some(Element::Int(_)), _) => Array::I32,
            (Some(Element::Uint(_)), 64) => Array::U64,
            (Some(Element::Bool(_)), _) => Array::U8,
            _ => Array::U32,
        }
    }

    /// Bytes per element.
    pub fn width(self) -> usize {
        match self {
            Array::U8 => 1,
            Array::F32 | Array::I32 | Array::U32 => 4,
            Array::F64 | Array::I64 | Array::U64 => 8,
        }
    }
}

/// Elements as a JavaScript array stores them.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The kind of array.
    pub array: Array,
    /// The array's content.
    pub bytes: Vec<u8>,
}

impl Numbers {
    /// An empty list of elements of this type.
    pub fn new(dtype: DType) -> Numbers {
        Numbers { array: Array::of(dtype), bytes: Vec::new() }
    }

    /// Adds an element of the type given to `new`.
    pub fn push(&mut self, element: Element) {
        let bits = match element {
            Element::F32(value) => value.to_bits().into(),
            Element::F64(value) => value.to_bits(),
            Element::Int(value) => value as u64,
            Element::Uint(value) => value,
            Element::Bool(value) => value.into(),
            _ => return,
        };
        let bytes = bits.to_le_bytes();
        self.bytes.extend_from_slice(bytes.get(..self.array.width()).unwrap_or_default());
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.array.width()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds elements `range` of `bytes`, as many as are present.
    pub fn add(&mut self, dtype: DType, endianness: Endianness, bytes: &[u8], range: Range<u64>) {
        for element in range.map_while(|i| dtype.element(bytes, i, endianness)) {
            self.push(element);
        }
    }

    /// Elements `0..count` of `bytes`.
    pub fn of(dtype: DType, bytes: &[u8], count: u64, endianness: Endianness) -> Numbers {
        let mut numbers = Numbers::new(dtype);
        numbers.add(dtype, endianness, bytes, 0..count);
        numbers
    }
}

/// The whole bytes that hold elements `from..from + count`, as offset and
/// length, and the index of the first element within them. `None` if the type
/// has no fixed width or the range exceeds `u64`.
pub fn place(dtype: DType, from: u64, count: u64) -> Option<(u64, u64, u64)> {
    let (unit, width) = dtype.unit()?;
    let (unit, width) = (u64::from(unit), u64::from(width));
    let at = (from / unit).checked_mul(width)?;
    let end = from.checked_add(count)?.div_ceil(unit).checked_mul(width)?;
    Some((at, end - at, from % unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every type that has elements fits its array.
    #[test]
    fn every_type_has_its_array() {
        let mut seen = 0;
        for dtype in DType::ALL {
            for byte in [0, 1, 0x3C, 0xFF] {
                let numbers = Numbers::of(*dtype, &[byte; 256], 1, Endianness::Little);
                let element = dtype.element(&[byte; 256], 0, Endianness::Little);
                assert_eq!(numbers.len(), usize::from(element.is_some()), "{}", dtype.name());
                let mut bytes = [0; 8];
                bytes[..numbers.bytes.len()].copy_from_slice(&numbers.bytes);
                let bits = u64::from_le_bytes(bytes);
                let kept = match (numbers.array, element) {
                    (_, None) => true,
                    (Array::F32, Some(Element::F32(value))) => bits == u64::from(value.to_bits()),
                    (Array::F64, Some(Element::F64(value))) => bits == value.to_bits(),
                    (Array::I32, Some(Element::Int(value))) => i64::from(bits as i32) == value,
                    (Array::I64, Some(Element::Int(value))) => bits.cast_signed() == value,
                    (Array::U8, Some(Element::Bool(value))) => bits == u64::from(value),
                    (_, Some(Element::Uint(value))) => bits == value,
                    _ => false,
                };
                assert!(kept, "{} {byte} {element:?} {numbers:?}", dtype.name());
                seen += numbers.len();
            }
        }
        assert!(seen >= 80, "{seen} types have elements");
    }

    #[test]
    fn packed_elements_begin_inside_bytes() {
        assert_eq!(place(DType::U4, 3, 2), Some((1, 2, 1)));
        assert_eq!(place(DType::U1, 17, 1), Some((2, 1, 1)));
        assert_eq!(place(DType::F32, 3, 2), Some((12, 8, 0)));
        assert_eq!(place(DType::F64, 1 << 62, 1), None);
        assert_eq!(place(DType::Text, 0, 1), None);
        assert_eq!(place(DType::Q4_0, 70, 2), Some((36, 18, 6)));
        assert_eq!(place(DType::Q8_1, 31, 2), Some((0, 72, 31)));
        let numbers = Numbers::of(DType::I64, &[255; 16], 9, Endianness::Little);
        assert_eq!((numbers.array, numbers.len()), (Array::I64, 2));
    }
}
