//! Payloads: decoding compared with the C libraries, checksums and statistics compared with memory
//! bandwidth, on the same bytes in one run.
//!
//! Ours decodes through one buffer of 256 KiB (zstd through a ring of its window) as an audit does,
//! bounded and with every check; theirs decodes into one buffer for all the data.

mod turns;

use std::hint::black_box;
use std::io::Write as _;
use turns::{Table, Unit};
use weighbridge_core::checksum::{Algorithm, Hasher};
use weighbridge_core::codec::{Decoder, Size, ring};
use weighbridge_core::{DType, Encoding, Endianness, Span, Stats};
use weighbridge_tests::codec::{samples, weights_bf16, weights_f32};

const LEN: usize = 16 << 20;
const BUFFER: usize = 256 << 10;
/// The window of zstd's level 19, plus two blocks.
const RING: usize = ring(8 << 20) as usize;

struct Input {
    name: &'static str,
    data: Vec<u8>,
    deflate: Vec<u8>,
    zlib: Vec<u8>,
    /// One per compression level.
    zstd: [(&'static str, Vec<u8>); 3],
}

fn inputs() -> Vec<Input> {
    let mut samples = samples(LEN);
    let text = samples.swap_remove(1).1;
    let f32: Vec<u8> = weights_f32(LEN / 4, 9).iter().flat_map(|v| v.to_le_bytes()).collect();
    let i8 = weights_f32(LEN, 9).iter().map(|v| (v * 1600.0) as i8 as u8).collect();
    let bf16 = weights_bf16(LEN / 2, 9);
    let all = [("weights, bf16", bf16), ("weights, f32", f32), ("weights, i8", i8), ("text", text)];
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
        // Like the published writer: level 3, no content size, no checksum.
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

/// Memory bandwidth: reads every byte once, with the widest vectors the compiler generates.
fn read(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
}

fn main() {
    let mut table = Table::new("payload", 15);
    let unit = Unit::Bytes(LEN as u64);
    let mut decoder = Decoder::new();
    let (mut buffer, mut window) = (vec![0; BUFFER], vec![0; RING]);
    let mut whole = vec![0; LEN];
    let inputs = inputs();
    for Input { name, data, deflate, zlib, zstd } in &inputs {
        let mut other = libdeflater::Decompressor::new();
        table.race(
            &format!("inflate, {name}"),
            unit,
            ["libdeflate"],
            &mut || _ = black_box(ours(&mut decoder, Encoding::Deflate, deflate, &mut buffer)),
            [&mut || _ = black_box(other.deflate_decompress(deflate, &mut whole).unwrap())],
        );
        table.race(
            &format!("zlib, {name}"),
            unit,
            ["libdeflate"],
            &mut || _ = black_box(ours(&mut decoder, Encoding::Zlib, zlib, &mut buffer)),
            [&mut || _ = black_box(other.zlib_decompress(zlib, &mut whole).unwrap())],
        );
        let mut other = zstd::bulk::Decompressor::new().unwrap();
        for (level, zstd) in zstd {
            table.race(
                &format!("{level}, {name}"),
                unit,
                ["C zstd"],
                &mut || _ = black_box(ours(&mut decoder, Encoding::Zstd, zstd, &mut window)),
                [&mut || _ = black_box(other.decompress_to_buffer(zstd, &mut whole).unwrap())],
            );
        }
        let dtype = match *name {
            "weights, bf16" => DType::BF16,
            "weights, f32" => DType::F32,
            "weights, i8" => DType::I8,
            _ => continue,
        };
        table.race(
            &format!("statistics, {name}"),
            unit,
            ["memcpy"],
            &mut || _ = black_box(stats(dtype, black_box(data))),
            [&mut || whole.copy_from_slice(black_box(data))],
        );
    }
    let Some(Input { data, .. }) = inputs.first() else { return };
    for algorithm in [Algorithm::Crc32c, Algorithm::Sha256] {
        table.race(
            algorithm.name(),
            unit,
            ["reading"],
            &mut || _ = black_box(checksum(algorithm, black_box(data))),
            [&mut || _ = black_box(read(black_box(data)))],
        );
    }
}
