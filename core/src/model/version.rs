//! Version numbers.

use core::fmt;

/// A version number: up to four parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    parts: [u16; 4],
    shown: u8,
}

impl Version {
    /// A version of one part.
    pub const fn major(major: u16) -> Self {
        Version { parts: [major, 0, 0, 0], shown: 1 }
    }

    /// A version of two parts.
    pub const fn minor(major: u16, minor: u16) -> Self {
        Version { parts: [major, minor, 0, 0], shown: 2 }
    }

    /// A version of four parts.
    pub const fn full(parts: [u16; 4]) -> Self {
        Version { parts, shown: 4 }
    }

    /// A version of four parts from one number, the first part in the highest bits.
    pub const fn of_number(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
        Version::full([
            u16::from_be_bytes([a, b]),
            u16::from_be_bytes([c, d]),
            u16::from_be_bytes([e, f]),
            u16::from_be_bytes([g, h]),
        ])
    }

    /// All four parts; parts that are not shown are 0.
    pub const fn parts(&self) -> [u16; 4] {
        self.parts
    }

    /// The parts that are shown.
    pub fn shown(&self) -> &[u16] {
        self.parts.get(..usize::from(self.shown)).unwrap_or_default()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.shown().iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}
