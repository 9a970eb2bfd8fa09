//! Random sound files.

use super::{Checksum, DTYPES, File, Item, Tensor, sparse};
use proptest::collection::vec;
use proptest::prelude::*;

/// Sound files of up to eight tensors with unique names that use every feature.
pub fn arbitrary() -> impl Strategy<Value = File> {
    vec(tensor(), 0..8).prop_map(|mut tensors| {
        for (i, tensor) in tensors.iter_mut().enumerate() {
            tensor.name = format!("{i}{}", tensor.name);
        }
        File { tensors }
    })
}

/// One sound tensor of any layout, encoding, byte order and checksum.
fn tensor() -> impl Strategy<Value = Tensor> {
    let content = prop_oneof![4 => dense(), 1 => coo(), 1 => csr()];
    let checksum =
        prop_oneof![Just(Checksum::None), Just(Checksum::Crc32c), Just(Checksum::Sha256),];
    let keys = proptest::collection::btree_map("[a-z]{1,6}_", item(), 0..4);
    (content, "\\PC{0,12}", checksum, keys).prop_map(|(tensor, name, checksum, keys)| Tensor {
        name,
        checksum,
        custom: keys.into_iter().collect(),
        ..tensor
    })
}

/// A dense tensor, raw in either byte order or compressed.
fn dense() -> impl Strategy<Value = Tensor> {
    (0..DTYPES.len(), vec(0_u64..5, 0..4), 0..3_u8, any::<u64>()).prop_map(
        |(dtype, shape, form, seed)| {
            let (dtype, width) = DTYPES[dtype];
            let data = bytes(shape.iter().product::<u64>() * width, seed, dtype == "bool");
            match form {
                0 => Tensor::zstd("", dtype, &shape, &data),
                1 if width > 1 => Tensor::raw("", dtype, &shape, data).big_endian(),
                _ => Tensor::raw("", dtype, &shape, data),
            }
        },
    )
}

/// `count` pseudorandom bytes; only 0 and 1 for truth values.
fn bytes(count: u64, seed: u64, truth: bool) -> Vec<u8> {
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let byte = (state >> 56) as u8;
            if truth { byte & 1 } else { byte }
        })
        .collect()
}

/// COO of 5 by 4 singles with 4 entries: as long as the dense tensor, as the published reader
/// requires.
fn coo() -> impl Strategy<Value = Tensor> {
    (proptest::sample::subsequence((0..20_u64).collect::<Vec<_>>(), 4), any::<[f32; 4]>()).prop_map(
        |(cells, values)| {
            let blob = cells
                .iter()
                .zip(values)
                .flat_map(|(&cell, value)| {
                    sparse::coo(&[(&[cell / 4, cell % 4], &value.to_le_bytes())])
                })
                .collect();
            Tensor::raw("", "float32", &[5, 4], blob).layout("sparsecoo")
        },
    )
}

/// A sparse CSR tensor of 3 by 4 doubles with 4 entries, also as long as the dense tensor.
fn csr() -> impl Strategy<Value = Tensor> {
    (proptest::sample::subsequence((0..12_u64).collect::<Vec<_>>(), 4), any::<[f64; 4]>()).prop_map(
        |(cells, values)| {
            let rows: Vec<u64> =
                (0..4).map(|row| cells.iter().filter(|&&c| c / 4 < row).count() as u64).collect();
            let columns: Vec<u64> = cells.iter().map(|c| c % 4).collect();
            let values: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let blob = sparse::csr(&rows, &columns, &values);
            Tensor::raw("", "float64", &[3, 4], blob).layout("sparsecsr")
        },
    )
}

/// The value of a custom field, of any kind that a writer can emit.
fn item() -> impl Strategy<Value = Item> {
    let leaf = prop_oneof![
        any::<u64>().prop_map(Item::Uint),
        any::<u64>().prop_map(Item::Nint),
        vec(any::<u8>(), 0..30).prop_map(Item::Bytes),
        "\\PC{0,30}".prop_map(Item::Text),
        (0x0001_u16..0x7C00).prop_map(Item::F16),
        Just(Item::F32(100_000.0)),
        Just(Item::F64(0.001)),
        Just(Item::TRUE),
        Just(Item::NULL),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Item::Array),
            proptest::collection::btree_map("[a-z]{1,3}", inner, 0..5).prop_map(|map| {
                Item::Map(map.into_iter().map(|(k, v)| (Item::Text(k), v)).collect())
            }),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest! {
        #[test]
        fn the_length_field_and_the_offsets_fit(file in arbitrary()) {
            let bytes = file.encode();
            let index = file.draft().index_bytes();
            prop_assert!(bytes.ends_with(&[&index[..], &(index.len() as u64).to_le_bytes()].concat()));
            for (tensor, at) in file.tensors.iter().zip(file.offsets()) {
                prop_assert_eq!(&bytes[at as usize..][..tensor.blob.len()], &tensor.blob[..]);
            }
        }
    }
}
