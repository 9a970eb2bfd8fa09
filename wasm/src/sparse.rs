//! Entries of sparse tensors.

use crate::cells::Cells;
use crate::document::Document;
use crate::elements::Refusal;
use alloc::vec::Vec;
use weighbridge_core::{Encoding, Layout, Span, Status, Tensor};

/// Most bytes of a sparse tensor that are decoded to show some of its entries:
/// of compressed rows, pointers, columns and values lie apart.
const MOST: u64 = 64 << 20;

impl Document {
    /// Entries `from..from + count` of a sparse tensor in the order of the
    /// file, fewer at its end.
    ///
    /// # Errors
    /// Why there are none; what is missing is noted.
    pub fn entries(&mut self, tensor: &Tensor, from: u64, count: u64) -> Result<Cells, Refusal> {
        self.store.content();
        if tensor.status != Status::Sound {
            return Err(Refusal::Unsupported);
        }
        let count = count.min(crate::elements::MOST);
        let dims = self.table.dims(tensor.index as usize).to_vec();
        let chunk = self.ask(|file, source| file.chunk(source, tensor, 0));
        let chunk = chunk.map_err(Refusal::Stop)?.flatten();
        let Some(chunk) = chunk else { return Ok(Cells::sparse(tensor.dtype)) };
        let raw = chunk.encoding == Encoding::Raw;
        let len = chunk.decoded.or(raw.then_some(chunk.stored.len)).unwrap_or(MOST);
        // The entries of COO come one after the other.
        let entry = 8 * dims.len() as u64 + u64::from(tensor.dtype.bits() / 8);
        let wanted = match tensor.layout {
            Layout::Coo => from.saturating_add(count).saturating_mul(entry).min(len),
            _ => len,
        };
        if wanted > MOST {
            return Err(Refusal::TooFar);
        }
        let bytes: Vec<u8> = if raw {
            let stored = Span::new(chunk.stored.offset, wanted.min(chunk.stored.len));
            match self.store.ask(|source| source.get(stored).map(<[u8]>::to_vec)) {
                Ok(bytes) => bytes,
                Err(absent) => {
                    self.store.lack(absent, []);
                    return Err(absent.into());
                }
            }
        } else {
            self.decoded_up_to(tensor, wanted)?.to_vec()
        };
        collect(tensor, &dims, &bytes, from, count).ok_or(Refusal::Undecodable)
    }
}

fn collect(tensor: &Tensor, dims: &[u64], bytes: &[u8], from: u64, count: u64) -> Option<Cells> {
    let sparse = weighbridge_core::Sparse::new(tensor, dims.iter().copied(), bytes)?;
    let mut cells = Cells::sparse(tensor.dtype);
    let first = usize::try_from(from).ok()?;
    let shown = usize::try_from(count).ok()?.min(sparse.len().saturating_sub(first));
    let mut row = 0;
    for i in first..first.saturating_add(shown) {
        let value = sparse.value(i)?;
        if tensor.layout == Layout::Coo {
            cells.entry((0..dims.len()).filter_map(|axis| sparse.coordinate(i, axis)), value);
        } else {
            while row < sparse.rows() && sparse.pointer(row + 1).is_some_and(|end| end <= i as u64)
            {
                row += 1;
            }
            cells.entry([row, sparse.column(i)?].into_iter(), value);
        }
    }
    Some(cells)
}
