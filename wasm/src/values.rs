//! Elements as numbers, packed.

use alloc::vec::Vec;
use weighbridge_core::{DType, Element, Endianness};

/// Elements in the narrowest array of JavaScript that holds them without loss.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Floats of at most 32 bits.
    F32(Vec<f32>),
    /// Floats of 64 bits.
    F64(Vec<f64>),
    /// Signed integers of at most 32 bits.
    I32(Vec<i32>),
    /// Unsigned integers of at most 32 bits.
    U32(Vec<u32>),
    /// Signed integers of 64 bits.
    I64(Vec<i64>),
    /// Unsigned integers of 64 bits.
    U64(Vec<u64>),
    /// Booleans, and bits.
    U8(Vec<u8>),
}

impl Numbers {
    /// No elements of this type yet.
    pub fn new(dtype: DType) -> Numbers {
        match dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F8E5M2 | DType::F8E4M3 => {
                Numbers::F32(Vec::new())
            }
            DType::F4 | DType::F8E8M0 | DType::F8E4M3Fnuz | DType::F8E5M2Fnuz => {
                Numbers::F32(Vec::new())
            }
            dtype if dtype.block().is_some() => Numbers::F32(Vec::new()),
            DType::F64 => Numbers::F64(Vec::new()),
            DType::I8 | DType::I16 | DType::I32 | DType::I4 | DType::I2 | DType::I1 => {
                Numbers::I32(Vec::new())
            }
            DType::T2 | DType::T1 => Numbers::I32(Vec::new()),
            DType::I64 | DType::TimeSpan | DType::DateTime => Numbers::I64(Vec::new()),
            DType::U64 | DType::Key64 => Numbers::U64(Vec::new()),
            DType::Bool | DType::BitSet => Numbers::U8(Vec::new()),
            _ => Numbers::U32(Vec::new()),
        }
    }

    /// Adds an element of the type that was named.
    pub fn push(&mut self, element: Element) {
        match (self, element) {
            (Numbers::F32(all), Element::F32(value)) => all.push(value),
            (Numbers::F64(all), Element::F64(value)) => all.push(value),
            (Numbers::I32(all), Element::Int(value)) => all.push(value as i32),
            (Numbers::U32(all), Element::Uint(value)) => all.push(value as u32),
            (Numbers::I64(all), Element::Int(value)) => all.push(value),
            (Numbers::U64(all), Element::Uint(value)) => all.push(value),
            (Numbers::U8(all), Element::Bool(value)) => all.push(value.into()),
            // A Boolean byte that is neither 0 nor 1.
            (Numbers::U8(all), Element::Uint(value)) => all.push(value as u8),
            // The table above agrees with that of the elements.
            _ => {}
        }
    }

    /// Adds a 0.
    pub fn push_zero(&mut self) {
        match self {
            Numbers::F32(all) => all.push(0.0),
            Numbers::F64(all) => all.push(0.0),
            Numbers::I32(all) => all.push(0),
            Numbers::U32(all) => all.push(0),
            Numbers::I64(all) => all.push(0),
            Numbers::U64(all) => all.push(0),
            Numbers::U8(all) => all.push(0),
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Numbers::F32(all) => all.len(),
            Numbers::F64(all) => all.len(),
            Numbers::I32(all) => all.len(),
            Numbers::U32(all) => all.len(),
            Numbers::I64(all) => all.len(),
            Numbers::U64(all) => all.len(),
            Numbers::U8(all) => all.len(),
        }
    }

    /// The bits of element `i`, in the low bits.
    pub fn bits(&self, i: usize) -> u64 {
        let bits = match self {
            Numbers::F32(all) => all.get(i).map(|value| u64::from(value.to_bits())),
            Numbers::F64(all) => all.get(i).map(|value| value.to_bits()),
            Numbers::I32(all) => all.get(i).map(|value| *value as u32 as u64),
            Numbers::U32(all) => all.get(i).map(|value| u64::from(*value)),
            Numbers::I64(all) => all.get(i).map(|value| *value as u64),
            Numbers::U64(all) => all.get(i).copied(),
            Numbers::U8(all) => all.get(i).map(|value| u64::from(*value)),
        };
        bits.unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements `0..count` of `bytes`.
    pub fn of(dtype: DType, bytes: &[u8], count: u64, endianness: Endianness) -> Numbers {
        let mut numbers = Numbers::new(dtype);
        for element in (0..count).map_while(|i| dtype.element(bytes, i, endianness)) {
            numbers.push(element);
        }
        numbers
    }
}

/// Whole bytes that hold elements `from..from + count`, as offset and length,
/// and which element of them is the first. `None` if the type has no fixed
/// width or the place exceeds `u64`.
pub fn place(dtype: DType, from: u64, count: u64) -> Option<(u64, u64, u64)> {
    // Four 6-bit floats share three bytes, and have no elements here.
    let (unit, width) = dtype.unit().filter(|_| dtype.is_numeric())?;
    let (unit, width) = (u64::from(unit), u64::from(width));
    let at = (from / unit).checked_mul(width)?;
    let end = from.checked_add(count)?.div_ceil(unit).checked_mul(width)?;
    Some((at, end - at, from % unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The arrays take what the elements give, for every type that has
    /// elements.
    #[test]
    fn every_type_has_its_array() {
        let mut seen = 0;
        for dtype in DType::ALL {
            let numbers = Numbers::of(*dtype, &[1; 256], 1, Endianness::Little);
            let element = dtype.element(&[1; 256], 0, Endianness::Little);
            assert_eq!(numbers.len(), usize::from(element.is_some()), "{}", dtype.name());
            seen += numbers.len();
        }
        assert!(seen >= 20, "{seen} types have elements");
    }

    #[test]
    fn packed_elements_begin_inside_bytes() {
        assert_eq!(place(DType::U4, 3, 2), Some((1, 2, 1)));
        assert_eq!(place(DType::U1, 17, 1), Some((2, 1, 1)));
        assert_eq!(place(DType::F32, 3, 2), Some((12, 8, 0)));
        assert_eq!(place(DType::F64, 1 << 62, 1), None);
        assert_eq!(place(DType::Text, 0, 1), None);
        assert_eq!(place(DType::Q4_0, 70, 2), Some((36, 18, 6)));
        assert_eq!(place(DType::Iq1S, 0, 1), None);
        let numbers = Numbers::of(DType::I64, &[255; 16], 9, Endianness::Little);
        assert_eq!(numbers, Numbers::I64(vec![-1, -1]));
    }
}
