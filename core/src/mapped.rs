//! The audit of a file that is in memory as a whole, as flash is that is mapped.
//!
//! Nothing is ever absent, so no stage is taken up again but for lack of slots,
//! and only before it reported what the slots are for. That leaves three loops:
//! entries and their names, values, and the parts of the file. Names are sorted
//! by themselves rather than by a hash: whoever chooses them gains nothing.

use crate::cursor::Cursor;
use crate::file::File;
use crate::finding::{Finding, Kind, Stop};
use crate::name::NameAt;
use crate::read::{Halt, Reader};
use crate::rule::{Rule, general};
use crate::slot::{Slot, Word, heap_sort, word};
use crate::source::{Source, Span, widen};
use crate::stage::Stage;
use crate::tensor::Status;
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

/// An entry that may have a name.
struct Named {
    kind: Kind,
    index: u32,
    /// At offset 0 if the file gives it none.
    name: NameAt,
    broken: bool,
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
            if entry.name.at == 0 || entry.kind == Kind::Slot {
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
            Stage::Tensors => self.named_tensor(r, c),
            _ => self.named_meta(r, c),
        }
    }

    // Entries are large for a small stack: each kind has a frame of its own, and
    // is looked at where it was returned.
    #[inline(never)]
    fn named_tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Named>, Halt> {
        match &self.file.tensor(r, c) {
            Ok(Some(tensor)) => Ok(Some(Named {
                kind: Kind::Tensor,
                index: tensor.index,
                name: tensor.name,
                broken: tensor.status == Status::Broken,
            })),
            Ok(None) => Ok(None),
            Err(halt) => Err(*halt),
        }
    }

    #[inline(never)]
    fn named_meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Named>, Halt> {
        #[cfg(feature = "idv")]
        let entry = match self.stage {
            Stage::Attributes => &self.file.attribute(r, &self.tensor, c),
            _ => &self.file.meta(r, c),
        };
        #[cfg(not(feature = "idv"))]
        let entry = &self.file.meta(r, c);
        match entry {
            Ok(Some(meta)) => Ok(Some(Named {
                kind: meta.kind,
                index: meta.index,
                name: meta.key,
                broken: meta.status == Status::Broken,
            })),
            Ok(None) => Ok(None),
            Err(halt) => Err(*halt),
        }
    }

    /// Sorts names and reports those that are equal to the one before.
    #[inline(never)]
    fn twins(&self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) {
        let source = r.source();
        heap_sort(slots, &|a, b| by_name(source, a, b).then_with(|| a.order(b)));
        let mut before: Option<&Slot> = None;
        for slot in &*slots {
            if let Some(first) = before.filter(|first| by_name(source, first, slot).is_eq()) {
                self.report_twin(r, first, slot);
            }
            before = Some(slot);
        }
    }

    fn report_twin(&self, r: &mut Reader<'_, '_>, first: &Slot, second: &Slot) {
        let policy = self.file.policy();
        let rule = match second.kind() {
            Kind::Tensor => policy.duplicate_tensor,
            Kind::SizeVar => policy.duplicate_size,
            Kind::Attribute => policy.duplicate_attribute,
            _ => policy.duplicate_meta,
        };
        let Some(rule) = rule else { return };
        let (index, name) = (second.unpack().0, second.name());
        r.about(second.kind(), index);
        #[cfg(feature = "idv")]
        if self.stage == Stage::Attributes {
            r.about(Kind::Attribute, self.tensor.index);
            r.about_part(index);
        }
        let (len, earlier) = (u64::from(name.len), u64::from(first.unpack().0));
        r.report(rule, name.at, len, earlier, u64::from(index));
    }

    /// The next part that has bytes: its offset, its length, and whose it is.
    /// Once a value is not what its entry says, only parts that the index itself
    /// measures are compared.
    #[inline(never)]
    fn part(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Slot>, Halt> {
        while let Some(region) = self.file.region(r, c)? {
            let unsure = self.unmeasured && region.part.is_value();
            if !region.span.is_empty() && !unsure {
                let who = Slot::pack(region.entry, region.kind.code());
                return Ok(Some(Slot::part(region.span, who)));
            }
        }
        Ok(None)
    }

    /// Reports overlaps, gaps and padding that is not zero. Slots are needed only
    /// if the parts are not in order.
    #[inline(never)]
    fn coverage(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        r.mute();
        let (mut end, mut filled, mut ordered) = (0, 0_usize, true);
        let mut cursor = Cursor::START;
        while let Some(part) = self.part(r, &mut cursor)? {
            ordered &= part.key >= end;
            end = end_of(&part).max(end);
            if let Some(slot) = slots.get_mut(filled) {
                *slot = part;
            }
            filled = filled.wrapping_add(1);
        }
        let mut sorted = [].iter();
        if !ordered {
            let slots = room(r, slots, filled)?;
            heap_sort(slots, &Slot::order);
            sorted = slots.iter();
        }
        cursor = Cursor::START;
        let (mut covered, mut widest) = (0, Slot::EMPTY);
        let policy = self.file.policy();
        loop {
            let part = match ordered {
                true => self.part(r, &mut cursor)?,
                false => sorted.next().copied(),
            };
            let Some(part) = part else { break };
            self.gap(r, covered, part.key, policy.gap);
            if part.key < covered {
                let same = (part.key, part.at) == (widest.key, widest.at);
                if let Some(rule) = if same { policy.alias } else { policy.overlap } {
                    let (entry, kind) = part.unpack();
                    r.about(Kind::of(kind), entry);
                    let len = covered.wrapping_sub(part.key).min(part.at);
                    r.report(rule, widen(part.key), widen(len), widen(covered), widen(part.key));
                }
            }
            if end_of(&part) > covered {
                covered = end_of(&part);
                widest = part;
            }
        }
        let len = r.source().len();
        let end = self.file.recorded_len().map_or(len, |recorded| recorded.min(len));
        self.gap(r, covered, word(end), policy.trailing);
        Ok(())
    }

    /// Judges what lies between `covered` and `at`.
    #[inline(never)]
    fn gap(&self, r: &mut Reader<'_, '_>, covered: Word, at: Word, rule: Option<Rule>) {
        if at <= covered || self.incomplete || self.unmeasured {
            return;
        }
        let policy = self.file.policy();
        let gap = Span::between(widen(covered), widen(at));
        r.about(Kind::File, 0);
        if gap.len >= self.file.alignment() {
            if let Some(rule) = rule {
                r.report(rule, gap.at, gap.len, 0, gap.len);
            }
        } else if let Some(rule) = policy.padding {
            let bytes = r.source().get(gap).unwrap_or_default();
            if let Some(first) = bytes.iter().position(|byte| *byte != 0) {
                let (first, byte) = (widen(first), bytes.get(first).copied().unwrap_or(0));
                let at = gap.at.wrapping_add(first);
                r.report(rule, at, gap.len.wrapping_sub(first), 0, byte.into());
            }
        }
    }
}

/// The order of entries: by table, then by name.
#[inline(never)]
fn by_name(source: &Source<'_>, a: &Slot, b: &Slot) -> Ordering {
    let read = |slot: &Slot| slot.name().read(source).unwrap_or_default();
    a.table().cmp(&b.table()).then_with(|| read(a).order(&read(b)))
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

/// Parts are cut where the file ends.
fn end_of(part: &Slot) -> Word {
    part.key.saturating_add(part.at)
}

#[cfg(test)]
mod tests;
