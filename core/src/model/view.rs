//! Elements in place, without a copy.

use crate::model::{DType, Endianness, Tensor};

/// A number type that elements can be viewed as.
pub trait Number: Copy + 'static + sealed::Stored {
    /// The corresponding element type.
    const DTYPE: DType;
}

mod sealed {
    /// How a number is stored.
    pub trait Stored: Sized {
        /// Its bytes.
        type Bytes: Copy + 'static;
        /// The whole elements at the start of `bytes`.
        fn split(bytes: &[u8]) -> &[Self::Bytes];
        fn from_le(bytes: Self::Bytes) -> Self;
        fn from_be(bytes: Self::Bytes) -> Self;
    }
}

macro_rules! numbers {
    ($($number:ty = $dtype:ident;)*) => {$(
        impl Number for $number {
            const DTYPE: DType = DType::$dtype;
        }

        impl sealed::Stored for $number {
            type Bytes = [u8; size_of::<$number>()];

            fn split(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            fn from_le(bytes: Self::Bytes) -> Self {
                <$number>::from_le_bytes(bytes)
            }

            fn from_be(bytes: Self::Bytes) -> Self {
                <$number>::from_be_bytes(bytes)
            }
        }
    )*};
}

numbers! {
    i8 = I8; i16 = I16; i32 = I32; i64 = I64;
    u8 = U8; u16 = U16; u32 = U32; u64 = U64;
    f32 = F32; f64 = F64;
    half::f16 = F16; half::bf16 = BF16;
}

/// The elements of a tensor as numbers of one type, read in place: no alignment is assumed,
/// and each element is decoded on access.
///
/// ```
/// use weighbridge_core::{Elements, Endianness};
///
/// let elements = Elements::<u16>::new(&[1, 0, 2, 0, 7], Endianness::Little);
/// assert_eq!(elements.len(), 2); // the odd byte is no element
/// assert_eq!(elements.get(1), Some(2));
/// assert_eq!(elements.iter().sum::<u16>(), 3);
/// ```
#[derive(Clone, Copy)]
pub struct Elements<'a, T: Number> {
    stored: &'a [T::Bytes],
    endianness: Endianness,
}

impl<T: Number> core::fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} × {}", self.len(), T::DTYPE.name())
    }
}

impl<'a, T: Number> Elements<'a, T> {
    /// The whole elements in `bytes`.
    pub fn new(bytes: &'a [u8], endianness: Endianness) -> Self {
        Elements { stored: T::split(bytes), endianness }
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.stored.len()
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Element number `index`.
    pub fn get(&self, index: usize) -> Option<T> {
        self.stored.get(index).map(|bytes| self.number(*bytes))
    }

    /// All elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + 'a {
        let this = *self;
        this.stored.iter().map(move |bytes| this.number(*bytes))
    }

    fn number(&self, bytes: T::Bytes) -> T {
        match self.endianness {
            Endianness::Little => T::from_le(bytes),
            Endianness::Big => T::from_be(bytes),
        }
    }
}

impl Tensor {
    /// The elements in `bytes`, which are all or part of this tensor's data; `None` if they
    /// are not of type `T`.
    pub fn elements_of<'a, T: Number>(&self, bytes: &'a [u8]) -> Option<Elements<'a, T>> {
        (self.dtype == T::DTYPE).then(|| Elements::new(bytes, self.endianness))
    }

    /// The same bytes as a slice of numbers; `None` unless they are of type `T`, in this
    /// processor's byte order, a whole number of elements, and aligned in memory.
    #[cfg(feature = "bytemuck")]
    pub fn slice_of<'a, T: Number + bytemuck::AnyBitPattern>(
        &self,
        bytes: &'a [u8],
    ) -> Option<&'a [T]> {
        let native = (self.endianness == Endianness::Little) == cfg!(target_endian = "little");
        if self.dtype != T::DTYPE || !(native || size_of::<T>() == 1) {
            return None;
        }
        bytemuck::try_cast_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_reads_both_byte_orders() {
        let tensor = Tensor { dtype: DType::F32, ..Tensor::default() };
        let bytes = [0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0];
        let floats = tensor.elements_of::<f32>(&bytes).unwrap();
        assert_eq!(floats.iter().collect::<std::vec::Vec<_>>(), [1.0, -2.0]);
        assert!(tensor.elements_of::<i32>(&bytes).is_none());
        let big = Tensor { endianness: Endianness::Big, ..tensor };
        assert_eq!(big.elements_of::<f32>(&[0x3F, 0x80, 0, 0]).unwrap().get(0), Some(1.0));
        let half = Tensor { dtype: DType::BF16, ..tensor };
        assert_eq!(half.elements_of::<half::bf16>(&bytes).unwrap().len(), 4);
    }

    #[cfg(feature = "bytemuck")]
    #[test]
    fn view_is_slice_only_when_aligned() {
        let tensor = Tensor { dtype: DType::F32, ..Tensor::default() };
        let floats = [1.0_f32, -2.0, 3.0];
        let bytes: &[u8] = bytemuck::cast_slice(&floats);
        let little = cfg!(target_endian = "little");
        assert_eq!(tensor.slice_of::<f32>(bytes), little.then_some(&floats[..]));
        assert_eq!(tensor.slice_of::<f32>(&bytes[1..9]), None, "not aligned");
        assert_eq!(tensor.slice_of::<f32>(&bytes[..7]), None, "half an element");
        assert_eq!(tensor.slice_of::<u32>(bytes), None, "another type");
        let big = Tensor { endianness: Endianness::Big, ..tensor };
        assert_eq!(big.slice_of::<f32>(bytes).is_some(), !little);
    }
}
