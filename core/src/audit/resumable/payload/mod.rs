//! Payloads: rules that need the data.
//!
//! Raw elements need no memory. Data that is encoded or sparse, or has a checksum, and records with
//! text pass through a [`Scratch`], from the first stored byte to the last; unordered sparse data up
//! to three times.

#[cfg(feature = "columns")]
mod blocks;
mod feed;
mod fields;
#[cfg_attr(not(feature = "parted"), path = "no_indices.rs")]
mod indices;
mod points;
mod raw;
mod report;
mod sparse;
mod stream;
mod watchdog;
mod work;

pub use stream::{Scratch, ScratchIn};
use watchdog::Watchdog;
use work::Work;

use super::Audit;
use crate::base::limits;
use crate::codec::zstd::walk::{self, Walk};
use crate::file::{File, Slot};
use crate::format::Fault;
use crate::input::{Absent, Source};
use crate::model::{Chunks, DType, DimEncoding, Encoding, Layout, Status, Tensor};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, Rule, general};
use core::hash::{Hash, Hasher};
use core::ops::DerefMut;

/// Whether any format of this build stores more than raw elements, or has checksums: a build
/// without one does not link their decoders.
const ENCODED: bool = cfg!(any(feature = "columns", feature = "frames", feature = "packed"));

/// Progress within the payload of the current tensor.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Progress {
    /// Number of its bytes checked.
    done: u64,
    /// Its raw elements have been checked.
    plain: bool,
    /// Progress within its frames, if any.
    walk: Walk,
    frames: Frames,
    /// A scratch has started on it.
    streaming: bool,
    /// Number of slots that it needs, if there were too few.
    slots: u32,
    #[cfg(feature = "columns")]
    blocks: blocks::Progress,
}

/// State of the payload stage that an audit keeps between calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payloads {
    /// The stage, if it is wanted.
    stage: Option<Stage>,
    /// The only tensor whose data is checked, if not all.
    only: Option<u32>,
    current: Progress,
    /// Decoding work done so far.
    work: Work,
    watchdog: Watchdog,
    /// Number of bytes that entries have referred to in this stage.
    shared: u64,
}

impl Payloads {
    /// All payloads are wanted.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Payloads {
            stage: Some(Audit::payloads),
            only: None,
            current: Progress::default(),
            work: Work::default(),
            watchdog: Watchdog::default(),
            shared: 0,
        }
    }

    /// No payload is wanted.
    #[inline(always)]
    pub(super) fn leave_out(&mut self) {
        self.stage = None;
    }

    /// Whether any payload is wanted.
    pub(super) fn is_wanted(&self) -> bool {
        self.stage.is_some()
    }

    /// Whether the data of tensor number `index` is checked.
    pub(super) fn wants(&self, index: u32) -> bool {
        self.only.is_none_or(|only| only == index)
    }

    /// Number of bytes that entries have referred to in this stage.
    pub(super) fn shared(&self) -> u64 {
        self.shared
    }

    /// Sets that number.
    pub(super) fn set_shared(&mut self, shared: u64) {
        self.shared = shared;
    }
}

impl Hash for Payloads {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.current, self.work, self.shared).hash(state);
    }
}

/// Result of the walk over the frames of a tensor's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Frames {
    #[default]
    Unknown,
    Sound,
    Faulty,
}

/// Checks data that is more than raw elements, if this build can.
pub(super) trait Streams {
    fn check(
        &mut self,
        audit: &mut Audit,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<bool, Pause>;

    /// Size of the buffer.
    fn buffer(&self) -> u64 {
        0
    }

    /// A number that changes with each byte of progress.
    fn state(&self) -> u64 {
        0
    }
}

/// A build that decodes nothing links no decoders.
pub(super) struct NoStreams;

impl Streams for NoStreams {
    fn check(
        &mut self,
        _: &mut Audit,
        _: &mut Reader<'_, '_>,
        _: &mut [Slot],
        _: &Tensor,
    ) -> Result<bool, Pause> {
        Ok(false)
    }
}

/// The payload stage as a function value, so that a program that never wants it does not link its
/// code.
pub(super) type Stage =
    fn(&mut Audit, &mut Reader<'_, '_>, &mut [Slot], &mut dyn Streams) -> Result<(), Pause>;

/// Why checking payloads stopped: a halt of the reader, or too little memory.
pub(super) enum Pause {
    Halt(Halt),
    Room(u32),
    Buffer(u64),
}

impl From<Halt> for Pause {
    fn from(halt: Halt) -> Self {
        Pause::Halt(halt)
    }
}

impl Audit {
    /// Turns payloads on again: reverts [`structure_only`], even if the audit has stopped
    /// there.
    ///
    /// [`structure_only`]: Self::structure_only
    #[must_use]
    pub fn with_payloads(mut self) -> Self {
        if !self.payload.is_wanted() && self.stage == super::Stage::Done {
            self.stage = super::Stage::Payloads;
        }
        self.payload.stage = Some(Audit::payloads);
        self
    }

    /// Limits decoding to this much work, in decoded bytes and equivalent costs
    /// ([`limits`](crate::limits) has the numbers). Data beyond the limit is reported as
    /// unchecked. The default is [`WORK`](crate::base::limits::WORK) plus
    /// [`WORK_PER_BYTE`](crate::base::limits::WORK_PER_BYTE) for each byte of the file.
    #[must_use]
    pub fn max_work(mut self, work: u64) -> Self {
        self.payload.work.most = Some(work);
        self
    }

    /// Whether a tensor's data has rules that a check could find broken: a checksum, an encoding,
    /// coordinates, or values that do not allow every bit pattern.
    ///
    /// # Errors
    /// [`Absent`] when the tensor's entry is not resident.
    pub fn has_rules(file: &File, source: &Source<'_>, tensor: &Tensor) -> Result<bool, Absent> {
        let stored = checksum_rule(file).is_some();
        match tensor.status {
            Status::Broken => Ok(false),
            // Annotations of a column do not depend on its codec.
            Status::Unsupported if !stored => Ok(tensor.layout == Layout::Blocks),
            _ => Ok(raw::has_rules(file, tensor)
                || is_made(tensor)
                || stored && tensor.chunks.count() > 0 && file.checksum(source, tensor)?.is_some()),
        }
    }

    /// Checks only the data of tensor number `index`, and nothing before it: for extracting that
    /// tensor.
    #[must_use]
    pub fn payload_of(file: File, index: u32) -> Self {
        let stage = super::Stage::Payloads;
        let mut audit = Audit { stage, ..Audit::new(file) };
        audit.payload.only = Some(index);
        audit
    }

    /// As [`step`](Self::step), with memory for decoding: payloads are checked to their last
    /// byte. Pass the same `scratch` to each call.
    ///
    /// # Errors
    /// As [`step`](Self::step). While payloads are checked, [`Stop::NeedSlots`] and
    /// [`skip`](Self::skip) concern only the current tensor, and [`Stop::NeedBuffer`] requests a
    /// scratch with a larger buffer.
    pub fn step_with<B: DerefMut<Target = [u8]>>(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        scratch: &mut ScratchIn<B>,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        let streams: &mut dyn Streams = if ENCODED { scratch } else { &mut NoStreams };
        self.step_stages(source, slots, sink, streams)
    }

    /// The payload stage, if it is wanted.
    pub(super) fn last(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        streams: &mut dyn Streams,
    ) -> Result<(), Halt> {
        match self.payload.stage.map(|stage| stage(self, r, slots, streams)) {
            Some(Err(Pause::Halt(halt))) => Err(halt),
            Some(Err(Pause::Room(needed))) => Err(r.short_of(needed)),
            Some(Err(Pause::Buffer(needed))) => Err(r.short_of_buffer(needed)),
            _ => Ok(()),
        }
    }

    /// Checks the data of every tensor.
    pub(super) fn payloads(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        streams: &mut dyn Streams,
    ) -> Result<(), Pause> {
        while self.take_in_hand(r)? {
            let Some(tensor) = self.hand.filter(|_| !r.is_spent()) else { break };
            if !self.payload.wants(tensor.index) {
                self.pass();
                continue;
            }
            r.about(EntryKind::Tensor, tensor.index);
            // Checksums and frames apply to the stored bytes, whatever their meaning.
            let stored = checksum_rule(&self.file).is_some();
            if tensor.status != Status::Broken && !self.payload.current.plain {
                if tensor.status == Status::Unsupported && !is_uncounted(&tensor) {
                    r.flag(general::DATA_UNCHECKED, tensor.offset, 0, 0, 0);
                }
                if let Some(span) = tensor.raw() {
                    self.values_of(r, &tensor, span)?;
                }
                self.payload.current.plain = true;
            }
            // Annotations of a column do not depend on its codec.
            let apart = stored || tensor.layout == Layout::Blocks;
            if tensor.status == Status::Sound || (tensor.status == Status::Unsupported && apart) {
                if self.payload.current.frames == Frames::Unknown {
                    self.payload.current.frames = self.frames_of(r, &tensor)?;
                }
                if self.streams(&tensor) && !streams.check(self, r, slots, &tensor)? {
                    self.unstreamed(r, &tensor)?;
                }
            }
            self.pass();
            if self.payload.only.is_some() {
                break;
            }
        }
        self.payload.work.report(r);
        Ok(())
    }

    /// Finishes the current tensor.
    pub(super) fn pass(&mut self) {
        self.payload.work.pass(self.hand.map_or(0, |tensor| tensor.offset));
        self.hand = None;
        self.payload.current = Progress::default();
    }

    /// Follows the frames of compressed elements, without decoding them.
    fn frames_of(&mut self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Frames, Pause> {
        // A build without such a format does not link the reader of frames.
        const FOLLOWED: bool = File::any_has_rule(Fault::Frame(walk::Fault::Frames));
        let (true, Encoding::Zstd, Chunks::One(span)) = (FOLLOWED, tensor.encoding, tensor.chunks)
        else {
            return Ok(Frames::Sound);
        };
        let file = self.file;
        let rule = |fault| file.rule(Fault::Frame(fault)).unwrap_or(general::PAYLOAD_UNCHECKED);
        let elements = tensor.bytes().filter(|_| tensor.layout == Layout::RowMajor);
        // Empty data has no frame; the format validates that.
        let several = file.rule(Fault::Frame(walk::Fault::Frames));
        let walk = &mut self.payload.current.walk;
        let sound = !span.is_empty() && walk.run(r, span, elements, &rule, several)?;
        Ok(if sound { Frames::Sound } else { Frames::Faulty })
    }

    /// Whether the data is more than raw elements, or may have a checksum.
    fn streams(&self, tensor: &Tensor) -> bool {
        // Of a view with strides, every element has been placed in its storage.
        if tensor.layout == Layout::Strided {
            return false;
        }
        let checked = checksum_rule(&self.file).is_some();
        let parted = tensor.layout == Layout::Sparse && tensor.status == Status::Sound;
        is_made(tensor) || parted || tensor.chunks.count() > 0 && checked
    }

    /// Reports data that is more than raw elements as unchecked, because there is no scratch.
    fn unstreamed(&mut self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<(), Pause> {
        // Data whose values are unknown has already been reported as unchecked.
        if tensor.status == Status::Unsupported {
            return Ok(());
        }
        let any = match tensor.layout {
            // A column without rows may have annotations.
            #[cfg(feature = "columns")]
            Layout::Blocks if tensor.chunks.count() == 0 => self.has_blocks(r, tensor)?,
            Layout::Sparse if tensor.chunks.count() == 0 => self.file.parted(r, tensor)?.is_some(),
            _ => tensor.chunks.count() > 0,
        };
        if !any {
            return Ok(());
        }
        let plain = tensor.raw().is_some() && tensor.layout == Layout::RowMajor;
        let plain = plain && !tensor.width.has_texts();
        if !plain && self.payload.current.frames == Frames::Sound {
            r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
        } else if checksum_rule(&self.file).is_some() {
            let found = self.file.checksum(r.source(), tensor);
            if let Some(checksum) = found.map_err(|absent| r.lack(absent))? {
                r.flag(general::CHECKSUM_UNCHECKED, tensor.offset, 0, checksum.head(), 0);
            }
        }
        Ok(())
    }

    /// Gives up the current tensor, if slots or a buffer are missing.
    pub(super) fn skip_payload(&mut self, r: &mut Reader<'_, '_>) {
        if let Some(tensor) = self.hand {
            r.about(EntryKind::Tensor, tensor.index);
            if tensor.layout == Layout::Blocks {
                r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
                self.pass();
                return;
            }
            let slots = u64::from(self.payload.current.slots);
            let window = self.payload.current.walk.window();
            let too_wide = Fault::Frame(walk::Fault::Window);
            if let (0, Some(rule)) = (slots, self.file.rule(too_wide))
                && window > limits::ZSTD_WINDOW
            {
                r.flag(rule, tensor.offset, 0, limits::ZSTD_WINDOW, window);
                self.pass();
                return;
            }
            let rule = match slots {
                0 => general::PAYLOAD_UNCHECKED,
                _ => general::COORDINATES_UNCHECKED,
            };
            r.flag(rule, tensor.offset, 0, slots, 0);
        }
        self.pass();
    }
}

/// The rule for a checksum that differs, if the format has checksums.
fn checksum_rule(file: &File) -> Option<Rule> {
    file.rule(Fault::StoredChecksum).or(file.rule(Fault::DecodedChecksum))
}

/// Whether the data is a part of a sparse tensor whose length only decoding tells. It is checked
/// with that tensor.
fn is_uncounted(tensor: &Tensor) -> bool {
    let uncounted = tensor.dims.encoding == DimEncoding::External;
    uncounted && tensor.encoding == Encoding::Zstd && tensor.dtype != DType::Unknown
}

/// Whether the data is more than raw elements.
fn is_made(tensor: &Tensor) -> bool {
    let sparse = matches!(tensor.layout, Layout::Coo | Layout::Csr);
    let encoded = tensor.encoding != Encoding::Raw;
    // A column without rows may have annotations.
    let made = sparse || encoded || tensor.width.has_texts();
    tensor.layout == Layout::Blocks || tensor.chunks.count() > 0 && made
}
