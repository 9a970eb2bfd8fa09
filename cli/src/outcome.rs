//! The process's exit status.

use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use weighbridge::Verdict;

/// The outcome for one file, or for all of them.
///
/// In ascending order of strength: the outcome for several files is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// Everything requested was checked and is valid.
    #[default]
    Valid,
    /// Nothing is invalid, but something could not be checked.
    Unchecked,
    /// The format or version is not supported.
    Unsupported,
    /// Wrong usage, or a read or write error.
    Failed,
    /// A file is invalid.
    Invalid,
}

impl Outcome {
    /// Keeps the stronger of both.
    pub(crate) fn include(&mut self, other: Outcome) {
        *self = (*self).max(other);
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Outcome::Valid => 0,
            Outcome::Invalid => 1,
            Outcome::Failed => 2,
            Outcome::Unchecked | Outcome::Unsupported => 3,
        }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Outcome::Valid,
            Verdict::Invalid => Outcome::Invalid,
            Verdict::Unsupported => Outcome::Unsupported,
            Verdict::Unchecked => Outcome::Unchecked,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(outcome.code())
    }
}
