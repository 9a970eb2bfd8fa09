//! Zstandard frames (RFC 8878), with ruzstd, which needs a heap.
//!
//! ruzstd decodes a frame block by block once all bytes of a block are available. This module
//! finds the ends of headers and blocks, so that input may arrive in pieces of any size, and adds
//! checks that ruzstd omits: it compares content checksums and content sizes, measures literal
//! streams and decoded block sizes, rejects reserved bits and trailing bytes, and counts work. It
//! uses a new decoder for each frame (a used one would immediately reserve the next frame's
//! window) and empties the decoder before each block, so that memory stays small and the result
//! does not depend on the pieces.
//!
//! If the output buffer holds everything, a window beyond the limit is replaced by one of the
//! output's length: no reference reaches further back.
//!
//! Frames may follow one another, and skippable frames may lie between them, as every zstd
//! decoder allows.

mod strict;

use super::zstd::frame::{BLOCK, Descriptor, Header, MAGIC, SKIPPABLE};
use super::{End, Fault, Job, Outcome};
use crate::base::{
    limits::{WORK_PER_BLOCK, WORK_PER_FRAME, WORK_PER_SEQUENCE, ZSTD_WINDOW, ZSTD_WINDOW_END},
    widen,
};
use ::ruzstd::decoding::errors::FrameDecoderError;
use ::ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ::ruzstd::io::Read as _;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::Hasher as _;
use strict::Strict;
use twox_hash::XxHash64;

const MAGIC_LEN: usize = 4;
/// Magic and descriptor.
const LEAST_HEADER: usize = 5;
/// Magic and size of a skippable frame.
const SKIP_HEADER: usize = 8;
const BLOCK_HEADER: usize = 3;
/// Smallest window (§3.1.1.1.2).
const LEAST_WINDOW: u64 = 1 << 10;

/// Decodes a sequence of frames.
pub(super) struct Frames {
    /// Bytes of an incomplete header or block.
    carry: Vec<u8>,
    frame: Option<Box<Frame>>,
    /// Number of bytes left of a skippable frame.
    skip: u64,
    /// Number of frames started.
    count: u64,
    /// Number of complete frames that hold data.
    complete: u64,
    /// Work in addition to the decoded bytes.
    work: u64,
}

/// The frame being decoded.
struct Frame {
    decoder: FrameDecoder,
    hash: XxHash64,
    strict: Strict,
    /// Most bytes that a block decodes to.
    block: u64,
    checked: bool,
    /// The content size in the header.
    stated: Option<u64>,
    written: u64,
}

/// The next unit of input, and its length.
enum Unit {
    /// A frame header, or the header of a skippable frame.
    Header(usize),
    Skip(usize),
    Block {
        len: usize,
        last: bool,
        compressed: bool,
    },
    /// This many bytes are needed to decide.
    More(usize),
}

impl Frames {
    pub(super) fn new() -> Self {
        Frames { carry: Vec::new(), frame: None, skip: 0, count: 0, complete: 0, work: 0 }
    }

    pub(super) fn start(&mut self) {
        self.carry.clear();
        self.frame = None;
        self.skip = 0;
        self.count = 0;
        self.complete = 0;
        self.work = 0;
    }

    pub(super) fn work(&self) -> u64 {
        self.work
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn step(&mut self, job: &mut Job<'_>) -> Outcome {
        let mut outcome = Outcome { read: 0, written: 0, end: End::NotYet };
        if let Err(end) = self.step_frames(job, &mut outcome) {
            outcome.end = end;
        }
        outcome
    }

    /// Continues until the output is full, the input is used up, or the stream ends.
    fn step_frames(&mut self, job: &mut Job<'_>, outcome: &mut Outcome) -> Result<(), End> {
        let mut input = job.input;
        loop {
            if self.drain(job, outcome)? {
                return Ok(());
            }
            let before = input.len();
            let work = self.work;
            let room = Some(job.room.saturating_sub(outcome.written)).filter(|_| job.whole);
            let result = self.step_unit(&mut input, job.last, room.map(widen));
            job.work = job.work.saturating_sub(self.work.saturating_sub(work));
            let used = before.saturating_sub(input.len());
            outcome.read = outcome.read.saturating_add(used);
            // The caller compares the total with its budget; this only ends the loop.
            if !result? || job.work == 0 {
                return Ok(());
            }
        }
    }

    /// Writes what the frame has decoded to the output; true if the output is full.
    fn drain(&mut self, job: &mut Job<'_>, outcome: &mut Outcome) -> Result<bool, End> {
        let Some(frame) = &mut self.frame else { return Ok(false) };
        let ready = frame.decoder.can_collect();
        if ready > 0 {
            let from = job.at.saturating_add(outcome.written);
            let room = job.room.saturating_sub(outcome.written);
            let target = job.output.get_mut(from..).unwrap_or_default();
            let target = target.get_mut(..room).unwrap_or_default();
            let left = job.left.saturating_sub(widen(outcome.written));
            if target.is_empty() {
                return if left == 0 { Err(End::Fault(Fault::Long)) } else { Ok(true) };
            }
            let read = frame.decoder.read(target).map_err(|_| malformed())?;
            if frame.checked {
                frame.hash.write(target.get(..read).unwrap_or_default());
            }
            frame.written = frame.written.saturating_add(widen(read));
            outcome.written = outcome.written.saturating_add(read);
            if read < ready {
                return Ok(true);
            }
        }
        if frame.decoder.is_finished() {
            if frame.stated.is_some_and(|stated| stated != frame.written) {
                return Err(End::Fault(Fault::ContentSize));
            }
            let sum = frame.hash.finish().to_le_bytes();
            let stored = frame.decoder.get_checksum_from_data().map(u32::to_le_bytes);
            if frame.checked && sum.first_chunk() != stored.as_ref() {
                return Err(End::Fault(Fault::Checksum));
            }
            self.frame = None;
            self.complete = self.complete.saturating_add(1);
        }
        Ok(false)
    }

    /// Reads one header or block; false if the input is too short.
    fn step_unit(&mut self, input: &mut &[u8], last: bool, room: Option<u64>) -> Result<bool, End> {
        if self.skip > 0 {
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(input.len());
            self.skip = self.skip.saturating_sub(widen(skipped));
            *input = input.get(skipped..).unwrap_or_default();
            return self.unless_over(self.skip == 0, input, last);
        }
        if last && input.is_empty() && self.carry.is_empty() && self.frame.is_none() {
            // Skippable frames alone are a stream without data.
            return Err(if self.count > 0 { End::Done } else { truncated() });
        }
        let between = self.frame.is_none();
        // The bytes at the front: carried over, or wholly in the input.
        let held = if self.carry.is_empty() { *input } else { &self.carry };
        let unit = match self.unit(held, between) {
            // Bytes after a frame that are not a frame are not part of the stream.
            Err(_) if between && self.complete > 0 => return Err(End::Fault(Fault::Trailing)),
            unit => unit?,
        };
        let len = match unit {
            Unit::Header(len) | Unit::Skip(len) | Unit::More(len) | Unit::Block { len, .. } => len,
        };
        if held.len() < len {
            let missing = len.saturating_sub(self.carry.len());
            let (head, rest) = input.split_at_checked(missing).unwrap_or((*input, &[]));
            self.carry.extend_from_slice(head);
            *input = rest;
            return self.unless_over(self.carry.len() >= len, input, last);
        }
        let carried = !self.carry.is_empty();
        let carry = core::mem::take(&mut self.carry);
        let bytes = if carried { carry.get(..len) } else { input.get(..len) };
        let result = self.take(&unit, bytes.unwrap_or_default(), room);
        if !carried {
            *input = input.get(len..).unwrap_or_default();
        }
        // Reuse its allocation.
        self.carry = carry;
        self.carry.clear();
        result.map(|()| true)
    }

    /// The end of the input is a fault unless the header or block is complete.
    fn unless_over(&self, complete: bool, input: &[u8], last: bool) -> Result<bool, End> {
        if complete || !last || !input.is_empty() {
            return Ok(complete);
        }
        // Fewer bytes than a magic start no frame.
        let rest = self.complete > 0 && self.frame.is_none() && self.skip == 0;
        let trailing = rest && self.carry.len() < MAGIC_LEN;
        Err(if trailing { End::Fault(Fault::Trailing) } else { truncated() })
    }

    /// The unit that starts with `held`.
    fn unit(&self, held: &[u8], between: bool) -> Result<Unit, End> {
        if !between {
            let Some(&[b0, b1, b2]) = held.first_chunk::<BLOCK_HEADER>() else {
                return Ok(Unit::More(BLOCK_HEADER));
            };
            let header = u32::from_le_bytes([b0, b1, b2, 0]);
            let (last, kind, size) = (header & 1 == 1, (header >> 1) & 3, header >> 3);
            let most = self.frame.as_ref().map_or(0, |frame| frame.block);
            if kind == 3 || u64::from(size) > most {
                return Err(malformed());
            }
            let stored = if kind == 1 { 1 } else { usize::try_from(size).unwrap_or(usize::MAX) };
            let checked = self.frame.as_ref().is_some_and(|frame| frame.checked);
            let tail = if last && checked { 4 } else { 0 };
            let len = BLOCK_HEADER.saturating_add(stored).saturating_add(tail);
            return Ok(Unit::Block { len, last, compressed: kind == 2 });
        }
        let Some(magic) = held.first_chunk::<MAGIC_LEN>() else {
            return Ok(Unit::More(MAGIC_LEN));
        };
        let magic = u32::from_le_bytes(*magic);
        if magic & !0xF == SKIPPABLE {
            return Ok(Unit::Skip(SKIP_HEADER));
        }
        if magic != MAGIC {
            return Err(malformed());
        }
        let Some(descriptor) = held.get(4) else { return Ok(Unit::More(LEAST_HEADER)) };
        let fields = usize::from(Descriptor::of(*descriptor).rest());
        Ok(Unit::Header(LEAST_HEADER.saturating_add(fields)))
    }

    fn take(&mut self, unit: &Unit, bytes: &[u8], room: Option<u64>) -> Result<(), End> {
        match unit {
            Unit::Skip(_) => {
                let size = bytes.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                self.skip = u64::from(size);
                self.count = self.count.saturating_add(1);
                Ok(())
            }
            Unit::Header(_) => {
                self.count = self.count.saturating_add(1);
                self.work = self.work.saturating_add(WORK_PER_FRAME);
                self.frame = Some(Box::new(Frame::open(bytes, room).map_err(End::Fault)?));
                Ok(())
            }
            Unit::Block { last, compressed, .. } => {
                let Some(frame) = &mut self.frame else { return Err(malformed()) };
                let tail = if *last && frame.checked { 4 } else { 0 };
                let (block, tail) = bytes
                    .split_at_checked(bytes.len().saturating_sub(tail))
                    .ok_or_else(malformed)?;
                if *compressed {
                    let content = block.get(BLOCK_HEADER..).unwrap_or_default();
                    let sequences = frame.strict.check(content, frame.block);
                    let sequences = sequences.map_err(|_| malformed())?;
                    let sequences = sequences.saturating_mul(WORK_PER_SEQUENCE);
                    let work = WORK_PER_BLOCK.saturating_add(sequences);
                    self.work = self.work.saturating_add(work);
                }
                frame.block(block, *last, tail)
            }
            Unit::More(_) => Ok(()),
        }
    }
}

impl Frame {
    /// Validates a complete frame header and starts the frame. If the output holds the whole
    /// stream, `room` is its remaining space.
    fn open(header: &[u8], room: Option<u64>) -> Result<Frame, Fault> {
        let descriptor = Descriptor::of(header.get(4).copied().unwrap_or(0));
        let fields = header.get(LEAST_HEADER..).unwrap_or_default();
        let said @ Header { checked, content, .. } = Header::read(descriptor, fields);
        if said.reserved {
            return Err(Fault::Malformed);
        }
        let window = said.reach();
        if said.dictionary != 0 {
            return Err(Fault::Dictionary);
        }
        let mut decoder = FrameDecoder::new();
        let opened = if window <= ZSTD_WINDOW {
            decoder.set_max_window_size(ZSTD_WINDOW);
            decoder.reset(header)
        } else {
            // A single segment as long as the room.
            let room = room.filter(|_| said.window.is_none() || window < ZSTD_WINDOW_END);
            let room = room.ok_or(Fault::Window)?.clamp(LEAST_WINDOW, window);
            decoder.set_max_window_size(room.max(ZSTD_WINDOW));
            let [m0, m1, m2, m3] = MAGIC.to_le_bytes();
            let form = if checked { 0xE4 } else { 0xE0 };
            let [s0, s1, s2, s3, s4, s5, s6, s7] = room.to_le_bytes();
            decoder.reset([m0, m1, m2, m3, form, s0, s1, s2, s3, s4, s5, s6, s7].as_slice())
        };
        opened.map_err(|_| Fault::Malformed)?;
        let hash = XxHash64::with_seed(0);
        let block = window.min(u64::from(BLOCK));
        let (strict, stated) = (Strict::new(), content);
        Ok(Frame { decoder, hash, strict, block, checked, stated, written: 0 })
    }

    /// Decodes a block, which must not exceed the block size limit.
    ///
    /// The decoder stops after a number of bytes or after the last block. It is therefore told
    /// that more blocks follow, and runs out of input unless the block is too long; at the end it
    /// gets an empty last block, and the checksum in `tail`.
    fn block(&mut self, block: &[u8], last: bool, tail: &[u8]) -> Result<(), End> {
        let (header, content) = block.split_at_checked(BLOCK_HEADER).ok_or_else(malformed)?;
        let Some(&[low, middle, high]) = header.first_chunk() else { return Err(malformed()) };
        let most = usize::try_from(self.block).unwrap_or(usize::MAX);
        let beyond = BlockDecodingStrategy::UptoBytes(most.saturating_add(1));
        let open = [low & !1, middle, high];
        match self.decoder.decode_blocks(Joined(&open, content), beyond) {
            Err(FrameDecoderError::FailedToReadBlockHeader(_)) => {}
            _ => return Err(malformed()),
        }
        if last {
            let one = BlockDecodingStrategy::UptoBlocks(1);
            match self.decoder.decode_blocks(Joined(&[1, 0, 0], tail), one) {
                Ok(true) => {}
                _ => return Err(malformed()),
            }
        }
        Ok(())
    }
}

/// Two slices in sequence.
struct Joined<'b>(&'b [u8], &'b [u8]);

impl ::ruzstd::io::Read for Joined<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ::ruzstd::io::Error> {
        let Joined(first, second) = self;
        let from = if first.is_empty() { second } else { first };
        let read = buf.len().min(from.len());
        buf.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
        *from = from.get(read..).unwrap_or_default();
        Ok(read)
    }
}

fn malformed() -> End {
    End::Fault(Fault::Malformed)
}

fn truncated() -> End {
    End::Fault(Fault::Truncated)
}
