//! What the bytes of the manifest and of sparse indices must be.

use super::super::{Cursor, rules};
use super::{Generation, Header};
use crate::base::limits::ZTENSOR_MANIFEST;
use crate::codec::checksum::{Algorithm, Hasher};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// How far the audit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Progress {
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Hash,
    Done,
}

impl Progress {
    pub(super) const START: Progress = Progress { step: Step::Hash };
}

/// One step of the audit.
pub(super) fn step(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let mut progress = c.state.later.audit;
    match progress.step {
        Step::Hash => {
            hash(header, r)?;
            progress.step = Step::Done;
        }
        Step::Done => c.finish(),
    }
    c.state.later.audit = progress;
    Ok(())
}

/// Compares the manifest with its hash.
fn hash(header: &Header, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    let manifest = header.manifest;
    if header.generation != Generation::Two || manifest.is_empty() {
        return Ok(());
    }
    r.about(EntryKind::File, 0);
    let place = header.tail.offset.saturating_add(16);
    if manifest.len > ZTENSOR_MANIFEST {
        r.flag(rules::MANIFEST_LONG, place, 8, ZTENSOR_MANIFEST, manifest.len);
        return Ok(());
    }
    let bytes = r.get(manifest)?;
    let Some(mut hasher) = Hasher::new(Algorithm::Xxh3) else {
        r.flag(crate::rule::general::CHECKSUM_UNCHECKED, place, 8, header.hash, 0);
        return Ok(());
    };
    hasher.update(bytes);
    let found = hasher.finish().head();
    if found != header.hash {
        r.flag(rules::MANIFEST_HASH, place, 8, header.hash, found);
    }
    Ok(())
}
