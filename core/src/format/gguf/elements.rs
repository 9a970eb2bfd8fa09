//! The types of elements, by their numbers.

use crate::dims::times;
use crate::dtype::DType;

/// A type, and how its elements are stored.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub(super) dtype: DType,
    /// The binary logarithm of how many elements a block has; every block has a
    /// power of two of them.
    log2: u8,
    /// Bytes of a block.
    bytes: u16,
}

impl Stored {
    /// How many elements a block has.
    pub(super) fn block(self) -> u64 {
        u64::from(1_u32.wrapping_shl(self.log2.into()))
    }

    /// Bytes of so many elements, which fill blocks; `u64::MAX` if as many or more.
    pub(super) fn size(self, elements: u64) -> u64 {
        times(elements.wrapping_shr(self.log2.into()), self.bytes.into())
    }
}

/// The type with this number.
pub(super) fn stored(code: u32) -> Option<Stored> {
    let stored = usize::try_from(code).ok().and_then(|code| STORED.get(code)).copied();
    stored.filter(|stored| stored.bytes != 0)
}

static STORED: [Stored; 42] = [
    of(DType::F32),
    of(DType::F16),
    of(DType::Q4_0),
    of(DType::Q4_1),
    of(DType::Unknown),
    of(DType::Unknown),
    of(DType::Q5_0),
    of(DType::Q5_1),
    of(DType::Q8_0),
    of(DType::Q8_1),
    of(DType::Q2K),
    of(DType::Q3K),
    of(DType::Q4K),
    of(DType::Q5K),
    of(DType::Q6K),
    of(DType::Q8K),
    of(DType::Iq2Xxs),
    of(DType::Iq2Xs),
    of(DType::Iq3Xxs),
    of(DType::Iq1S),
    of(DType::Iq4Nl),
    of(DType::Iq3S),
    of(DType::Iq2S),
    of(DType::Iq4Xs),
    of(DType::I8),
    of(DType::I16),
    of(DType::I32),
    of(DType::I64),
    of(DType::F64),
    of(DType::Iq1M),
    of(DType::BF16),
    of(DType::Unknown),
    of(DType::Unknown),
    of(DType::Unknown),
    of(DType::TQ1_0),
    of(DType::TQ2_0),
    of(DType::Unknown),
    of(DType::Unknown),
    of(DType::Unknown),
    of(DType::MxFp4),
    of(DType::NvFp4),
    of(DType::Q1_0),
];

#[allow(clippy::as_conversions, reason = "a conversion that a constant can do; it is tested")]
const fn of(dtype: DType) -> Stored {
    let (count, bytes) = match dtype.unit() {
        Some(unit) => unit,
        None => (1, 0),
    };
    Stored { dtype, log2: count.trailing_zeros() as u8, bytes: bytes as u16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_types() {
        let mut known = 0;
        for code in 0..100 {
            let Some(stored) = stored(code) else { continue };
            known += 1;
            let unit = stored.dtype.unit().map(|(count, _)| u64::from(count));
            assert_eq!(unit, Some(stored.block()));
            for blocks in [0, 1, 3, 1 << 40, u64::MAX >> 9] {
                let elements = blocks * stored.block();
                let bytes = stored.dtype.bytes(elements).unwrap_or(u64::MAX);
                assert_eq!(stored.size(elements), bytes, "{code}");
            }
        }
        assert_eq!(known, 34);
    }
}
