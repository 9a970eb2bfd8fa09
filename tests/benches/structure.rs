//! Structural validation of a file of 10,000 tensors, compared with the crates in common use, on
//! the same tensors in one run.
//!
//! Ours does everything except payloads: opening, every rule of the list and of the padding, unique
//! names. The others check what their deserialisation checks, which includes unique names.

mod turns;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge_core::{Audit, File, Format, Index, Slot, Source};
use weighbridge_tests::encode::bintensors::{self, layers, shuffled_layers};

const TENSORS: u64 = 10_000;

/// The same tensors in both formats.
struct Input {
    name: &'static str,
    bintensors: Vec<u8>,
    safetensors: Vec<u8>,
}

fn inputs() -> [Input; 2] {
    let input = |name, file: bintensors::File| Input {
        name,
        bintensors: file.encode(),
        safetensors: as_safetensors(&file),
    };
    [
        input("as its writer sorts them", layers(TENSORS)),
        input("shuffled", shuffled_layers(TENSORS)),
    ]
}

fn as_safetensors(file: &bintensors::File) -> Vec<u8> {
    let views = file.tensors.iter().map(|tensor| {
        let shape = tensor.shape.iter().map(|&extent| usize::try_from(extent).unwrap()).collect();
        (tensor.name.as_str(), TensorView::new(Dtype::F32, shape, &tensor.data).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

fn weighbridge(format: Format, bytes: &[u8], slots: &mut [Slot]) -> u64 {
    let source = Source::whole(bytes);
    let mut worst = 0;
    let mut sink = |finding: weighbridge_core::Finding| worst = worst.max(finding.severity() as u8);
    let file = File::open_as(format, &source, &mut sink).unwrap();
    Audit::new(file).structure_only().step(&source, slots, &mut sink).unwrap();
    assert!(worst <= weighbridge_core::Severity::Lint as u8);
    file.tensor_count()
}

/// The work of a program that will look tensors up by name.
fn weighbridge_index(bytes: &[u8], slots: &mut [Slot]) -> usize {
    let source = Source::whole(bytes);
    let file = File::open_as(Format::BinTensors, &source, &mut |_| {}).unwrap();
    let mut index = Index::new(slots, 0);
    index.step(&file, &source).unwrap();
    index.len()
}

/// The lower bound: reading every byte of the header once.
fn byte_sum(bytes: &[u8]) -> u64 {
    let header = u64::from_le_bytes(*bytes.first_chunk().unwrap());
    let header = &bytes[8..][..usize::try_from(header).unwrap()];
    header.iter().map(|&byte| u64::from(byte)).sum()
}

fn theirs(bytes: &[u8]) -> usize {
    ::bintensors::BinTensors::deserialize(bytes).unwrap().len()
}

fn safetensors(bytes: &[u8]) -> usize {
    SafeTensors::deserialize(bytes).unwrap().len()
}

fn main() {
    let mut table = Table::new("structure", 201);
    let unit = Unit::Items(TENSORS);
    let mut slots = vec![Slot::EMPTY; TENSORS as usize];
    for Input { name, bintensors: bt, safetensors: st } in &inputs() {
        table.race(
            &format!("BinTensors, {name}"),
            unit,
            ["`bintensors` 0.1.1", "`safetensors` 0.8, same tensors", "sum of all bytes"],
            &mut || _ = black_box(weighbridge(Format::BinTensors, black_box(bt), &mut slots)),
            [
                &mut || _ = black_box(theirs(black_box(bt))),
                &mut || _ = black_box(safetensors(black_box(st))),
                &mut || _ = black_box(byte_sum(black_box(bt))),
            ],
        );
        table.race(
            &format!("BinTensors, {name}: index by name"),
            unit,
            ["`bintensors` 0.1.1"],
            &mut || _ = black_box(weighbridge_index(black_box(bt), &mut slots)),
            [&mut || _ = black_box(theirs(black_box(bt)))],
        );
        table.race(
            &format!("safetensors, {name}"),
            unit,
            ["`safetensors` 0.8"],
            &mut || _ = black_box(weighbridge(Format::Safetensors, black_box(st), &mut slots)),
            [&mut || _ = black_box(safetensors(black_box(st)))],
        );
    }
}
