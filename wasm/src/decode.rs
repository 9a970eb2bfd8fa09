//! Decodes compressed data, piece by piece.

use crate::document::Document;
use crate::elements::Refusal;
use alloc::vec::Vec;
use weighbridge::Decoding;
use weighbridge_core::Tensor;
use weighbridge_core::codec::Undecoded;

/// Maximum number of decoded bytes that a document keeps to show a tensor's elements. The decoder's
/// buffer comes on top: up to `limits::BLOCK_BYTES` for frames with large windows.
const KEPT: u64 = 64 << 20;

/// The start of a tensor's decoded data.
#[derive(Debug)]
pub struct Kept {
    tensor: u32,
    /// Decoded size of the whole chunk, if the file declares it.
    whole: u64,
    decoding: Decoding,
    bytes: Vec<u8>,
}

impl Document {
    /// Bytes `at..at + len` of a tensor's decoded data, which is in one chunk.
    ///
    /// # Errors
    /// Why they are not available; missing bytes are noted.
    pub fn decoded(&mut self, tensor: &Tensor, at: u64, len: u64) -> Result<&[u8], Refusal> {
        let end = at.checked_add(len).filter(|end| *end <= KEPT).ok_or(Refusal::TooFar)?;
        let range = at as usize..end as usize;
        self.decoded_up_to(tensor, end)?.get(range).ok_or(Refusal::Undecodable)
    }

    /// At least the first `end` bytes of a tensor's decoded data, which is in one chunk; fewer if
    /// there are fewer. If that is all of the data, the stream is decoded to its end, so that
    /// damage there is reported.
    ///
    /// # Errors
    /// Why they are not available; missing bytes are noted.
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
        // A faulty decoder is not kept: it cannot decode any further.
        if let Ok(Some(decoded)) = result {
            decoded?;
        }
        let kept = self.kept.insert(kept);
        result?;
        Ok(&kept.bytes)
    }
}
