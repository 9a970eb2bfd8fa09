//! The audit: everything that needs more than a tensor and its buffer. For files in windows it goes in
//! steps that may stop, and has all rules; for files in memory it is one pass, for boards.

#[cfg_attr(feature = "windows", path = "steps.rs")]
#[cfg_attr(not(feature = "windows"), path = "board.rs")]
mod way;

use crate::base::limits::TFLITE_MARKS;
use crate::model::DType;
#[cfg(feature = "windows")]
pub(super) use way::audit_marking;
pub(super) use way::{State, audit};

/// The alignment of data.
pub(super) const ALIGN: u64 = 16;

/// Number of entries that are marked at a time.
pub(super) const BITS: u32 = TFLITE_MARKS;

/// The words that hold a bit for each.
const WORDS: usize = 16;

/// Marks of entries from a base on: of a subgraph's tensors, of buffers, or of subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits {
    words: [u32; WORDS],
}

impl Bits {
    /// No marks.
    pub(super) const NONE: Bits = Bits { words: [0; WORDS] };

    fn place(index: u32) -> (usize, u32) {
        let word = usize::try_from(index >> 5).unwrap_or(usize::MAX);
        (word, 1_u32.wrapping_shl(index))
    }

    /// Whether entry `index`, counted from the base, is marked.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn has(&self, index: u32) -> bool {
        let (word, bit) = Bits::place(index);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Marks an entry.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn set(&mut self, index: u32) {
        let (word, bit) = Bits::place(index);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }
}

/// What each item of a list of indices is compared with.
pub(super) fn is_inside(index: i32, count: u32) -> bool {
    u32::try_from(index).is_ok_and(|index| index < count)
}

/// A signed index, as findings have it.
pub(super) fn found(index: i32) -> u64 {
    i64::from(index).cast_unsigned()
}

/// A type with a sign.
const SIGNED: u8 = 32;

/// Whether elements of this type can be `zero`. Types that are not quantised take any.
pub(super) fn fits(dtype: DType, zero: i64) -> bool {
    // Bits of the number without its sign, and a flag for types that have one.
    let width: u8 = match dtype {
        DType::I2 => SIGNED | 1,
        DType::I4 => SIGNED | 3,
        DType::U4 => 4,
        DType::I8 => SIGNED | 7,
        DType::U8 => 8,
        DType::I16 => SIGNED | 15,
        DType::U16 => 16,
        DType::I32 => SIGNED | 31,
        _ => return true,
    };
    let Ok(zero) = i32::try_from(zero) else { return false };
    let rest = zero.wrapping_shr((width & 31).into());
    rest == 0 || (width & SIGNED != 0 && rest == -1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_mark_of_its_own() {
        let mut bits = Bits::NONE;
        for index in 0..BITS {
            assert!(!bits.has(index), "{index}");
            bits.set(index);
            assert!(bits.has(index), "{index}");
        }
        bits.set(BITS);
        assert!(!bits.has(BITS));
    }

    #[test]
    fn zero_point_fits_the_range_of_its_type() {
        for (dtype, low, high) in [
            (DType::I2, -2, 1),
            (DType::I4, -8, 7),
            (DType::U4, 0, 15),
            (DType::I8, -128, 127),
            (DType::U8, 0, 255),
            (DType::I16, -32_768, 32_767),
            (DType::U16, 0, 65_535),
            (DType::I32, i32::MIN.into(), i32::MAX.into()),
        ] {
            let inside = [low, 0, high];
            assert!(inside.iter().all(|zero| fits(dtype, *zero)), "{dtype:?}");
            let outside = [i64::MIN, low - 1, high + 1, 1 << 32, i64::MAX];
            assert!(!outside.iter().any(|zero| fits(dtype, *zero)), "{dtype:?}");
        }
        assert!(fits(DType::F32, i64::MIN));
    }
}
