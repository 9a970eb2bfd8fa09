//! Diagnoses of files whose pickles are followed.

use super::archive::{NPZ, OTHER_PICKLE, ZIP};
use super::{Diagnosis, TAR};
use crate::check::pickles::Pickles;

const CHECKPOINT: &str = "a PyTorch checkpoint of a pickle";
const TAR_PICKLE: &str = "a tar archive that holds a pickle";

impl Diagnosis {
    /// Its pickles, if they were followed.
    pub(crate) const fn pickles(&self) -> Option<&Pickles> {
        match self {
            Diagnosis::Scanned(_, pickles) => Some(pickles),
            _ => None,
        }
    }

    /// The diagnosis of a checkpoint whose tensors are read.
    pub(crate) const fn of_checkpoint(pickles: Pickles) -> Self {
        Diagnosis::Scanned(CHECKPOINT, pickles)
    }

    /// Whether the file is a pickle, or an archive that may have some.
    pub(crate) fn may_have_pickles(&self) -> bool {
        match self {
            Diagnosis::Pickle(_) => true,
            Diagnosis::Other(what) => [ZIP, NPZ, TAR].contains(what),
            _ => false,
        }
    }

    /// The diagnosis after its pickles have been followed.
    pub(crate) fn with(self, pickles: Pickles) -> Self {
        match self {
            Diagnosis::Pickle(what) => Diagnosis::Scanned(what, pickles),
            Diagnosis::Other(ZIP | NPZ) => Diagnosis::Scanned(OTHER_PICKLE, pickles),
            Diagnosis::Other(TAR) => Diagnosis::Scanned(TAR_PICKLE, pickles),
            other => other,
        }
    }
}
