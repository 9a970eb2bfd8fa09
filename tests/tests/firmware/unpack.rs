//! Zstd in a microcontroller's memory, with state and buffer provided by the caller: produces the
//! same bytes or faults as on a host.

use crate::rig::{image, record, run};
use std::fmt::Write as _;
use std::io::Write as _;
use weighbridge_core::codec::{Decoder, Undecoded};
use weighbridge_core::{Cursor, Opening, Source};
use weighbridge_tests::codec::{samples, weights_bf16};
use weighbridge_tests::encode::ztensor::{File, Tensor};

/// Same number of bytes for decoded data as the image.
const BUFFER: usize = 64 << 10;

/// Nanoseconds per instruction, as a power of two, and per tick.
const SHIFT: u32 = 7;
const TICK: f64 = 40.0;

/// A frame from the C library with a window of 16 KiB, which fits in a ring.
fn frame(data: &[u8], level: i32) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), level).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.window_log(14).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn tensor(name: &str, data: &[u8], stored: Vec<u8>) -> Tensor {
    Tensor::framed(name, "uint8", &[data.len() as u64], stored)
}

/// Tensors that fit into the buffer, starting with weights and text; tensors that need it as a
/// ring; broken ones; ones longer than declared; and streams kept from fuzzing.
fn file() -> Vec<u8> {
    let weights = weights_bf16(12_000, 3);
    let text = samples(24_000).swap_remove(1).1;
    let mut tensors = vec![
        tensor("weights", &weights, frame(&weights, 3)),
        tensor("text", &text, frame(&text, 3)),
    ];
    for (kind, data) in samples(200_000) {
        for level in [-5, 3, 19] {
            let stored = frame(&data, level);
            tensors.push(tensor(&format!("{kind}, level {level}"), &data, stored.clone()));
            for cut in [1, 5, 2000] {
                let mut broken = stored.clone();
                let at = broken.len() * cut / 4000;
                broken[at] ^= 0x55;
                tensors.push(tensor(&format!("{kind}, level {level}, {at}"), &data, broken));
            }
            for len in [3, 60_000, 150_000] {
                let name = format!("{kind}, level {level}, declared to have {len}");
                tensors.push(tensor(&name, &data[..len], stored.clone()));
            }
        }
    }
    // Streams kept from fuzzing, which no encoder produces.
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/codecs");
    let mut kept: Vec<_> = std::fs::read_dir(kept).unwrap().map(|it| it.unwrap().path()).collect();
    kept.sort();
    for seed in kept {
        let stored = std::fs::read(&seed).unwrap();
        let name = seed.file_name().unwrap().to_string_lossy().into_owned();
        tensors.push(tensor(&name, &[0; 50_000], stored));
    }
    File::of(tensors).encode()
}

/// The expected output of the image per tensor, without stack and ticks.
fn expected(file: &[u8]) -> Vec<String> {
    let source = Source::whole(file);
    let opened = Opening::of(None).step(&source, &mut |_| {}).unwrap();
    let (mut cursor, mut decoder, mut buffer) =
        (Cursor::default(), Decoder::new(), vec![0; BUFFER]);
    let mut lines = Vec::new();
    while let Some(entry) = opened.next_tensor(&source, &mut cursor, &mut |_| {}).unwrap() {
        let chunk = opened.chunk(&source, &entry.tensor, 0).unwrap().unwrap();
        let mut sum = 0_u32;
        let mut decode = || -> Result<u64, Undecoded> {
            decoder.start_chunk(&chunk)?;
            while let Some(piece) = decoder.next(&source, &mut buffer)? {
                let add = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
                sum = piece.iter().fold(sum, add);
            }
            Ok(decoder.written())
        };
        let decoded = decode();
        lines.push(match decoded {
            Ok(len) => format!("bytes {len} sum {sum:08x}"),
            Err(stop) => format!("{stop:?} sum {sum:08x}"),
        });
    }
    lines
}

#[test]
fn zstd_decodes_as_on_a_host() {
    let file = file();
    let mut records = record(&file, "", false);
    records.extend([0; 64]);
    let shift = format!("shift={SHIFT}");
    let run = run(&image("WEIGHBRIDGE_UNPACK"), &records, &["-icount", &shift]);
    assert!(run.success, "{}", run.output);
    let mut lines = run.output.lines();
    let state: usize = lines.next().unwrap().strip_prefix("state ").unwrap().parse().unwrap();
    let expected = expected(&file);
    let sound = expected.iter().filter(|line| line.starts_with("bytes ")).count();
    assert!(sound >= 17 && sound < expected.len(), "{expected:?}");
    let (mut deepest, mut costs) = (0, Vec::new());
    for (expected, line) in expected.iter().zip(lines.by_ref()) {
        let (outcome, figures) = line.split_once(" stack ").unwrap();
        assert_eq!(outcome, expected);
        let (stack, ticks) = figures.split_once(" ticks ").unwrap();
        deepest = deepest.max(stack.parse::<usize>().unwrap());
        costs.push(ticks.parse::<f64>().unwrap() * TICK / f64::from(1 << SHIFT) / 24_000.0);
    }
    assert_eq!((lines.next(), costs.len()), (None, expected.len()));
    let (weights, text) = (costs[0], costs[1]);
    println!(
        "zstd: state {state} B, stack {deepest} B, instructions for a byte: weights {weights:.1}, text {text:.1}"
    );
    assert!(weights > 0.0 && text > 0.0, "too long to be counted");
    // The state excludes that of inflate, which this image omits.
    assert!(state <= 16 << 10, "state {state}");
    if let Some(path) = std::env::var_os("WEIGHBRIDGE_UNPACKED") {
        std::fs::write(path, format!("{state} {weights:.0} {text:.0}\n")).unwrap();
    }
    if let Some(path) = std::env::var_os("WEIGHBRIDGE_STACK") {
        let mut line = String::new();
        writeln!(line, "zstd {deepest}").unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
