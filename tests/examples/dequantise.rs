//! Measures how fast ggml blocks are decoded to `f32`: `dequantise BLOCKS ELEMENTS ROUNDS` uses
//! random bytes as blocks of each type and prints the type's name and the gigabytes of `f32` per
//! second of the fastest round. `scripts/peers.sh dequantise` compares it with ggml's own code.

use std::hint::black_box;
use std::time::Instant;
use weighbridge_core::{DType, Endianness};

/// The types that ggml's Python package decodes as well.
const TYPES: [DType; 9] = [
    DType::Q4_0,
    DType::Q5_0,
    DType::Q8_0,
    DType::Q2K,
    DType::Q3K,
    DType::Q4K,
    DType::Q5K,
    DType::Q6K,
    DType::Iq4Nl,
];

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, elements, rounds] = arguments.as_slice() else {
        panic!("dequantise BLOCKS ELEMENTS ROUNDS");
    };
    let (elements, rounds): (usize, usize) =
        (elements.parse().expect("a number"), rounds.parse().expect("a number"));
    let blocks = std::fs::read(path)?;
    let mut out = vec![0.0_f32; elements];
    for dtype in TYPES {
        let len = dtype.bytes(elements as u64).expect("elements fill blocks") as usize;
        let mut least = f64::INFINITY;
        for _ in 0..rounds {
            let begun = Instant::now();
            let bytes = black_box(&blocks[..len]);
            let count = dtype.decode_f32(Endianness::Little, bytes, black_box(&mut out));
            least = least.min(begun.elapsed().as_secs_f64());
            assert_eq!(count, Some(elements));
        }
        println!("{} {:.3}", dtype.name(), elements as f64 * 4.0 / 1e9 / least);
    }
    Ok(())
}
