//! Compressed data, piece by piece.

use crate::document::Document;
use crate::elements::Refusal;
use alloc::vec::Vec;
use weighbridge::Decoding;
use weighbridge_core::codec::{Fault, Undecoded};
use weighbridge_core::{Chunk, Source, Tensor, Window};

/// Most decoded bytes that a document keeps, to show elements of a tensor, beside the buffer
/// of the decoder: of frames with large windows up to `limits::BLOCK_BYTES`.
const KEPT: u64 = 64 << 20;

/// The start of a tensor's decoded data.
#[derive(Debug)]
pub struct Kept {
    tensor: u32,
    /// Decoded bytes of the whole chunk, where the file says.
    whole: u64,
    decoding: Decoding,
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
                let chunk = self.session.ask(|file, source| file.chunk(source, tensor, 0));
                let chunk = chunk?.flatten();
                let chunk = chunk.ok_or(Refusal::Unsupported)?;
                let whole = chunk.decoded.unwrap_or(u64::MAX);
                let decoding = Decoding::new(chunk);
                Kept { tensor: tensor.index, whole, decoding, bytes: Vec::new() }
            }
        };
        let Kept { whole, decoding, bytes, .. } = &mut kept;
        let result = self.session.ask(|_, source| {
            loop {
                let len = bytes.len() as u64;
                if len >= end && (end < *whole || decoding.is_done()) {
                    return Ok(Ok(()));
                }
                match decoding.step(source) {
                    Ok(true) => bytes.extend_from_slice(decoding.piece()),
                    Ok(false) => return Ok(Ok(())),
                    Err(Undecoded::Absent(absent)) => return Err(absent.into()),
                    Err(Undecoded::Fault(_)) => return Ok(Err(Refusal::Undecodable)),
                }
            }
        });
        // Where it is faulty it is not kept: nothing can be decoded any further.
        if let Ok(Some(decoded)) = result {
            decoded?;
        }
        let kept = self.kept.insert(kept);
        result?;
        Ok(&kept.bytes)
    }
}

/// Decodes one chunk, whose stored bytes are given in order.
#[derive(Debug)]
pub struct Stream {
    /// What is decoded.
    pub chunk: Chunk,
    decoding: Decoding,
    /// The stored bytes that are not decoded yet, and where in the chunk they begin.
    input: Vec<u8>,
    at: u64,
}

impl Stream {
    /// A stream of the bytes of `chunk`.
    pub fn new(chunk: Chunk) -> Stream {
        Stream { chunk, decoding: Decoding::new(chunk), input: Vec::new(), at: 0 }
    }

    /// Gives the next stored bytes.
    pub fn give(&mut self, bytes: Vec<u8>) {
        let used = self.decoding.read().saturating_sub(self.at);
        let rest = self.input.get(used as usize..).unwrap_or_default();
        self.input = if rest.is_empty() { bytes } else { [rest, &bytes].concat() };
        self.at += used;
    }

    /// The next decoded bytes; none when more must be given first, or all is
    /// decoded.
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn take(&mut self) -> Result<&[u8], Fault> {
        let offset = self.chunk.stored.offset.saturating_add(self.at);
        let windows = [Window { offset, bytes: &self.input }];
        match self.decoding.step(&Source::windows(u64::MAX, &windows)) {
            Ok(true) => Ok(self.decoding.piece()),
            // Begun anew in a larger buffer, but its first bytes are gone.
            Err(Undecoded::Absent(_)) if self.decoding.read() < self.at => Err(Fault::Window),
            Ok(false) | Err(Undecoded::Absent(_)) => Ok(&[]),
            Err(Undecoded::Fault(fault)) => Err(fault),
        }
    }

    /// Decoded bytes so far, and whether all is decoded and was compared.
    pub fn state(&self) -> (u64, bool) {
        (self.decoding.written(), self.decoding.is_done())
    }
}
