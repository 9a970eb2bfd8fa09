//! Why a call of the interface comes back without its result.

use crate::input::Absent;
use crate::rule::Rule;

/// Why a call came back without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stop {
    /// Bytes are not resident: fetch them and call again with the same cursor.
    NeedBytes(Absent),
    /// The file cannot be read on from here. The finding went to the sink;
    /// this is its rule.
    Invalid(Rule),
    /// The slots are too few: call again with at least `needed`, the first of which
    /// hold what they held.
    NeedSlots {
        /// How many slots would do.
        needed: u32,
    },
    /// The buffer of the scratch is too small: call again with a scratch that
    /// has a larger one. It is asked for only once the bytes for it were
    /// proved to be there.
    NeedBuffer {
        /// How many bytes would do.
        needed: u64,
    },
}

impl From<Absent> for Stop {
    fn from(absent: Absent) -> Self {
        Stop::NeedBytes(absent)
    }
}

impl core::error::Error for Stop {}
