//! How a tensor's elements are stored in NumPy arrays.

use crate::base::value::elements;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{DType, Element, Endianness};

/// How elements of a type are stored in an .npy file.
#[derive(Debug)]
pub(crate) struct Form {
    /// NumPy's type, as a Python literal.
    pub(crate) descr: Cow<'static, str>,
    dtype: DType,
    endianness: Endianness,
    pub(crate) how: How,
}

/// How an element is written.
#[derive(Debug)]
pub(crate) enum How {
    /// Its bytes are copied.
    Copy,
    /// It becomes one byte.
    Byte,
    /// It becomes a 32-bit float.
    Float,
}

impl Form {
    /// `None` if NumPy has no such type.
    pub(crate) fn of(dtype: DType, endianness: Endianness) -> Option<Form> {
        let (little, big, how) = match dtype {
            DType::I8 => ("'|i1'", "'|i1'", How::Copy),
            DType::U8 => ("'|u1'", "'|u1'", How::Copy),
            DType::I16 => ("'<i2'", "'>i2'", How::Copy),
            DType::U16 => ("'<u2'", "'>u2'", How::Copy),
            DType::I32 => ("'<i4'", "'>i4'", How::Copy),
            DType::U32 => ("'<u4'", "'>u4'", How::Copy),
            DType::I64 => ("'<i8'", "'>i8'", How::Copy),
            DType::U64 => ("'<u8'", "'>u8'", How::Copy),
            DType::F16 => ("'<f2'", "'>f2'", How::Copy),
            DType::F32 => ("'<f4'", "'>f4'", How::Copy),
            DType::F64 => ("'<f8'", "'>f8'", How::Copy),
            DType::C64 => ("'<c8'", "'>c8'", How::Copy),
            DType::C128 => ("'<c16'", "'>c16'", How::Copy),
            DType::Bool => ("'|b1'", "'|b1'", How::Byte),
            DType::I4 | DType::I2 | DType::I1 | DType::T2 | DType::T1 => {
                ("'|i1'", "'|i1'", How::Byte)
            }
            DType::U4 | DType::U2 | DType::U1 => ("'|u1'", "'|u1'", How::Byte),
            // The remaining numbers are narrow floats, or floats in blocks.
            dtype if dtype.is_numeric() => ("'<f4'", "'<f4'", How::Float),
            _ => return None,
        };
        let descr = if endianness == Endianness::Big { big } else { little };
        Some(Form { descr: descr.into(), dtype, endianness, how })
    }

    /// Elements that are copied under the text of their own `descr`.
    pub(crate) fn copied(dtype: DType, endianness: Endianness, descr: String) -> Form {
        Form { descr: descr.into(), dtype, endianness, how: How::Copy }
    }

    /// Appends the first `count` elements of `bytes`.
    pub(crate) fn write(&self, bytes: &[u8], count: u64, out: &mut Vec<u8>) {
        let elements = elements(self.dtype, bytes, count, self.endianness);
        match self.how {
            How::Copy => out.extend_from_slice(bytes),
            // NumPy expects 0 or 1, so any other byte becomes 1.
            How::Byte if self.dtype == DType::Bool => {
                out.extend(elements.map(|element| low_byte(element).min(1)));
            }
            How::Byte => out.extend(elements.map(low_byte)),
            How::Float => elements.for_each(|element| {
                out.extend_from_slice(&(element.to_f64() as f32).to_le_bytes());
            }),
        }
    }
}

/// An element that fits into a byte, in two's complement.
fn low_byte(element: Element) -> u8 {
    match element {
        Element::Int(value) => value.to_le_bytes()[0],
        Element::Uint(value) => value.to_le_bytes()[0],
        Element::Bool(value) => value.into(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn written(dtype: DType, endianness: Endianness, bytes: &[u8], count: u64) -> Vec<u8> {
        let form = Form::of(dtype, endianness).expect("NumPy can hold it");
        let mut out = Vec::new();
        form.write(bytes, count, &mut out);
        out
    }

    #[test]
    fn packed_elements_get_a_byte_each() {
        let little = Endianness::Little;
        assert_eq!(written(DType::I4, little, &[0x8F, 0x07], 3), [0xFF, 0xF8, 7]);
        assert_eq!(written(DType::U2, little, &[0b11_10_01_00], 4), [0, 1, 2, 3]);
        assert_eq!(written(DType::T1, little, &[0b10], 2), [0xFF, 1]);
        assert_eq!(written(DType::Bool, little, &[0, 1, 7], 3), [0, 1, 1]);
    }

    #[test]
    fn narrow_floats_are_widened() {
        let one_and_half = 1.5_f32.to_le_bytes();
        assert_eq!(written(DType::BF16, Endianness::Little, &[0xC0, 0x3F], 1), one_and_half);
        assert_eq!(written(DType::BF16, Endianness::Big, &[0x3F, 0xC0], 1), one_and_half);
        assert_eq!(written(DType::F8E4M3, Endianness::Little, &[0x3C], 1), one_and_half);
        assert_eq!(written(DType::F8E5M2, Endianness::Little, &[0x3E], 1), one_and_half);
        assert_eq!(written(DType::F8E4M3Fnuz, Endianness::Little, &[0x44], 1), one_and_half);
        assert_eq!(written(DType::F8E5M2Fnuz, Endianness::Little, &[0x42], 1), one_and_half);
        let halves = [0.5_f32, 1.5].map(f32::to_le_bytes).concat();
        assert_eq!(written(DType::F4, Endianness::Little, &[0x31], 2), halves);
        let two = 2.0_f32.to_le_bytes();
        assert_eq!(written(DType::F8E8M0, Endianness::Little, &[0x80], 1), two);
    }

    #[test]
    fn numpy_form_keeps_byte_order() {
        let form = Form::of(DType::F32, Endianness::Big).expect("NumPy can hold it");
        assert_eq!(form.descr, "'>f4'");
        assert_eq!(written(DType::F32, Endianness::Big, &[1, 2, 3, 4], 1), [1, 2, 3, 4]);
        let descr = |dtype, order| Form::of(dtype, order).map(|form| form.descr.into_owned());
        assert_eq!(descr(DType::C64, Endianness::Little), Some("'<c8'".into()));
        assert_eq!(descr(DType::C64, Endianness::Big), Some("'>c8'".into()));
    }

    /// Everything that `inspect` shows as numbers can be extracted, and so can complex numbers.
    #[test]
    fn every_numeric_type_has_numpy_form() {
        for dtype in DType::ALL {
            let expected = dtype.is_numeric() || matches!(dtype, DType::C64 | DType::C128);
            let form = Form::of(*dtype, Endianness::Little);
            assert_eq!(form.is_some(), expected, "{}", dtype.name());
            let (Some(form), Some((count, len))) = (form, dtype.unit()) else { continue };
            let mut out = Vec::new();
            form.write(&vec![0; len as usize], count.into(), &mut out);
            let width: usize =
                form.descr[3..].trim_end_matches('\'').parse().expect("NumPy's width");
            assert_eq!(out.len(), count as usize * width, "{}", dtype.name());
        }
    }
}
