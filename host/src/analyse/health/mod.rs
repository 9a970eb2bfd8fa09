//! The health of weights: noteworthy properties of tensor elements.

mod gauge;
mod holes;

pub use gauge::{Gauge, Weights};
pub use holes::Hole;

use crate::base::error::Error;
use crate::read::tensor::Tensor;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A noteworthy property of a tensor's elements.
///
/// ```
/// use weighbridge::Sign;
///
/// assert_eq!(Sign::Nan.name(), "nan");
/// assert!(Sign::Nan.is_fault() && !Sign::Zero.is_fault());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sign {
    /// Some elements are NaN.
    Nan,
    /// Some elements are infinite.
    Infinite,
    /// All elements are zero.
    Zero,
    /// All elements are equal, but not zero.
    Constant,
    /// Some rows, but not all, are entirely zero: channels that do nothing.
    ZeroRows,
    /// One element lies far from the others, or the deviation exceeds the range of a double.
    Outlier,
    /// Another tensor has the same elements, which are not all equal.
    Duplicate,
    /// Whole pages of zeros, or copies of one page, cut its data.
    Cut,
}

impl Sign {
    /// All signs, faults first.
    pub const ALL: [Sign; 8] = [
        Sign::Nan,
        Sign::Infinite,
        Sign::Zero,
        Sign::Constant,
        Sign::ZeroRows,
        Sign::Outlier,
        Sign::Duplicate,
        Sign::Cut,
    ];

    /// Its name in JSON and CSV.
    ///
    /// ```
    /// assert_eq!(weighbridge::Sign::ZeroRows.name(), "zero-rows");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Sign::Nan => "nan",
            Sign::Infinite => "infinite",
            Sign::Zero => "zero",
            Sign::Constant => "constant",
            Sign::ZeroRows => "zero-rows",
            Sign::Outlier => "outlier",
            Sign::Duplicate => "duplicate",
            Sign::Cut => "cut",
        }
    }

    /// Whether no model can compute anything sensible with it. The other signs are legal, but
    /// worth a look.
    ///
    /// ```
    /// assert!(weighbridge::Sign::Infinite.is_fault());
    /// ```
    pub const fn is_fault(self) -> bool {
        matches!(self, Sign::Nan | Sign::Infinite)
    }

    /// Its description for one tensor, or for several.
    const fn says(self, one: bool) -> &'static str {
        match (self, one) {
            (Sign::Nan, true) => "contains NaN",
            (Sign::Nan, false) => "contain NaN",
            (Sign::Infinite, true) => "contains infinities",
            (Sign::Infinite, false) => "contain infinities",
            (Sign::Zero, true) => "is all zeros",
            (Sign::Zero, false) => "are all zeros",
            (Sign::Constant, true) => "is constant",
            (Sign::Constant, false) => "are constant",
            (Sign::ZeroRows, true) => "has rows of zeros",
            (Sign::ZeroRows, false) => "have rows of zeros",
            (Sign::Outlier, true) => "has an outlier",
            (Sign::Outlier, false) => "have outliers",
            (Sign::Duplicate, true) => "is a duplicate",
            (Sign::Duplicate, false) => "are duplicates",
            (Sign::Cut, true) => "is cut by whole pages of zeros or of copies",
            (Sign::Cut, false) => "are cut by whole pages of zeros or of copies",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs(u8);

impl Signs {
    /// From bits in the order of [`Sign::ALL`], the least significant first.
    ///
    /// ```
    /// use weighbridge::{Sign, Signs};
    ///
    /// assert!(Signs::from_bits(1).has(Sign::Nan));
    /// ```
    pub const fn from_bits(bits: u8) -> Self {
        Signs(bits)
    }

    /// As bits in the order of [`Sign::ALL`], the least significant first.
    ///
    /// ```
    /// use weighbridge::{Sign, Signs};
    ///
    /// let mut signs = Signs::default();
    /// signs.add(Sign::Infinite);
    /// assert_eq!(signs.bits(), 2);
    /// ```
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Adds a sign.
    ///
    /// ```
    /// use weighbridge::{Sign, Signs};
    ///
    /// let mut signs = Signs::default();
    /// signs.add(Sign::Zero);
    /// assert!(signs.has(Sign::Zero));
    /// ```
    pub const fn add(&mut self, sign: Sign) {
        self.0 |= sign.bit();
    }

    /// Whether the set contains a sign.
    ///
    /// ```
    /// use weighbridge::{Sign, Signs};
    ///
    /// assert!(!Signs::default().has(Sign::Nan));
    /// ```
    pub const fn has(self, sign: Sign) -> bool {
        self.0 & sign.bit() != 0
    }

    /// The signs in the set, faults first.
    ///
    /// ```
    /// use weighbridge::{Sign, Signs};
    ///
    /// let names: Vec<_> = Signs::from_bits(5).iter().map(Sign::name).collect();
    /// assert_eq!(names, ["nan", "zero"]);
    /// ```
    pub fn iter(self) -> impl Iterator<Item = Sign> {
        Sign::ALL.into_iter().filter(move |sign| self.has(*sign))
    }
}

/// The health of all tensors of a file; `Display` writes the verdict.
///
/// ```
/// use weighbridge::{Health, Sign, Signs};
///
/// let mut health = Health::default();
/// health.add(Signs::default());
/// assert_eq!(health.to_string(), "nothing suspicious in 1 tensor");
/// let mut signs = Signs::default();
/// signs.add(Sign::Nan);
/// health.add(signs);
/// assert_eq!(health.to_string(), "1 tensor contains NaN");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    tensors: u64,
    skipped: u64,
    counts: [u64; Sign::ALL.len()],
    /// Tensors whose data breaks off in zeros.
    broken_off: u64,
    /// Tensors that zeros cut elsewhere.
    pierced: u64,
    /// Tensors that copies of one page cut.
    repeated: u64,
}

impl Health {
    /// Adds a tensor.
    ///
    /// ```
    /// use weighbridge::{Health, Sign, Signs};
    ///
    /// let mut health = Health::default();
    /// health.add(Signs::from_bits(4));
    /// assert_eq!(health.to_string(), "1 tensor is all zeros");
    /// ```
    pub fn add(&mut self, signs: Signs) {
        self.tensors += 1;
        for (sign, count) in Sign::ALL.into_iter().zip(&mut self.counts) {
            *count += u64::from(signs.has(sign));
        }
    }

    /// Adds a tensor without statistics.
    ///
    /// ```
    /// let mut health = weighbridge::Health::default();
    /// health.skip();
    /// assert_eq!(health.to_string(), "no weights to scan; 1 tensor not scanned");
    /// ```
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Records that the data of a tensor, which was added, breaks off in zeros.
    ///
    /// ```
    /// use weighbridge::{Health, Signs};
    ///
    /// let mut health = Health::default();
    /// health.add(Signs::default());
    /// health.break_off();
    /// assert_eq!(health.to_string(), "1 tensor breaks off in zeros");
    /// ```
    pub fn break_off(&mut self) {
        self.broken_off += 1;
    }

    /// Records that pages of zeros cut the data of a tensor, which was added.
    ///
    /// ```
    /// use weighbridge::{Health, Signs};
    ///
    /// let mut health = Health::default();
    /// health.add(Signs::default());
    /// health.pierce();
    /// assert_eq!(health.to_string(), "1 tensor has pages of zeros");
    /// ```
    pub fn pierce(&mut self) {
        self.pierced += 1;
    }

    /// Records that copies of one page cut the data of a tensor, which was added.
    ///
    /// ```
    /// use weighbridge::{Health, Signs};
    ///
    /// let mut health = Health::default();
    /// health.add(Signs::default());
    /// health.repeat();
    /// assert_eq!(health.to_string(), "1 tensor repeats a page");
    /// ```
    pub fn repeat(&mut self) {
        self.repeated += 1;
    }

    /// Number of tensors that were measured, and that were not.
    ///
    /// ```
    /// let mut health = weighbridge::Health::default();
    /// health.skip();
    /// assert_eq!(health.tensors(), (0, 1));
    /// ```
    pub fn tensors(&self) -> (u64, u64) {
        (self.tensors, self.skipped)
    }

    /// Number of tensors with a sign.
    ///
    /// ```
    /// use weighbridge::{Health, Sign, Signs};
    ///
    /// let mut health = Health::default();
    /// health.add(Signs::from_bits(1));
    /// assert_eq!(health.count(Sign::Nan), 1);
    /// ```
    pub fn count(&self, sign: Sign) -> u64 {
        self.counts.get(sign as usize).copied().unwrap_or(0)
    }

    /// Whether any tensor has a fault.
    ///
    /// ```
    /// use weighbridge::{Health, Signs};
    ///
    /// let mut health = Health::default();
    /// assert!(!health.is_faulty());
    /// health.add(Signs::from_bits(1));
    /// assert!(health.is_faulty());
    /// ```
    pub fn is_faulty(&self) -> bool {
        Sign::ALL.into_iter().any(|sign| sign.is_fault() && self.count(sign) > 0)
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = crate::base::text::plural;
        let said = self.broken_off + self.pierced + self.repeated;
        let mut parts: Vec<String> = Sign::ALL
            .into_iter()
            .map(|sign| match sign {
                // The others are said more exactly.
                Sign::Cut => (sign, self.count(sign).saturating_sub(said)),
                sign => (sign, self.count(sign)),
            })
            .filter(|(_, count)| *count > 0)
            .map(|(sign, count)| format!("{} {}", plural(count, "tensor"), sign.says(count == 1)))
            .collect();
        if self.broken_off > 0 {
            let breaks = if self.broken_off == 1 { "breaks" } else { "break" };
            parts.insert(0, format!("{} {breaks} off in zeros", plural(self.broken_off, "tensor")));
        }
        if self.pierced > 0 {
            let have = if self.pierced == 1 { "has" } else { "have" };
            parts.push(format!("{} {have} pages of zeros", plural(self.pierced, "tensor")));
        }
        if self.repeated > 0 {
            let repeat = if self.repeated == 1 { "repeats" } else { "repeat" };
            parts.push(format!("{} {repeat} a page", plural(self.repeated, "tensor")));
        }
        match (parts.is_empty(), self.tensors) {
            (true, 0) => f.write_str("no weights to scan")?,
            (true, tensors) => write!(f, "nothing suspicious in {}", plural(tensors, "tensor"))?,
            (false, _) => f.write_str(&parts.join(", "))?,
        }
        if self.skipped > 0 {
            write!(f, "; {} not scanned", plural(self.skipped, "tensor"))?;
        }
        Ok(())
    }
}

impl Tensor<'_, '_> {
    /// Statistics of the elements and their noteworthy properties; `None` if they are not
    /// numbers. `seed` is for the digest that identifies equal tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// let weights = emb.weights(0)?.unwrap();
    /// assert_eq!((weights.stats().count(), weights.rows()), (6, (2, 0)));
    /// assert_eq!(weights.signs(), weighbridge::Signs::default());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be read or decoded.
    pub fn weights(&self, seed: u64) -> Result<Option<Weights>, Error> {
        gauge::of(&self.model.access, &self.model.file, &self.tensor, seed)
    }
}
