//! The element types by number.

use crate::model::{DType, dims::scaled};

/// A type and the layout of its blocks.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub(super) dtype: DType,
    /// Binary logarithm of the number of elements in a block, which is a power of two.
    log2: u8,
    /// Length of a block in bytes.
    bytes: u16,
}

impl Stored {
    /// Number of elements in a block.
    pub(super) fn block(self) -> u64 {
        u64::from(1_u32.wrapping_shl(self.log2.into()))
    }

    /// Length in bytes of elements that fill whole blocks; saturates at `u64::MAX`.
    pub(super) fn size(self, elements: u64) -> u64 {
        scaled(elements.wrapping_shr(self.log2.into()), self.bytes.into()).unwrap_or(u64::MAX)
    }
}

/// The type with this number.
pub(super) fn stored(code: u32) -> Option<Stored> {
    let stored = usize::try_from(code).ok().and_then(|code| STORED.get(code)).copied();
    stored.filter(|stored| stored.bytes != 0)
}

/// Whether a type's number is above those known to this build, so that a later ggml may
/// define it. Type numbers are signed 32-bit.
pub(super) fn is_newer(code: u32) -> bool {
    code >> 31 == 0 && code > NEWEST
}

/// The highest type number known to this build.
pub(super) const NEWEST: u32 = 42;

static STORED: [Stored; 43] = [
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
    of(DType::Q2_0),
];

#[allow(clippy::as_conversions, reason = "possible in a constant, and tested")]
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
    fn block_sizes_match_types() {
        for code in 0..100 {
            let Some(stored) = stored(code) else { continue };
            let unit = stored.dtype.unit().map(|(count, _)| u64::from(count));
            assert_eq!(unit, Some(stored.block()));
            for blocks in [0, 1, 3, 1 << 40, u64::MAX >> 9] {
                let elements = blocks * stored.block();
                let bytes = stored.dtype.bytes(elements).unwrap_or(u64::MAX);
                assert_eq!(stored.size(elements), bytes, "{code}");
            }
        }
    }

    /// Name, elements and bytes per block of every `ggml_type`, by number: `ggml.h` numbers
    /// them, `type_traits` of `ggml.c` names them, and the sizes follow from the static
    /// assertions of `ggml-common.h` (ggml of August 2026). Numbers that ggml removed have
    /// no name.
    const GGML: [(&str, u64, u64); 43] = [
        ("f32", 1, 4),
        ("f16", 1, 2),
        ("q4_0", 32, 18),
        ("q4_1", 32, 20),
        ("", 0, 0),
        ("", 0, 0),
        ("q5_0", 32, 22),
        ("q5_1", 32, 24),
        ("q8_0", 32, 34),
        ("q8_1", 32, 36),
        ("q2_k", 256, 84),
        ("q3_k", 256, 110),
        ("q4_k", 256, 144),
        ("q5_k", 256, 176),
        ("q6_k", 256, 210),
        ("q8_k", 256, 292),
        ("iq2_xxs", 256, 66),
        ("iq2_xs", 256, 74),
        ("iq3_xxs", 256, 98),
        ("iq1_s", 256, 50),
        ("iq4_nl", 32, 18),
        ("iq3_s", 256, 110),
        ("iq2_s", 256, 82),
        ("iq4_xs", 256, 136),
        ("i8", 1, 1),
        ("i16", 1, 2),
        ("i32", 1, 4),
        ("i64", 1, 8),
        ("f64", 1, 8),
        ("iq1_m", 256, 56),
        ("bf16", 1, 2),
        ("", 0, 0),
        ("", 0, 0),
        ("", 0, 0),
        ("tq1_0", 256, 54),
        ("tq2_0", 256, 66),
        ("", 0, 0),
        ("", 0, 0),
        ("", 0, 0),
        ("mxfp4", 32, 17),
        ("nvfp4", 64, 36),
        ("q1_0", 128, 18),
        ("q2_0", 64, 18),
    ];

    #[test]
    fn type_numbers_match_ggml() {
        for (code, (name, count, bytes)) in (0..).zip(GGML) {
            let found = stored(code);
            assert_eq!(found.is_none(), name.is_empty(), "{code}");
            let Some(stored) = found else { continue };
            assert_eq!(stored.dtype.name(), name, "{code}");
            assert_eq!((stored.block(), stored.size(count)), (count, bytes), "{name}");
        }
        for newer in [43, 99, 400, u32::MAX >> 1] {
            assert!(stored(newer).is_none() && is_newer(newer), "{newer}");
        }
        for never in [4, 5, 31, 38, 1 << 31, u32::MAX] {
            assert!(stored(never).is_none() && !is_newer(never), "{never}");
        }
        assert_eq!(stored(NEWEST).map(|stored| stored.dtype), Some(DType::Q2_0));
    }
}
