//! Mutated streams, compared with the C libraries: no panics, and the same bytes whenever both
//! accept.
//!
//! `WEIGHBRIDGE_MUTATIONS=1000000 cargo test --release -p weighbridge-tests mutated -- --nocapture`
//! runs a million of each; `make zstd` runs those of zstd.

use super::{Frame, deflate, zlib, zstd};
use weighbridge_core::Encoding;
use weighbridge_core::codec::{Fault, Size, WINDOW};
use weighbridge_tests::codec::{Portions, Random, decode, samples};

fn count() -> usize {
    let count = std::env::var("WEIGHBRIDGE_MUTATIONS").map(|count| count.parse().unwrap());
    count.unwrap_or(6000)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Length of the common prefix of two results.
fn same(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Number of streams accepted by each decoder.
#[derive(Debug, Default)]
struct Tally {
    both: usize,
    neither: usize,
    only_ours: usize,
    only_theirs: usize,
}

impl Tally {
    fn count(&mut self, ours: bool, theirs: bool) {
        *match (ours, theirs) {
            (true, true) => &mut self.both,
            (false, false) => &mut self.neither,
            (true, false) => &mut self.only_ours,
            (false, true) => &mut self.only_theirs,
        } += 1;
    }
}

/// Changes a few bits or bytes, truncates, repeats, or leaves the stream unchanged.
fn mutate(stored: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = stored.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(changed.len().max(1)).min(changed.len().saturating_sub(1));
        // Headers matter more than data.
        let at = if random.below(3) == 0 { at.min(random.below(24)) } else { at };
        match random.below(6) {
            _ if changed.is_empty() => {}
            0 => changed[at] ^= 1 << random.below(8),
            1 => changed[at] = random.number() as u8,
            2 => changed.truncate(at),
            3 => changed.insert(at, random.number() as u8),
            4 => drop(changed.remove(at)),
            _ => changed[at] = [0, 0xFF, 0x7F, 0x80][random.below(4)],
        }
    }
    changed
}

fn run(
    name: &str,
    encoding: Encoding,
    seeds: &[(Vec<u8>, Vec<u8>)],
    theirs: impl Fn(&[u8], usize) -> Option<Vec<u8>>,
) -> Tally {
    let mut random = Random::new(1);
    let mut tally = Tally::default();
    for _ in 0..count() {
        let (stored, data) = &seeds[random.below(seeds.len())];
        let changed = mutate(stored, &mut random);
        let size = Size::Exactly(data.len() as u64);
        let whole = decode(encoding, &changed, size, &Portions::WHOLE);
        let input = 1 + random.below(64);
        let parts = decode(encoding, &changed, size, &Portions { input, output: WINDOW });
        assert_eq!(whole.1, parts.1, "{name}: portions matter: {}", hex(&changed));
        if whole.1.is_ok() {
            assert!(whole.0 == parts.0, "{name}: portions matter: {}", hex(&changed));
        }
        let other = theirs(&changed, data.len());
        // libdeflate does not report how much it read, so bytes after the stream are ignored in the
        // comparison.
        let trailing = encoding != Encoding::Zstd && whole.1 == Err(Fault::Trailing);
        let accepted = (whole.1.is_ok() || trailing) && whole.0.len() == data.len();
        tally.count(accepted, other.is_some());
        if let (true, Some(other)) = (accepted, &other) {
            assert!(
                whole.0 == *other,
                "{name}: different bytes after {}: {}",
                same(&whole.0, other),
                hex(&changed)
            );
        }
        if encoding != Encoding::Zstd {
            // libdeflate treats the two invalid length codes as 258.
            let lenient = other.is_some() && whole.1 == Err(Fault::Malformed);
            assert!(
                accepted == other.is_some() || lenient,
                "{name}: {:?} {}",
                whole.1,
                hex(&changed)
            );
        } else if other.is_some() && whole.1.is_err() {
            // Only this decoder rejects frames that require much memory.
            let allowed = [Fault::Window, Fault::ContentSize, Fault::Malformed];
            assert!(allowed.contains(&whole.1.unwrap_err()), "{:?} {}", whole.1, hex(&changed));
        }
    }
    println!("{name}: {tally:?}");
    tally
}

fn data() -> Vec<Vec<u8>> {
    [60, 700, 3000].iter().flat_map(|len| samples(*len)).map(|(_, data)| data).collect()
}

#[test]
fn mutated_deflate_matches_libdeflate() {
    let levels = [0, 1, 6, 12];
    let seeds: Vec<_> =
        data().into_iter().flat_map(|d| levels.map(|l| (deflate(&d, l), d.clone()))).collect();
    let tally = run("deflate", Encoding::Deflate, &seeds, |stored, size| {
        let mut out = vec![0; size];
        let mut other = libdeflater::Decompressor::new();
        (other.deflate_decompress(stored, &mut out).ok()? == size).then_some(out)
    });
    assert!(tally.both > 0 && tally.neither > 0);
}

#[test]
fn mutated_zlib_matches_libdeflate() {
    let seeds: Vec<_> =
        data().into_iter().flat_map(|d| [1, 9].map(|l| (zlib(&d, l), d.clone()))).collect();
    let tally = run("zlib", Encoding::Zlib, &seeds, |stored, size| {
        let mut out = vec![0; size];
        let mut other = libdeflater::Decompressor::new();
        (other.zlib_decompress(stored, &mut out).ok()? == size).then_some(out)
    });
    assert!(tally.neither > 0);
}
#[test]
fn mutated_zstd_matches_c_library() {
    let frames = [
        Frame { level: 3, ..Frame::default() },
        Frame { level: 19, checksum: true, content_size: true, window_log: None },
        Frame { level: 1, content_size: true, ..Frame::default() },
    ];
    let seeds: Vec<_> =
        data().into_iter().flat_map(|d| frames.map(|f| (zstd(&d, f), d.clone()))).collect();
    let tally = run("zstd", Encoding::Zstd, &seeds, |stored, size| {
        let out = zstd::bulk::decompress(stored, size).ok()?;
        (out.len() == size).then_some(out)
    });
    assert!(tally.both > 0 && tally.neither > 0);
}
