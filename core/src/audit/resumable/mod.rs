//! The audit: everything about a file that can be proved, in stages.
//!
//! Entries are validated one by one, with their names; then what the format alone
//! knows; then facts about the whole file (disjoint regions, bytes that belong
//! to nothing); then payloads. Names and regions that come in ascending
//! order prove themselves; only otherwise slots are needed.

mod attributes;
mod coverage;
#[cfg(feature = "sweep")]
mod distinct;
mod entries;
mod names;
#[cfg(feature = "payloads")]
mod payload;
#[cfg(not(feature = "payloads"))]
#[path = "no_payload.rs"]
mod payload;
mod sorting;
mod twins;
#[cfg(feature = "payloads")]
mod watch;

use crate::audit::Stage;
use crate::file::{Cursor, File, Slot};
use crate::input::Source;
use crate::model::NameAt;
use crate::model::{Chunks, Tensor};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, general::SHARED_UNCHECKED};
#[cfg(feature = "payloads")]
pub use payload::{Paused, Scratch};
use twins::Twins;

/// Proves a file, step by step; plain numbers, to be kept between calls.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    file: File,
    seed: u64,
    /// The last stage, if it is wanted.
    #[cfg(feature = "payloads")]
    payloads: Option<payload::Stage>,
    stage: Stage,
    cursor: Cursor,
    /// Whether names, or parts, came in ascending order so far.
    ordered: bool,
    /// The name before; at offset 0 if there was none.
    previous: NameAt,
    /// Some entry is broken, so bytes that belong to nothing may be its.
    incomplete: bool,
    /// Some value is not what its entry says, so its extent is not known.
    unmeasured: bool,
    /// Listing the tensors has proved order and coverage as well.
    covered: bool,
    /// Entries, or parts, that were seen.
    counted: u32,
    /// Tensors that one sweep after the other passed over.
    #[cfg(feature = "sweep")]
    swept: names::Swept,
    sorting: sorting::Sorting,
    /// The comparison of two names, once begun.
    twins: Option<Twins>,
    covering: coverage::Covering,
    attributes: attributes::Attributes,
    /// The tensor that is looked at, kept because its entry need not be resident
    /// together with what it refers to.
    hand: Option<Tensor>,
    #[cfg(feature = "payloads")]
    payload: payload::Progress,
    /// The only tensor whose data is looked at, if not all.
    #[cfg(feature = "payloads")]
    only: Option<u32>,
    /// How much decoding was done.
    #[cfg(feature = "payloads")]
    work: payload::Work,
    #[cfg(feature = "payloads")]
    watch: watch::Watch,
    /// How many bytes entries referred to in this stage.
    #[cfg(feature = "payloads")]
    shared: u64,
}

impl Audit {
    /// An audit of all that can be checked, payloads included.
    #[inline(always)]
    pub fn new(file: File) -> Self {
        Audit {
            file,
            seed: 0,
            #[cfg(feature = "payloads")]
            payloads: Some(Audit::payloads),
            stage: Stage::Metadata,
            cursor: Cursor::default(),
            ordered: true,
            previous: NameAt::default(),
            incomplete: false,
            unmeasured: false,
            covered: false,
            counted: 0,
            #[cfg(feature = "sweep")]
            swept: names::Swept::default(),
            sorting: sorting::Sorting::default(),
            twins: None,
            covering: coverage::Covering::default(),
            attributes: attributes::Attributes::default(),
            hand: None,
            #[cfg(feature = "payloads")]
            payload: payload::Progress::default(),
            #[cfg(feature = "payloads")]
            only: None,
            #[cfg(feature = "payloads")]
            work: payload::Work::default(),
            #[cfg(feature = "payloads")]
            watch: watch::Watch::default(),
            #[cfg(feature = "payloads")]
            shared: 0,
        }
    }

    /// Stops before payloads.
    #[must_use]
    #[inline(always)]
    #[cfg_attr(not(feature = "payloads"), allow(unused_mut, reason = "it stops there anyway"))]
    pub fn structure_only(mut self) -> Self {
        #[cfg(feature = "payloads")]
        (self.payloads = None);
        self
    }

    /// Hashes names with this seed. Hosts that have randomness give a random
    /// one, so that an attacker cannot choose colliding names.
    #[must_use]
    #[inline(always)]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Decodes no more than `work`: decoded bytes, and what takes as long as so many
    /// ([`limits`](crate::limits) has the numbers). What is left is reported as not
    /// checked. Without this, [`WORK`](crate::base::limits::WORK) and
    /// [`WORK_PER_BYTE`](crate::base::limits::WORK_PER_BYTE) of the file.
    #[cfg(feature = "payloads")]
    #[must_use]
    pub fn max_work(mut self, work: u64) -> Self {
        self.work.most = Some(work);
        self
    }

    /// What is being done.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// How many entries of the current stage were passed.
    pub fn position(&self) -> u32 {
        self.cursor.index()
    }

    /// Goes on until the audit is complete or something is missing.
    ///
    /// Findings go to `sink`, each once however often `step` is called, in no
    /// particular order. Data that is encoded, sparse or has a checksum is
    /// reported as not checked: that takes `step_with`.
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
        self.drive(source, slots, sink, &mut payload::NoStreams)
    }

    /// Goes through the stages; `streams` is what the last one decodes with.
    #[inline(never)]
    fn drive(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
        streams: &mut dyn payload::Streams,
    ) -> Result<(), Stop> {
        let mut reader = Reader::new(source, sink);
        #[cfg(feature = "payloads")]
        reader.set_shared(self.shared);
        #[cfg(feature = "payloads")]
        let given = watch::Given { source, slots: slots.len(), buffer: streams.buffer() };
        #[cfg(feature = "payloads")]
        self.watch.resume(&given);
        while self.stage != Stage::Done {
            let result = self.work(&mut reader, slots, streams);
            #[cfg(feature = "payloads")]
            (self.shared = reader.shared());
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
                    self.advance();
                }
                Err(halt) => {
                    let stop = reader.stop(halt);
                    #[cfg(feature = "payloads")]
                    {
                        let state = self.state(&stop, streams.state());
                        let mut watch = self.watch;
                        let stuck = watch.is_stuck(stop, &given, state);
                        self.watch = watch;
                        if stuck {
                            self.stand_still(&mut reader);
                            continue;
                        }
                    }
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    /// Passes over what no host can help with.
    #[cfg(feature = "payloads")]
    #[cold]
    fn stand_still(&mut self, r: &mut Reader<'_, '_>) {
        r.unmute();
        let at = self.hand.map_or(0, |tensor| tensor.offset);
        r.about(EntryKind::File, 0);
        r.flag(crate::rule::general::INTERNAL, at, 0, 0, 0);
        if self.stage == Stage::Payloads && self.hand.is_some() {
            self.pass();
        } else {
            self.shared = 0;
            r.set_shared(0);
            self.hand = None;
            self.advance();
        }
    }

    /// Ends a stage in which entries referred to more bytes than are looked at.
    #[cold]
    fn give_up(&mut self, r: &mut Reader<'_, '_>) {
        r.about(EntryKind::File, 0);
        let (most, found) = (r.allowance(), r.shared());
        r.report(SHARED_UNCHECKED, 0, 0, most, found);
        if self.stage == Stage::Order {
            self.stage = Stage::Coverage;
        }
    }

    /// The current stage, from where it stands.
    #[inline(never)]
    fn work(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        streams: &mut dyn payload::Streams,
    ) -> Result<(), Halt> {
        r.unmute();
        match self.stage {
            Stage::Metadata | Stage::Tensors => self.entries(r),
            Stage::Values => self.values(r),
            Stage::Attributes if File::COMPARES_ATTRIBUTES => self.attributes(r, slots),
            Stage::Attributes => Ok(()),
            Stage::Payloads => self.last(r, slots, streams),
            Stage::Done => Ok(()),
            _ => {
                // Entries were validated before.
                r.mute();
                match self.stage {
                    Stage::Order => self.order(r),
                    Stage::Coverage => self.coverage(r, slots),
                    _ => self.names(r, slots),
                }
            }
        }
    }

    /// Gives up the current stage, for lack of slots; it is reported as not
    /// checked. While payloads are checked, gives up the current tensor.
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
            _ => return,
        };
        let source = Source::whole(&[]);
        Reader::new(&source, sink).flag(rule, 0, 0, u64::from(self.counted), 0);
        self.advance();
    }

    /// Goes on to the next stage that has anything to do.
    #[inline(never)]
    fn advance(&mut self) {
        let policy = self.file.policy();
        loop {
            self.stage = self.stage.next();
            let needed = match self.stage {
                Stage::MetadataNames => !self.ordered,
                Stage::TensorNames => !self.ordered && policy.duplicate_tensor.is_some(),
                Stage::Attributes => policy.duplicate_attribute.is_some(),
                Stage::Order | Stage::Coverage => policy.covers() && !self.covered,
                #[cfg(feature = "payloads")]
                Stage::Payloads => self.payloads.is_some(),
                #[cfg(not(feature = "payloads"))]
                Stage::Payloads => false,
                _ => true,
            };
            // Names and coverage use what was counted by the stage before.
            if !matches!(self.stage, Stage::MetadataNames | Stage::TensorNames | Stage::Coverage) {
                self.counted = 0;
                self.ordered = true;
                self.previous = NameAt::default();
            }
            if needed {
                break;
            }
        }
        self.sorting = sorting::Sorting::default();
        self.covering = coverage::Covering::default();
        self.cursor = Cursor::default();
        #[cfg(feature = "payloads")]
        (self.shared = 0);
    }

    /// Takes the next tensor in hand, unless one is; false after the last.
    #[inline(never)]
    fn take_in_hand(&mut self, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        if self.hand.is_none() {
            r.mute();
            let tensor = self.file.tensor(r, &mut self.cursor);
            r.unmute();
            self.hand = tensor?;
            if let Some(Tensor { chunks: Chunks::One(span), index, .. }) = self.hand
                && self.wants(index)
            {
                r.charge(span.len);
            }
        }
        Ok(self.hand.is_some())
    }

    /// Whether the data of this tensor is looked at.
    fn wants(&self, _index: u32) -> bool {
        #[cfg(feature = "payloads")]
        return self.only.is_none_or(|only| only == _index);
        #[cfg(not(feature = "payloads"))]
        true
    }

    // The frames of stages beside each other, not one for all: the stack is small.
    #[inline(never)]
    fn values(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        while !self.cursor.is_done() && !r.is_spent() {
            let mut next = self.cursor;
            let shared = r.shared();
            if let Err(halt) = self.file.audit(r, &mut next) {
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
