//! Compressed data, piece by piece.

use crate::document::Document;
use crate::elements::Refusal;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::{Decoder, Fault, Size, Undecoded};
use weighbridge_core::{Chunk, Tensor};

/// Most decoded bytes that a document keeps, to show elements of a tensor.
const KEPT: u64 = 64 << 20;

/// Decoded bytes that are handed out at once.
const PIECE: usize = 1 << 20;

/// The start of a tensor's decoded data.
#[derive(Debug)]
pub struct Kept {
    tensor: u32,
    /// Decoded bytes of the whole chunk, where the file says.
    whole: u64,
    decoder: Box<Decoder>,
    buffer: Vec<u8>,
    bytes: Vec<u8>,
}

impl Document {
    /// Bytes `at..at + len` of a tensor's decoded data, which is in one chunk.
    ///
    /// # Errors
    /// Why they cannot be had; what is missing is noted.
    pub fn decoded(&mut self, tensor: &Tensor, at: u64, len: u64) -> Result<&[u8], Refusal> {
        let end = at.checked_add(len).filter(|end| *end <= KEPT).ok_or(Refusal::TooFar)?;
        let range = at as usize..end as usize;
        self.decoded_up_to(tensor, end)?.get(range).ok_or(Refusal::Undecodable)
    }

    /// The first `end` bytes of a tensor's decoded data, which is in one chunk,
    /// or more; fewer if there are not so many. Where that is all there is,
    /// the stream is decoded to its end: damage there counts.
    ///
    /// # Errors
    /// Why they cannot be had; what is missing is noted.
    pub fn decoded_up_to(&mut self, tensor: &Tensor, end: u64) -> Result<&[u8], Refusal> {
        if end > KEPT {
            return Err(Refusal::TooFar);
        }
        if tensor.chunks.count() != 1 {
            return Err(Refusal::Unsupported);
        }
        let mut kept = match self.kept.take() {
            Some(kept) if kept.tensor == tensor.index => kept,
            _ => {
                let chunk = self.ask(|file, source| file.chunk(source, tensor, 0));
                let chunk = chunk.map_err(Refusal::Stop)?.flatten();
                let chunk = chunk.ok_or(Refusal::Unsupported)?;
                let mut decoder = Box::new(Decoder::new());
                start(&mut decoder, &chunk);
                let buffer = vec![0; PIECE];
                let whole = chunk.decoded.unwrap_or(u64::MAX);
                Kept { tensor: tensor.index, whole, decoder, buffer, bytes: Vec::new() }
            }
        };
        let mut result: Result<(), Refusal> = Ok(());
        loop {
            let Kept { whole, decoder, buffer, bytes, .. } = &mut kept;
            let len = bytes.len() as u64;
            if len >= end && (end < *whole || decoder.is_done()) {
                break;
            }
            match self
                .store
                .ask(|source| decoder.next(source, buffer).map(|p| p.map(<[u8]>::to_vec)))
            {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => break,
                Err(Undecoded::Absent(absent)) => {
                    self.store.lack(absent, []);
                    result = Err(absent.into());
                    break;
                }
                Err(Undecoded::Fault(Fault::Buffer)) if grow(buffer, decoder) => {}
                // Not kept: nothing can be decoded any further.
                Err(Undecoded::Fault(_)) => return Err(Refusal::Undecodable),
            }
        }
        let kept = self.kept.insert(kept);
        result?;
        Ok(&kept.bytes)
    }
}

fn start(decoder: &mut Decoder, chunk: &Chunk) {
    if decoder.start_chunk(chunk).is_err() {
        let most = weighbridge_core::codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
        decoder.start(chunk.encoding, chunk.stored, Size::AtMost(most));
    }
}

/// Makes a buffer as large as the window of the frame that begins takes; false if
/// it is.
fn grow(buffer: &mut Vec<u8>, decoder: &Decoder) -> bool {
    let needed = usize::try_from(decoder.buffer()).unwrap_or(0);
    let more = needed.saturating_sub(buffer.len());
    let grows = more > 0 && buffer.try_reserve_exact(more).is_ok();
    if grows {
        buffer.resize(needed, 0);
    }
    grows
}

/// Decodes one chunk, whose stored bytes are given in order.
#[derive(Debug)]
pub struct Stream {
    /// What is decoded.
    pub chunk: Chunk,
    decoder: Box<Decoder>,
    buffer: Vec<u8>,
    input: Vec<u8>,
    used: usize,
}

impl Stream {
    /// A stream of the bytes of `chunk`.
    pub fn new(chunk: Chunk) -> Stream {
        let mut decoder = Box::new(Decoder::new());
        start(&mut decoder, &chunk);
        Stream { chunk, decoder, buffer: vec![0; PIECE], input: Vec::new(), used: 0 }
    }

    /// Gives the next stored bytes.
    pub fn give(&mut self, bytes: Vec<u8>) {
        let rest = self.input.get(self.used..).unwrap_or_default();
        self.input = if rest.is_empty() { bytes } else { [rest, &bytes].concat() };
        self.used = 0;
    }

    /// The next decoded bytes; none when more must be given first, or all is
    /// decoded.
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn take(&mut self) -> Result<&[u8], Fault> {
        loop {
            let input = self.input.get(self.used..).unwrap_or_default();
            let step = match self.decoder.step(input, &mut self.buffer) {
                Err(Fault::Buffer) if grow(&mut self.buffer, &self.decoder) => continue,
                step => step?,
            };
            self.used += step.read;
            if !step.written.is_empty() {
                return Ok(self.buffer.get(step.written).unwrap_or_default());
            }
            if step.done || step.read == 0 {
                return Ok(&[]);
            }
        }
    }

    /// Decoded bytes so far, and whether all is decoded and was compared.
    pub fn state(&self) -> (u64, bool) {
        (self.decoder.written(), self.decoder.is_done())
    }
}
