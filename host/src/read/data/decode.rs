//! Decodes chunks, piece by piece or as a whole.

use crate::base::error::Error;
use crate::check::access::Access;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::codec::{self, Decoder, Fault, Size, Tolerance, Undecoded};
use weighbridge_core::{Absent, Chunk, Encoding, Source, Stop, limits};

/// Bytes decoded at a time: a power of two.
const PIECE: usize = 256 << 10;

/// Decodes a chunk piece by piece as its bytes arrive.
///
/// ```
/// use weighbridge::weighbridge_core::{Chunk, Source};
/// use weighbridge::{Decoding, Span};
///
/// let stored = Span::new(1, 4);
/// let mut decoding = Decoding::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
/// assert!(decoding.step(&Source::whole(b"-abcd-"))?);
/// assert_eq!(decoding.piece(), b"abcd");
/// # Ok::<(), weighbridge::weighbridge_core::codec::Undecoded>(())
/// ```
#[derive(Debug)]
pub struct Decoding {
    chunk: Chunk,
    /// Maximum decoded size, used if the chunk does not record its own.
    most: u64,
    work: u64,
    decoder: Box<Decoder>,
    buffer: Vec<u8>,
    piece: Range<usize>,
}

impl Decoding {
    /// Starts decoding a chunk. If its decoded size is not recorded, the limit is the most its
    /// stored bytes can decode to. Nothing but these sizes bounds the work.
    ///
    /// ```
    /// use weighbridge::Decoding;
    /// use weighbridge::weighbridge_core::Chunk;
    ///
    /// assert_eq!(Decoding::new(Chunk::default()).read(), 0);
    /// ```
    pub fn new(chunk: Chunk) -> Self {
        let most = codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
        Decoding::within(chunk, most, u64::MAX)
    }

    /// Starts decoding a chunk within a work budget. `most` limits the decoded size if the
    /// chunk does not record it.
    pub(crate) fn within(chunk: Chunk, most: u64, work: u64) -> Self {
        let (decoder, buffer) = (Box::new(Decoder::new()), vec![0; PIECE]);
        let mut decoding = Decoding { chunk, most, work, decoder, buffer, piece: 0..0 };
        decoding.start();
        decoding
    }

    fn start(&mut self) {
        start(&mut self.decoder, &self.chunk, self.most);
        self.decoder.tolerate(Tolerance::Rest);
        self.decoder.allow(self.work);
    }

    /// Decodes the next [`piece`](Self::piece). Returns `false` at the end of the stream, after
    /// all its checks have passed. Bytes after a deflate stream are passed over: they are a fault
    /// of the file, and all data is there.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{Chunk, Source};
    /// use weighbridge::{Decoding, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut decoding = Decoding::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// while decoding.step(&Source::whole(b"abcd"))? {}
    /// assert!(decoding.is_done());
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Undecoded>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecoded::Absent`]: call again when the bytes are available.
    pub fn step(&mut self, source: &Source<'_>) -> Result<bool, Undecoded> {
        loop {
            let Decoding { chunk, decoder, buffer, .. } = self;
            let at = chunk.stored.offset.saturating_add(decoder.read());
            let left = chunk.stored.len.saturating_sub(decoder.read());
            let run = source.run(at);
            let run = usize::try_from(left).ok().and_then(|left| run.get(..left)).unwrap_or(run);
            match decoder.step(run, buffer) {
                Ok(step) if !step.written.is_empty() => {
                    self.piece = step.written;
                    return Ok(true);
                }
                Ok(step) if step.done => {
                    self.piece = 0..0;
                    return Ok(false);
                }
                Ok(step) if step.read == 0 => {
                    let need = decoder.needs();
                    return Err(Absent { offset: at, need, want: left.max(need) }.into());
                }
                Ok(_) => {}
                // The next frame's window does not fit.
                Err(Fault::Buffer) if enlarge(buffer, decoder.buffer()) => {}
                // Nothing has been decoded yet, and the whole chunk may fit.
                Err(Fault::Window) if decoder.written() == 0 && enlarge(buffer, whole(chunk)) => {
                    self.start();
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    /// The bytes decoded by the last [`step`](Self::step).
    ///
    /// ```
    /// use weighbridge::Decoding;
    /// use weighbridge::weighbridge_core::Chunk;
    ///
    /// assert!(Decoding::new(Chunk::default()).piece().is_empty()); // nothing yet
    /// ```
    pub fn piece(&self) -> &[u8] {
        self.buffer.get(self.piece.clone()).unwrap_or_default()
    }

    /// The number of stored bytes consumed.
    ///
    /// ```
    /// use weighbridge::Decoding;
    /// use weighbridge::weighbridge_core::Chunk;
    ///
    /// assert_eq!(Decoding::new(Chunk::default()).read(), 0);
    /// ```
    pub fn read(&self) -> u64 {
        self.decoder.read()
    }

    /// The number of element bytes decoded.
    ///
    /// ```
    /// use weighbridge::Decoding;
    /// use weighbridge::weighbridge_core::Chunk;
    ///
    /// assert_eq!(Decoding::new(Chunk::default()).written(), 0);
    /// ```
    pub fn written(&self) -> u64 {
        self.decoder.written().saturating_sub(self.chunk.decoded_lead())
    }

    /// Whether everything is decoded and all checks of the stream have passed.
    ///
    /// ```
    /// use weighbridge::Decoding;
    /// use weighbridge::weighbridge_core::Chunk;
    ///
    /// assert!(!Decoding::new(Chunk::default()).is_done());
    /// ```
    pub fn is_done(&self) -> bool {
        self.decoder.is_done()
    }
}

/// Starts a chunk. `most` limits the decoded size if the chunk does not record it.
fn start(decoder: &mut Decoder, chunk: &Chunk, most: u64) {
    if decoder.start_chunk(chunk).is_err() {
        decoder.start(chunk.encoding, chunk.stored, Size::AtMost(most));
    }
}

/// The length of a buffer for the whole decoded chunk, or 0 if it is unknown or above the
/// core's limits.
fn whole(chunk: &Chunk) -> u64 {
    let most = chunk.stored.len.saturating_mul(limits::ZSTD_WHOLE_PER_BYTE);
    let most = most.clamp(limits::ZSTD_WHOLE, limits::BLOCK_BYTES);
    chunk.decoded.filter(|decoded| *decoded <= most).unwrap_or(0)
}

/// Zeros to append at a time.
const ZEROS: [u8; 1 << 10] = [0; 1 << 10];

/// Grows a buffer to `len` bytes. Returns `false` if it is no shorter or memory runs out.
fn enlarge(buffer: &mut Vec<u8>, len: u64) -> bool {
    let len = usize::try_from(len).unwrap_or(0);
    let more = len.saturating_sub(buffer.len());
    let grows = more > 0 && buffer.try_reserve_exact(more).is_ok();
    // `resize` writes byte by byte when optimised for size.
    while grows && buffer.len() < len {
        let zeros = ZEROS.len().min(len - buffer.len());
        buffer.extend_from_slice(&ZEROS[..zeros]);
    }
    grows
}

/// Turns a fault in the data into a result, and missing bytes into a request for them.
pub(crate) fn answered<T>(result: Result<T, Undecoded>) -> Result<Result<T, Fault>, Stop> {
    match result {
        Ok(decoded) => Ok(Ok(decoded)),
        Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
        Err(Undecoded::Fault(fault)) => Ok(Err(fault)),
    }
}

/// Decodes all of a tensor's data, stored in a single chunk, into `into`.
pub(crate) fn fill(access: &Access<'_>, chunk: &Chunk, into: &mut [u8]) -> Result<(), Error> {
    if chunk.encoding == Encoding::Raw {
        return access.read(chunk.stored.offset, into);
    }
    let work = access.options().work_of(access.len());
    if chunk.lead > 0 {
        // `into` has no room for the lead before the elements.
        let mut decoding = Decoding::within(*chunk, into.len() as u64, work);
        let mut rest = into;
        while access.ask(|source| answered(decoding.step(source)))?.map_err(Error::Undecodable)? {
            let piece = decoding.piece();
            let (here, after) =
                rest.split_at_mut_checked(piece.len()).ok_or(Error::Undecodable(Fault::Long))?;
            here.copy_from_slice(piece);
            rest = after;
        }
        return Ok(());
    }
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, Size::Exactly(into.len() as u64));
    decoder.tolerate(Tolerance::Rest);
    decoder.allow(work);
    let filled = access.ask(|source| answered(decoder.fill(source, into).map(|_| ())))?;
    filled.map_err(Error::Undecodable)
}

/// Why a chunk cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It decodes to this many bytes, more than the limit.
    TooLarge(u64),
    /// There is no memory for this many bytes.
    NoMemory(u64),
    /// The stored bytes do not match their encoding.
    Faulty,
}

/// Decodes a whole chunk as its bytes arrive.
#[derive(Debug)]
pub struct Block {
    decoder: Box<Decoder>,
    bytes: Vec<u8>,
    /// Offset of the elements.
    lead: usize,
    is_full: bool,
}

impl Block {
    /// Starts a chunk that decodes to at most `most` bytes. Nothing but its sizes bounds the
    /// work.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{Block, Span};
    ///
    /// let chunk = Chunk { stored: Span::new(0, 4), decoded: Some(4), ..Chunk::default() };
    /// assert!(Block::new(&chunk, 3).is_err());
    /// assert!(Block::new(&chunk, 4).unwrap().bytes().is_empty()); // nothing yet
    /// ```
    ///
    /// # Errors
    /// When it decodes to more, or cannot be decoded.
    pub fn new(chunk: &Chunk, most: u64) -> Result<Self, Trouble> {
        // The stored bytes cannot decode to more.
        let bound = codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
        let len = chunk.decoded.unwrap_or(bound.min(most));
        let room = len.saturating_add(chunk.decoded_lead());
        if room > bound || !Decoder::decodes(chunk.encoding) {
            return Err(Trouble::Faulty);
        }
        if len > most {
            return Err(Trouble::TooLarge(len));
        }
        let mut bytes = Vec::new();
        if room > 0 && !enlarge(&mut bytes, room) {
            return Err(Trouble::NoMemory(room));
        }
        let mut decoder = Box::new(Decoder::new());
        start(&mut decoder, chunk, len);
        // Blocks of columns are read without their end as well.
        decoder.tolerate(Tolerance::NoEnd);
        let lead = usize::try_from(chunk.decoded_lead()).unwrap_or(0);
        Ok(Block { decoder, bytes, lead, is_full: false })
    }

    /// Decodes the whole chunk.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{Chunk, Source, codec::Undecoded};
    /// use weighbridge::{Block, Span};
    ///
    /// let chunk = Chunk { stored: Span::new(0, 4), decoded: Some(4), ..Chunk::default() };
    /// let mut block = Block::new(&chunk, 4).unwrap();
    /// assert!(matches!(block.fill(&Source::windows(4, &[])), Err(Undecoded::Absent(_))));
    /// block.fill(&Source::whole(b"abcd"))?;
    /// assert_eq!(block.bytes(), b"abcd");
    /// # Ok::<(), Undecoded>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecoded::Absent`]: call again when the bytes are available.
    pub fn fill(&mut self, source: &Source<'_>) -> Result<(), Undecoded> {
        if self.is_full {
            return Ok(());
        }
        let filled = self.decoder.fill(source, &mut self.bytes)?.len();
        self.bytes.truncate(self.lead.saturating_add(filled));
        self.bytes.drain(..self.lead);
        self.is_full = true;
        Ok(())
    }

    /// The decoded bytes, empty until [`fill`](Self::fill) has succeeded.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::Block;
    ///
    /// assert_eq!(Block::new(&Chunk::default(), 1).unwrap().bytes(), b"");
    /// ```
    pub fn bytes(&self) -> &[u8] {
        if self.is_full { &self.bytes } else { &[] }
    }
}

/// Decodes all bytes of a chunk that decodes to at most `most` bytes.
pub(crate) fn decode(
    access: &Access<'_>,
    chunk: &Chunk,
    most: u64,
) -> Result<Result<Vec<u8>, Trouble>, Error> {
    let mut block = match Block::new(chunk, most) {
        Ok(block) => block,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let filled = access.ask(|source| answered(block.fill(source)))?;
    Ok(filled.map_err(|_| Trouble::Faulty).map(|()| block.bytes))
}
