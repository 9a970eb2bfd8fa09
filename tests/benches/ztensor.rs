//! Proving the structure of a zTensor file of 10,000 tensors, against the
//! published reader of generation 0.1 over the same bytes in one run.
//!
//! Ours is everything short of payloads: opening, every rule of the index and
//! of the padding, unique names, disjoint blobs. Theirs only opens, which is
//! all it checks before a tensor is read; it proves neither sizes nor bounds
//! nor unique names. Before criterion's own figures, a table of medians of
//! interleaved runs gives the ratios.

use criterion::{Criterion, Throughput, criterion_group};
use std::hint::black_box;
use std::io::Cursor;
use std::time::Instant;
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

/// What a program does that then looks tensors up by name.
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

/// The floor: touching every byte of the index once.
fn byte_sum(bytes: &[u8]) -> u64 {
    let (body, length) = bytes.split_last_chunk().unwrap();
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap();
    body[body.len() - length..].iter().map(|&byte| u64::from(byte)).sum()
}

/// Median nanoseconds a tensor of each task, the tasks taking turns.
fn medians<const N: usize>(mut tasks: [&mut dyn FnMut(); N]) -> [f64; N] {
    const ROUNDS: usize = 51;
    let mut times = [const { Vec::<f64>::new() }; N];
    for _ in 0..ROUNDS {
        for (task, times) in tasks.iter_mut().zip(&mut times) {
            let start = Instant::now();
            task();
            times.push(start.elapsed().as_nanos() as f64 / TENSORS as f64);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

fn table() {
    println!("ns a tensor, {TENSORS} tensors; in brackets, how often ours fits in");
    println!(
        "{:<16}{:>12}{:>12}{:>18}{:>10}",
        "", "weighbridge", "our index", "ztensor open", "byte sum"
    );
    for input in inputs() {
        let bytes = &input.bytes;
        let mut slots = vec![Slot::EMPTY; 2 * TENSORS];
        let mut more = slots.clone();
        let [ours, index, theirs, sum] = medians([
            &mut || ignore(black_box(ours(black_box(bytes), &mut slots))),
            &mut || ignore(black_box(our_index(black_box(bytes), &mut more))),
            &mut || ignore(black_box(theirs(black_box(bytes)))),
            &mut || ignore(black_box(byte_sum(black_box(bytes)))),
        ]);
        println!(
            "{:<16}{ours:>12.1}{index:>12.1}{theirs:>10.1} ({:>4.1}x){sum:>10.1}",
            input.name,
            theirs / ours,
        );
    }
}

fn ztensor_benches(criterion: &mut Criterion) {
    for input in inputs() {
        let mut group = criterion.benchmark_group(format!("ztensor, {}", input.name));
        group.throughput(Throughput::Elements(TENSORS as u64));
        let mut slots = vec![Slot::EMPTY; 2 * TENSORS];
        group.bench_function("weighbridge", |b| {
            b.iter(|| ours(black_box(&input.bytes), &mut slots))
        });
        group.bench_function("weighbridge, index by name", |b| {
            b.iter(|| our_index(black_box(&input.bytes), &mut slots));
        });
        group.bench_function("ztensor 0.1.0, open", |b| b.iter(|| theirs(black_box(&input.bytes))));
        group.bench_function("byte sum", |b| b.iter(|| byte_sum(black_box(&input.bytes))));
        group.finish();
    }
}

criterion_group!(benches, ztensor_benches);

fn main() {
    // `cargo test --benches` wants to know that it runs, not how fast.
    if std::env::args().any(|argument| argument == "--bench") {
        table();
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}

/// Ends a measured expression: its value was used, as far as the compiler knows.
fn ignore<T>(_: T) {}
