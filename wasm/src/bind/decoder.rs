//! Decoders of stored chunks.

use super::RawDocument;
use super::thrown::error;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use js_sys::{Error, Uint8Array};
use wasm_bindgen::prelude::*;
use weighbridge::ChunkStream;
use weighbridge_core::Stop;

/// A chunk that is being decoded.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawDecoder {
    inner: ChunkStream,
}

#[wasm_bindgen]
impl RawDecoder {
    /// Gives the next stored bytes.
    pub fn give(&mut self, bytes: Vec<u8>) {
        self.inner.give(bytes);
    }

    /// The next decoded bytes; none when more must be given first.
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn take(&mut self) -> Result<Uint8Array, Error> {
        let offset = self.inner.chunk().stored.offset;
        match self.inner.take() {
            Ok(bytes) => Ok(Uint8Array::from(bytes)),
            Err(fault) => Err(error(&fault.to_string(), Some(offset))),
        }
    }

    /// Decoded bytes so far.
    pub fn decoded(&self) -> u64 {
        self.inner.written()
    }

    /// Whether all is decoded.
    pub fn done(&self) -> bool {
        self.inner.is_done()
    }
}

#[wasm_bindgen]
impl RawDocument {
    /// A decoder of a chunk; `undefined` when bytes are missing or there is no
    /// such chunk, for which see `chunks`.
    pub fn decoder(&mut self, index: u32, chunk: u32) -> Option<RawDecoder> {
        let tensor = self.inner.index.tensors().get(index as usize).copied()?;
        let found: Result<_, Stop> =
            self.inner.session.ask(|file, source| file.chunk(source, &tensor, chunk.into()));
        Some(RawDecoder { inner: ChunkStream::new(found.ok()???) })
    }
}
