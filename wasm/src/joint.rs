//! Several files that form one model: the shards of an index, the parts of a split GGUF.
//!
//! Each file is a separate document. The document of the index, or an empty one, lists the
//! tensors of all files, and here the findings of all, at offsets as if the files followed each
//! other.

use crate::document::Document;
use weighbridge::{SetCheck, SetFile, SetPlace, ShardSet};
use weighbridge_core::{File, Profile, Stop};

impl Document {
    /// Calls `take` with the facts known about this file of a set.
    fn as_file<T>(&self, take: impl FnOnce(&SetFile<'_>) -> T) -> T {
        take(&SetFile {
            session: &self.session,
            stated: &self.part.0,
            index: &self.index,
            map: &self.layout,
            is_ruled: self.is_ruled(),
            metadata: &self.metadata,
        })
    }

    /// The files that this index lists; empty if it is not an index.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn listed(&mut self, seed: u64) -> Result<&ShardSet, Stop> {
        let Document { session, listed, .. } = self;
        let (set, done) = listed.get_or_insert_with(|| (ShardSet::new(seed), false));
        if !*done {
            session.ask(|file, source| match file {
                File::Shards(_) => set.read(source, file),
                _ => Ok(()),
            })?;
            *done = true;
        }
        Ok(set)
    }

    /// Starts comparing the files of the set, under a profile. All files must be added next.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn begin(&mut self, profile: Profile, seed: u64) -> Result<(), Stop> {
        let set = match self.session.file() {
            Some(File::Shards(_)) => Some(self.listed(seed)?.clone()),
            _ => None,
        };
        let joint = self.as_file(|index| SetCheck::of_index(index, set, profile, seed));
        self.joint = Some(joint);
        self.findings = Default::default();
        self.selection.forget();
        Ok(())
    }

    /// Adds the findings of a file, and compares the file with the set.
    pub fn add_part(&mut self, part: &Document, place: SetPlace<'_>) {
        if let Some(joint) = &mut self.joint {
            part.as_file(|file| joint.file(file, place));
        }
    }

    /// Compares the contents of all files.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn end(&mut self) -> Result<(), Stop> {
        let Document { session, joint, .. } = self;
        joint.as_mut().map_or(Ok(()), |joint| joint.finish(session))
    }
}
