//! Seeds: output of our encoders, in the form that each target expects.

use crate::targets;
use weighbridge_core::Format;
use weighbridge_tests::codec::{Random, samples};
use weighbridge_tests::fixtures;

/// Seeds of the target `name`, with a name for each.
pub fn of(name: &str) -> Vec<(String, Vec<u8>)> {
    let longest = crate::by_name(name).map_or(0, |target| target.longest);
    let mut seeds = match name.split_once('_') {
        Some(("damaged", format)) => choices(format),
        Some(("peer", codec @ ("deflate" | "zlib" | "zstd"))) => streams(codec),
        Some(("peer", format)) => files(format),
        _ => match name {
            "detect" => Format::ALL.iter().flat_map(|format| files(format.name())).collect(),
            "windows" | "changing" | "index" => tailed(name),
            "codecs" => codecs(),
            "pickle" => pickles(),
            "pytorch" => crate::pytorch::seeds(),
            format => files(format),
        },
    };
    seeds.retain(|(_, bytes)| bytes.len() <= longest);
    seeds
}

/// Every target with its seeds.
pub fn all() -> impl Iterator<Item = (&'static str, Vec<(String, Vec<u8>)>)> {
    targets().map(|target| (target.name, of(target.name)))
}

fn files(format: &str) -> Vec<(String, Vec<u8>)> {
    let all = fixtures::for_hosts().into_iter().filter(|(name, _)| *name == format);
    all.flat_map(|(_, fixtures)| fixtures)
        .map(|fixture| (format!("{format}-{}", fixture.name), fixture.bytes))
        .collect()
}

/// Files, followed by the parameters that a target reads from the end.
fn tailed(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for format in Format::ALL {
        let code = *format as u8;
        // A format's seeds do not depend on the files of others.
        let mut random = Random::new(target.len() as u64 | u64::from(code) << 8);
        for (name, mut bytes) in files(format.name()) {
            match target {
                "windows" => {
                    let way = random.below(8) as u8;
                    bytes.extend([random.number() as u8, (code << 3) | way]);
                }
                "index" => bytes.extend([random.below(8) as u8, code]),
                _ => {
                    let edits = random.below(4);
                    for _ in 0..edits {
                        let at = random.below(bytes.len().max(1)) as u16;
                        bytes.push(random.number() as u8);
                        bytes.extend(at.to_le_bytes());
                    }
                    bytes.extend((random.number() as u32 & 0x7FFF_FFFF).to_le_bytes());
                    bytes.extend([edits as u8, code]);
                }
            }
            seeds.push((name, bytes));
        }
    }
    seeds
}

/// Choices for a generator: random bytes of several lengths.
fn choices(format: &str) -> Vec<(String, Vec<u8>)> {
    let mut random = Random::new(format.len() as u64 * 31);
    let lengths = [0, 8, 9, 20, 30, 40, 50, 60, 80, 100, 120];
    let noise = |len: &usize| (0..*len).map(|_| random.number() as u8).collect::<Vec<u8>>();
    let noise: Vec<_> = lengths.iter().map(noise).collect();
    noise.into_iter().map(|bytes| (format!("noise-{}", bytes.len()), bytes)).collect()
}

fn streams(codec: &str) -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for len in [0, 1, 60, 700, 3000] {
        for (kind, data) in samples(len) {
            match codec {
                "zstd" => {
                    for level in [1, 3, 19] {
                        let mut stored = zstd::bulk::compress(&data, level).unwrap_or_default();
                        stored.extend(1000_u16.to_le_bytes());
                        seeds.push((format!("{kind}-{len}-{level}"), stored));
                    }
                }
                _ => {
                    for level in [0, 1, 6, 12] {
                        let stored = deflated(codec, &data, level);
                        seeds.push((format!("{kind}-{len}-{level}"), stored));
                    }
                }
            }
        }
    }
    seeds
}

fn deflated(codec: &str, data: &[u8], level: i32) -> Vec<u8> {
    let level = libdeflater::CompressionLvl::new(level).expect("a level that exists");
    let mut compressor = libdeflater::Compressor::new(level);
    let mut stored = vec![0; compressor.zlib_compress_bound(data.len())];
    let len = match codec {
        "zlib" => compressor.zlib_compress(data, &mut stored),
        _ => compressor.deflate_compress(data, &mut stored),
    };
    stored.truncate(len.unwrap_or(0));
    stored
}

fn pickles() -> Vec<(String, Vec<u8>)> {
    let all = fixtures::pickles::all().into_iter();
    all.map(|suspect| (suspect.name.to_owned(), suspect.bytes)).collect()
}

fn codecs() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (code, codec) in [(1, "deflate"), (2, "zlib"), (3, "zstd")] {
        for (name, mut stored) in streams(codec) {
            if codec == "zstd" {
                stored.truncate(stored.len() - 2);
            }
            let size: u16 = name.split('-').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
            stored.extend(size.to_le_bytes());
            stored.extend([17, code]);
            seeds.push((format!("{codec}-{name}"), stored));
        }
    }
    seeds
}
