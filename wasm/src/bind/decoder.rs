//! Decoders of stored chunks.

use super::RawDocument;
use super::thrown::error;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use js_sys::{Error, Uint8Array};
use wasm_bindgen::prelude::*;
use weighbridge::ChunkStream;
use weighbridge_core::Stop;

#[wasm_bindgen]
extern "C" {
    /// Avoids the intermediate array of `Uint8Array::from`.
    #[wasm_bindgen(js_namespace = ["Uint8Array", "prototype", "set"], js_name = call)]
    fn set(into: &Uint8Array, from: &[u8], at: u32);
}

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

    /// Decodes the next bytes and returns how many; 0 when more must be given first.
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn next(&mut self) -> Result<u32, Error> {
        let offset = self.inner.chunk().stored.offset;
        match self.inner.take() {
            Ok(bytes) => Ok(bytes.len() as u32),
            Err(fault) => Err(error(&fault.to_string(), Some(offset))),
        }
    }

    /// Copies them to `into`, from byte `at` on, where there must be room.
    pub fn put(&self, into: &Uint8Array, at: u32) {
        set(into, self.inner.piece(), at);
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
