//! Compressed data, piece by piece.

use crate::document::Document;
use crate::elements::Refusal;
use alloc::vec::Vec;
use weighbridge::Decoding;
use weighbridge_core::Tensor;
use weighbridge_core::codec::Undecoded;

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
