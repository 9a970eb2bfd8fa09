//! Makes the index of a PyTorch checkpoint: follows its pickle, runs nothing, and writes down which
//! tensors it would build. The core then reads and checks the index as it does that of any format.
//!
//! A file that is no checkpoint, or whose pickle is broken, gets no index. Its pickles are scanned
//! all the same.

mod archive;
mod call;
mod draft;
pub(crate) mod indices;
mod object;
mod older;
mod parts;
pub(crate) mod paths;
mod records;
mod sparse;
pub(crate) mod sums;
mod tensor;
mod torch_names;
mod values;

use crate::check::criteria::Criteria;
use crate::check::diagnosis::Diagnosis;
use crate::check::scan::Prior;
use alloc::boxed::Box;
use alloc::vec::Vec;
use archive::Archived;
use older::Older;
use weighbridge_core::{Absent, Source};

/// Length of the first bytes that decide whether a file may be a checkpoint.
const HEAD: usize = 32;

/// The search for an index.
#[derive(Debug)]
pub(crate) enum Checkpoint {
    Archive(Box<Archived>),
    Older(Box<Older>),
}

impl Checkpoint {
    /// A search in a file that begins with `head`; `None` if it is no checkpoint.
    pub(crate) fn of(head: &[u8]) -> Option<Checkpoint> {
        let head = head.get(..HEAD).unwrap_or(head);
        if head.starts_with(b"PK\x03\x04") {
            return Some(Checkpoint::Archive(Box::default()));
        }
        older::begins(head).then(|| Checkpoint::Older(Box::default()))
    }

    /// Continues until the index is made, or it is known that there is none.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn step(
        &mut self,
        file: &Source<'_>,
        criteria: &Criteria,
    ) -> Result<Option<Vec<u8>>, Absent> {
        match self {
            Checkpoint::Archive(archive) => archive.step(file, criteria),
            Checkpoint::Older(older) => older.step(file),
        }
    }

    /// What a file with a program beside its tensors is called, once its index is made.
    pub(crate) fn program(&self) -> Option<Diagnosis> {
        match self {
            Checkpoint::Archive(archive) => archive.program(),
            Checkpoint::Older(_) => None,
        }
    }

    /// What a scan of the file need not find again.
    pub(crate) fn into_prior(self) -> Prior {
        match self {
            Checkpoint::Archive(archive) => archive.into_prior(),
            Checkpoint::Older(_) => Prior::default(),
        }
    }
}
