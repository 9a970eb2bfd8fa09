//! Annotations of columns, and the slot names that preceded them in 1.1.1.3.
//!
//! | metadata table of contents | type |
//! |---|---|
//! | number of entries | LEB128 |
//! | kind | string |
//! | codec definition | see `codec` |
//! | compression kind | u8 |
//! | block offset | i64 |
//! | block size | LEB128 |
//!
//! The block is the payload of one row. Slot names are pairs of an index, i32,
//! and a string.

use super::blocks::Measure;
use super::definition::Head;
use super::leb128::LARGEST;
use super::toc::Column;
use super::{Cursor, Header, family, rules};
use crate::base::features::WINDOWS;
use crate::base::{Word, limits, wide, word};
use crate::input::Span;
use crate::model::{Metadata, Status};
use crate::parse::{Reader, reader::Overlong};
use crate::rule::{EntryKind, Halt};

/// Phases of the iteration over a column's attributes.
mod phase {
    pub(super) const PLACE: u8 = 0;
    pub(super) const ANNOTATIONS: u8 = 1;
    pub(super) const SLOTS: u8 = 2;
}

/// A value of [`Metadata::tag`] besides the compression kinds: the value is one uncompressed
/// text, whose block can be read without the entry.
pub(super) const TEXT: u32 = 0x100;

/// A validated annotation or slot name. It is large, so it is filled in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute {
    pub(super) head: Head,
    /// The index of a slot.
    slot: u32,
    /// Offset and length of the block, or of a slot name's index; empty if invalid.
    pub(super) stored: Word,
    pub(super) stored_len: Word,
    /// Whether the attribute is valid.
    pub(super) sound: bool,
    /// Whether the attribute exists.
    pub(super) found: bool,
}

impl Attribute {
    /// An attribute before anything has been read.
    pub(super) const NONE: Attribute = Attribute {
        head: Head::NONE,
        slot: 0,
        stored: 0,
        stored_len: 0,
        sound: false,
        found: false,
    };

    /// Byte range of the block; empty if invalid.
    pub(super) fn block(&self) -> Span {
        Span::new(wide(self.stored), wide(self.stored_len))
    }

    /// Whether the value can be read.
    fn status(&self) -> Status {
        match self.sound {
            true if self.head.is_dead() => Status::Unsupported,
            true => Status::Sound,
            false => Status::Broken,
        }
    }

    /// The compression kind, or [`TEXT`].
    fn tag(&self) -> u32 {
        let Head { definition, compression, .. } = &self.head;
        let text = *compression == 0 && !definition.vector && definition.item == family::TEXT;
        if text { TEXT } else { u32::from(*compression) }
    }
}

impl Header {
    /// Returns the next attribute of the column `owner`, given by the offset of its entry and
    /// its index.
    pub(crate) fn attribute_of(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        if c.phase == phase::PLACE {
            self.find(r, owner, c)?;
        }
        if c.done {
            return Ok(None);
        }
        let mut found = Attribute::NONE;
        let slots = c.phase == phase::SLOTS;
        if slots {
            self.slot_name(r, owner, c, &mut found)?;
        } else {
            self.next_annotation(r, owner, c, &mut found)?;
        }
        if !found.found {
            c.finish();
            return Ok(None);
        }
        let index = c.index;
        c.index = index.wrapping_add(1);
        Ok(Some(Metadata {
            kind: if slots { EntryKind::Slot } else { EntryKind::Attribute },
            index,
            offset: wide(found.head.at),
            key: found.head.name.name(),
            tag: if slots { found.slot } else { found.tag() },
            status: if slots { Status::Sound } else { found.status() },
            stored: found.block(),
        }))
    }

    /// Finds the table of a column's attributes.
    fn find(
        &self,
        r: &mut Reader<'_, '_>,
        (at, index): (u64, u32),
        c: &mut Cursor,
    ) -> Result<(), Halt> {
        let mut column = Column::NONE;
        let muted = r.is_muted();
        r.mute();
        let found = self.next_column(r, &mut Cursor::before(at, index), &mut column);
        if !muted {
            r.unmute();
        }
        // Unless bytes have changed, the column exists, because it was validated before.
        found?;
        if column.metadata != 0 {
            c.state.table = [column.metadata, 0, 0, 0];
            c.phase = phase::ANNOTATIONS;
        } else if column.slots().is_empty() {
            c.finish();
        } else {
            let Column { slots, slots_len, slot_count, .. } = column;
            c.state.table = [slots, slots.wrapping_add(slots_len), slot_count, 0];
            c.phase = phase::SLOTS;
        }
        Ok(())
    }

    /// Reads and validates the next annotation of the column `owner`; none is found after the
    /// last one, or if the offset of the next is unknown.
    ///
    /// The cursor keeps the offset of the metadata table of contents, 0 if the rest of the
    /// table is unknown; the offset of the next entry, 0 until the number of entries has been
    /// read; and the number of entries left.
    pub(super) fn next_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
        annotation: &mut Attribute,
    ) -> Result<(), Halt> {
        let number = c.index;
        let [metadata, at, left, _] = &mut c.state.table;
        if *at == 0 {
            r.about(EntryKind::Tensor, owner.1);
            *left = self.count(r, *metadata, owner)?;
            *at = r.here();
            if *left == 0 {
                (*metadata, *at) = (0, 0);
            }
        }
        if *left == 0 {
            return Ok(());
        }
        r.about(EntryKind::Attribute, owner.1);
        r.about_part(number);
        if *metadata < self.toc && *at >= self.toc {
            // The entry would begin in the column table of contents.
            let passed = u64::from(number);
            let count = wide(*left).wrapping_add(passed);
            r.flag(rules::M_COUNT_MISMATCH, wide(*at), 1, count, passed);
        } else {
            self.annotation(r, *metadata, *at, owner, annotation)?;
        }
        if annotation.found {
            *at = r.here();
            *left = left.wrapping_sub(1);
        } else {
            c.state.table = [0; 4];
        }
        Ok(())
    }

    /// Reads the number of entries of a metadata table of contents, 0 if unknown, and leaves
    /// the reader after it.
    fn count(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        owner: (u64, u32),
    ) -> Result<Word, Halt> {
        self.entry(r, metadata, metadata);
        let most = LARGEST.wrapping_sub(1);
        r.overlong = Overlong::NONE;
        let count = r.leb_word(rules::M_COUNT, most);
        if let Err(halt) = r.settle() {
            if halt.is_absent() {
                self.widen(r, owner);
                return Err(halt);
            }
            r.refuse(halt);
            return Ok(0);
        }
        r.flag_overlong();
        let fits = (1..=word(most)).contains(&count);
        if !fits {
            let len = wide(r.here().wrapping_sub(metadata));
            r.flag(rules::M_COUNT, wide(metadata), len, most, wide(count));
        }
        Ok(if fits { count } else { 0 })
    }

    /// Starts reading the entry at `at` of the metadata table of contents at `metadata`.
    fn entry(&self, r: &mut Reader<'_, '_>, metadata: Word, at: Word) {
        let end = wide(if metadata < self.toc { self.toc } else { self.tail });
        r.region(wide(at), end, rules::M_EOF);
        r.read_ahead(end.min(wide(at).saturating_add(limits::METADATA_AHEAD)));
    }

    /// Reads and validates an annotation; none is found if its end is unknown.
    fn annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        at: Word,
        owner: (u64, u32),
        annotation: &mut Attribute,
    ) -> Result<(), Halt> {
        let mut taken = Ok(());
        if WINDOWS && !r.is_muted() {
            // Reads it muted first, because all of its bytes must be resident.
            r.mute();
            taken = self.validate_annotation(r, metadata, at, annotation);
            r.unmute();
        }
        if !taken.is_err_and(Halt::is_absent) {
            taken = self.validate_annotation(r, metadata, at, annotation);
        }
        self.passed(r, at, owner, taken, annotation)
    }

    /// Handles the outcome of reading an attribute.
    fn passed(
        &self,
        r: &mut Reader<'_, '_>,
        at: Word,
        owner: (u64, u32),
        taken: Result<(), Halt>,
        attribute: &mut Attribute,
    ) -> Result<(), Halt> {
        if taken.is_err_and(Halt::is_absent) {
            self.widen(r, owner);
            return taken;
        }
        r.charge(wide(r.here().wrapping_sub(at)));
        attribute.found = taken.is_ok();
        if let Err(halt) = taken {
            r.refuse(halt);
        }
        Ok(())
    }

    pub(super) fn validate_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        at: Word,
        annotation: &mut Attribute,
    ) -> Result<(), Halt> {
        self.entry(r, metadata, at);
        r.overlong = Overlong::NONE;
        annotation.head.take(r, rules::M_KIND);
        let offset = r.next_word();
        let size_at = r.here();
        let size = r.leb_word(rules::M_SIZE, wide(self.tail));
        r.settle()?;
        r.flag_overlong();

        let Head { name, definition, compression, .. } = &annotation.head;
        let mut sound = name.utf8;
        r.check(sound, rules::M_KIND, name.span(), 0, 0);
        r.check(!name.is_empty(), rules::M_KIND_EMPTY, name.span(), 1, 0);
        let tail = wide(self.tail);
        let inside = self.is_inside(offset, 0);
        let compression_at = wide(annotation.head.compression_at());
        let offset_span = Span::new(compression_at.wrapping_add(1), 8);
        r.check(inside, rules::M_OFFSET, offset_span, tail, wide(offset));
        let size_span = Span::new(wide(size_at), wide(r.here().wrapping_sub(size_at)));
        let fits = size != 0 && (!inside || self.is_inside(offset, size));
        r.check(fits, rules::M_SIZE, size_span, tail.saturating_sub(wide(offset)), wide(size));
        let dead = definition.sound && annotation.head.is_dead();
        let (code, code_span) = (u64::from(*compression), Span::new(compression_at, 1));
        r.check(!dead, rules::M_DEAD, code_span, 2, code);
        r.check(*compression != 2, rules::M_ZLIB, code_span, 1, 2);
        sound &= definition.sound && inside && fits;
        if sound {
            annotation.sound = true;
            (annotation.stored, annotation.stored_len) = (offset, size);
            if *compression == 0 {
                Measure::of_definition(definition).validate(r, 1, size, size_span);
            }
        }
        Ok(())
    }

    /// Reads the next pair of slot index and name. The cursor keeps the pair's offset, the end
    /// of the last pair, and the number of pairs.
    fn slot_name(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
        found: &mut Attribute,
    ) -> Result<(), Halt> {
        let number = c.index;
        let [at, end, count, _] = &mut c.state.table;
        let span = Span::new(wide(*at), 4);
        r.about(EntryKind::Slot, owner.1);
        r.about_part(number);
        r.region(span.offset, wide(*end), rules::S_EOF);
        if u64::from(number) >= wide(*count) {
            let left = r.left();
            r.about(EntryKind::Tensor, owner.1);
            r.check(left == 0, rules::S_SIZE, Span::new(span.offset, left), 0, left);
            return Ok(());
        }
        r.overlong = Overlong::NONE;
        let slot = r.next_u32();
        let name = &mut found.head.name;
        r.string(rules::S_EOF, name);
        let taken = r.settle();
        self.passed(r, *at, owner, taken, found)?;
        if !found.found {
            return Ok(());
        }
        r.flag_overlong();
        let positive = u64::from(slot) <= LARGEST;
        r.check(positive, rules::S_INDEX, span, 0, u64::from(slot));
        let name = &found.head.name;
        r.check(name.utf8, rules::S_NAME, name.span(), 0, 0);
        (found.head.at, found.slot) = (*at, slot);
        (found.stored, found.stored_len) = (*at, 4);
        *at = r.here();
        Ok(())
    }
}
