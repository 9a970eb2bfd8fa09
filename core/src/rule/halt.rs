//! What ends the work of a parser.

use crate::rule::Rule;
use core::num::NonZeroU32;

/// Why a format's parser comes back empty-handed. Details are parked in the
/// [`Reader`](crate::parse::Reader), so that results on the way up stay small.
///
/// One number, because that is returned in a register beside what it may take
/// the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt(NonZeroU32);

/// Set in the number of a halt whose finding went to the sink.
const REPORTED: u32 = 1 << 16;

impl Halt {
    /// Bytes are not resident; [`Reader::stop`](crate::parse::Reader::stop) tells which.
    pub(crate) const ABSENT: Halt = Halt(NonZeroU32::MAX);

    /// The slots are too few; [`Reader::stop`](crate::parse::Reader::stop) tells how many would do.
    pub(crate) const ROOM: Halt = Halt(NonZeroU32::MIN.saturating_add(u32::MAX - 2));

    /// A buffer is too small; [`Reader::stop`](crate::parse::Reader::stop) tells how large would do.
    pub(crate) const BUFFER: Halt = Halt(NonZeroU32::MIN.saturating_add(u32::MAX - 3));

    /// Whether bytes are not resident, which never happens in a build that
    /// has all of them in one slice.
    #[inline(always)]
    pub(crate) fn is_absent(self) -> bool {
        cfg!(feature = "windows") && self == Halt::ABSENT
    }

    /// This rule is broken where the reader stands, and what follows cannot be
    /// parsed. Nothing has been reported yet.
    pub(crate) fn broken(rule: Rule) -> Halt {
        Halt(rule.number().into())
    }

    /// The same, but the finding went to the sink already.
    pub(crate) fn refused(rule: Rule) -> Halt {
        Halt(NonZeroU32::from(rule.number()) | REPORTED)
    }

    /// The rule of a halt that is to be reported.
    pub(crate) fn unreported(self) -> Option<Rule> {
        u16::try_from(self.0.get()).ok().and_then(Rule::numbered)
    }

    /// The rule of a halt for which there is one.
    pub(crate) fn rule(self) -> Option<Rule> {
        u16::try_from(self.0.get() & !REPORTED).ok().and_then(Rule::numbered)
    }
}
