//! A sequence of frames, header by header and block by block.

use super::super::frame::{BlockHeader, COMPRESSED, Descriptor, Header, Kind, MAGIC, SKIPPABLE};
use super::bits::wide;
use super::block::State;
use super::ring::{Extent, FURTHEST, Ring};
use super::xxh64::Xxh64;
use crate::base::{
    limits::{WORK_PER_BLOCK, WORK_PER_FRAME, WORK_PER_SEQUENCE, ZSTD_WINDOW, ZSTD_WINDOW_END},
    widen,
};
use crate::codec::{End, Fault, Job, Outcome};

/// Magic and descriptor.
const LEAST_HEADER: usize = 5;
/// Magic and size of a skippable frame.
const SKIP_HEADER: usize = 8;
const BLOCK_HEADER: usize = 3;
/// Number of decoded bytes that are returned in one step, so that the caller finds them in the
/// cache.
const ENOUGH: usize = 64 << 10;

/// Decodes a sequence of frames.
pub(in crate::codec) struct Frames {
    state: State,
    ring: Ring,
    hash: Xxh64,
    stage: Stage,
    frame: Frame,
    /// Number of frames started.
    count: u64,
    /// Number of complete frames that hold data.
    complete: u64,
    /// Number of bytes needed to continue.
    needs: usize,
    /// Size of a ring for the frame, in bytes.
    buffer: u64,
    work: u64,
}

/// The next item to decode.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Frame,
    /// Bytes of a skippable frame.
    Skip(u64),
    Block,
    Checksum,
}

/// The frame being decoded.
#[derive(Clone, Copy)]
struct Frame {
    window: u64,
    /// The content size in the header.
    stated: Option<u64>,
    checked: bool,
    written: u64,
}

/// Why decoding stopped.
enum Pause {
    /// The caller must take the output first.
    Output,
    /// This many bytes of input are needed.
    Input(usize),
    End(End),
}

impl From<Fault> for Pause {
    fn from(fault: Fault) -> Self {
        Pause::End(End::Fault(fault))
    }
}

impl Frames {
    pub(in crate::codec) const IS_BUILT: bool = true;

    pub(in crate::codec) const fn new() -> Self {
        Frames {
            state: State::new(),
            ring: Ring::new(),
            hash: Xxh64::new(),
            stage: Stage::Frame,
            frame: Frame { window: 0, stated: None, checked: false, written: 0 },
            count: 0,
            complete: 0,
            needs: LEAST_HEADER,
            buffer: 0,
            work: 0,
        }
    }

    pub(in crate::codec) fn start(&mut self) {
        self.ring.begin(0);
        self.stage = Stage::Frame;
        self.count = 0;
        self.complete = 0;
        self.needs = LEAST_HEADER;
        self.buffer = 0;
        self.work = 0;
    }

    pub(in crate::codec) const fn count(&self) -> u64 {
        self.count
    }

    pub(in crate::codec) const fn needs(&self) -> usize {
        self.needs
    }

    pub(in crate::codec) const fn buffer(&self) -> u64 {
        self.buffer
    }

    pub(in crate::codec) const fn work(&self) -> u64 {
        self.work
    }

    /// Continues until there is enough output, the input is used up, or the stream ends.
    pub(in crate::codec) fn step(&mut self, job: &mut Job<'_>) -> Outcome {
        if job.whole {
            let at = usize::try_from(job.written).unwrap_or(usize::MAX);
            if at != self.ring.at {
                self.ring.begin(at);
            }
        }
        job.at = self.ring.at;
        let mut outcome = Outcome { read: 0, written: 0, end: End::NotYet };
        self.needs = 0;
        let allowed = self.work.saturating_add(job.work);
        loop {
            match self.step_stage(job, &mut outcome) {
                // The caller compares the total with its budget; this only ends the loop.
                Ok(()) if outcome.written < ENOUGH && self.work <= allowed => {}
                Ok(()) | Err(Pause::Output) => break,
                Err(Pause::Input(needs)) if job.last => {
                    outcome.end = End::Fault(self.cut_off(job, &outcome, needs));
                    break;
                }
                Err(Pause::Input(needs)) => {
                    self.needs = needs;
                    break;
                }
                Err(Pause::End(end)) => {
                    outcome.end = end;
                    break;
                }
            }
        }
        outcome
    }

    /// The fault if the input ends but more is needed.
    fn cut_off(&self, job: &Job<'_>, outcome: &Outcome, needs: usize) -> Fault {
        // Fewer bytes than a magic start no frame.
        let left = job.input.len().saturating_sub(outcome.read);
        match self.stage {
            Stage::Frame if self.complete > 0 && left < 4 && needs > left => Fault::Trailing,
            _ => Fault::Truncated,
        }
    }

    fn step_stage(&mut self, job: &mut Job<'_>, outcome: &mut Outcome) -> Result<(), Pause> {
        let input = job.input.get(outcome.read..).unwrap_or_default();
        let used = match self.stage {
            Stage::Frame if input.is_empty() && job.last => {
                // Skippable frames alone are a stream without data.
                let done = self.count > 0;
                return Err(Pause::End(if done {
                    End::Done
                } else {
                    End::Fault(Fault::Truncated)
                }));
            }
            Stage::Frame => self.header(input, job, outcome)?,
            Stage::Skip(left) => {
                let used = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                let left = left.saturating_sub(widen(used));
                if left > 0 && used == 0 {
                    return Err(Pause::Input(1));
                }
                self.stage = if left > 0 { Stage::Skip(left) } else { Stage::Frame };
                used
            }
            Stage::Block => self.block(input, job, outcome)?,
            Stage::Checksum => {
                let sum: &[u8; 4] = input.first_chunk().ok_or(Pause::Input(4))?;
                if self.hash.finish().to_le_bytes().first_chunk() != Some(sum) {
                    return Err(Fault::Checksum.into());
                }
                self.end_frame();
                sum.len()
            }
        };
        outcome.read = outcome.read.saturating_add(used);
        Ok(())
    }

    /// Starts a frame; returns the length of its header.
    fn header(
        &mut self,
        input: &[u8],
        job: &mut Job<'_>,
        outcome: &Outcome,
    ) -> Result<usize, Pause> {
        let magic = input.first_chunk().ok_or(Pause::Input(LEAST_HEADER))?;
        let magic = u32::from_le_bytes(*magic);
        if magic & !0xF == SKIPPABLE {
            let header: &[u8; SKIP_HEADER] =
                input.first_chunk().ok_or(Pause::Input(SKIP_HEADER))?;
            let &[_, _, _, _, a, b, c, d] = header;
            self.stage = Stage::Skip(u32::from_le_bytes([a, b, c, d]).into());
            self.count = self.count.saturating_add(1);
            return Ok(SKIP_HEADER);
        }
        if magic != MAGIC {
            // Bytes after a frame that are not a frame are not part of the stream.
            let fault = if self.complete > 0 { Fault::Trailing } else { Fault::Malformed };
            return Err(fault.into());
        }
        let (start, rest) =
            input.split_at_checked(LEAST_HEADER).ok_or(Pause::Input(LEAST_HEADER))?;
        let descriptor = Descriptor::of(start.last().copied().unwrap_or(0));
        let len = LEAST_HEADER.saturating_add(descriptor.rest().into());
        let fields = rest.get(..descriptor.rest().into()).ok_or(Pause::Input(len))?;
        let header = Header::read(descriptor, fields);
        let window = header.reach();
        if header.reserved {
            return Err(Fault::Malformed.into());
        }
        if header.dictionary != 0 {
            return Err(Fault::Dictionary.into());
        }
        let frame = Frame { window, stated: header.content, checked: header.checked, written: 0 };
        let extent = frame.extent(job, outcome);
        // An output that holds everything serves as a window of any size.
        let refused = match job.whole {
            true => window.min(extent.left) > FURTHEST || header.window >= Some(ZSTD_WINDOW_END),
            false => window > ZSTD_WINDOW,
        };
        if refused {
            return Err(Fault::Window.into());
        }
        self.buffer = extent.best();
        if !job.whole && widen(job.output.len()) < extent.least() {
            return Err(Fault::Buffer.into());
        }
        if !job.whole && extent.least() == extent.left {
            // The whole frame in one piece, from the start.
            if outcome.written > 0 {
                return Err(Pause::Output);
            }
            self.ring.begin(0);
            job.at = 0;
        }
        self.ring.forget();
        self.state.forget();
        self.hash = Xxh64::new();
        self.frame = frame;
        self.stage = Stage::Block;
        self.work = self.work.saturating_add(WORK_PER_FRAME);
        self.count = self.count.saturating_add(1);
        Ok(len)
    }

    /// Decodes a block; returns its stored length.
    fn block(
        &mut self,
        input: &[u8],
        job: &mut Job<'_>,
        outcome: &mut Outcome,
    ) -> Result<usize, Pause> {
        let (start, rest) = input.split_first_chunk().ok_or(Pause::Input(BLOCK_HEADER))?;
        let header = BlockHeader::of(*start);
        let extent = self.frame.extent(job, outcome);
        let tiny = header.kind == Kind::Compressed && header.size < COMPRESSED;
        if header.kind == Kind::Reserved || header.size > extent.block() || tiny {
            return Err(Fault::Malformed.into());
        }
        let len = BLOCK_HEADER.saturating_add(wide(header.stored()));
        let data = rest.get(..wide(header.stored())).ok_or(Pause::Input(len))?;
        if !job.whole && !self.ring.has_room(job.output, &extent) {
            if outcome.written > 0 {
                return Err(Pause::Output);
            }
            self.ring.turn(job.output, &extent)?;
            job.at = self.ring.at;
        }
        let (first, mut room) = self.ring.room(job.output, &extent).ok_or(Fault::Buffer)?;
        let mut fault = None;
        let mut end = room.at;
        match header.kind {
            Kind::Compressed => {
                let sequences = match self.state.block(data, &mut room, &mut end) {
                    Ok(sequences) => sequences,
                    Err(over) if room.is_over(over) => {
                        fault = Some(over);
                        0
                    }
                    Err(fault) => return Err(fault.into()),
                };
                let work = u64::from(sequences).saturating_mul(WORK_PER_SEQUENCE);
                self.work = self.work.saturating_add(WORK_PER_BLOCK).saturating_add(work);
            }
            _ => {
                // A block that is too long yields its permitted part first.
                let len = header.size.min(room.most);
                let part = room.part(room.at, len)?;
                match header.kind {
                    Kind::Raw => part.iter_mut().zip(data).for_each(|(to, from)| *to = *from),
                    _ => part.fill(data.first().copied().unwrap_or(0)),
                }
                fault = room.bound(header.size).err();
                end = end.saturating_add(len);
            }
        }
        let end = first.saturating_add(wide(end));
        let written = end.saturating_sub(self.ring.at);
        if self.frame.checked {
            self.hash.update(job.output.get(self.ring.at..end).unwrap_or_default());
        }
        self.ring.at = end;
        self.frame.written = self.frame.written.saturating_add(widen(written));
        outcome.written = outcome.written.saturating_add(written);
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        if header.last {
            if self.frame.stated.is_some_and(|stated| stated != self.frame.written) {
                // Decoded bytes are returned before the fault.
                return Err(Fault::ContentSize.into());
            }
            match self.frame.checked {
                true => self.stage = Stage::Checksum,
                false => self.end_frame(),
            }
        }
        Ok(len)
    }

    fn end_frame(&mut self) {
        self.stage = Stage::Frame;
        self.complete = self.complete.saturating_add(1);
    }
}

impl Frame {
    fn extent(&self, job: &Job<'_>, outcome: &Outcome) -> Extent {
        let all = job.left.saturating_sub(widen(outcome.written));
        let stated = self.stated.map(|stated| stated.saturating_sub(self.written));
        let (left, over) = match stated.filter(|stated| *stated < all) {
            Some(stated) => (stated, Fault::ContentSize),
            None => (all, Fault::Long),
        };
        Extent { window: self.window, written: self.written, left, over }
    }
}
