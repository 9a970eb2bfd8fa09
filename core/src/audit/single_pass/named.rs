//! The audit of files whose entries have names.
//!
//! There are two loops: one over values, and one over everything that is sorted and compared with
//! its neighbour: the entries of each table and the parts of the file. Names are sorted by their
//! bytes, not by a hash, so an attacker gains nothing by choosing them.

use crate::audit::{Stage, overlaps::Cover};
use crate::file::{Cursor, File, Slot, slot::shell_sort};
use crate::format::Fault;
use crate::input::Source;
use crate::model::{Status, Tensor};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, general};
use core::cmp::Ordering;

/// Validates the structure of a file that is wholly in memory, such as mapped flash; plain
/// numbers.
///
/// It finds the same faults as the audit of files in windows, with less code.
#[derive(Clone, Copy, Debug)]
pub struct MappedAudit {
    file: File,
    stage: Stage,
    /// The entries of this stage were validated, but slots for their names were missing.
    validated: bool,
    /// An entry is broken, so uncovered bytes may belong to it.
    incomplete: bool,
    /// A value is not what its entry declares, so its extent is unknown.
    unmeasured: bool,
    /// Number of tensors that this stage has reached.
    count: u32,
    /// The tensor whose metadata entries are being validated: its entry's offset and position.
    owner: (u64, u32),
}

impl MappedAudit {
    /// An audit of the structure; it checks nothing else.
    #[inline(always)]
    pub fn new(file: File) -> Self {
        MappedAudit {
            file,
            stage: Stage::Metadata,
            validated: false,
            incomplete: false,
            unmeasured: false,
            count: 0,
            owner: (0, 0),
        }
    }

    /// Has no effect: this audit never checks payloads.
    #[must_use]
    #[inline(always)]
    pub fn structure_only(self) -> Self {
        self
    }

    /// Has no effect: names are not hashed here.
    #[must_use]
    #[inline(always)]
    pub fn seeded(self, _seed: u64) -> Self {
        self
    }

    /// The current stage, or the one for which slots were missing.
    pub fn stage(&self) -> Stage {
        match self.stage {
            Stage::Metadata if self.validated => Stage::MetadataNames,
            Stage::Tensors if self.validated => Stage::TensorNames,
            stage => stage,
        }
    }

    /// Always 0: each stage runs as a whole.
    pub fn position(&self) -> u32 {
        0
    }

    /// Continues until the audit is complete or slots are missing.
    ///
    /// Findings go to `sink` in no particular order, each once however often `step` is
    /// called.
    ///
    /// # Errors
    /// [`Stop::NeedSlots`]: call again with more slots, or give up this stage with
    /// [`skip`](Self::skip).
    pub fn step(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        let mut r = Reader::whole(source, sink);
        while self.stage != Stage::Done {
            let result = match self.stage {
                Stage::Values => self.values(&mut r),
                Stage::Attributes if File::COMPARES_ATTRIBUTES => self.attributes(&mut r, slots),
                _ => self.pass(&mut r, slots),
            };
            if File::COVERS && r.take_fatal() {
                match self.stage {
                    Stage::Values => self.unmeasured = true,
                    _ => self.incomplete = true,
                }
            }
            if let Err(halt) = result {
                return Err(r.stop(halt));
            }
            self.next_stage();
        }
        Ok(())
    }

    /// Gives up the current stage, if slots are missing, and reports it as unchecked.
    pub fn skip(&mut self, sink: &mut dyn FnMut(Finding)) {
        let rule = match self.stage {
            Stage::Coverage => general::COVERAGE_UNCHECKED,
            Stage::Done => return,
            _ => general::NAMES_UNCHECKED,
        };
        sink(Finding::on_file(rule));
        self.next_stage();
    }

    fn next_stage(&mut self) {
        self.validated = false;
        self.stage = match self.stage {
            Stage::Metadata => Stage::Tensors,
            Stage::Tensors => Stage::Values,
            Stage::Values if self.file.rule(Fault::Duplicate(EntryKind::Attribute)).is_some() => {
                Stage::Attributes
            }
            Stage::Values | Stage::Attributes if self.file.rule(Fault::Overlap).is_some() => {
                Stage::Coverage
            }
            _ => Stage::Done,
        };
    }

    fn values(&self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        r.unmute();
        let mut cursor = Cursor::START;
        while !cursor.is_done() {
            self.file.audit(r, &mut cursor)?;
        }
        Ok(())
    }

    /// Validates the metadata entries of each tensor.
    #[inline(never)]
    fn attributes(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        loop {
            r.mute();
            let (at, index) = self.owner;
            let mut next = self.file.cursor_before(at, index);
            self.tensor(r, &mut next, &mut Slot::default())?;
            if next.is_done() {
                return Ok(());
            }
            self.pass(r, slots)?;
            self.validated = false;
            self.owner = (next.at(), next.index());
        }
    }

    /// Validates the entries of a table and checks whether two have the same name, or iterates
    /// over the parts of the file and reports overlaps, gaps and non-zero padding. Slots are
    /// needed only if names or parts are unordered.
    fn pass(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        let parts = File::COVERS && self.stage == Stage::Coverage;
        match self.validated || parts {
            true => r.mute(),
            false => r.unmute(),
        }
        let (mut cursor, mut cover) = (Cursor::START, Cover::default());
        let (mut filled, mut ordered) = (0_usize, true);
        let (mut before, mut slot) = (Slot::EMPTY, Slot::EMPTY);
        self.count = 0;
        loop {
            self.next(r, &mut cursor, &mut slot)?;
            if slot.is_empty() {
                break;
            }
            if parts {
                ordered &= slot.key >= cover.end;
                cover.end = cover.end.max(slot.end());
            } else {
                let compared = File::COMPARES_NAMES;
                ordered = ordered && (!compared || by_name(r.source(), &before, &slot).is_lt());
                before = slot;
            }
            if File::COVERS || File::COMPARES_NAMES {
                if let Some(place) = slots.get_mut(filled) {
                    *place = slot;
                }
                filled = filled.wrapping_add(1);
            }
        }
        if File::COVERS && self.stage == Stage::Tensors {
            self.incomplete |= u64::from(self.count) < self.file.tensor_count();
        }
        let mut sorted = [].iter();
        if !ordered {
            self.validated = true;
            let needed = u32::try_from(filled).unwrap_or(u32::MAX);
            let slots = slots.get_mut(..filled).ok_or_else(|| r.short_of(needed))?;
            let source = r.source();
            shell_sort(slots, &|a, b| {
                let order = if parts { Ordering::Equal } else { by_name(source, a, b) };
                if order.is_eq() { a.precedes(b) } else { order.is_lt() }
            });
            sorted = slots.iter();
        } else if !parts {
            return Ok(());
        }
        let certain = !self.incomplete && !self.unmeasured;
        (cover, cursor) = (Cover::default(), Cursor::START);
        before = Slot::EMPTY;
        loop {
            if ordered {
                self.next(r, &mut cursor, &mut slot)?;
            } else {
                slot = sorted.next().copied().unwrap_or_default();
            }
            if slot.is_empty() {
                break;
            }
            if parts {
                if certain && slot.at != 0 {
                    cover.gap(&self.file, r, slot.key, Fault::Gap)?;
                }
                cover.place(&self.file, r, &slot);
            } else {
                if by_name(r.source(), &before, &slot).is_eq() {
                    let duplicate = (slot.whole_kind(), slot.unpack().0, slot.whole_name());
                    self.file.report_duplicate(r, duplicate, before.unpack().0, self.owner());
                }
                before = slot;
            }
        }
        if parts && certain {
            cover.gap(&self.file, r, self.file.end(r.source()), Fault::Trailing)?;
        }
        Ok(())
    }

    /// The next entry that has a name, validated, or the next part that has bytes; an empty
    /// slot at the end.
    fn next(
        &mut self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        slot: &mut Slot,
    ) -> Result<(), Halt> {
        *slot = Slot::EMPTY;
        while slot.is_empty() && !c.is_done() {
            match self.stage {
                Stage::Coverage if File::COVERS => self.part(r, c, slot),
                Stage::Tensors => self.tensor(r, c, slot),
                _ => self.meta(r, c, slot),
            }?;
        }
        Ok(())
    }

    // Entries are large for a small stack: each kind has its own frame, and is examined in place.

    /// The next tensor, if any; the slot stays empty if the tensor has no name.
    #[inline(never)]
    fn tensor(
        &mut self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        slot: &mut Slot,
    ) -> Result<(), Halt> {
        match &self.file.tensor(r, c) {
            Ok(Some(tensor)) => {
                if File::COVERS {
                    self.count = self.count.wrapping_add(1);
                    self.incomplete |= tensor.status == Status::Broken;
                }
                // If no names are compared, all slots stay empty.
                if File::COMPARES_NAMES {
                    slot.set_name(c.phase(), EntryKind::Tensor, tensor.index, &tensor.name);
                }
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(halt) => Err(*halt),
        }
    }

    /// The next metadata entry, likewise.
    #[inline(never)]
    fn meta(
        &mut self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        slot: &mut Slot,
    ) -> Result<(), Halt> {
        let next = if File::COMPARES_ATTRIBUTES && self.stage == Stage::Attributes {
            // Only the tensor's position is known.
            let (at, index) = self.owner;
            self.file.attribute(r, &Tensor { offset: at, index, ..Tensor::default() }, c)
        } else {
            self.file.meta(r, c)
        };
        match &next {
            Ok(Some(meta)) => {
                if File::COVERS {
                    self.incomplete |= meta.status == Status::Broken;
                }
                // Slots of a tensor may share a name.
                if File::COMPARES_NAMES && meta.kind != EntryKind::Slot {
                    slot.set_name(c.phase(), meta.kind, meta.index, &meta.key);
                }
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(halt) => Err(*halt),
        }
    }

    /// The next part of the file, if any. If values are unmeasured, only parts whose length the
    /// index itself determines count.
    #[inline(never)]
    fn part(
        &mut self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        slot: &mut Slot,
    ) -> Result<(), Halt> {
        if let Some(region) = self.file.region(r, c)?
            && !(self.unmeasured && region.part.is_value())
            && self.file.places(&region)
        {
            *slot = Slot::part(region.span, Slot::pack(region.entry, region.kind.code()));
        }
        Ok(())
    }

    /// The tensor whose metadata entries are being validated.
    fn owner(&self) -> Option<u32> {
        let attributes = File::COMPARES_ATTRIBUTES && self.stage == Stage::Attributes;
        attributes.then_some(self.owner.1)
    }
}

/// The order of entries: by table, then by name.
#[inline(never)]
fn by_name(source: &Source<'_>, a: &Slot, b: &Slot) -> Ordering {
    a.table().cmp(&b.table()).then_with(|| a.read(source).order(&b.read(source)))
}
