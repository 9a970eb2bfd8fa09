//! The audit of a file in windows: stages that can stop and resume at any entry.
//!
//! Entries are validated one by one, with their names; then format-specific rules; then
//! overlaps and uncovered bytes of the whole file; then payloads. Names and regions in
//! ascending order need no slots. Some formats prove tensors and parts in one pass instead.

mod attributes;
mod compare_names;
mod coverage;
mod duplicate_names;
mod entries;
mod fast;
#[cfg_attr(not(feature = "payloads"), path = "no_payload.rs")]
mod payload;
mod sorting;
#[cfg_attr(not(feature = "sweep"), path = "no_start.rs")]
mod start;
mod unique_names;

use crate::audit::Stage;
use crate::base::{Word, features::SWEEP};
use crate::file::{Cursor, File, Slot, slot_marks::SlotMarks};
use crate::format::Fault;
use crate::input::Source;
use crate::model::{Chunks, NameAt, Tensor};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, general::SHARED_UNCHECKED};
use compare_names::NamePair;
#[cfg(feature = "payloads")]
pub use payload::{Scratch, ScratchIn};

/// Validates a file step by step; plain numbers, to be kept between calls. Requires the feature
/// `windows`; for mapped flash, use [`MappedAudit`](crate::MappedAudit).
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    file: File,
    seed: u64,
    stage: Stage,
    cursor: Cursor,
    /// Whether names, or parts, have been in ascending order so far.
    ordered: bool,
    /// The previous name; at offset 0 if there is none.
    previous: NameAt,
    /// An entry is broken, so uncovered bytes may belong to it.
    incomplete: bool,
    /// A value is not what its entry declares, so its extent is unknown.
    unmeasured: bool,
    /// The caller has no slots for marks.
    unmarked: bool,
    /// Listing the tensors also proved order and coverage.
    covered: bool,
    /// Where the last part of the file ends, if one pass has proved the tensors and the parts; 0
    /// otherwise.
    proved_end: Word,
    /// The proof failed, or the caller has no slots for it.
    unproved: bool,
    /// Number of entries, or parts, seen.
    counted: u32,
    swept: fast::Swept,
    sorting: sorting::Sorting,
    /// The comparison of two names in progress.
    pair: Option<NamePair>,
    covering: coverage::Covering,
    attributes: attributes::Attributes,
    /// The current tensor, kept because its entry need not be resident together with what it
    /// refers to.
    hand: Option<Tensor>,
    payload: payload::Payloads,
}

impl Audit {
    /// An audit of everything, payloads included.
    #[inline(always)]
    pub fn new(file: File) -> Self {
        Audit {
            file,
            seed: 0,
            stage: Stage::Metadata,
            cursor: Cursor::default(),
            ordered: true,
            previous: NameAt::default(),
            incomplete: false,
            unmeasured: false,
            unmarked: false,
            covered: false,
            proved_end: 0,
            unproved: false,
            counted: 0,
            swept: fast::Swept::default(),
            sorting: sorting::Sorting::default(),
            pair: None,
            covering: coverage::Covering::default(),
            attributes: attributes::Attributes::default(),
            hand: None,
            payload: payload::Payloads::new(),
        }
    }

    /// Ends the audit before payloads.
    #[must_use]
    #[inline(always)]
    pub fn structure_only(mut self) -> Self {
        self.payload.leave_out();
        self
    }

    /// Hashes names with this seed. Hosts with a source of randomness pass a random seed,
    /// so that an attacker cannot choose colliding names.
    #[must_use]
    #[inline(always)]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The current stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Number of entries passed in the current stage.
    pub fn position(&self) -> u32 {
        self.cursor.index()
    }

    /// Continues until the audit is complete or something is missing.
    ///
    /// Findings go to `sink` in no particular order, each once however often `step` is called.
    /// Data that is encoded, sparse or has a checksum is reported as unchecked; checking it
    /// requires `step_with`.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    /// [`Stop::NeedSlots`]: call again with more slots, or give up this stage with
    /// [`skip`](Self::skip).
    pub fn step(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        self.step_stages(source, slots, sink, &mut payload::NoStreams)
    }

    /// Runs the stages; the payload stage decodes with `streams`.
    #[inline(never)]
    fn step_stages(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
        streams: &mut dyn payload::Streams,
    ) -> Result<(), Stop> {
        let mut reader = Reader::new(source, sink);
        reader.set_shared(self.payload.shared());
        self.resume(source, slots.len(), streams);
        while self.stage != Stage::Done {
            let result = self.step_stage(&mut reader, slots, streams);
            self.payload.set_shared(reader.shared());
            if reader.take_fatal() {
                self.incomplete |=
                    matches!(self.stage, Stage::Metadata | Stage::Tensors | Stage::Attributes);
                self.unmeasured |= self.stage == Stage::Values;
            }
            match result {
                Ok(()) => {
                    if reader.is_spent() {
                        self.give_up(&mut reader);
                    }
                    reader.set_shared(0);
                    self.next_stage();
                }
                Err(halt) => {
                    let stop = reader.stop(halt);
                    if self.is_stuck(&stop, source, slots.len(), streams) {
                        self.stand_still(&mut reader);
                        continue;
                    }
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    /// Ends a stage in which entries have referred to too many bytes.
    #[cold]
    fn give_up(&mut self, r: &mut Reader<'_, '_>) {
        r.about(EntryKind::File, 0);
        let (most, found) = (r.allowance(), r.shared());
        r.report(SHARED_UNCHECKED, 0, 0, most, found);
        if self.stage == Stage::Order {
            self.stage = Stage::Coverage;
        }
    }

    /// Continues the current stage.
    #[inline(never)]
    fn step_stage(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        streams: &mut dyn payload::Streams,
    ) -> Result<(), Halt> {
        r.unmute();
        match self.stage {
            Stage::Metadata | Stage::Tensors => match self.prove(r, slots)? {
                true => Ok(()),
                false => self.entries(r),
            },
            Stage::Values => self.values(r, slots),
            Stage::Attributes if File::COMPARES_ATTRIBUTES => self.attributes(r, slots),
            Stage::Attributes => Ok(()),
            Stage::Payloads => self.last(r, slots, streams),
            Stage::Done => Ok(()),
            _ => {
                // The entries have already been validated.
                r.mute();
                match self.stage {
                    Stage::Order => self.order(r, slots),
                    Stage::Coverage => self.coverage(r, slots),
                    _ => self.names(r, slots),
                }
            }
        }
    }

    /// Gives up the current stage, if slots are missing, and reports it as unchecked. In the
    /// payload stage, gives up only the current tensor. [`Stage::Tensors`] and [`Stage::Values`] go on
    /// without slots, and take longer.
    pub fn skip(&mut self, sink: &mut dyn FnMut(Finding)) {
        use crate::rule::general::{COVERAGE_UNCHECKED, NAMES_UNCHECKED};
        let rule = match self.stage {
            Stage::MetadataNames | Stage::TensorNames | Stage::Attributes => NAMES_UNCHECKED,
            Stage::Order | Stage::Coverage => COVERAGE_UNCHECKED,
            Stage::Payloads => {
                let source = Source::whole(&[]);
                self.skip_payload(&mut Reader::new(&source, sink));
                return;
            }
            Stage::Values => {
                self.unmarked = true;
                return;
            }
            Stage::Tensors => {
                self.unproved = true;
                return;
            }
            _ => return,
        };
        let source = Source::whole(&[]);
        Reader::new(&source, sink).flag(rule, 0, 0, u64::from(self.counted), 0);
        self.next_stage();
    }

    /// Moves to the next stage that applies.
    #[inline(never)]
    fn next_stage(&mut self) {
        let has_rule = |fault| self.file.rule(fault).is_some();
        loop {
            self.stage = self.stage.next();
            let needed = match self.stage {
                Stage::TensorNames | Stage::Order if self.proved_end != 0 => false,
                Stage::MetadataNames => !self.ordered,
                Stage::TensorNames => {
                    !self.ordered && has_rule(Fault::Duplicate(EntryKind::Tensor))
                }
                Stage::Attributes => has_rule(Fault::Duplicate(EntryKind::Attribute)),
                Stage::Order | Stage::Coverage => !self.covered && has_rule(Fault::Overlap),
                Stage::Payloads => self.payload.is_wanted(),
                _ => true,
            };
            // Names and coverage use the count of the previous stage.
            if !matches!(self.stage, Stage::MetadataNames | Stage::TensorNames | Stage::Coverage) {
                self.counted = 0;
                self.ordered = true;
                self.previous = NameAt::default();
            }
            if needed {
                break;
            }
        }
        // Coverage continues with the parts that were stored when their order was checked.
        let listed = self.covering.listed && self.stage == Stage::Coverage;
        if !listed {
            self.sorting = sorting::Sorting::default();
        }
        self.covering = coverage::Covering::default();
        self.covering.listed = listed;
        self.cursor = match self.stage {
            Stage::Values => self.swept.start.cursor(),
            _ => Cursor::START,
        };
        self.payload.set_shared(0);
    }

    /// Reads the next tensor into `hand`, unless it holds one; false after the last.
    #[inline(never)]
    fn take_in_hand(&mut self, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        if self.hand.is_none() {
            r.mute();
            let tensor = self.file.tensor(r, &mut self.cursor);
            r.unmute();
            self.hand = tensor?;
            if let Some(Tensor { chunks: Chunks::One(span), index, .. }) = self.hand
                && self.payload.wants(index)
            {
                r.charge(span.len);
            }
        }
        Ok(self.hand.is_some())
    }

    /// The slots for marks, if the host has the memory: other readers pass entries more than once.
    fn marks<'s>(
        &self,
        r: &mut Reader<'_, '_>,
        slots: &'s mut [Slot],
    ) -> Result<SlotMarks<'s>, Halt> {
        let count = if SWEEP && !self.unmarked { self.file.marks() } else { 0 };
        let needed = SlotMarks::slots(count);
        let place = usize::try_from(needed).unwrap_or(usize::MAX);
        slots.get_mut(..place).map(SlotMarks).ok_or_else(|| r.short_of(needed))
    }

    // Each stage has its own frame, instead of one frame for all: the stack is small.
    #[inline(never)]
    fn values(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        let mut marks = self.marks(r, slots)?;
        while !self.cursor.is_done() && !r.is_spent() {
            let mut next = self.cursor;
            let shared = r.shared();
            if let Err(halt) = self.file.audit_marking(r, &mut next, &mut marks) {
                r.set_shared(shared);
                return Err(halt);
            }
            self.cursor = next;
        }
        Ok(())
    }
}

impl Stage {
    fn next(self) -> Stage {
        match self {
            Stage::Metadata => Stage::MetadataNames,
            Stage::MetadataNames => Stage::Tensors,
            Stage::Tensors => Stage::TensorNames,
            Stage::TensorNames => Stage::Values,
            Stage::Values => Stage::Attributes,
            Stage::Attributes => Stage::Order,
            Stage::Order => Stage::Coverage,
            Stage::Coverage => Stage::Payloads,
            Stage::Payloads | Stage::Done => Stage::Done,
        }
    }
}
