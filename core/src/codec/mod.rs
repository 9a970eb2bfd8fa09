//! Decoding of stored bytes: raw, deflate, zlib, zstd.
//!
//! A [`Decoder`] takes the resident input and fills the caller's buffer piece by piece, so a
//! tensor of any size needs a fixed amount of memory. It knows how many bytes are stored and how
//! many they may decode to. It never returns more, and a stream is complete only when its input
//! is used to the last byte and its checksums and sizes have been verified.
//!
//! | encoding | state | output buffer | heap |
//! |---|---|---|---|
//! | varints | | any | none |
//! | raw | | any, or none ([`Decoder::next`] lends the stored bytes) | none |
//! | deflate, zlib | 10.5 KiB in the decoder | all of the output, or at least [`WINDOW`] | none |
//! | zstd | 14.5 KiB in the decoder | all of the output, or the window and a block ([`ring`]) | none |
//!
//! A window is at most [`ZSTD_WINDOW`], or as long as the output buffer if that holds all
//! of the output. With the feature `ruzstd`, `Decoder::with_second_opinion` has every zstd stream
//! decoded by ruzstd as well, on the heap; `Decoder::with_ruzstd` uses ruzstd alone.
//!
//! [`ZSTD_WINDOW`]: crate::base::limits::ZSTD_WINDOW

pub mod checksum;
mod fault;
#[cfg_attr(not(feature = "deflate"), path = "no_inflate.rs")]
mod inflate;
mod job;
#[cfg_attr(not(feature = "ruzstd"), path = "no_ruzstd.rs")]
mod ruzstd;
#[cfg_attr(not(feature = "ruzstd"), path = "no_second_decoder.rs")]
mod second_decoder;
mod step;
mod varints;
pub(crate) mod zstd;

pub use fault::Fault;
pub use step::{Size, Step, Tolerance, Undecoded, most, ring};

use crate::base::widen;
use crate::input::{Absent, Source, Span};
use crate::model::{Chunk, Encoding};
use core::fmt;
use inflate::Inflate;
use job::{End, Job, Outcome, copy};

/// How far back a deflate stream can refer: the smallest output buffer that can be reused
/// while such a stream is decoded.
pub const WINDOW: usize = 32 << 10;

/// Decodes one stream at a time. It takes about 25 KiB with every codec, wherever the caller
/// keeps it.
///
/// ```
/// # #[cfg(feature = "deflate")] {
/// use weighbridge_core::codec::{Decoder, Size};
/// use weighbridge_core::{Encoding, Source, Span};
///
/// let stored = [0x4B, 0x4C, 0x44, 0x06, 0x00]; // 14 times an "a"
/// let source = Source::whole(&stored);
/// let mut decoder = Decoder::new();
/// decoder.start(Encoding::Deflate, Span::new(0, 5), Size::Exactly(14));
/// let mut buffer = [0; 14];
/// let mut total = 0;
/// while let Some(piece) = decoder.next(&source, &mut buffer).unwrap() {
///     assert!(piece.iter().all(|byte| *byte == b'a'));
///     total += piece.len();
/// }
/// assert_eq!(total, 14);
/// # }
/// ```
pub struct Decoder {
    encoding: Encoding,
    stored: Span,
    size: Size,
    /// Number of stored bytes used.
    read: u64,
    /// Number of bytes decoded.
    written: u64,
    /// Number of decoded bytes at the start that are not returned.
    lead: u64,
    /// Work budget of the stream.
    allowed: u64,
    tolerance: Tolerance,
    end: End,
    inflate: Inflate,
    zstd: zstd::Frames,
    /// If present, decodes zstd frames instead of the field `zstd`.
    ruzstd: Option<ruzstd::Frames>,
    /// If present, decodes zstd frames as well.
    second: Option<second_decoder::Second>,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("encoding", &self.encoding)
            .field("stored", &self.stored)
            .field("size", &self.size)
            .field("read", &self.read)
            .field("written", &self.written)
            .field("work", &self.work())
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Decoder {
    /// A decoder without a stream.
    pub fn new() -> Self {
        Decoder {
            encoding: Encoding::Raw,
            stored: Span::new(0, 0),
            size: Size::Exactly(0),
            read: 0,
            written: 0,
            lead: 0,
            allowed: u64::MAX,
            tolerance: Tolerance::None,
            end: End::NotYet,
            inflate: Inflate::new(),
            zstd: zstd::Frames::new(),
            ruzstd: None,
            second: None,
        }
    }

    /// A decoder that uses ruzstd for zstd frames, as a second opinion. Its window is on
    /// the heap, and the output buffer may have any size.
    #[cfg(feature = "ruzstd")]
    pub fn with_ruzstd() -> Self {
        Decoder { ruzstd: Some(ruzstd::Frames::new()), ..Decoder::new() }
    }

    /// A decoder that has every zstd stream decoded by ruzstd as well. A stream that both do not
    /// accept with the same bytes ends with [`Fault::Second`]. This takes a buffer on the heap, as
    /// large as the caller's for streams that fit in it.
    ///
    /// ```
    /// use weighbridge_core::codec::{Decoder, Size};
    /// use weighbridge_core::{Encoding, Source, Span};
    ///
    /// let stored = b"\x28\xB5\x2F\xFD\x20\x04\x21\x00\x00abcd";
    /// let mut decoder = Decoder::with_second_opinion();
    /// decoder.start(Encoding::Zstd, Span::new(0, 13), Size::Exactly(4));
    /// assert_eq!(decoder.fill(&Source::whole(stored), &mut [0; 4]).unwrap(), b"abcd");
    /// ```
    #[cfg(feature = "ruzstd")]
    pub fn with_second_opinion() -> Self {
        Decoder { second: Some(second_decoder::Second::new()), ..Decoder::new() }
    }

    /// Whether this build decodes `encoding`.
    pub const fn decodes(encoding: Encoding) -> bool {
        match encoding {
            Encoding::Raw => true,
            Encoding::Deflate | Encoding::Zlib => Inflate::IS_BUILT,
            Encoding::Zstd => zstd::Frames::IS_BUILT,
            Encoding::Varints(_) => varints::IS_BUILT,
            Encoding::Unknown => false,
        }
    }

    /// Starts the stream `stored` of a file, which decodes to `size` bytes, and forgets the
    /// previous one.
    pub fn start(&mut self, encoding: Encoding, stored: Span, size: Size) {
        self.encoding = encoding;
        self.stored = stored;
        self.size = size;
        self.read = 0;
        self.written = 0;
        self.lead = 0;
        self.allowed = u64::MAX;
        self.tolerance = Tolerance::None;
        self.end = match Decoder::decodes(encoding) {
            true => End::NotYet,
            false => End::Fault(Fault::Unsupported),
        };
        self.inflate.start();
        self.zstd.start();
        if let Some(ruzstd) = &mut self.ruzstd {
            ruzstd.start();
        }
        if let Some(second) = &mut self.second {
            second.start();
        }
    }

    /// Starts a chunk whose decoded size its format records. The bytes before its elements are
    /// decoded but not returned; `fill` still needs room for them.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] if the size is not recorded; in that case use
    /// [`start`](Self::start) with a bound.
    pub fn start_chunk(&mut self, chunk: &Chunk) -> Result<(), Fault> {
        let size = chunk.decoded.ok_or(Fault::Unsupported)?;
        let lead = chunk.decoded_lead();
        let size = size.saturating_add(lead);
        self.start(chunk.encoding, chunk.stored, Size::Exactly(size));
        self.lead = lead;
        Ok(())
    }

    /// Sets the budget of [`work`](Self::work) for the current stream, which ends with
    /// [`Fault::Work`] if it exceeds it. The default is unlimited.
    pub fn allow(&mut self, work: u64) {
        self.allowed = work;
    }

    /// Sets what the current stream may lack and still be complete, for readers that want its
    /// data. The default is nothing.
    pub fn tolerate(&mut self, tolerance: Tolerance) {
        self.tolerance = tolerance;
    }

    /// Work of the stream so far: its decoded bytes, plus the cost of sequences, blocks and
    /// frames, in bytes that take as long ([`limits::WORK`](crate::base::limits::WORK) and the
    /// following). It is the same on every machine.
    pub fn work(&self) -> u64 {
        self.written.saturating_add(match (self.encoding, &self.ruzstd) {
            (Encoding::Zstd, Some(ruzstd)) => ruzstd.work(),
            (Encoding::Zstd, None) => self.zstd.work(),
            _ => 0,
        })
    }

    /// Number of stored bytes used so far.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// Number of bytes decoded so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether the stream is complete and all its checks have passed.
    pub fn is_done(&self) -> bool {
        self.end == End::Done
    }

    /// Number of zstd frames started, skippable ones included; 0 for other encodings. Real
    /// writers store one.
    pub fn frames(&self) -> u64 {
        match (self.encoding, &self.ruzstd) {
            (Encoding::Zstd, Some(ruzstd)) => ruzstd.count(),
            (Encoding::Zstd, None) => self.zstd.count(),
            _ => 0,
        }
    }

    /// Number of stored bytes from [`read`](Self::read) that the next call needs: a zstd block is
    /// decoded only when all of it is available.
    pub fn needs(&self) -> u64 {
        if let Encoding::Varints(_) = self.encoding {
            let rest = self.stored.len.saturating_sub(self.read);
            return varints::LONGEST.min(rest).max(1);
        }
        if !self.is_own() {
            return 1;
        }
        let rest = self.stored.len.saturating_sub(self.read);
        widen(self.zstd.needs()).min(rest).max(1)
    }

    /// The output buffer size with which the current zstd frame, or the one of [`Fault::Buffer`],
    /// is decoded without moving its window: the window and two blocks, or the whole frame. A
    /// window and one block suffice. 0 for other encodings.
    pub fn buffer(&self) -> u64 {
        match self.encoding {
            Encoding::Varints(_) => self.size.most(),
            _ if self.is_own() => self.zstd.buffer(),
            _ => 0,
        }
    }

    /// Whether the stream is zstd and decoded without ruzstd.
    fn is_own(&self) -> bool {
        zstd::Frames::IS_BUILT && self.encoding == Encoding::Zstd && self.ruzstd.is_none()
    }

    /// Decodes some of `input`, the stored bytes from [`read`](Self::read), into `output`, which
    /// must be the same at every call: deflate refers back into it.
    ///
    /// The output is filled from start to end, so a stream that fits in the buffer ends up in it
    /// as a whole. After that, the output is a ring of the largest power of two that fits. New
    /// bytes are valid until the next call. If a call has no effect (nothing read or written, and
    /// not done), more input is needed.
    ///
    /// # Errors
    /// The fault, repeated at every further call. Bytes before the fault are always returned
    /// first.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        loop {
            let lead = self.lead.saturating_sub(self.written);
            let mut step = self.advance(input, output)?;
            if lead == 0 {
                return Ok(step);
            }
            let decoded = step.written.len();
            let lead = usize::try_from(lead).unwrap_or(usize::MAX).min(decoded);
            step.written.start = step.written.start.saturating_add(lead);
            // Returning no effect would request more input, although bytes were decoded.
            if decoded == 0 || lead < decoded || step.read > 0 || step.done {
                return Ok(step);
            }
        }
    }

    /// The same, including the bytes before the elements.
    fn advance(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        match self.end {
            End::NotYet => {}
            End::Done => return Ok(Step { done: true, ..Step::default() }),
            End::Fault(fault) => return Err(fault),
        }
        let rest = self.stored.len.saturating_sub(self.read);
        let input = cut(input, rest);
        let last = widen(input.len()) == rest;
        let left = self.size.most().saturating_sub(self.written);
        let whole = widen(output.len()) >= self.size.most();
        let own = self.is_own();
        let power = 1_usize.checked_shl(output.len().checked_ilog2().unwrap_or(0)).unwrap_or(0);
        if !whole && !own && (output.is_empty() || (self.looks_back() && power < WINDOW)) {
            return Err(Fault::Buffer);
        }
        // Zstd tracks its own place in a ring.
        let filling = whole || own || self.written < widen(output.len());
        let ring = if filling { output.len() } else { power };
        if self.written == widen(output.len()) && !whole && !own {
            // Move the last bytes to their place in the ring.
            let (first, last) = output.split_at_mut_checked(ring).unwrap_or_default();
            first.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
        }
        // In a ring: the remainder modulo a power of two.
        let mask = match filling {
            _ if own && !whole => 0,
            true => u64::MAX,
            false => widen(ring).saturating_sub(1),
        };
        let at = usize::try_from(self.written & mask).map_err(|_| Fault::Buffer)?;
        let room = ring.saturating_sub(at).min(usize::try_from(left).unwrap_or(usize::MAX));
        let Some(output) = output.get_mut(..ring) else { return Err(Fault::Buffer) };
        let written = self.written;
        let work = self.allowed.saturating_sub(self.work());
        let mut job = Job { input, last, output, at, room, whole, left, written, work };
        let outcome = self.run(&mut job);
        let at = job.at;
        if let (Encoding::Zstd, Some(second)) = (self.encoding, &mut self.second) {
            let decoded = at..at.saturating_add(outcome.written);
            let decoded = output.get(decoded).unwrap_or_default();
            let last = last && outcome.read == input.len();
            let used = input.get(..outcome.read).unwrap_or_default();
            second.follow(used, last, decoded, (self.size.most(), whole));
        }

        self.read = self.read.saturating_add(widen(outcome.read));
        self.written = self.written.saturating_add(widen(outcome.written));
        let written = at..at.saturating_add(outcome.written);
        if outcome.end == End::Fault(Fault::Buffer) {
            // Not a fault of the stream: it can continue with a larger buffer.
            return match written.is_empty() && outcome.read == 0 {
                true => Err(Fault::Buffer),
                false => Ok(Step { read: outcome.read, written, done: false }),
            };
        }
        self.end = self.validate(outcome.end);
        if self.work() > self.allowed {
            self.end = End::Fault(Fault::Work);
        }
        match self.end {
            End::Fault(fault) if written.is_empty() => Err(fault),
            end => Ok(Step { read: outcome.read, written, done: end == End::Done }),
        }
    }

    /// The next decoded piece, or `None` once the stream is complete and all its checks
    /// have passed. Raw bytes are borrowed in place; for other encodings see
    /// [`step`](Self::step) about the buffer.
    ///
    /// # Errors
    /// [`Undecoded::Absent`]: make the bytes resident and call again.
    pub fn next<'b>(
        &mut self,
        source: &Source<'b>,
        buffer: &'b mut [u8],
    ) -> Result<Option<&'b [u8]>, Undecoded> {
        loop {
            let at = self.stored.offset.saturating_add(self.read);
            let left = self.stored.len.saturating_sub(self.read);
            let run = cut(source.run(at), left);
            if self.encoding == Encoding::Raw && self.end == End::NotYet {
                let piece = cut(run, self.size.most().saturating_sub(self.written));
                if !piece.is_empty() {
                    self.read = self.read.saturating_add(widen(piece.len()));
                    self.written = self.written.saturating_add(widen(piece.len()));
                    return Ok(Some(piece));
                }
            }
            let Step { read, written, done } = self.step(run, buffer)?;
            if !written.is_empty() {
                return Ok(buffer.get(written));
            }
            if done {
                return Ok(None);
            }
            if read == 0 {
                let need = self.needs();
                return Err(Absent { offset: at, need, want: left.max(need) }.into());
            }
        }
    }

    /// Decodes the whole stream into `buffer`, which must hold all of [`Size`], and returns
    /// the filled part.
    ///
    /// # Errors
    /// [`Undecoded::Absent`]: make the bytes resident and call again with the
    /// same buffer.
    pub fn fill<'b>(
        &mut self,
        source: &Source<'_>,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], Undecoded> {
        if widen(buffer.len()) < self.size.most() {
            return Err(Fault::Buffer.into());
        }
        loop {
            let at = self.stored.offset.saturating_add(self.read);
            let left = self.stored.len.saturating_sub(self.read);
            let Step { read, written, done } = self.step(cut(source.run(at), left), buffer)?;
            if done {
                let lead = usize::try_from(self.lead).unwrap_or(usize::MAX);
                return Ok(cut(buffer, self.written).get(lead..).unwrap_or_default());
            }
            if read == 0 && written.is_empty() {
                let need = self.needs();
                return Err(Absent { offset: at, need, want: left.max(need) }.into());
            }
        }
    }

    fn looks_back(&self) -> bool {
        matches!(self.encoding, Encoding::Deflate | Encoding::Zlib)
    }

    fn run(&mut self, job: &mut Job<'_>) -> Outcome {
        match (self.encoding, &mut self.ruzstd) {
            (Encoding::Deflate, _) => self.inflate.step(job, false),
            (Encoding::Zlib, _) => self.inflate.step(job, true),
            (Encoding::Zstd, Some(ruzstd)) => ruzstd.step(job),
            (Encoding::Zstd, None) => self.zstd.step(job),
            (Encoding::Raw, _) => copy(job),
            (Encoding::Varints(dtype), _) => varints::step(job, dtype),
            (Encoding::Unknown, _) => Outcome::UNSUPPORTED,
        }
    }

    /// The end of a stream that is complete: a fault if a second decoder disagrees.
    fn compare(&mut self) -> End {
        let zstd = self.encoding == Encoding::Zstd;
        match self.second.as_mut().filter(|_| zstd).is_none_or(second_decoder::Second::agrees) {
            true => End::Done,
            false => End::Fault(Fault::Second),
        }
    }

    /// Checks that need the whole stream.
    ///
    /// Data that is missing comes first: it cannot be read, whatever follows the stream.
    fn validate(&mut self, end: End) -> End {
        let short = matches!(self.size, Size::Exactly(size) if self.written < size);
        let deflate = self.looks_back();
        match end {
            End::Fault(Fault::Truncated)
                if deflate && !short && self.tolerance == Tolerance::NoEnd =>
            {
                End::Done
            }
            End::Done if short => End::Fault(Fault::Short),
            End::Done if self.read < self.stored.len => {
                match deflate && self.tolerance != Tolerance::None {
                    true => End::Done,
                    false => End::Fault(Fault::Trailing),
                }
            }
            End::Done => self.compare(),
            end => end,
        }
    }
}

/// At most the first `most` bytes.
fn cut(bytes: &[u8], most: u64) -> &[u8] {
    usize::try_from(most).ok().and_then(|most| bytes.get(..most)).unwrap_or(bytes)
}
