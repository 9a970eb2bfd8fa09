//! The next entry that may have a name, and the next part that has bytes.

use crate::file::{Cursor, File, Slot};
use crate::model::{Metadata, NameAt, Status};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// An entry that may have a name.
pub(super) struct Named {
    pub(super) kind: EntryKind,
    /// Position in its table.
    pub(super) index: u32,
    pub(super) name: NameAt,
    pub(super) broken: bool,
}

impl Named {
    /// Whether the entry has a name. An entry whose name is missing is broken for that
    /// reason, and equal to no other.
    pub(super) fn is_named(&self) -> bool {
        self.name.offset != 0
    }

    /// A metadata entry.
    pub(super) fn of(meta: &Metadata) -> Named {
        let broken = meta.status == Status::Broken;
        Named { kind: meta.kind, index: meta.index, name: meta.key, broken }
    }
}

impl File {
    // Entries are large for a small stack: each kind has its own frame, and is examined in place.
    #[inline(never)]
    pub(super) fn named_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Named>, Halt> {
        match &self.tensor(r, c) {
            Ok(Some(tensor)) => Ok(Some(Named {
                kind: EntryKind::Tensor,
                index: tensor.index,
                name: tensor.name,
                broken: tensor.status == Status::Broken,
            })),
            Ok(None) => Ok(None),
            Err(halt) => Err(*halt),
        }
    }

    #[inline(never)]
    pub(super) fn named_meta(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Named>, Halt> {
        match &self.meta(r, c) {
            Ok(meta) => Ok(meta.as_ref().map(Named::of)),
            Err(halt) => Err(*halt),
        }
    }

    /// The next part that has bytes, or that must not overlap even if empty. Unless values are
    /// `measured`, only parts whose length the index itself determines are compared.
    #[inline(never)]
    pub(super) fn next_part(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        measured: bool,
    ) -> Result<Option<Slot>, Halt> {
        while let Some(region) = self.region(r, c)? {
            let unsure = !measured && region.part.is_value();
            if self.places(&region) && !unsure {
                let who = Slot::pack(region.entry, region.kind.code());
                return Ok(Some(Slot::part(region.span, who)));
            }
        }
        Ok(None)
    }
}
