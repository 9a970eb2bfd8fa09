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
use super::codec::Item;
use super::definition::{self, Definition};
use super::text::{leb64, string};
use super::{Header, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::limits;
use crate::name::NameAt;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::source::{Span, widen};
use crate::tensor::{Encoding, Meta, Status, Tensor};

/// Phases of the iteration over the attributes of a column.
mod phase {
    pub(super) const PLACE: u8 = 0;
    pub(super) const COUNT: u8 = 1;
    pub(super) const ANNOTATIONS: u8 = 2;
    pub(super) const SLOTS: u8 = 3;
}

/// Beside the compression kind, in [`Meta::tag`]: the value is one text, whose
/// block can be read without the entry.
pub(super) const TEXT: u32 = 0x100;

/// An annotation, judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Annotation {
    pub(super) kind: NameAt,
    pub(super) definition: Definition,
    pub(super) compression: u8,
    pub(super) block: Span,
    /// One past the entry's last byte.
    pub(super) end: u64,
    pub(super) sound: bool,
    pub(super) dead: bool,
}

impl Annotation {
    pub(super) fn encoding(&self) -> Encoding {
        match self.compression {
            0 => Encoding::Raw,
            1 => Encoding::Deflate,
            2 => Encoding::Zlib,
            _ => Encoding::Unknown,
        }
    }

    /// Whether it is one text, not compressed.
    fn is_text(&self) -> bool {
        let codec = &self.definition.codec;
        self.compression == 0 && codec.vector.is_none() && codec.item == Item::Text
    }
}

impl Header {
    pub(super) fn next_attribute(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        if c.phase == phase::PLACE {
            self.find(r, tensor, c)?;
        }
        let from = Cursor::before(tensor.at, tensor.index);
        match c.phase {
            phase::COUNT => {
                let [metadata, ..] = c.inner;
                r.about(Kind::Tensor, tensor.index);
                match self.count(r, metadata, from)? {
                    Some((at, count)) => {
                        *c = Cursor {
                            at,
                            inner: [metadata, count, 0, 0],
                            phase: phase::ANNOTATIONS,
                            ..*c
                        };
                    }
                    None => c.finish(),
                }
            }
            phase::SLOTS => return self.slot_name(r, tensor, c),
            _ => {}
        }
        if c.done {
            return Ok(None);
        }
        self.next_annotation(r, tensor, c)
    }

    /// Where the attributes of a column are.
    fn find(&self, r: &mut Reader<'_, '_>, tensor: &Tensor, c: &mut Cursor) -> Result<(), Halt> {
        let at = tensor.extra.end().unwrap_or(u64::MAX);
        let muted = r.is_muted();
        r.mute();
        r.region(at, self.tail, BYTES_CHANGED);
        r.read_ahead(at);
        let place = self.place(r);
        if !muted {
            r.unmute();
        }
        let place = match place {
            Ok(place) => place,
            Err(halt) if halt.is_absent() => return Err(halt),
            // The bytes changed; they were proved before.
            Err(_) => {
                c.finish();
                return Ok(());
            }
        };
        if place.metadata != 0 {
            c.inner = [place.metadata, 0, 0, 0];
            c.phase = phase::COUNT;
        } else if place.slots.is_empty() {
            c.finish();
        } else {
            let Span { at, len } = place.slots;
            c.inner = [at.saturating_add(len), u64::from(place.slot_count), 0, 0];
            c.at = at;
            c.phase = phase::SLOTS;
        }
        Ok(())
    }

    /// The offset of the first entry of a metadata table of contents, and
    /// their number; `None` if that cannot be told.
    pub(super) fn count(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: u64,
        from: Cursor,
    ) -> Result<Option<(u64, u64)>, Halt> {
        self.entry(r, metadata, metadata);
        let count = match r.parse(leb64) {
            Ok(count) => count,
            Err(halt) if halt.is_absent() => {
                self.widen(r, from);
                return Err(halt);
            }
            Err(halt) => {
                r.refuse(halt);
                return Ok(None);
            }
        };
        let most = u64::from(i32::MAX.unsigned_abs().saturating_sub(1));
        let fits = count.whole && (1..=most).contains(&count.value);
        if !fits || !count.shortest {
            r.flag(rules::M_COUNT, metadata, count.len, most, count.value);
        }
        Ok(fits.then_some((r.at(), count.value)))
    }

    /// Starts an entry of the metadata table of contents that begins at
    /// `metadata`.
    fn entry(&self, r: &mut Reader<'_, '_>, metadata: u64, at: u64) {
        let end = if self.is_before_toc(metadata) { self.toc } else { self.tail };
        r.region(at, end, rules::M_EOF);
        r.read_ahead(end.min(at.saturating_add(limits::METADATA_AHEAD)));
    }

    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn is_before_toc(&self, at: u64) -> bool {
        at < self.toc
    }

    fn next_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let [metadata, count, ..] = c.inner;
        if u64::from(c.index) >= count {
            c.finish();
            return Ok(None);
        }
        r.about(Kind::Attribute, tensor.index);
        r.about_part(c.index);
        if self.runs_out(metadata, c.at) {
            r.flag(rules::M_COUNT_MISMATCH, c.at, 1, count, u64::from(c.index));
            c.finish();
            return Ok(None);
        }
        let from = Cursor::before(tensor.at, tensor.index);
        let Some(annotation) = self.annotation(r, metadata, c.at, from)? else {
            c.finish();
            return Ok(None);
        };
        let meta = Meta {
            kind: Kind::Attribute,
            index: c.index,
            at: c.at,
            key: annotation.kind,
            tag: u32::from(annotation.compression) | if annotation.is_text() { TEXT } else { 0 },
            status: match annotation {
                Annotation { sound: false, .. } => Status::Broken,
                Annotation { dead: true, .. } => Status::Unsupported,
                _ => Status::Sound,
            },
            stored: annotation.block,
        };
        c.advance(annotation.end);
        Ok(Some(meta))
    }

    /// Whether an entry at `at` would begin in the column table of contents.
    pub(super) fn runs_out(&self, metadata: u64, at: u64) -> bool {
        self.is_before_toc(metadata) && !self.is_before_toc(at)
    }

    /// Takes and judges an annotation; `None` if its end cannot be told.
    pub(super) fn annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: u64,
        at: u64,
        from: Cursor,
    ) -> Result<Option<Annotation>, Halt> {
        let mut taken = Ok(None);
        if cfg!(feature = "windows") && !r.is_muted() {
            // The first time in silence: all bytes of it, or none.
            r.mute();
            taken = self.judge_annotation(r, metadata, at).map(Some);
            r.unmute();
        }
        if !taken.is_err_and(Halt::is_absent) {
            taken = self.judge_annotation(r, metadata, at).map(Some);
        }
        if !taken.is_err_and(Halt::is_absent) {
            r.charge(r.at().saturating_sub(at));
        }
        match taken {
            Err(halt) if halt.is_absent() => {
                self.widen(r, from);
                Err(halt)
            }
            Err(halt) => {
                r.refuse(halt);
                Ok(None)
            }
            sound => sound,
        }
    }

    pub(super) fn judge_annotation(
        &self,
        r: &mut Reader<'_, '_>,
        metadata: u64,
        at: u64,
    ) -> Result<Annotation, Halt> {
        self.entry(r, metadata, at);
        let kind = string(r, rules::M_KIND)?;
        let definition = definition::definition(r)?;
        let compression_at = r.at();
        let compression = r.u8()?;
        let offset_at = r.at();
        let offset = r.u64()?;
        let size_at = r.at();
        let size = r.parse(leb64)?;
        if !size.whole {
            r.flag(rules::M_SIZE, size_at, size.len, self.tail, size.value);
            return Err(Halt::refused(rules::M_SIZE));
        }

        let span = kind.span();
        let kind_sound = kind.sound && kind.is_utf8();
        r.check(kind_sound, rules::M_KIND, span, 0, 0);
        r.check(!kind.bytes.is_empty(), rules::M_KIND_EMPTY, span, 1, 0);
        let inside = self.is_inside(offset, 0);
        r.check(inside, rules::M_OFFSET, Span::new(offset_at, 8), self.tail, offset);
        let room = self.tail.saturating_sub(offset);
        let fits = size.shortest && size.value > 0 && (!inside || size.value <= room);
        r.check(fits, rules::M_SIZE, Span::new(size_at, size.len), room, size.value);
        let dead = definition.sound && (!definition.codec.is_known() || compression > 2);
        r.check(!dead, rules::M_DEAD, Span::new(compression_at, 1), 2, u64::from(compression));
        r.check(compression != 2, rules::M_ZLIB, Span::new(compression_at, 1), 1, 2);
        let sound = kind_sound && definition.sound && inside && fits;
        if sound && !dead && compression == 0 {
            let measure = Measure::of(&definition.codec);
            measure.judge(r, 1, size.value, Span::new(size_at, size.len));
        }
        Ok(Annotation {
            kind: NameAt::plain(kind.at, widen(kind.bytes.len())),
            definition,
            compression,
            block: if sound { Span::new(offset, size.value) } else { Span::default() },
            end: r.at(),
            sound,
            dead,
        })
    }

    /// The next pair of slot index and name.
    fn slot_name(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let [end, count, ..] = c.inner;
        let at = c.at;
        r.about(Kind::Slot, tensor.index);
        r.about_part(c.index);
        r.region(at, end, rules::S_EOF);
        if u64::from(c.index) >= count {
            let left = r.left();
            r.about(Kind::Tensor, tensor.index);
            r.check(left == 0, rules::S_SIZE, Span::new(at, left), 0, left);
            c.finish();
            return Ok(None);
        }
        let taken = r.u32().and_then(|slot| Ok((slot, string(r, rules::S_EOF)?)));
        if !taken.is_err_and(Halt::is_absent) {
            r.charge(r.at().saturating_sub(at));
        }
        let (slot, name) = match taken {
            Ok(pair) => pair,
            Err(halt) if halt.is_absent() => {
                self.widen(r, Cursor::before(tensor.at, tensor.index));
                return Err(halt);
            }
            Err(halt) => {
                r.refuse(halt);
                c.finish();
                return Ok(None);
            }
        };
        let positive = i32::try_from(slot).is_ok();
        r.check(positive, rules::S_INDEX, Span::new(at, 4), 0, u64::from(slot));
        r.check(name.sound && name.is_utf8(), rules::S_NAME, name.span(), 0, 0);
        let meta = Meta {
            kind: Kind::Slot,
            index: c.index,
            at,
            key: NameAt::plain(name.at, widen(name.bytes.len())),
            tag: slot,
            status: Status::Sound,
            stored: Span::new(at, 4),
        };
        c.advance(r.at());
        Ok(Some(meta))
    }
}
