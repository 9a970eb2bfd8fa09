//! The rules of zTensor: those of generation 0.1, then those of later generations.

#[allow(unreachable_pub, reason = "the catalogues are joined below")]
mod first;
#[cfg(feature = "ztensor-later")]
#[allow(unreachable_pub, reason = "the catalogues are joined below")]
mod later;

pub use first::*;
#[cfg(feature = "ztensor-later")]
pub use joined::RULES;
#[cfg(feature = "ztensor-later")]
pub use later::*;

use super::faults;
use crate::format::Fault;
use crate::rule::{EntryKind, Rule};

/// The rules about names of types and encodings, which their messages quote.
pub(super) const QUOTING: &[Rule] = &[
    DTYPE_CASE,
    DTYPE_UNKNOWN,
    ENCODING_UNKNOWN,
    #[cfg(feature = "ztensor-later")]
    PART_DTYPE,
];

/// Both catalogues as one.
#[cfg(feature = "ztensor-later")]
mod joined {
    use super::{first, later};
    use crate::rule::RuleInfo;

    /// The catalogue, in documentation order.
    pub static RULES: &[RuleInfo] = &JOINED;

    const FIRST: &[RuleInfo] = first::RULES;
    const LATER: &[RuleInfo] = later::RULES;
    const COUNT: usize = FIRST.len().wrapping_add(LATER.len());

    static JOINED: [RuleInfo; COUNT] = join();

    #[allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "evaluated when the crate is compiled"
    )]
    const fn join() -> [RuleInfo; COUNT] {
        let mut all = [FIRST[0]; COUNT];
        let mut i = 0;
        while i < COUNT {
            all[i] = if i < FIRST.len() { FIRST[i] } else { LATER[i - FIRST.len()] };
            i += 1;
        }
        all
    }
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => NAME_DUPLICATE,
        Fault::Overlap => BLOB_OVERLAP,
        Fault::Alias => BLOB_SHARED,
        Fault::Gap => BLOB_GAP,
        Fault::Padding => BLOB_PADDING,
        Fault::StoredChecksum => CHECKSUM_MISMATCH,
        Fault::Stream(fault) => faults::stream(fault),
        Fault::Frame(fault) => faults::frame(fault),
        Fault::Sparse(fault) => faults::sparse(fault),
        _ => return None,
    })
}
