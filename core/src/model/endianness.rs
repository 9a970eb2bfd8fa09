//! The byte order of numbers.

/// The byte order of elements wider than a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Endianness {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

impl Endianness {
    /// The number in these bytes.
    ///
    /// ```
    /// use weighbridge_core::Endianness;
    ///
    /// assert_eq!(Endianness::Big.u32([0, 0, 1, 2]), 0x102);
    /// ```
    pub const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endianness::Little => u32::from_le_bytes(bytes),
            Endianness::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The number in these bytes.
    pub const fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endianness::Little => u64::from_le_bytes(bytes),
            Endianness::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Endianness::Little => "little",
            Endianness::Big => "big",
        }
    }
}
