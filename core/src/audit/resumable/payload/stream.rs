//! Data that is encoded or sparse, or has a checksum, from its first stored byte to its last.

pub(super) mod parts;

use super::super::Audit;
use super::feed::text_rule;
use super::fields::Fields;
use super::indices::Indices;
use super::points::Points;
use super::report;
use super::sparse::Sparse;
use super::work::{Known, Results};
use super::{Pause, Streams, Work, checksum_rule};
use crate::base::{limits, widen};
use crate::codec::{
    self, Decoder, Fault, Size, Step,
    checksum::{Checksum, Hasher},
};
use crate::file::Slot;
use crate::format;
use crate::input::Absent;
use crate::model::{Chunk, Chunks, Encoding, Layout, Status, Tensor, sparse, texts::Texts};
use crate::parse::Reader;
use crate::rule::general;
use core::ops::DerefMut;

/// The memory of a payload audit: a decoder and the state of the checks (27 KiB together, with
/// every codec), and the caller's buffer for decoded bytes.
///
/// The buffer needs at least [`WINDOW`](crate::codec::WINDOW) bytes. A larger one means fewer
/// calls, and zstd frames need room for their window ([`ring`](crate::codec::ring)). A scratch
/// can serve several audits in sequence.
pub type Scratch<'b> = ScratchIn<&'b mut [u8]>;

/// A [`Scratch`] with a buffer of any kind: a host may have it owned.
#[derive(Debug)]
pub struct ScratchIn<B> {
    pub(crate) decoder: Decoder,
    hasher: Option<Hasher>,
    progress: Progress,
    results: Results,
    pub(crate) buffer: B,
}

impl<B: DerefMut<Target = [u8]>> ScratchIn<B> {
    /// A scratch that decodes into `buffer`.
    pub fn new(buffer: B) -> Self {
        ScratchIn {
            decoder: Decoder::new(),
            hasher: None,
            progress: Progress::default(),
            results: Results::default(),
            buffer,
        }
    }

    /// Has every zstd stream decoded by ruzstd as well; see
    /// [`Decoder::with_second_opinion`]. Call this before the scratch is used.
    #[cfg(feature = "ruzstd")]
    #[must_use]
    pub fn with_second_opinion(self) -> Self {
        ScratchIn { decoder: Decoder::with_second_opinion(), ..self }
    }

    /// The buffer.
    pub fn into_buffer(self) -> B {
        self.buffer
    }
}

/// Progress within the data of the current tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    stage: Stage,
    pub(super) chunk: Chunk,
    checksum: Option<Checksum>,
    pub(super) sparse: Option<Sparse>,
    /// Indices in parts of their own.
    pub(super) indices: Option<Indices>,
    /// Text that is decoded.
    pub(super) points: Option<Points>,
    /// Records with text.
    pub(super) fields: Option<Fields>,
    /// Where they have it, before anything else about the data is read.
    texts: Option<Texts>,
    /// Number of slots for its dims, needed before its indices can be validated.
    extents: Option<u64>,
    /// The type and layout are known, and so is the meaning of the bytes.
    pub(super) measured: bool,
    /// Number of stored bytes used.
    read: u64,
    /// The data is decoded, or was until a fault.
    decodes: bool,
    /// The checksum covers decoded bytes.
    sums_decoded: bool,
    /// Nothing more is decoded; the fault was reported.
    faulty: bool,
    /// The fault that decoding ended with, and the number of bytes before it.
    fault: Option<(Fault, u64)>,
    /// All bytes were checked.
    over: bool,
    /// Number of further passes over the bytes, which fill slots.
    again: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Stage {
    #[default]
    Start,
    /// Checks all bytes, once or several times.
    Bytes,
}

impl<B: DerefMut<Target = [u8]>> Streams for ScratchIn<B> {
    fn check(
        &mut self,
        audit: &mut Audit,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<bool, Pause> {
        if audit.payload.work.begins() {
            self.results = Results::default();
        }
        #[cfg(feature = "columns")]
        if tensor.layout == Layout::Blocks {
            return self.blocks(audit, r, tensor).map(|()| true);
        }
        if !audit.payload.current.streaming {
            self.progress = Progress::default();
            audit.payload.current.streaming = true;
        }
        let (mut progress, mut work) = (self.progress, audit.payload.work);
        let result = self.step(audit, (&mut progress, &mut work), r, slots, tensor);
        (self.progress, audit.payload.work) = (progress, work);
        if let Err(Pause::Room(needed)) = result {
            audit.payload.current.slots = needed;
        }
        result.map(|()| true)
    }

    fn buffer(&self) -> u64 {
        widen(self.buffer.len())
    }

    fn state(&self) -> u64 {
        let Progress { stage, read, over, again, .. } = self.progress;
        let begun = u64::from(stage != Stage::Start).wrapping_add(u64::from(over));
        let begun = begun.wrapping_add(u64::from(again) << 2);
        let read = read.wrapping_add(self.decoder.read());
        read.wrapping_add(self.decoder.written() << 20).wrapping_add(begun << 60)
    }
}

impl<B: DerefMut<Target = [u8]>> ScratchIn<B> {
    fn step(
        &mut self,
        audit: &Audit,
        (p, work): (&mut Progress, &mut Work),
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<(), Pause> {
        if p.stage == Stage::Start {
            if tensor.width.has_texts() && p.texts.is_none() {
                p.texts = Some(match audit.file.texts(r, tensor) {
                    Err(halt) if halt.is_absent() => return Err(halt.into()),
                    // The header has changed.
                    texts => texts.unwrap_or(Texts::NONE),
                });
            }
            let start = if tensor.layout == Layout::Sparse && tensor.chunks == Chunks::None {
                parts::begin(audit, r, tensor)?
            } else {
                self.begin(audit, (p, work), r, slots, tensor)?
            };
            let Some(start) = start else { return Ok(()) };
            *p = start;
        }
        if p.indices.is_some() {
            return self.parts(audit, (p, work), r, slots, tensor);
        }
        loop {
            if !p.over {
                self.bytes(audit, (p, work), r, slots)?;
            }
            if p.faulty {
                return Ok(());
            }
            if let Some(sparse) = &p.sparse
                && let Some((fault, at, found)) = sparse.twin(slots)
            {
                report::index(audit, r, fault, report::place(&p.chunk, at, 8), 0, found);
                return Ok(());
            }
            // Read the data again, into slots.
            let needed = match &p.sparse {
                Some(sparse) => sparse.needs(),
                None => p.extents,
            };
            let Some(needed) = needed else { return Ok(()) };
            let needed = u32::try_from(needed).unwrap_or(u32::MAX);
            if slots.len() < usize::try_from(needed).unwrap_or(usize::MAX) {
                return Err(Pause::Room(needed));
            }
            p.sparse = match p.sparse {
                Some(sparse) => Some(sparse.again()),
                None => self.sparse(p, r, slots, tensor)?,
            };
            p.extents = None;
            p.checksum = None;
            p.read = 0;
            p.over = false;
            p.again = p.again.wrapping_add(1);
            self.start(p, work, r, tensor);
            if p.faulty {
                return Ok(());
            }
        }
    }

    /// The validator of a sparse tensor's indices.
    fn sparse(
        &self,
        p: &mut Progress,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<Option<Sparse>, Pause> {
        let dims = tensor.dims.read(r.source()).map_err(|absent| r.lack(absent))?;
        let sparse = Sparse::new(tensor, dims, p.chunk.decoded, slots);
        let encoding = p.chunk.encoding;
        p.decodes = sparse.is_some() && encoding != Encoding::Raw && Decoder::decodes(encoding);
        Ok(sparse)
    }

    /// Determines what to check; `None` if there is nothing.
    fn begin(
        &mut self,
        audit: &Audit,
        (before, work): (&Progress, &mut Work),
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<Option<Progress>, Pause> {
        let mut p = Progress { stage: Stage::Bytes, ..Progress::default() };
        if checksum_rule(&audit.file).is_some() {
            let found = audit.file.checksum(r.source(), tensor);
            p.checksum = found.map_err(|absent| r.lack(absent))?;
        }
        // Faulty frames have already been reported.
        p.faulty = audit.payload.current.frames == super::Frames::Faulty;
        let chunk = audit.file.chunk_of(r, tensor, 0)?;
        let lead = chunk.map_or(0, |chunk| chunk.decoded_lead());
        let head = chunk.map_or(0, |chunk| chunk.lead);
        let (Some(chunk), 1) = (chunk.map(Chunk::whole), tensor.chunks.count()) else {
            r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
            return Ok(None);
        };
        p.chunk = chunk;
        let sound = tensor.status == Status::Sound;
        let is_sparse = matches!(tensor.layout, Layout::Coo | Layout::Csr);
        let indices = format::Fault::Sparse(sparse::Fault::Coordinate);
        let wanted = sound && is_sparse && audit.file.rule(indices).is_some();
        if wanted {
            p.extents = Sparse::extents(tensor);
            if p.extents.is_none() {
                p.sparse = self.sparse(&mut p, r, slots, tensor)?;
            }
        }
        let encoded = chunk.encoding != Encoding::Raw;
        // For unknown types or layouts, only check whether the stream is valid.
        p.measured = sound;
        let known = self.results.of(&chunk).filter(|_| !wanted);
        let decodes = encoded && Decoder::decodes(chunk.encoding);
        if decodes && !p.faulty && known.is_none() {
            p.faulty = !self.holds_window(audit, &p, tensor, r)?;
        }
        if !p.decodes && p.extents.is_none() {
            let sized = chunk.decoded.is_some() || p.sparse.is_some() || !sound;
            p.decodes = decodes && sized;
            let unread = (encoded && !p.decodes) || (wanted && p.sparse.is_none());
            if sound && !p.faulty && unread {
                r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
                p.sparse = None;
            }
        }
        if p.decodes && sound && text_rule(audit, tensor).is_some() {
            p.points = Some(Points::new(lead, tensor.endianness));
        }
        if let Some(texts) = before.texts
            && sound
            && (p.decodes || !encoded)
        {
            p.fields = Fields::new(head, texts);
            if p.fields.is_none() {
                r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
            }
        }
        // A checksum of decoded bytes requires decoding.
        p.sums_decoded = encoded && audit.file.rule(format::Fault::DecodedChecksum).is_some();
        if p.sums_decoded && !p.decodes {
            p.checksum = None;
        }
        self.hasher = p.checksum.and_then(|checksum| Hasher::new(checksum.algorithm()));
        if let (Some(checksum), None) = (p.checksum, &self.hasher) {
            r.flag(general::CHECKSUM_UNCHECKED, tensor.offset, 0, checksum.head(), 0);
            p.checksum = None;
        }
        if let Some(known) = known {
            self.again(audit, &mut p, &known, r);
        }
        self.start(&mut p, work, r, tensor);
        let looks = !p.faulty && (p.sparse.is_some() || p.fields.is_some() || p.decodes);
        let idle = p.checksum.is_none() && !looks;
        p.over = idle;
        Ok((!idle || (p.extents.is_some() && !p.faulty)).then_some(p))
    }

    /// Whether the buffer holds the window, or the whole output if the window exceeds the
    /// decoder's limit. Otherwise requests a buffer, or reports that none will suffice.
    fn holds_window(
        &mut self,
        audit: &Audit,
        p: &Progress,
        tensor: &Tensor,
        r: &mut Reader<'_, '_>,
    ) -> Result<bool, Pause> {
        let window = audit.payload.current.walk.window();
        let (decoded, stored) = (p.chunk.decoded.unwrap_or(u64::MAX), p.chunk.stored);
        let room = widen(self.buffer.len());
        if decoded <= room || p.chunk.encoding != Encoding::Zstd {
            return Ok(true);
        }
        if window <= limits::ZSTD_WINDOW {
            // Requested before anything is decoded, because decoding starts again after the
            // request.
            let needed = p.most(tensor).unwrap_or(u64::MAX).min(codec::ring(window));
            return if needed > room { Err(Pause::Buffer(needed)) } else { Ok(true) };
        }
        let most = stored.len.saturating_mul(limits::ZSTD_WHOLE_PER_BYTE);
        if decoded <= most.clamp(limits::ZSTD_WHOLE, limits::BLOCK_BYTES) {
            return Err(Pause::Buffer(decoded));
        }
        if let Some(rule) = audit.file.rule(format::Fault::Stream(Fault::Window)) {
            r.flag(rule, stored.offset, stored.len, limits::ZSTD_WINDOW, window);
        }
        Ok(false)
    }

    /// Reports the faults found in the same bytes for another tensor.
    fn again(&mut self, audit: &Audit, p: &mut Progress, known: &Known, r: &mut Reader<'_, '_>) {
        if p.decodes && !p.faulty {
            if let Some((fault, written)) = known.fault {
                report::stream(audit, p, r, fault, written);
            }
            p.faulty = true;
        }
        if let (Some(expected), Some(found), Some(rule)) =
            (p.checksum, known.sum, checksum_rule(&audit.file))
            && expected.algorithm() == found.algorithm()
        {
            report::checksum(p, r, rule, expected, found);
            p.checksum = None;
        }
    }

    fn start(&mut self, p: &mut Progress, work: &mut Work, r: &Reader<'_, '_>, tensor: &Tensor) {
        let most = p.most(tensor).unwrap_or(limits::UNMEASURED_BYTES);
        let size = match p.chunk.decoded {
            Some(decoded) => Size::Exactly(decoded),
            None => Size::AtMost(most),
        };
        self.decoder.start(p.chunk.encoding, p.chunk.stored, size);
        if p.decodes && !p.faulty {
            match work.rest(r) {
                Some(rest) => self.decoder.allow(rest),
                None => {
                    p.faulty = true;
                    // Bytes that are not decoded have no checksum.
                    if p.sums_decoded {
                        p.checksum = None;
                    }
                }
            }
        }
    }

    /// Processes all stored bytes.
    fn bytes(
        &mut self,
        audit: &Audit,
        (p, work): (&mut Progress, &mut Work),
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        loop {
            let at = p.chunk.stored.offset.saturating_add(p.read);
            let left = p.chunk.stored.len.saturating_sub(p.read);
            let run = r.source().run(at);
            let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
            let (used, produced, ended) = if !p.decodes || p.faulty {
                if !p.faulty {
                    p.feed(audit, r, run, slots);
                }
                (run.len(), 0, left == 0)
            } else {
                match self.decoder.step(run, &mut self.buffer) {
                    Ok(Step { read, written, done }) => {
                        let piece = self.buffer.get(written).unwrap_or_default();
                        p.feed(audit, r, piece, slots);
                        if let (Some(hasher), true) = (&mut self.hasher, p.sums_decoded) {
                            hasher.update(piece);
                        }
                        if done {
                            work.charge(self.decoder.work(), None);
                        }
                        (read, piece.len(), done)
                    }
                    // Decoding restarts in a buffer that holds the window.
                    Err(Fault::Buffer) => return Err(Pause::Buffer(self.decoder.buffer())),
                    Err(fault) => {
                        p.faulty = true;
                        let written = self.decoder.written();
                        p.fault = Some((fault, written));
                        if !work.charge(self.decoder.work(), Some(fault)) {
                            report::stream(audit, p, r, fault, written);
                        }
                        if p.sums_decoded && fault != Fault::Trailing {
                            p.checksum = None;
                        }
                        if p.checksum.is_none() || p.sums_decoded {
                            break;
                        }
                        // The rest is needed only for the checksum.
                        continue;
                    }
                }
            };
            if let (Some(hasher), Some(_), false) = (&mut self.hasher, p.checksum, p.sums_decoded) {
                hasher.update(run.get(..used).unwrap_or_default());
            }
            p.read = p.read.saturating_add(widen(used));
            if ended || p.indices.is_some_and(|indices| indices.is_over()) {
                break;
            }
            if used == 0 && produced == 0 {
                let need = if p.decodes && !p.faulty { self.decoder.needs() } else { 1 };
                return Err(r.lack(Absent { offset: at, need, want: left.max(need) }).into());
            }
        }
        p.over = true;
        self.end(audit, p, r);
        Ok(())
    }

    /// Checks that need all bytes together.
    fn end(&mut self, audit: &Audit, p: &mut Progress, r: &mut Reader<'_, '_>) {
        if let (false, Some(sparse)) = (p.faulty, &mut p.sparse) {
            let chunk = p.chunk;
            sparse.finish(&mut |fault, offset, expected, found| {
                report::index(audit, r, fault, report::place(&chunk, offset, 0), expected, found);
            });
        }
        let hasher = self.hasher.take();
        let mut sum = None;
        if let (Some(expected), Some(hasher), Some(rule)) =
            (p.checksum, hasher, checksum_rule(&audit.file))
        {
            let found = hasher.finish();
            report::checksum(p, r, rule, expected, found);
            sum = Some(found);
        }
        let cut = p.fault.is_some_and(|(fault, _)| fault == Fault::Work);
        let looked = p.decodes && (!p.faulty || p.fault.is_some()) && !cut;
        if p.sparse.is_none() && p.indices.is_none() && p.stage == Stage::Bytes {
            if looked || p.chunk.encoding == Encoding::Raw {
                self.results.remember(&p.chunk, Known::new(&p.chunk, p.fault, sum));
            } else if let (Some(known), Some(_)) = (self.results.of(&p.chunk), sum) {
                self.results.remember(&p.chunk, Known::new(&p.chunk, known.fault, sum));
            }
        }
    }
}

impl Progress {
    /// Most bytes that the data decodes to, if known.
    fn most(&self, tensor: &Tensor) -> Option<u64> {
        let sparse = self.sparse.map(|sparse| sparse.most(tensor.elements));
        // The number of values is at most that of the elements.
        let values = self.indices.map(|_| tensor.bytes().unwrap_or(u64::MAX));
        self.chunk.decoded.or(sparse).or(values)
    }
}
