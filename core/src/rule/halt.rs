//! Why parsing stops.

use crate::base::features::WINDOWS;
use crate::rule::Rule;
use core::num::NonZeroU32;

/// Why a format's parser returned without a result. Details stay in the
/// [`Reader`](crate::parse::Reader), so that results stay small.
///
/// A single non-zero number, so that a result with it fits in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt(NonZeroU32);

/// Set if the finding has already gone to the sink.
const REPORTED: u32 = 1 << 16;

impl Halt {
    /// Bytes are not resident; [`Reader::stop`](crate::parse::Reader::stop) returns which.
    pub(crate) const ABSENT: Halt = Halt(NonZeroU32::MAX);

    /// There are too few slots; [`Reader::stop`](crate::parse::Reader::stop) returns how
    /// many are needed.
    pub(crate) const ROOM: Halt = Halt(NonZeroU32::MIN.saturating_add(u32::MAX - 2));

    /// A buffer is too small; [`Reader::stop`](crate::parse::Reader::stop) returns the size
    /// needed.
    pub(crate) const BUFFER: Halt = Halt(NonZeroU32::MIN.saturating_add(u32::MAX - 3));

    /// Whether bytes are not resident; never in a build without windows.
    #[inline(always)]
    pub(crate) fn is_absent(self) -> bool {
        WINDOWS && self == Halt::ABSENT
    }

    /// The current position breaks this rule, and parsing cannot continue. Nothing has been
    /// reported yet.
    pub(crate) fn broken(rule: Rule) -> Halt {
        Halt(rule.number().into())
    }

    /// The same, after the finding went to the sink.
    pub(crate) fn refused(rule: Rule) -> Halt {
        Halt(NonZeroU32::from(rule.number()) | REPORTED)
    }

    /// The rule that is still to be reported, if any.
    pub(crate) fn unreported(self) -> Option<Rule> {
        u16::try_from(self.0.get()).ok().and_then(Rule::from_code)
    }

    /// The broken rule, if any.
    pub(crate) fn rule(self) -> Option<Rule> {
        u16::try_from(self.0.get() & !REPORTED).ok().and_then(Rule::from_code)
    }
}
