//! Annotations of columns, and the slot names that came before them.
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
//! The block is the payload of one row. Slot names, in 1.1.1.3, are pairs of
//! an index, i32, and a string.

use super::blocks::Measure;
use super::definition::{self, Definition};
use super::text::{LARGEST, NUMBER};
use super::toc::Column;
use super::{Header, family, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::limits;
use crate::name::NameAt;
use crate::read::{Halt, Reader, place};
use crate::slot::{Word, wide, word};
use crate::source::{Span, widen};
use crate::tensor::{Meta, Status};

/// Phases of the iteration over the attributes of a column.
mod phase {
    pub(super) const PLACE: u8 = 0;
    pub(super) const ANNOTATIONS: u8 = 1;
    pub(super) const SLOTS: u8 = 2;
}

/// Beside the compression kind, in [`Meta::tag`]: the value is one text, whose
/// block can be read without the entry.
pub(super) const TEXT: u32 = 0x100;

/// An annotation, judged. It is large, so it is filled in where it is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Annotation {
    /// Where the entry begins, and one past its last byte.
    at: Word,
    end: Word,
    kind: Word,
    kind_len: Word,
    pub(super) definition: Definition,
    pub(super) compression: u8,
    block: Word,
    block_len: Word,
    pub(super) sound: bool,
    dead: bool,
}

impl Annotation {
    /// None yet.
    pub(super) const NONE: Annotation = Annotation {
        at: 0,
        end: 0,
        kind: 0,
        kind_len: 0,
        definition: Definition::NONE,
        compression: 0,
        block: 0,
        block_len: 0,
        sound: false,
        dead: false,
    };

    /// Its block; empty if it is not sound.
    pub(super) fn block(&self) -> Span {
        Span::new(wide(self.block), wide(self.block_len))
    }

    /// Whether it is one text, not compressed.
    fn is_text(&self) -> bool {
        let Definition { vector, item, .. } = self.definition;
        self.compression == 0 && !vector && item == family::TEXT
    }
}

impl Header {
    /// The next attribute of the column whose entry lies at the offset that
    /// `owner` begins with, behind which its position is.
    pub(crate) fn attribute_of(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        if c.phase == phase::PLACE {
            self.find(r, owner, c)?;
        }
        if c.done {
            return Ok(None);
        }
        if c.phase == phase::SLOTS {
            return self.slot_name(r, owner, c);
        }
        let mut annotation = Annotation::NONE;
        if !self.next_annotation(r, owner, c, &mut annotation)? {
            c.finish();
            return Ok(None);
        }
        let Annotation { kind, kind_len, compression, .. } = annotation;
        let meta = Meta {
            kind: Kind::Attribute,
            index: c.index,
            at: wide(annotation.at),
            key: NameAt::plain(wide(kind), wide(kind_len)),
            tag: u32::from(compression) | if annotation.is_text() { TEXT } else { 0 },
            status: match annotation {
                Annotation { sound: false, .. } => Status::Broken,
                Annotation { dead: true, .. } => Status::Unsupported,
                _ => Status::Sound,
            },
            stored: annotation.block(),
        };
        c.index = c.index.wrapping_add(1);
        Ok(Some(meta))
    }

    /// Where the attributes of a column are.
    #[cfg_attr(not(feature = "windows"), inline(never))]
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
        // Unless bytes changed, the column is there: it was proved before.
        found?;
        if column.metadata != 0 {
            c.inner = [wide(column.metadata), 0, 0, 0];
            c.phase = phase::ANNOTATIONS;
        } else if column.slots().is_empty() {
            c.finish();
        } else {
            let Span { at, len } = column.slots();
            c.at = at;
            c.inner = [at.wrapping_add(len), u64::from(column.slot_count), 0, 0];
            c.phase = phase::SLOTS;
        }
        Ok(())
    }

    /// The next annotation of the column `owner`, judged; `false` behind the last
    /// one, and where the next cannot be told.
    ///
    /// The cursor keeps the metadata table of contents, of which there is none
    /// any more if what follows cannot be told, the next entry, 0 if their number
    /// was not read yet, and how many are left.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn next_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
        annotation: &mut Annotation,
    ) -> Result<bool, Halt> {
        let [metadata, mut at, mut left, entry] = c.inner;
        if at == 0 {
            r.about(Kind::Tensor, owner.1);
            left = self.count(r, word(metadata), owner)?;
            at = r.at();
            c.inner = if left == 0 { [0; 4] } else { [metadata, at, left, entry] };
        }
        if left == 0 {
            return Ok(false);
        }
        r.about(Kind::Attribute, owner.1);
        r.about_part(c.index);
        // An entry would begin in the column table of contents.
        let runs_out = word(metadata) < self.toc && word(at) >= self.toc;
        if runs_out {
            let count = left.wrapping_add(u64::from(c.index));
            r.flag(rules::M_COUNT_MISMATCH, at, 1, count, u64::from(c.index));
        }
        if runs_out || !self.annotation(r, word(metadata), word(at), owner, annotation)? {
            c.inner = [0; 4];
            return Ok(false);
        }
        c.inner = [metadata, wide(annotation.end), left.wrapping_sub(1), entry];
        Ok(true)
    }

    /// The number of entries of a metadata table of contents, behind which the
    /// reader stands; 0 if that cannot be told.
    fn count(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        owner: (u64, u32),
    ) -> Result<u64, Halt> {
        self.entry(r, metadata, metadata);
        let most = LARGEST.wrapping_sub(1);
        let mut shortest = true;
        let count = r.leb(rules::M_COUNT, NUMBER, most, &mut shortest);
        match r.settle() {
            Ok(()) => {}
            Err(halt) if halt.is_absent() => {
                self.widen(r, owner);
                return Err(halt);
            }
            Err(halt) => {
                r.refuse(halt);
                return Ok(0);
            }
        }
        let fits = (1..=most).contains(&count);
        if !fits || !shortest {
            let len = wide(r.here().wrapping_sub(metadata));
            r.flag(rules::M_COUNT, wide(metadata), len, most, count);
        }
        Ok(if fits { count } else { 0 })
    }

    /// Starts an entry of the metadata table of contents that begins at
    /// `metadata`.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn entry(&self, r: &mut Reader<'_, '_>, metadata: Word, at: Word) {
        let end = wide(if metadata < self.toc { self.toc } else { self.tail });
        r.region(wide(at), end, rules::M_EOF);
        r.read_ahead(end.min(wide(at).saturating_add(limits::METADATA_AHEAD)));
    }

    /// Takes and judges an annotation; `false` if its end cannot be told.
    fn annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        at: Word,
        owner: (u64, u32),
        annotation: &mut Annotation,
    ) -> Result<bool, Halt> {
        let mut taken = Ok(());
        if cfg!(feature = "windows") && !r.is_muted() {
            // The first time in silence: all bytes of it, or none.
            r.mute();
            taken = self.judge_annotation(r, metadata, at, annotation);
            r.unmute();
        }
        if !taken.is_err_and(Halt::is_absent) {
            taken = self.judge_annotation(r, metadata, at, annotation);
        }
        if !taken.is_err_and(Halt::is_absent) {
            r.charge(wide(r.here().wrapping_sub(at)));
        }
        match taken {
            Ok(()) => Ok(true),
            Err(halt) if halt.is_absent() => {
                self.widen(r, owner);
                Err(halt)
            }
            Err(halt) => {
                r.refuse(halt);
                Ok(false)
            }
        }
    }

    #[cfg_attr(not(feature = "windows"), inline(always))]
    pub(super) fn judge_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: Word,
        at: Word,
        annotation: &mut Annotation,
    ) -> Result<(), Halt> {
        self.entry(r, metadata, at);
        let kind = r.string(rules::M_KIND);
        r.settle()?;
        *annotation = Annotation { at, ..Annotation::NONE };
        definition::definition(r, &mut annotation.definition);
        let compression_at = r.here();
        let compression = r.next_u8();
        let offset_at = r.here();
        let offset = r.next_u64();
        let size_at = r.here();
        let mut shortest = true;
        let size = r.leb(rules::M_SIZE, NUMBER, wide(self.tail), &mut shortest);
        r.settle()?;

        let definition = &annotation.definition;
        let kind_sound = kind.sound && kind.utf8;
        r.check(kind_sound, rules::M_KIND, kind.span(), 0, 0);
        r.check(!kind.bytes.is_empty(), rules::M_KIND_EMPTY, kind.span(), 1, 0);
        let tail = wide(self.tail);
        let inside = self.is_inside(place(offset), 0);
        r.check(inside, rules::M_OFFSET, Span::new(wide(offset_at), 8), tail, offset);
        let size_span = Span::new(wide(size_at), wide(r.here().wrapping_sub(size_at)));
        let room = tail.saturating_sub(offset);
        let fits = shortest && size > 0 && (!inside || size <= room);
        r.check(fits, rules::M_SIZE, size_span, room, size);
        let dead = definition.sound && (!definition.is_known() || compression > 2);
        let compression_span = Span::new(wide(compression_at), 1);
        r.check(!dead, rules::M_DEAD, compression_span, 2, u64::from(compression));
        r.check(compression != 2, rules::M_ZLIB, compression_span, 1, 2);
        let sound = kind_sound && definition.sound && inside && fits;
        if sound {
            if !dead && compression == 0 {
                Measure::of_definition(definition).judge(r, 1, size, size_span);
            }
            (annotation.block, annotation.block_len) = (place(offset), place(size));
        }
        (annotation.kind, annotation.kind_len) = (kind.at, place(widen(kind.bytes.len())));
        annotation.compression = compression;
        annotation.end = r.here();
        (annotation.sound, annotation.dead) = (sound, dead);
        Ok(())
    }

    /// The next pair of slot index and name.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn slot_name(
        &self,
        r: &mut Reader<'_, '_>,
        owner: (u64, u32),
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let [end, count, ..] = c.inner;
        let at = c.at;
        r.about(Kind::Slot, owner.1);
        r.about_part(c.index);
        r.region(at, end, rules::S_EOF);
        if u64::from(c.index) >= count {
            let left = r.left();
            r.about(Kind::Tensor, owner.1);
            r.check(left == 0, rules::S_SIZE, Span::new(at, left), 0, left);
            c.finish();
            return Ok(None);
        }
        let slot = r.next_u32();
        let name = r.string(rules::S_EOF);
        let taken = r.settle();
        if !taken.is_err_and(Halt::is_absent) {
            r.charge(r.at().wrapping_sub(at));
        }
        if let Err(halt) = taken {
            if halt.is_absent() {
                self.widen(r, owner);
                return Err(halt);
            }
            r.refuse(halt);
            c.finish();
            return Ok(None);
        }
        let positive = u64::from(slot) <= LARGEST;
        r.check(positive, rules::S_INDEX, Span::new(at, 4), 0, u64::from(slot));
        r.check(name.sound && name.utf8, rules::S_NAME, name.span(), 0, 0);
        let meta = Meta {
            kind: Kind::Slot,
            index: c.index,
            at,
            key: NameAt::plain(wide(name.at), widen(name.bytes.len())),
            tag: slot,
            status: Status::Sound,
            stored: Span::new(at, 4),
        };
        c.advance(r.at());
        Ok(Some(meta))
    }
}
