//! The audit of an open file: the only place that gives the core the slots and buffers that it asks
//! for, within the limits.

use crate::check::options::{Goal, Options};
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Audit, File, Finding, ScratchIn, Slot, Source, Stage, Stop};

/// The most slots for the entries of a sparse tensor, unless the file itself is large: a few
/// bytes may decompress to many entries.
const MOST_ENTRIES: u64 = 1 << 20;
/// Payload bytes decoded at a time.
const PIECE: usize = 256 << 10;

/// An audit of a file, with its working memory: slots and buffers are allocated within the
/// limits of the options.
#[derive(Debug)]
pub(crate) struct FileAudit {
    audit: Audit,
    slots: Vec<Slot>,
    /// Made when the first payload is read. It is large, so that it stays in its place.
    scratch: Option<Box<ScratchIn<Vec<u8>>>>,
    /// Zstd streams are decoded by a second decoder as well.
    second: bool,
    /// It cannot continue, and another step would return the same error.
    over: bool,
}

impl FileAudit {
    /// Audits an open file from the start.
    pub(crate) fn new(file: File, options: &Options) -> Self {
        FileAudit::of(Audit::new(file).structure_only(), options)
    }

    /// Audits the data of one tensor, and nothing before it.
    pub(crate) fn of_payload(file: File, tensor: u32, options: &Options) -> Self {
        FileAudit::of(Audit::payload_of(file, tensor), options)
    }

    pub(crate) fn of(mut audit: Audit, options: &Options) -> Self {
        if let Some(work) = options.work {
            audit = audit.max_work(work);
        }
        let audit = audit.seeded(options.seed_or_random());
        let second = options.second_opinion;
        FileAudit { audit, slots: Vec::new(), scratch: None, second, over: false }
    }

    /// Number of entries that the current stage has passed.
    pub(crate) fn position(&self) -> u32 {
        self.audit.position()
    }

    /// Runs up to `goal`, or until bytes are missing, and continues once they are there.
    pub(crate) fn step(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        options: &Options,
        mut sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Absent> {
        if goal == Goal::Payloads {
            self.audit = self.audit.with_payloads();
        }
        while !self.over {
            match self.step_audit(source, goal, &mut sink) {
                Ok(()) => break,
                Err(Stop::Invalid(_)) => self.over = true,
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                Err(Stop::NeedSlots { needed }) => {
                    if !self.make_room(needed, source.len(), options) {
                        self.audit.skip(&mut sink);
                    }
                }
                // The tensor is restarted with a larger buffer, or skipped.
                Err(Stop::NeedBuffer { needed }) => {
                    if !self.make_buffer(needed, options) {
                        self.audit.skip(&mut sink);
                    }
                }
            }
        }
        self.slots = Vec::new();
        Ok(())
    }

    #[cfg(any(
        feature = "bintensors",
        feature = "gguf",
        feature = "idv",
        feature = "npz",
        feature = "onnx",
        feature = "pytorch",
        feature = "safetensors",
        feature = "ztensor"
    ))]
    fn step_audit(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        if goal < Goal::Payloads {
            return self.audit.step(source, &mut self.slots, sink);
        }
        let FileAudit { audit, slots, scratch, second, .. } = self;
        let scratch = scratch.get_or_insert_with(|| scratch_in(alloc::vec![0; PIECE], *second));
        audit.step_with(source, slots, scratch, sink)
    }

    /// The remaining formats, such as OINF and STB, store raw data: nothing is decoded.
    #[cfg(not(any(
        feature = "bintensors",
        feature = "gguf",
        feature = "idv",
        feature = "npz",
        feature = "onnx",
        feature = "pytorch",
        feature = "safetensors",
        feature = "ztensor"
    )))]
    fn step_audit(
        &mut self,
        source: &Source<'_>,
        _: Goal,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        self.audit.step(source, &mut self.slots, sink)
    }

    /// Gives the audit more slots, if the limits allow.
    fn make_room(&mut self, needed: u32, len: u64, options: &Options) -> bool {
        let bomb =
            self.audit.stage() == Stage::Payloads && u64::from(needed) > MOST_ENTRIES.max(len / 8);
        u64::from(needed) <= options.slots()
            && !bomb
            && grow(&mut self.slots, needed.into(), Slot::EMPTY)
    }

    /// Gives the audit a larger buffer, if the limits allow.
    fn make_buffer(&mut self, needed: u64, options: &Options) -> bool {
        let scratch = self.scratch.take();
        let mut buffer = scratch.map_or_else(Vec::new, |scratch| scratch.into_buffer());
        let grows = needed <= options.buffer && grow(&mut buffer, needed, 0);
        self.scratch = Some(scratch_in(buffer, self.second));
        grows
    }
}

/// Makes memory longer; false if it is as long already, or there is none.
fn grow<T: Copy>(memory: &mut Vec<T>, needed: u64, fill: T) -> bool {
    let needed = usize::try_from(needed).unwrap_or(usize::MAX);
    let more = needed.saturating_sub(memory.len());
    let grows = more > 0 && memory.try_reserve_exact(more).is_ok();
    if grows {
        memory.resize(needed, fill);
    }
    grows
}

/// A scratch that decodes into `buffer`, with a second decoder if one is asked for.
fn scratch_in(buffer: Vec<u8>, second: bool) -> Box<ScratchIn<Vec<u8>>> {
    let scratch = ScratchIn::new(buffer);
    #[cfg(feature = "second-opinion")]
    if second {
        return Box::new(scratch.with_second_opinion());
    }
    _ = second;
    Box::new(scratch)
}
