//! Why a call returned without a result.

use crate::input::Absent;
use crate::rule::Rule;

/// Why a call returned without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stop {
    /// Bytes are not resident: fetch them and call again with the same cursor.
    NeedBytes(Absent),
    /// Parsing cannot continue. The finding went to the sink; this is its rule.
    Invalid(Rule),
    /// There are too few slots: call again with at least `needed`, keeping the contents of
    /// the first ones.
    NeedSlots {
        /// Number of slots needed.
        needed: u32,
    },
    /// The scratch's buffer is too small: call again with a larger one. It is requested only
    /// after a first pass has proved that the data has this size.
    NeedBuffer {
        /// Number of bytes needed.
        needed: u64,
    },
}

impl From<Absent> for Stop {
    fn from(absent: Absent) -> Self {
        Stop::NeedBytes(absent)
    }
}

impl core::error::Error for Stop {}
