//! The audit of a file that is in memory as a whole, as flash is that is mapped.
//!
//! Nothing is ever absent, so no stage is taken up again but for lack of slots,
//! and only before it reported what the slots are for. That leaves three loops:
//! entries and their names, values, and the parts of the file. Names are sorted
//! by themselves rather than by a hash: whoever chooses them gains nothing.

use crate::cursor::Cursor;
use crate::file::File;
use crate::finding::{Finding, Kind, Stop};
use crate::judge::{Cover, Named};
use crate::read::{Halt, Reader};
use crate::rule::general;
use crate::slot::{Slot, shell_sort};
use crate::source::Source;
use crate::stage::Stage;
#[cfg(feature = "idv")]
use crate::tensor::Tensor;
use core::cmp::Ordering;

/// Proves a file; plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    file: File,
    stage: Stage,
    /// The entries of this stage were judged; slots for their names were lacking.
    judged: bool,
    /// Some entry is broken, so bytes that belong to nothing may be its.
    incomplete: bool,
    /// Some value is not what its entry says, so its extent is not known.
    unmeasured: bool,
    /// The tensor whose metadata entries are judged, and what follows it.
    #[cfg(feature = "idv")]
    cursor: Cursor,
    #[cfg(feature = "idv")]
    tensor: Tensor,
}

impl Audit {
    /// An audit of the structure, which is all that this build checks.
    #[inline(always)]
    pub fn new(file: File) -> Self {
        Audit {
            file,
            stage: Stage::Metadata,
            judged: false,
            incomplete: false,
            unmeasured: false,
            #[cfg(feature = "idv")]
            cursor: Cursor::START,
            #[cfg(feature = "idv")]
            tensor: Tensor::default(),
        }
    }

    /// Stops before payloads, where this build stops anyway.
    #[must_use]
    #[inline(always)]
    pub fn structure_only(self) -> Self {
        self
    }

    /// Names are not hashed here, so the seed is not used.
    #[must_use]
    #[inline(always)]
    pub fn seeded(self, _seed: u64) -> Self {
        self
    }

    /// What is being done, or what slots were lacking for.
    pub fn stage(&self) -> Stage {
        match self.stage {
            Stage::Metadata if self.judged => Stage::MetadataNames,
            Stage::Tensors if self.judged => Stage::TensorNames,
            stage => stage,
        }
    }

    /// How many entries of the current stage were passed: none, as a stage is
    /// passed as a whole.
    pub fn position(&self) -> u32 {
        0
    }

    /// Goes on until the audit is complete or slots are lacking.
    ///
    /// Findings go to `sink`, each once however often `step` is called, in no
    /// particular order.
    ///
    /// # Errors
    /// [`Stop::Room`]: call again with more slots, or give up this stage with
    /// [`skip`](Self::skip).
    #[inline(never)]
    pub fn step(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        let mut r = Reader::new(source, sink);
        while self.stage != Stage::Done {
            let result = match self.stage {
                Stage::Metadata | Stage::Tensors => self.entries(&mut r, slots),
                Stage::Values => self.values(&mut r),
                #[cfg(feature = "idv")]
                Stage::Attributes => self.attributes(&mut r, slots),
                _ => self.coverage(&mut r, slots),
            };
            if r.take_fatal() {
                match self.stage {
                    Stage::Values => self.unmeasured = true,
                    _ => self.incomplete = true,
                }
            }
            if let Err(halt) = result {
                return Err(r.stop(halt));
            }
            self.advance();
        }
        Ok(())
    }

    /// Gives up the current stage, for lack of slots; it is reported as not
    /// checked.
    pub fn skip(&mut self, sink: &mut dyn FnMut(Finding)) {
        let rule = match self.stage {
            Stage::Coverage => general::COVERAGE_UNCHECKED,
            Stage::Done => return,
            _ => general::NAMES_UNCHECKED,
        };
        let source = Source::whole(&[]);
        Reader::new(&source, sink).flag(rule, 0, 0, 0, 0);
        self.advance();
    }

    fn advance(&mut self) {
        self.judged = false;
        self.stage = match self.stage {
            Stage::Metadata => Stage::Tensors,
            Stage::Tensors => Stage::Values,
            #[cfg(feature = "idv")]
            Stage::Values if self.file.policy().duplicate_attribute.is_some() => Stage::Attributes,
            Stage::Values | Stage::Attributes if self.file.policy().covers() => Stage::Coverage,
            _ => Stage::Done,
        };
    }

    fn values(&self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        r.unmute();
        let mut cursor = Cursor::START;
        while !cursor.done {
            self.file.audit(r, &mut cursor)?;
        }
        Ok(())
    }

    /// Judges the metadata entries of each tensor.
    #[cfg(feature = "idv")]
    #[inline(never)]
    fn attributes(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        loop {
            r.mute();
            let mut next = self.cursor;
            match &self.file.tensor(r, &mut next)? {
                Some(tensor) => self.tensor = *tensor,
                None => return Ok(()),
            }
            self.entries(r, slots)?;
            self.judged = false;
            self.cursor = next;
        }
    }

    /// Judges the entries of a table, and looks whether two have one name. Slots
    /// are needed only if names do not ascend.
    #[inline(never)]
    fn entries(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        match self.judged {
            true => r.mute(),
            false => r.unmute(),
        }
        let mut cursor = Cursor::START;
        let (mut count, mut filled, mut ordered) = (0_u32, 0_usize, true);
        let mut before = Slot::EMPTY;
        while let Some(entry) = self.entry(r, &mut cursor)? {
            self.incomplete |= entry.broken;
            count = count.wrapping_add(1);
            if !entry.is_named() || entry.kind == Kind::Slot {
                continue;
            }
            let slot = Slot::named(cursor.phase, entry.kind, entry.index, &entry.name);
            ordered = ordered && by_name(r.source(), &before, &slot).is_lt();
            before = slot;
            if let Some(place) = slots.get_mut(filled) {
                *place = slot;
            }
            filled = filled.wrapping_add(1);
        }
        if self.stage == Stage::Tensors {
            self.incomplete |= u64::from(count) < self.file.tensor_count();
        }
        if ordered {
            return Ok(());
        }
        self.judged = true;
        let slots = room(r, slots, filled)?;
        self.twins(r, slots);
        Ok(())
    }

    /// The next entry, judged.
    fn entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Named>, Halt> {
        match self.stage {
            Stage::Tensors => self.file.named_tensor(r, c),
            #[cfg(feature = "idv")]
            Stage::Attributes => match &self.file.attribute(r, &self.tensor, c) {
                Ok(meta) => Ok(meta.as_ref().map(Named::of)),
                Err(halt) => Err(*halt),
            },
            _ => self.file.named_meta(r, c),
        }
    }

    /// Sorts names and reports those that are equal to the one before.
    #[inline(never)]
    fn twins(&self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) {
        let source = r.source();
        shell_sort(slots, &|a, b| match by_name(source, a, b) {
            Ordering::Equal => a.precedes(b),
            order => order.is_lt(),
        });
        let mut before: Option<&Slot> = None;
        for slot in &*slots {
            if let Some(first) = before.filter(|first| by_name(source, first, slot).is_eq()) {
                self.file.report_twin(r, first, slot, self.owner());
            }
            before = Some(slot);
        }
    }

    /// The tensor whose metadata entries are looked at.
    fn owner(&self) -> Option<u32> {
        #[cfg(feature = "idv")]
        return (self.stage == Stage::Attributes).then_some(self.tensor.index);
        #[cfg(not(feature = "idv"))]
        None
    }

    /// Reports overlaps, gaps and padding that is not zero. Slots are needed only
    /// if the parts are not in order.
    #[inline(never)]
    fn coverage(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        r.mute();
        let measured = !self.unmeasured;
        let (mut cover, mut filled, mut ordered) = (Cover::default(), 0_usize, true);
        let mut cursor = Cursor::START;
        while let Some(part) = self.file.next_part(r, &mut cursor, measured)? {
            ordered &= part.key >= cover.end;
            cover.end = cover.end.max(part.end());
            if let Some(slot) = slots.get_mut(filled) {
                *slot = part;
            }
            filled = filled.wrapping_add(1);
        }
        let mut sorted = [].iter();
        if !ordered {
            let slots = room(r, slots, filled)?;
            shell_sort(slots, &Slot::precedes);
            sorted = slots.iter();
        }
        let certain = !self.incomplete && measured;
        let policy = self.file.policy();
        (cover, cursor) = (Cover::default(), Cursor::START);
        loop {
            let part = match ordered {
                true => self.file.next_part(r, &mut cursor, measured)?,
                false => sorted.next().copied(),
            };
            let Some(part) = part else { break };
            if certain {
                cover.gap(&self.file, r, part.key, policy.gap)?;
            }
            cover.place(&self.file, r, &part);
        }
        if certain {
            cover.gap(&self.file, r, self.file.end(r.source()), policy.trailing)?;
        }
        Ok(())
    }
}

/// The order of entries: by table, then by name.
#[inline(never)]
fn by_name(source: &Source<'_>, a: &Slot, b: &Slot) -> Ordering {
    a.table().cmp(&b.table()).then_with(|| a.read(source).order(&b.read(source)))
}

/// The first `filled` slots, if there are as many.
fn room<'s>(
    r: &mut Reader<'_, '_>,
    slots: &'s mut [Slot],
    filled: usize,
) -> Result<&'s mut [Slot], Halt> {
    let needed = u32::try_from(filled).unwrap_or(u32::MAX);
    slots.get_mut(..filled).ok_or_else(|| r.short_of(needed))
}

#[cfg(test)]
mod tests;
