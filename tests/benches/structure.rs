//! Proving the structure of a file of 10,000 tensors, against the crates that
//! people use today, over the same tensors in one run.
//!
//! Ours is everything short of payloads: opening, every rule of the list and
//! of the padding, unique names. The others check what they check when they
//! deserialize, which includes unique names. Before criterion's own figures, a
//! table of the fastest of interleaved runs gives the ratios.

use criterion::{Criterion, Throughput, criterion_group};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::hint::black_box;
use std::time::Instant;
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
    [input("writer's order", layers(TENSORS)), input("shuffled", shuffled_layers(TENSORS))]
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

/// What a program does that then looks tensors up by name.
fn weighbridge_index(bytes: &[u8], slots: &mut [Slot]) -> usize {
    let source = Source::whole(bytes);
    let file = File::open_as(Format::BinTensors, &source, &mut |_| {}).unwrap();
    let mut index = Index::new(slots, 0);
    index.step(&file, &source).unwrap();
    index.len()
}

/// The floor: touching every byte of the header once.
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

/// Nanoseconds a tensor of each task, the tasks taking turns. The least of all
/// rounds: whatever else the machine does can only add.
fn least<const N: usize>(mut tasks: [&mut dyn FnMut(); N]) -> [f64; N] {
    const ROUNDS: usize = 201;
    let mut least = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (task, least) in tasks.iter_mut().zip(&mut least) {
            let start = Instant::now();
            task();
            *least = least.min(start.elapsed().as_nanos() as f64 / TENSORS as f64);
        }
    }
    least
}

fn table() {
    println!("ns a tensor, {TENSORS} tensors F32 [2, 2]; in brackets, how often ours fits in");
    println!(
        "{:<16}{:>12}{:>12}{:>16}{:>16}{:>10}",
        "", "weighbridge", "our index", "bintensors", "safetensors", "byte sum"
    );
    for input in inputs() {
        let (bt, st) = (&input.bintensors, &input.safetensors);
        let mut slots = vec![Slot::EMPTY; TENSORS as usize];
        let mut more = slots.clone();
        let mut third = slots.clone();
        let [ours, index, theirs, safetensors, sum, of_safetensors] = least([
            &mut || _ = black_box(weighbridge(Format::BinTensors, black_box(bt), &mut slots)),
            &mut || _ = black_box(weighbridge_index(black_box(bt), &mut more)),
            &mut || _ = black_box(theirs(black_box(bt))),
            &mut || _ = black_box(safetensors(black_box(st))),
            &mut || _ = black_box(byte_sum(black_box(bt))),
            &mut || {
                let file = black_box(st);
                _ = black_box(weighbridge(Format::Safetensors, file, &mut third));
            },
        ]);
        println!(
            "{:<16}{ours:>12.1}{index:>12.1}{theirs:>9.1} ({:>3.1}x){safetensors:>8.1} ({:>4.1}x){sum:>10.1}",
            input.name,
            theirs / ours,
            safetensors / ours,
        );
        println!(
            "{:<16}{of_safetensors:>12.1}{:>38}{safetensors:>8.1} ({:>4.1}x)",
            "  as safetensors",
            "",
            safetensors / of_safetensors,
        );
    }
}

fn structure(criterion: &mut Criterion) {
    for input in inputs() {
        let mut group = criterion.benchmark_group(format!("structure, {}", input.name));
        group.throughput(Throughput::Elements(TENSORS));
        let mut slots = vec![Slot::EMPTY; TENSORS as usize];
        group.bench_function("weighbridge", |b| {
            b.iter(|| weighbridge(Format::BinTensors, black_box(&input.bintensors), &mut slots));
        });
        group.bench_function("weighbridge, index by name", |b| {
            b.iter(|| weighbridge_index(black_box(&input.bintensors), &mut slots));
        });
        group.bench_function("bintensors", |b| b.iter(|| theirs(black_box(&input.bintensors))));
        group.bench_function("weighbridge, of safetensors", |b| {
            b.iter(|| weighbridge(Format::Safetensors, black_box(&input.safetensors), &mut slots));
        });
        group.bench_function("safetensors", |b| {
            b.iter(|| safetensors(black_box(&input.safetensors)));
        });
        group.bench_function("byte sum", |b| b.iter(|| byte_sum(black_box(&input.bintensors))));
        group.finish();
    }
}

criterion_group!(benches, structure);

fn main() {
    // `cargo test --benches` wants to know that it runs, not how fast.
    if std::env::args().any(|argument| argument == "--bench") {
        table();
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
