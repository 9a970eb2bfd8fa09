//! What the bytes of the manifest, sparse indices, and references into other files must be.

use super::super::{Cursor, rules};
use super::object::{Kind, Object, Read};
use super::references::References;
use super::sparse::Follow;
use super::{Generation, Header, list};
use crate::codec::checksum::{Algorithm, Hasher};
use crate::input::Span;
use crate::model::Status;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// How far the audit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Progress {
    step: Step,
    /// The hash that the footer states, which lies apart from the manifest.
    stated: u64,
    walk: Walk,
    follow: Follow,
    references: References,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Footer,
    Hash,
    Objects,
    Indices,
    Shards,
    Done,
}

/// A walk over all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Walk {
    at: u64,
    left: u32,
    /// Number of entries passed.
    pub(super) entries: u32,
}

impl Walk {
    pub(super) const START: Walk = Walk { at: 0, left: 0, entries: 0 };

    /// The next object, with the number of its entry. Its faults were reported when it was listed.
    pub(super) fn next<'a>(
        &mut self,
        header: &Header,
        r: &mut Reader<'_, 'a>,
    ) -> Result<Option<(Object<'a>, u32)>, Halt> {
        if self.at == 0 {
            (self.at, self.left) = (header.objects_at, header.left);
        }
        let mut left = self.left;
        let read = r.quietly(|r| Object::read(header, r, self.at, (0, 0), &mut left));
        match read {
            Ok(Read::Object(object)) => {
                let index = self.entries;
                self.entries = index.saturating_add(object.entries());
                (self.at, self.left) = (object.end, left);
                Ok(Some((object, index)))
            }
            Ok(Read::End(_)) => Ok(None),
            Err(halt) if halt.is_absent() => Err(halt),
            // The list has reported why it ends here.
            Err(_) => Ok(None),
        }
    }
}

impl Progress {
    pub(super) const START: Progress = Progress {
        step: Step::Footer,
        stated: 0,
        walk: Walk::START,
        follow: Follow::NONE,
        references: References::START,
    };
}

/// One step of the audit.
pub(super) fn step(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let mut progress = c.state.later.audit;
    progress.step = match progress.step {
        Step::Footer if header.manifest.is_empty() => Step::Done,
        Step::Footer if header.generation != Generation::Two => Step::Objects,
        Step::Footer => {
            let bytes = r.get(Span::new(hash_at(header), 8))?;
            progress.stated = bytes.first_chunk().map_or(0, |n| u64::from_le_bytes(*n));
            Step::Hash
        }
        Step::Hash => {
            hash(header, r, progress.stated)?;
            Step::Objects
        }
        Step::Objects => match progress.walk.next(header, r)? {
            Some((object, index)) => {
                progress.follow = indices(header, r, &object, index);
                Step::Indices
            }
            None => Step::Shards,
        },
        Step::Indices if progress.follow.is_over() => Step::Objects,
        Step::Indices => {
            progress.follow.step(header, r)?;
            Step::Indices
        }
        Step::Shards if progress.references.step(header, r)? => Step::Done,
        Step::Shards => Step::Shards,
        Step::Done => {
            c.finish();
            Step::Done
        }
    };
    c.state.later.audit = progress;
    Ok(())
}

/// The indices of an object to follow, if it is sparse and valid.
fn indices(header: &Header, r: &mut Reader<'_, '_>, object: &Object<'_>, index: u32) -> Follow {
    if !matches!(object.kind, Kind::Csr | Kind::Coo) || !object.is_listed() {
        return Follow::NONE;
    }
    let whole = r.quietly(|r| list::whole(header, r, object, index));
    if whole.status != Status::Sound {
        return Follow::NONE;
    }
    r.about(EntryKind::Tensor, index);
    Follow::of(header, r, object, index)
}

/// Where the footer states the hash of the manifest.
fn hash_at(header: &Header) -> u64 {
    header.tail.saturating_add(16)
}

/// Compares the manifest with the hash that the footer states.
fn hash(header: &Header, r: &mut Reader<'_, '_>, stated: u64) -> Result<(), Halt> {
    r.about(EntryKind::File, 0);
    let bytes = r.get(header.manifest)?;
    let Some(mut hasher) = Hasher::new(Algorithm::Xxh3) else {
        r.flag(crate::rule::general::CHECKSUM_UNCHECKED, hash_at(header), 8, stated, 0);
        return Ok(());
    };
    hasher.update(bytes);
    let found = hasher.finish().head();
    if found != stated {
        r.flag(rules::MANIFEST_HASH, hash_at(header), 8, stated, found);
    }
    Ok(())
}
