//! What the tensors of a file are, to be compared with those of another.

use crate::table::Table;
use alloc::vec::Vec;

/// Names, types, shapes and sizes in one array of bytes: for each tensor the
/// length of the name, the rank, three codes, the stored bytes, the name, the
/// extents.
pub fn digest(table: &Table) -> Vec<u8> {
    let mut out = Vec::new();
    for i in 0..table.len() {
        let name = table.name_bytes(i);
        let dims = table.dims(i);
        let tensor = table.tensor(i as u32);
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(&(dims.len() as u32).to_le_bytes());
        out.extend_from_slice(&[tensor.dtype as u8, tensor.layout as u8, tensor.encoding as u8]);
        out.extend_from_slice(&table.stored.get(i).copied().unwrap_or(0).to_le_bytes());
        out.extend_from_slice(name);
        for extent in dims {
            out.extend_from_slice(&extent.to_le_bytes());
        }
    }
    out
}
