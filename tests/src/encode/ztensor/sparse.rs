//! Blobs of the two sparse layouts that the published writer supports.

/// COO: consecutive entries, each with its indices as 64-bit numbers, then its value.
pub fn coo(entries: &[(&[u64], &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (indices, value) in entries {
        indices.iter().for_each(|i| out.extend_from_slice(&i.to_le_bytes()));
        out.extend_from_slice(value);
    }
    out
}

/// CSR: row pointers, column indices (both 64-bit), values.
pub fn csr(row_pointers: &[u64], columns: &[u64], values: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    row_pointers.iter().chain(columns).for_each(|i| out.extend_from_slice(&i.to_le_bytes()));
    out.extend_from_slice(values);
    out
}

/// Converts the blob to a big-endian writer's form: every unit of the *value's* width is reversed,
/// including indices, so 64-bit indices of a 4-byte type keep their halves in little-endian order.
pub fn swap_units(blob: &mut [u8], width: usize) {
    blob.chunks_mut(width).for_each(<[u8]>::reverse);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_encoder_packs_narrow_index() {
        let mut blob = coo(&[(&[1], &2.0_f32.to_le_bytes())]);
        swap_units(&mut blob, 4);
        assert_eq!(blob, [0, 0, 0, 1, 0, 0, 0, 0, 0x40, 0, 0, 0]);
    }
}
