//! Structural validation of a zTensor file of 10,000 tensors, compared with the published reader of
//! generation 0.1 on the same bytes in one run.
//!
//! Ours does everything except payloads: opening, every rule of the index and of the padding,
//! unique names, disjoint blobs. Theirs only opens the file, which is all it checks before a tensor
//! is read; it validates neither sizes nor bounds nor unique names.

mod turns;

use std::hint::black_box;
use std::io::Cursor;
use turns::{Table, Unit};
use weighbridge_core::{Audit, File, Format, Index, Slot, Source};
use weighbridge_tests::encode::ztensor::{self, Checksum, Tensor};

const TENSORS: usize = 10_000;

struct Input {
    name: &'static str,
    bytes: Vec<u8>,
}

fn inputs() -> [Input; 3] {
    let tensor = |name: String| Tensor::raw(&name, "float32", &[2, 2], vec![0; 16]);
    let layers = |i: usize| format!("model.layers.{:05}.weight", i);
    let file =
        |name, tensors: Vec<Tensor>| Input { name, bytes: ztensor::File::of(tensors).encode() };
    let ascending = (0..TENSORS).map(|i| tensor(layers(i))).collect();
    // 7919 is prime, so this visits each name once.
    let shuffled = (0..TENSORS).map(|i| tensor(layers(i * 7919 % TENSORS))).collect();
    let summed = (0..TENSORS).map(|i| tensor(layers(i)).checksum(Checksum::Crc32c)).collect();
    [
        file("names ascend", ascending),
        file("names shuffled", shuffled),
        file("with checksums", summed),
    ]
}

fn ours(bytes: &[u8], slots: &mut [Slot]) -> u64 {
    let source = Source::whole(bytes);
    let mut worst = 0;
    let mut sink = |finding: weighbridge_core::Finding| worst = worst.max(finding.severity() as u8);
    let file = File::open_as(Format::ZTensor, &source, &mut sink).unwrap();
    Audit::new(file).structure_only().step(&source, slots, &mut sink).unwrap();
    assert!(worst <= weighbridge_core::Severity::Lint as u8);
    file.tensor_count()
}

/// The work of a program that will look tensors up by name.
fn our_index(bytes: &[u8], slots: &mut [Slot]) -> usize {
    let source = Source::whole(bytes);
    let file = File::open_as(Format::ZTensor, &source, &mut |_| {}).unwrap();
    let mut index = Index::new(slots, 0);
    index.step(&file, &source).unwrap();
    index.len()
}

fn theirs(bytes: &[u8]) -> usize {
    ::ztensor::ZTensorReader::new(Cursor::new(bytes)).unwrap().list_tensors().len()
}

/// The lower bound: reading every byte of the index once.
fn byte_sum(bytes: &[u8]) -> u64 {
    let (body, length) = bytes.split_last_chunk().unwrap();
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap();
    body[body.len() - length..].iter().map(|&byte| u64::from(byte)).sum()
}

fn main() {
    let mut table = Table::new("ztensor", 51);
    let mut slots = vec![Slot::EMPTY; 2 * TENSORS];
    for Input { name, bytes } in &inputs() {
        table.race(
            &format!("zTensor, {name}"),
            Unit::Items(TENSORS as u64),
            ["`ztensor` 0.1.0, opening only", "sum of all bytes"],
            &mut || _ = black_box(ours(black_box(bytes), &mut slots)),
            [&mut || _ = black_box(theirs(black_box(bytes))), &mut || {
                _ = black_box(byte_sum(black_box(bytes)))
            }],
        );
        table.race(
            &format!("zTensor, {name}: index by name"),
            Unit::Items(TENSORS as u64),
            ["`ztensor` 0.1.0, opening only"],
            &mut || _ = black_box(our_index(black_box(bytes), &mut slots)),
            [&mut || _ = black_box(theirs(black_box(bytes)))],
        );
    }
}
