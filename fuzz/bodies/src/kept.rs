//! The inputs of all targets for machines without our encoders or other
//! readers: inputs that describe a file or stream are converted here.

use crate::{Tail, damaged, format_of, seeds, targets};
use std::path::Path;
use weighbridge_core::Format;

/// An input of a target.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The target.
    pub target: &'static str,
    /// The origin of the input.
    pub name: String,
    /// The input in the form that the target expects.
    pub input: Vec<u8>,
}

/// The files of a folder of `fuzz/`, sorted; empty if there is no such folder.
pub fn files(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(entries) = root.join(kind).join(target).read_dir() else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let read = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (format!("{kind}/{target}/{name}"), std::fs::read(path).expect("a readable file"))
    };
    paths.iter().map(|path| read(path)).collect()
}

/// Seeds of the encoders, kept seeds and regression files of every target, as
/// inputs of [`TARGETS`](crate::TARGETS).
pub fn portable() -> Vec<Kept> {
    let mut all = Vec::new();
    for target in targets() {
        let own = |(name, input): (String, Vec<u8>)| (format!("{} {name}", target.name), input);
        let inputs = seeds::of(target.name).into_iter().map(own);
        let kept = files("seeds", target.name).into_iter().chain(files("regressions", target.name));
        all.extend(
            inputs.chain(kept).filter_map(|(name, input)| translate(target.name, name, input)),
        );
    }
    all
}

/// The files in kept seeds and regression files, with their formats. Fixtures,
/// from which the encoders' seeds are made, are not included.
pub fn of_formats() -> Vec<(Format, Kept)> {
    let mut all = Vec::new();
    for target in targets() {
        let mut inputs = files("seeds", target.name);
        inputs.extend(files("regressions", target.name));
        if target.name.starts_with("damaged_") {
            inputs.extend(seeds::of(target.name));
        }
        for (name, input) in inputs {
            let Some(kept) = translate(target.name, name, input) else { continue };
            if let Some((format, file)) = file(&kept) {
                all.push((format, Kept { input: file.to_vec(), ..kept }));
            }
        }
    }
    all
}

/// Converts an input of `target` for a target that needs nothing but the core.
fn translate(target: &'static str, name: String, input: Vec<u8>) -> Option<Kept> {
    let (target, input) = match target.split_once('_') {
        Some(("damaged", format)) => (format, damaged::file(Format::by_name(format)?, &input)?.0),
        Some(("peer", codec @ ("deflate" | "zlib" | "zstd"))) => ("codecs", stream(codec, input)),
        Some(("peer", format)) => (format, input),
        _ => (target, input),
    };
    Some(Kept { target, name, input })
}

/// Converts a stream of a peer's target for the target `codecs`.
fn stream(codec: &str, mut input: Vec<u8>) -> Vec<u8> {
    let code = match codec {
        "deflate" => 1,
        "zlib" => 2,
        _ => {
            input.truncate(input.len().saturating_sub(2));
            3
        }
    };
    input.extend(3000_u16.to_le_bytes());
    input.extend([17, code]);
    input
}

/// The file in an input, and its format, which is given by the target's name or
/// the end of the input.
fn file(kept: &Kept) -> Option<(Format, &[u8])> {
    if let Some(format) = Format::by_name(kept.target) {
        return Some((format, &kept.input));
    }
    let mut tail = Tail::new(&kept.input);
    let format = match kept.target {
        "detect" => {
            let input = &kept.input;
            Format::of_head(&input[..input.len().min(9)], input.len() as u64)?
        }
        "windows" => {
            let format = format_of(tail.byte() >> 3);
            tail.byte();
            format
        }
        "index" => {
            let format = format_of(tail.byte());
            tail.byte();
            format
        }
        // The bytes after the file do no harm: the file just has more bytes at
        // its end.
        "changing" => format_of(tail.byte()),
        _ => return None,
    };
    Some((format, tail.rest))
}
