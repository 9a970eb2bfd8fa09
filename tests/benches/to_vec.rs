//! Elements as numbers: `Tensor::to_vec` of the crate `weighbridge`, compared with the typical use
//! of the crates `safetensors` and `half`, and with copying the same bytes.
//!
//! The file is in memory and is reopened each time, so both parse the header.

mod turns;

use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge::{Model, bf16};
use weighbridge_tests::codec::{weights_bf16, weights_f32};
use weighbridge_tests::encode::safetensors::{File, Tensor};

/// Number of elements of the tensor.
const COUNT: usize = 8 << 20;

fn file(dtype: &'static str, data: Vec<u8>) -> Vec<u8> {
    let tensor = Tensor { name: "x".into(), dtype, shape: vec![COUNT as u64], data };
    File { metadata: None, tensors: vec![tensor] }.encode()
}

fn ours(file: &[u8]) -> Vec<f32> {
    let model = Model::from_bytes(file).expect("it opens");
    model.tensor("x").and_then(|tensor| tensor.to_vec()).expect("it is read")
}

/// Combines `safetensors` and `half` as their documentation suggests.
fn theirs(file: &[u8]) -> Vec<f32> {
    let file = safetensors::SafeTensors::deserialize(file).expect("it opens");
    let view = file.tensor("x").expect("it is there");
    match view.dtype() {
        safetensors::Dtype::F32 => {
            let floats = view.data().chunks_exact(4);
            floats
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect()
        }
        _ => {
            let halves = view.data().chunks_exact(2);
            halves.map(|bytes| bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32()).collect()
        }
    }
}

fn main() {
    let mut table = Table::new("to_vec", 25);
    let floats = weights_f32(COUNT, 9).iter().flat_map(|value| value.to_le_bytes()).collect();
    for (name, file) in
        [("f32", file("F32", floats)), ("bf16", file("BF16", weights_bf16(COUNT, 9)))]
    {
        let (mine, other) = (ours(&file), theirs(&file));
        let same = mine.iter().zip(&other).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same && mine.len() == COUNT, "{name}: the elements differ");
        let plain: Vec<u8> = vec![1; COUNT * 4];
        table.race(
            &format!("{COUNT} elements, {name} to `Vec<f32>`"),
            Unit::Whole,
            ["`safetensors` 0.8 and `half`", "a copy of as many bytes"],
            &mut || drop(black_box(ours(black_box(&file)))),
            [&mut || drop(black_box(theirs(black_box(&file)))), &mut || {
                drop(black_box(black_box(&plain).to_vec()))
            }],
        );
    }
}
