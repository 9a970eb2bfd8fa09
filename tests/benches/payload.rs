//! Payloads: decoding against the C libraries, checksums and statistics
//! against the speed of memory, over the same bytes in one run.
//!
//! Ours decodes through one buffer of 256 KiB, zstd through a ring for its window, as an
//! audit does, bounded and with every check; theirs decodes into one buffer for all. Before criterion's
//! own figures, a table of medians of interleaved runs gives the ratios.

mod turns;

use criterion::{Criterion, Throughput, criterion_group};
use std::hint::black_box;
use std::io::Write as _;
use turns::take_turns;
use weighbridge_core::checksum::{Algorithm, Hasher};
use weighbridge_core::codec::{Decoder, Size, ring};
use weighbridge_core::{DType, Encoding, Endianness, Span, Stats};
use weighbridge_tests::codec::{samples, weights_bf16, weights_f32};

const LEN: usize = 16 << 20;
const BUFFER: usize = 256 << 10;
/// The window of zstd's level 19, and two blocks.
const RING: usize = ring(8 << 20) as usize;

struct Input {
    name: &'static str,
    data: Vec<u8>,
    deflate: Vec<u8>,
    zlib: Vec<u8>,
    /// By level.
    zstd: [(&'static str, Vec<u8>); 3],
}

fn inputs() -> Vec<Input> {
    let mut samples = samples(LEN);
    let text = samples.swap_remove(1).1;
    let f32: Vec<u8> = weights_f32(LEN / 4, 9).iter().flat_map(|v| v.to_le_bytes()).collect();
    let all = [("weights, bf16", weights_bf16(LEN / 2, 9)), ("weights, f32", f32), ("text", text)];
    all.into_iter().map(|(name, data)| Input::new(name, data)).collect()
}

impl Input {
    fn new(name: &'static str, data: Vec<u8>) -> Self {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut deflate = vec![0; compressor.deflate_compress_bound(data.len())];
        let len = compressor.deflate_compress(&data, &mut deflate).unwrap();
        deflate.truncate(len);
        let mut zlib = vec![0; compressor.zlib_compress_bound(data.len())];
        let len = compressor.zlib_compress(&data, &mut zlib).unwrap();
        zlib.truncate(len);
        // As the published writer does: level 3, no sizes, no checksum.
        let zstd = [("zstd", 3), ("zstd -1", 1), ("zstd -19", 19)].map(|(name, level)| {
            let mut encoder = zstd::stream::Encoder::new(Vec::new(), level).unwrap();
            encoder.write_all(&data).unwrap();
            (name, encoder.finish().unwrap())
        });
        Input { name, data, deflate, zlib, zstd }
    }
}

fn ours(decoder: &mut Decoder, encoding: Encoding, stored: &[u8], buffer: &mut [u8]) -> u64 {
    decoder.start(encoding, Span::new(0, stored.len() as u64), Size::Exactly(LEN as u64));
    loop {
        let step = decoder.step(&stored[decoder.read() as usize..], buffer).unwrap();
        black_box(&buffer[step.written]);
        if step.done {
            return decoder.written();
        }
    }
}

fn checksum(algorithm: Algorithm, bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::new(algorithm).unwrap();
    bytes.chunks(BUFFER).for_each(|piece| hasher.update(piece));
    hasher.finish().head()
}

fn stats(dtype: DType, bytes: &[u8]) -> f64 {
    let count = bytes.len() as u64 * 8 / u64::from(dtype.bits());
    let mut stats = Stats::new(dtype, Endianness::Little, 0, count).unwrap();
    bytes.chunks(BUFFER).for_each(|piece| stats.add(piece, None));
    stats.summary().mean().unwrap()
}

/// The speed of memory: reading every byte once, in the widest additions that
/// the compiler makes of it.
fn read(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
}

fn row(what: &str, input: &str, peer: &str, tasks: [&mut dyn FnMut(); 2]) {
    const ROUNDS: usize = 15;
    let turns = take_turns(ROUNDS, tasks);
    let [ours, theirs] = turns.seconds.map(|time| LEN as f64 / 1e6 / time);
    let ratio = turns.ratios[1];
    println!("{what:<12}{input:<16}{ours:>8.0} MB/s  {peer:<12}{theirs:>8.0} MB/s  {ratio:>6.2}");
}

fn table(inputs: &[Input]) {
    let mut decoder = Decoder::new();
    let (mut buffer, mut window) = (vec![0; BUFFER], vec![0; RING]);
    let mut whole = vec![0; LEN];
    println!("decoded or read megabytes a second, and the ratio of ours to theirs");
    for input in inputs {
        let Input { name, data, deflate, zlib, zstd } = input;
        let mut other = libdeflater::Decompressor::new();
        row(
            "inflate",
            name,
            "libdeflate",
            [
                &mut || {
                    ignore(black_box(ours(&mut decoder, Encoding::Deflate, deflate, &mut buffer)))
                },
                &mut || {
                    black_box(other.deflate_decompress(deflate, &mut whole).unwrap());
                },
            ],
        );
        row(
            "zlib",
            name,
            "libdeflate",
            [
                &mut || {
                    black_box(ours(&mut decoder, Encoding::Zlib, zlib, &mut buffer));
                },
                &mut || {
                    black_box(other.zlib_decompress(zlib, &mut whole).unwrap());
                },
            ],
        );
        let mut other = zstd::bulk::Decompressor::new().unwrap();
        for (level, zstd) in zstd {
            row(
                level,
                name,
                "C zstd",
                [
                    &mut || {
                        black_box(ours(&mut decoder, Encoding::Zstd, zstd, &mut window));
                    },
                    &mut || {
                        black_box(other.decompress_to_buffer(zstd, &mut whole).unwrap());
                    },
                ],
            );
        }
        if name.starts_with("text") {
            continue;
        }
        let dtype = if name.ends_with("bf16") { DType::BF16 } else { DType::F32 };
        row(
            "statistics",
            name,
            "memcpy",
            [&mut || ignore(black_box(stats(dtype, black_box(data)))), &mut || {
                whole.copy_from_slice(black_box(data))
            }],
        );
    }
    let Some(Input { data, .. }) = inputs.first() else { return };
    for algorithm in [Algorithm::Crc32c, Algorithm::Sha256] {
        row(
            algorithm.name(),
            "any",
            "reading",
            [&mut || ignore(black_box(checksum(algorithm, black_box(data)))), &mut || {
                ignore(black_box(read(black_box(data))))
            }],
        );
    }
}

fn payload(criterion: &mut Criterion) {
    let mut decoder = Decoder::new();
    let (mut buffer, mut window) = (vec![0; BUFFER], vec![0; RING]);
    let mut whole = vec![0; LEN];
    for input in inputs() {
        let mut group = criterion.benchmark_group(format!("payload, {}", input.name));
        group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
        let Input { data, deflate, zstd: [(_, zstd), ..], .. } = &input;
        group.bench_function("inflate", |b| {
            b.iter(|| ours(&mut decoder, Encoding::Deflate, black_box(deflate), &mut buffer));
        });
        group.bench_function("libdeflate", |b| {
            let mut other = libdeflater::Decompressor::new();
            b.iter(|| other.deflate_decompress(black_box(deflate), &mut whole).unwrap());
        });
        group.bench_function("zstd", |b| {
            b.iter(|| ours(&mut decoder, Encoding::Zstd, black_box(zstd), &mut window));
        });
        group.bench_function("C zstd", |b| {
            let mut other = zstd::bulk::Decompressor::new().unwrap();
            b.iter(|| other.decompress_to_buffer(black_box(zstd), &mut whole).unwrap());
        });
        group.bench_function("memcpy", |b| b.iter(|| whole.copy_from_slice(black_box(data))));
        group.bench_function("crc32c", |b| {
            b.iter(|| checksum(Algorithm::Crc32c, black_box(data)));
        });
        group.bench_function("sha256", |b| {
            b.iter(|| checksum(Algorithm::Sha256, black_box(data)));
        });
        group
            .bench_function("statistics as f32", |b| b.iter(|| stats(DType::F32, black_box(data))));
        group.bench_function("statistics as bf16", |b| {
            b.iter(|| stats(DType::BF16, black_box(data)));
        });
        group.finish();
    }
}

criterion_group!(benches, payload);

fn main() {
    // `cargo test --benches` wants to know that it runs, not how fast.
    if std::env::args().any(|argument| argument == "--bench") {
        table(&inputs());
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}

/// Ends a measured expression: its value was used, as far as the compiler knows.
fn ignore<T>(_: T) {}
