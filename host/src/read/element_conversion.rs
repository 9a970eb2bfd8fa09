//! Converts stored elements to numbers of one type, a slice at a time.

use crate::base::error::Error;
use half::{bf16, f16};
use weighbridge_core::{DType, Element, Elements, Endianness, Number as Stored};

/// How to convert elements that the target type cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conversion {
    /// Accepts only types whose every element fits: bf16 as f32, i8 as i64.
    #[default]
    Widen,
    /// Accepts any type, but each element must keep its value: 3.0 as i32, but not 3.5. The
    /// error names the first element that does not.
    Exact,
    /// Rounds floats to the nearest; integers drop their fraction and are clamped to the limits
    /// of their type.
    Round,
}

/// A type that elements can be read as: `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`,
/// `f64`.
pub trait Number: Stored + bytemuck::Pod + Default + sealed::Convert {}

impl<T: Stored + bytemuck::Pod + Default + sealed::Convert> Number for T {}

mod sealed {
    use weighbridge_core::{DType, Element, Endianness};

    pub trait Convert: Sized {
        /// Whether every element of this type fits.
        fn widens(dtype: DType) -> bool;
        /// Converts elements of a type that has whole bytes and widens; `false` for any other
        /// type.
        fn bulk(dtype: DType, endianness: Endianness, bytes: &[u8], out: &mut [Self]) -> bool;
        /// The same value, if this type can represent it.
        fn exact(element: Element) -> Option<Self>;
        /// The value, rounded as `Conversion::Round` does.
        fn round(element: Element) -> Self;
    }
}

/// A run of the elements in `bytes`.
pub(crate) struct Run<'b> {
    pub(crate) dtype: DType,
    pub(crate) endianness: Endianness,
    pub(crate) bytes: &'b [u8],
    /// Number of elements in `bytes` before the first one.
    pub(crate) skip: u64,
    /// Position of the first element in its tensor.
    pub(crate) position: u64,
}

impl Run<'_> {
    /// Converts `out.len()` elements.
    pub(crate) fn convert<T: Number>(
        &self,
        conversion: Conversion,
        out: &mut [T],
    ) -> Result<(), Error> {
        let Run { dtype, endianness, bytes, skip, position } = *self;
        if let Some((1, width)) = dtype.unit() {
            let from = usize::try_from(skip.saturating_mul(width.into())).unwrap_or(usize::MAX);
            if T::bulk(dtype, endianness, bytes.get(from..).unwrap_or_default(), out) {
                return Ok(());
            }
        }
        for ((to, i), position) in out.iter_mut().zip(skip..).zip(position..) {
            let element = dtype
                .element(bytes, i, endianness)
                .ok_or(Error::Length { expected: i, found: i - skip })?;
            *to = match conversion {
                Conversion::Round => T::round(element),
                _ => T::exact(element).ok_or(Error::Inexact {
                    element: position,
                    value: element,
                    to: T::DTYPE,
                })?,
            };
        }
        Ok(())
    }
}

/// Checks that elements of a type may be read as `T`.
pub(crate) fn accept<T: Number>(dtype: DType, conversion: Conversion) -> Result<(), Error> {
    let from = dtype;
    if conversion == Conversion::Widen && !T::widens(dtype) {
        return Err(Error::Lossy { from, to: T::DTYPE });
    }
    Ok(())
}

fn fill<S: Stored, T>(bytes: &[u8], endianness: Endianness, out: &mut [T], to: impl Fn(S) -> T) {
    let elements = Elements::<S>::new(bytes, endianness);
    out.iter_mut().zip(elements.iter()).for_each(|(out, element)| *out = to(element));
}

/// The class of a number type, with the bits of its elements.
enum Class {
    Uint(u32),
    Int(u32),
    Float(u32),
    Other,
}

fn class(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Uint(8),
        DType::U1 | DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            Class::Uint(dtype.bits())
        }
        DType::T1 | DType::T2 => Class::Int(2),
        DType::I1 | DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            Class::Int(dtype.bits())
        }
        DType::F64 => Class::Float(64),
        // Narrow floats, and floats in blocks, are read as at most 32 bits.
        dtype if dtype.is_numeric() => Class::Float(32),
        _ => Class::Other,
    }
}

/// A bf16 as the f32 whose upper half it is; a NaN keeps its payload.
fn widen(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

/// Converts as Rust's `as` does: to the nearest float, or towards zero and clamped to the
/// limits of an integer.
macro_rules! round {
    ($t:ty) => {
        |element: Element| match element {
            Element::Int(value) => value as $t,
            Element::Uint(value) => value as $t,
            element => element.to_f64() as $t,
        }
    };
}
macro_rules! conversions {
    ($($t:ty: $uint:literal $int:literal $float:literal
        [$($dtype:ident $stored:ty = $to:expr),*] $exact:expr, $round:expr;)*) => {$(
        impl sealed::Convert for $t {
            fn widens(dtype: DType) -> bool {
                dtype == <$t as Stored>::DTYPE || match class(dtype) {
                    Class::Uint(bits) => bits <= $uint,
                    Class::Int(bits) => bits <= $int,
                    Class::Float(bits) => bits <= $float,
                    Class::Other => false,
                }
            }

            fn bulk(dtype: DType, endianness: Endianness, bytes: &[u8], out: &mut [Self]) -> bool {
                match dtype {
                    <$t as Stored>::DTYPE => fill(bytes, endianness, out, |it: $t| it),
                    $(DType::$dtype => fill(bytes, endianness, out, |it: $stored| $to(it)),)*
                    _ => return false,
                }
                true
            }

            fn exact(element: Element) -> Option<Self> {
                $exact(element)
            }

            fn round(element: Element) -> Self {
                $round(element)
            }
        }
    )*};
}

conversions! {
    u8: 8 0 0 [] exact_int, round!(u8);
    u16: 16 0 0 [U8 u8 = u16::from] exact_int, round!(u16);
    u32: 32 0 0 [U8 u8 = u32::from, U16 u16 = u32::from] exact_int, round!(u32);
    u64: 64 0 0 [U8 u8 = u64::from, U16 u16 = u64::from, U32 u32 = u64::from] exact_int, round!(u64);
    i8: 4 8 0 [] exact_int, round!(i8);
    i16: 8 16 0 [U8 u8 = i16::from, I8 i8 = i16::from] exact_int, round!(i16);
    i32: 16 32 0 [U8 u8 = i32::from, U16 u16 = i32::from, I8 i8 = i32::from, I16 i16 = i32::from]
        exact_int, round!(i32);
    i64: 32 64 0 [
        U8 u8 = i64::from, U16 u16 = i64::from, U32 u32 = i64::from,
        I8 i8 = i64::from, I16 i16 = i64::from, I32 i32 = i64::from
    ] exact_int, round!(i64);
    f16: 8 8 0 [] |it| exact_float(it, f16::from_f64, f64::from), |it: Element| f16::from_f64(it.to_f64());
    bf16: 8 8 0 [] |it| exact_float(it, bf16::from_f64, f64::from), |it: Element| bf16::from_f64(it.to_f64());
    f32: 16 16 32 [
        BF16 bf16 = widen, F16 f16 = f32::from, U8 u8 = f32::from, U16 u16 = f32::from,
        I8 i8 = f32::from, I16 i16 = f32::from
    ] |it| exact_float(it, |value| value as f32, f64::from), round!(f32);
    f64: 32 32 64 [
        F32 f32 = f64::from, BF16 bf16 = |it| f64::from(widen(it)), F16 f16 = f64::from,
        U8 u8 = f64::from, U16 u16 = f64::from, U32 u32 = f64::from,
        I8 i8 = f64::from, I16 i16 = f64::from, I32 i32 = f64::from
    ] |it| exact_float(it, |value| value, |value| value), round!(f64);
}

fn exact_int<T: TryFrom<i128>>(element: Element) -> Option<T> {
    let value = match element {
        Element::Int(value) => value.into(),
        Element::Uint(value) => value.into(),
        Element::Bool(value) => value.into(),
        element => {
            let value = element.to_f64();
            let whole = value as i128;
            Some(whole).filter(|whole| *whole as f64 == value)?
        }
    };
    T::try_from(value).ok()
}

fn exact_float<T: Copy>(
    element: Element,
    to: impl Fn(f64) -> T,
    from: impl Fn(T) -> f64,
) -> Option<T> {
    let value = element.to_f64();
    let same_integer = match element {
        Element::Int(integer) => value as i128 == i128::from(integer),
        Element::Uint(integer) => value as i128 == i128::from(integer),
        _ => true,
    };
    let there = to(value);
    let back = from(there);
    (same_integer && (back == value || (back.is_nan() && value.is_nan()))).then_some(there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use sealed::Convert as _;

    fn convert<T: Number>(dtype: DType, bytes: &[u8], how: Conversion) -> Result<Vec<T>, Error> {
        accept::<T>(dtype, how)?;
        let (unit, width) = dtype.unit().expect("it has a width");
        let count = bytes.len() / width as usize * unit as usize;
        let mut out = vec![T::default(); count];
        let endianness = Endianness::Little;
        Run { dtype, endianness, bytes, skip: 0, position: 0 }.convert(how, &mut out)?;
        Ok(out)
    }

    /// A type represents every element that widens to it: all elements of one byte, and samples
    /// of the wider ones.
    #[test]
    fn widening_keeps_values() {
        fn check<T: Number>() {
            for dtype in DType::ALL.iter().filter(|dtype| T::widens(**dtype)) {
                let (count, width) = dtype.unit().expect("a number has a width");
                for seed in 0..=255_u8 {
                    let bytes: Vec<u8> =
                        (0..width).map(|i| seed.wrapping_mul(31).wrapping_add(i as u8)).collect();
                    let all = [vec![seed; width as usize], bytes];
                    for bytes in all {
                        let got: Vec<T> = convert(*dtype, &bytes, Conversion::Widen)
                            .unwrap_or_else(|error| panic!("{}: {error}", dtype.name()));
                        for (i, got) in (0..u64::from(count)).zip(got) {
                            let one = dtype.element(&bytes, i, Endianness::Little);
                            let one = one.expect("an element");
                            let mut of_got = Vec::new();
                            of_got.extend_from_slice(bytemuck::bytes_of(&got));
                            let back = T::DTYPE.element(&of_got, 0, native()).expect("a number");
                            let same = back.to_f64() == one.to_f64()
                                || back.to_f64().is_nan() && one.to_f64().is_nan();
                            assert!(same, "{} {one:?} as {back:?}", dtype.name());
                        }
                    }
                }
            }
        }
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<u64>();
        check::<f16>();
        check::<bf16>();
        check::<f32>();
        check::<f64>();
    }

    fn native() -> Endianness {
        if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big }
    }

    #[test]
    fn lossy_conversion_is_refused_by_type() {
        for dtype in [DType::F64, DType::I32, DType::U32, DType::I64] {
            assert!(!f32::widens(dtype), "{}", dtype.name());
        }
        let error = convert::<f32>(DType::F64, &[0; 8], Conversion::Widen).expect_err("narrower");
        assert_eq!(
            alloc::string::ToString::to_string(&error),
            "not every f64 fits in f32: choose a conversion or a wider type"
        );
    }

    #[test]
    fn exact_conversion_names_lossy_element() {
        let bytes: Vec<u8> = [3.0_f32, -2.0, 0.5].iter().flat_map(|it| it.to_le_bytes()).collect();
        let two: Vec<i8> = convert(DType::F32, &bytes[..8], Conversion::Exact).expect("whole");
        assert_eq!(two, [3, -2]);
        let error = convert::<i8>(DType::F32, &bytes, Conversion::Exact).expect_err("a half");
        assert!(matches!(error, Error::Inexact { element: 2, .. }), "{error}");
        let rounded: Vec<i8> = convert(DType::F32, &bytes, Conversion::Round).expect("rounds");
        assert_eq!(rounded, [3, -2, 0]);
        let large = (u64::MAX - 1).to_le_bytes();
        assert!(convert::<f64>(DType::U64, &large, Conversion::Exact).is_err());
        assert_eq!(exact_int::<u64>(Element::F64(f64::NAN)), None);
        assert_eq!(exact_int::<i64>(Element::F64(-0.0)), Some(0));
    }

    #[test]
    fn elements_begin_inside_bytes() {
        let mut out = [0_i8; 3];
        let run = Run {
            dtype: DType::I4,
            endianness: Endianness::Little,
            bytes: &[0x21, 0xF3],
            skip: 1,
            position: 0,
        };
        run.convert(Conversion::Widen, &mut out).expect("they fit");
        assert_eq!(out, [2, 3, -1]);
    }
}
