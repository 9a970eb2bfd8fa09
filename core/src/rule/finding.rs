//! Findings: what a check reports.

use crate::rule::{Rule, Severity};

/// The kind of entry that a finding is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EntryKind {
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
    /// The name of one slot of a tensor; `entry` is the tensor, `part` the slot. Two slots
    /// may have the same name.
    Slot,
}

impl EntryKind {
    /// The number of this kind.
    pub(crate) const fn code(self) -> u32 {
        match self {
            EntryKind::File => 0,
            EntryKind::Tensor => 1,
            EntryKind::Metadata => 2,
            EntryKind::SizeVar => 3,
            EntryKind::Attribute => 4,
            EntryKind::Slot => 5,
        }
    }

    /// The kind with this number.
    pub(crate) const fn of(code: u32) -> EntryKind {
        match code {
            1 => EntryKind::Tensor,
            2 => EntryKind::Metadata,
            3 => EntryKind::SizeVar,
            4 => EntryKind::Attribute,
            5 => EntryKind::Slot,
            _ => EntryKind::File,
        }
    }
}

/// The entry that is being validated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Subject {
    /// The kind of entry.
    pub kind: EntryKind,
    /// Its position in its table; 0 for the file.
    pub entry: u32,
    /// A part of it, such as a dimension, a chunk or an attribute; [`Subject::NO_PART`] for the
    /// whole entry.
    pub part: u32,
}

impl Subject {
    /// Value of `part` for the whole entry.
    pub const NO_PART: u32 = u32::MAX;

    /// The file as a whole.
    pub const FILE: Subject = Subject::new(EntryKind::File, 0);

    /// Entry number `entry` of its table.
    pub const fn new(kind: EntryKind, entry: u32) -> Self {
        Subject { kind, entry, part: Subject::NO_PART }
    }

    /// A part of the same entry.
    pub const fn part(mut self, part: u32) -> Self {
        self.part = part;
        self
    }
}

/// A broken rule at one place in the file.
///
/// `Display` writes the rule's message with the finding's numbers.
///
/// Without the feature `details`, `expected`, `found` and `len` are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding {
    /// Absolute offset of the first byte of the finding.
    pub offset: u64,
    /// The expected number, if the rule is about a number.
    pub expected: u64,
    /// The number found, if the rule is about a number.
    pub found: u64,
    /// Length of the finding in bytes; `u32::MAX` means that many or more.
    pub len: u32,
    /// Position of the entry in its table.
    pub entry: u32,
    /// Part of the entry, or [`Subject::NO_PART`].
    pub part: u32,
    /// The rule.
    pub rule: Rule,
    /// The kind of entry.
    pub kind: EntryKind,
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<Finding>() == 40);

impl Finding {
    /// A finding on the file as a whole, without a place.
    pub(crate) const fn on_file(rule: Rule) -> Self {
        let Subject { kind, entry, part } = Subject::FILE;
        Finding { offset: 0, expected: 0, found: 0, len: 0, entry, part, rule, kind }
    }

    /// The severity of the rule.
    pub const fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// The entry that the finding is about.
    pub const fn subject(&self) -> Subject {
        Subject { kind: self.kind, entry: self.entry, part: self.part }
    }
}
