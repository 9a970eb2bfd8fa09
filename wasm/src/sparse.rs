//! Entries of sparse tensors.

use crate::cells::Cells;
use crate::document::Document;
use crate::elements::Refusal;
use alloc::vec::Vec;
use weighbridge_core::{Encoding, Span, Status, Tensor};

/// Maximum bytes of a sparse tensor decoded to show some of its entries: in
/// compressed rows, pointers, columns and values lie apart.
const MOST: u64 = 64 << 20;

impl Document {
    /// Entries `from..from + count` of a sparse tensor in file order, fewer at
    /// its end.
    ///
    /// # Errors
    /// Why they are not available; missing bytes are noted.
    pub fn entries(&mut self, tensor: &Tensor, from: u64, count: u64) -> Result<Cells, Refusal> {
        if tensor.status != Status::Sound {
            return Err(Refusal::Unsupported);
        }
        let count = count.min(crate::elements::MOST);
        let dims = self.index.shape(tensor.index as usize).iter();
        let dims: Vec<u64> = dims.map(|extent| extent.unwrap_or(u64::MAX)).collect();
        let chunk = self.session.ask(|file, source| file.chunk(source, tensor, 0));
        let chunk = chunk?.flatten();
        let Some(chunk) = chunk else { return Ok(Cells::sparse(tensor.dtype)) };
        let raw = chunk.encoding == Encoding::Raw;
        let len = chunk.decoded.or(raw.then_some(chunk.stored.len)).unwrap_or(MOST);
        let end = from.saturating_add(count);
        let wanted = weighbridge::sparse_len(tensor, dims.len(), end).min(len);
        if wanted > MOST {
            return Err(Refusal::TooFar);
        }
        let bytes: Vec<u8> = if raw {
            let stored = Span::new(chunk.stored.offset, wanted.min(chunk.stored.len));
            let read = self.session.ask(|_, source| Ok(source.get(stored)?.to_vec()));
            read?.unwrap_or_default()
        } else {
            self.decoded_up_to(tensor, wanted)?.to_vec()
        };
        let entries = weighbridge::sparse_entries(tensor, &dims, &bytes, from..end);
        let mut cells = Cells::sparse(tensor.dtype);
        entries
            .ok_or(Refusal::Undecodable)?
            .for_each(|(place, value)| cells.entry(place.into_iter(), value));
        Ok(cells)
    }
}
