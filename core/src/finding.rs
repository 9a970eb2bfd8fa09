//! What a check reports.

use crate::plural;
use crate::rule::{Rule, Severity};
use crate::source::Absent;
use crate::tensor::Version;
use core::fmt::{self, Write as _};

/// What kind of thing a finding is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Kind {
    /// The file as a whole: its header, a table, its layout.
    #[default]
    File,
    /// A tensor, or a column of a data view.
    Tensor,
    /// An entry of the file's metadata.
    Metadata,
    /// A size variable (OINF).
    SizeVar,
    /// Metadata of one tensor; `entry` is the tensor, `part` the attribute.
    Attribute,
    /// The name of one slot of a tensor; `entry` is the tensor, `part` which of
    /// them. Two may be equal.
    Slot,
}

impl Kind {
    /// A number for it.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Kind::File => 0,
            Kind::Tensor => 1,
            Kind::Metadata => 2,
            Kind::SizeVar => 3,
            Kind::Attribute => 4,
            Kind::Slot => 5,
        }
    }

    /// The kind with this number.
    pub(crate) const fn of(code: u32) -> Kind {
        match code {
            1 => Kind::Tensor,
            2 => Kind::Metadata,
            3 => Kind::SizeVar,
            4 => Kind::Attribute,
            5 => Kind::Slot,
            _ => Kind::File,
        }
    }
}

/// The entry that is being looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Subject {
    /// What kind of entry.
    pub kind: Kind,
    /// Its position in its table; 0 for the file.
    pub entry: u32,
    /// A part of it: a dimension, a chunk, an attribute. [`Subject::NO_PART`]
    /// if the entry as a whole is meant.
    pub part: u32,
}

impl Subject {
    /// Value of `part` when none is meant.
    pub const NO_PART: u32 = u32::MAX;

    /// The file as a whole.
    pub const FILE: Subject = Subject::new(Kind::File, 0);

    /// Entry number `entry` of its table.
    pub const fn new(kind: Kind, entry: u32) -> Self {
        Subject { kind, entry, part: Subject::NO_PART }
    }

    /// A part of the same entry.
    pub const fn part(mut self, part: u32) -> Self {
        self.part = part;
        self
    }
}

/// One broken rule, at one place.
///
/// Its texts are in the catalogue: `Display` writes the plain sentence.
///
/// Without the feature `details`, `expected`, `found` and `len` are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding {
    /// Absolute offset of the first byte concerned.
    pub at: u64,
    /// What the rule asks for, where that is a number.
    pub expected: u64,
    /// What the file has, where that is a number.
    pub found: u64,
    /// How many bytes are concerned; `u32::MAX` stands for that many or more.
    pub len: u32,
    /// Position of the entry in its table.
    pub entry: u32,
    /// Part of the entry, or [`Subject::NO_PART`].
    pub part: u32,
    /// The rule.
    pub rule: Rule,
    /// What kind of entry.
    pub kind: Kind,
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<Finding>() == 40);

impl Finding {
    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// The entry that it is about.
    pub const fn subject(&self) -> Subject {
        Subject { kind: self.kind, entry: self.entry, part: self.part }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.rule.info().message;
        // The number that stands before `rest`.
        let mut number = 0;
        while let Some((text, more)) = rest.split_once('{') {
            plural::write(f, number, text)?;
            number = 0;
            let Some((field, after)) = more.split_once('}') else {
                f.write_char('{')?;
                rest = more;
                continue;
            };
            rest = after;
            number = match field {
                "found" => self.found,
                "expected" => self.expected,
                "missing" => self.expected.saturating_sub(self.found),
                "surplus" => self.found.saturating_sub(self.expected),
                "part" => self.part.into(),
                "found:#x" => {
                    write!(f, "{:#x}", self.found)?;
                    continue;
                }
                "expected:#x" => {
                    write!(f, "{:#x}", self.expected)?;
                    continue;
                }
                "found:i" => {
                    write!(f, "{}", self.found.cast_signed())?;
                    continue;
                }
                "found:i32" => {
                    let low = u32::try_from(self.found).unwrap_or_default();
                    write!(f, "{}", low.cast_signed())?;
                    continue;
                }
                "found:v" => {
                    write!(f, "{}", Version::of_number(self.found))?;
                    continue;
                }
                "expected:v" => {
                    write!(f, "{}", Version::of_number(self.expected))?;
                    continue;
                }
                _ => {
                    write!(f, "{{{field}}}")?;
                    continue;
                }
            };
            write!(f, "{number}")?;
        }
        plural::write(f, number, rest)
    }
}

/// Why a call came back without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stop {
    /// Bytes are not resident: fetch them and call again with the same cursor.
    Absent(Absent),
    /// The file cannot be read on from here. The finding went to the sink;
    /// this is its rule.
    Refused(Rule),
    /// The slots are too few: call again with at least `needed`, the first of which
    /// hold what they held.
    Room {
        /// How many slots would do.
        needed: u32,
    },
    /// The buffer of the scratch is too small: call again with a scratch that
    /// has a larger one. It is asked for only once the bytes for it were
    /// proved to be there.
    Buffer {
        /// How many bytes would do.
        needed: u64,
    },
}

impl From<Absent> for Stop {
    fn from(absent: Absent) -> Self {
        Stop::Absent(absent)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Absent(absent) => {
                write!(f, "{}", absent.need)?;
                plural::write(f, absent.need, " bytes are not in memory")?;
                write!(f, ", at offset {}", absent.at)
            }
            Stop::Refused(rule) => write!(f, "the file breaks {}", rule.id()),
            Stop::Room { needed } => {
                write!(f, "{needed}")?;
                plural::write(f, u64::from(*needed), " slots are needed")
            }
            Stop::Buffer { needed } => {
                write!(f, "a buffer of {needed}")?;
                plural::write(f, *needed, " bytes is needed")
            }
        }
    }
}

impl core::error::Error for Stop {}

#[cfg(all(test, feature = "idv", feature = "bintensors"))]
mod tests {
    use super::*;
    use crate::format::{bintensors, idv};
    use std::string::ToString as _;

    fn says(rule: Rule, expected: u64, found: u64) -> std::string::String {
        let (kind, part) = (Kind::File, Subject::NO_PART);
        Finding { at: 0, expected, found, len: 0, entry: 0, part, rule, kind }.to_string()
    }

    #[test]
    fn numbers_read_as_what_they_are() {
        let negative = says(idv::rules::H_ROWS, 0, 10_u64.wrapping_neg());
        assert_eq!(negative, "the row count is negative: -10");
        let negative = says(idv::rules::H_COLS, 0, u64::from(u32::MAX));
        assert_eq!(negative, "the column count is negative: -1");
        let version = says(idv::rules::H_COMPAT_MIN, 0, 0x0001_0001_0001_0003);
        assert!(version.contains("since version 1.1.1.3;"), "{version}");
    }

    #[test]
    fn one_is_not_many() {
        let bytes = |found| says(bintensors::rules::B1, 0, found);
        assert_eq!(bytes(1), "the data has 1 byte, and the tensors end at 0");
        assert_eq!(bytes(11), "the data has 11 bytes, and the tensors end at 0");
    }
}
