//! Any model as safetensors.
//!
//! [`Convert`] turns files into safetensors files. A program that does its own reading and
//! writing, as a page does, drives a [`Saving`] of the model that its session has open.

#[cfg(feature = "std")]
mod atomic_file;
#[cfg(feature = "std")]
mod convert;
mod elements;
#[cfg(all(feature = "serde", feature = "std"))]
mod json;
mod layout;
mod lost;
#[cfg(feature = "std")]
mod outcome;
#[cfg(feature = "std")]
mod parts;
mod piece;
mod plan;
mod stream;
mod types;

#[cfg(feature = "std")]
pub use convert::Convert;
#[cfg(all(feature = "serde", feature = "std"))]
pub use json::SCHEMA_CONVERT;
pub use layout::{Item, Layout};
pub use lost::{LeftOut, Tied};
#[cfg(feature = "std")]
pub use outcome::{Converted, Saved};
pub use stream::{Saving, Step};

use weighbridge_core::DType;

/// A number of bytes: `5GB` (10^9), as `transformers` has it, `5GiB` (2^30), or without a unit.
/// `None` for anything else, for zero, and for a number that 64 bits do not hold.
///
/// ```
/// use weighbridge::save::size;
///
/// assert_eq!((size("5GB"), size("2 MiB"), size("77")), (Some(5_000_000_000), Some(2 << 20), Some(77)));
/// assert_eq!((size("5 apples"), size("0"), size("GB")), (None, None, None));
/// ```
pub fn size(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 10] = [
        ("", 1),
        ("b", 1),
        ("kb", 1000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
    ];
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..)?.trim();
    let (_, factor) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    digits.parse::<u64>().ok()?.checked_mul(*factor).filter(|bytes| *bytes > 0)
}

/// The type that quantised elements are dequantised to.
///
/// ```
/// use weighbridge::{DType, save::Float};
///
/// assert_eq!(Float::by_name("bf16"), Some(Float::Bf16));
/// assert_eq!(Float::Bf16.dtype(), DType::BF16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Float {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16. Larger numbers become infinite; [`Converted::notes`] counts them.
    F16,
    /// The upper half of a binary32.
    Bf16,
}

impl Float {
    /// All types.
    ///
    /// ```
    /// use weighbridge::save::Float;
    ///
    /// assert_eq!(Float::ALL.map(|it| it.dtype().name()), ["f32", "f16", "bf16"]);
    /// ```
    pub const ALL: [Float; 3] = [Float::F32, Float::F16, Float::Bf16];

    /// The type as the element type of a tensor.
    ///
    /// ```
    /// assert_eq!(weighbridge::save::Float::F16.dtype(), weighbridge::DType::F16);
    /// ```
    pub const fn dtype(self) -> DType {
        match self {
            Float::F32 => DType::F32,
            Float::F16 => DType::F16,
            Float::Bf16 => DType::BF16,
        }
    }

    /// The type with this name in reports.
    ///
    /// ```
    /// assert_eq!(weighbridge::save::Float::by_name("f64"), None);
    /// ```
    pub fn by_name(name: &str) -> Option<Float> {
        Float::ALL.into_iter().find(|it| it.dtype().name() == name)
    }
}
