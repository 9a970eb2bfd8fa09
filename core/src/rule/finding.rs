//! What a check reports.

use crate::rule::{Rule, Severity};

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
