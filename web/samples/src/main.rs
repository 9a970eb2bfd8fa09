//! Writes the page's sample files and the files for its tests.
//!
//! ```text
//! weighbridge-samples SAMPLES [TESTS]
//! ```
//!
//! SAMPLES receives a sound and a broken file of each format and `index.json`; TESTS receives
//! large, odd and hostile files.

mod archives;
mod data;
mod gguf;
mod idv;
mod other;
mod programs;
mod shards;
mod trials;
mod ztensor;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A sample file that the page offers.
struct Sample {
    /// Used in the page's address.
    id: &'static str,
    file: &'static str,
    format: &'static str,
    title: &'static str,
    sound: bool,
    /// One sentence on what the sample shows.
    what: &'static str,
    bytes: Vec<u8>,
    /// Names and contents of the other files of its set.
    beside: Vec<(String, Vec<u8>)>,
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(samples) = arguments.next() else {
        eprintln!("usage: weighbridge-samples SAMPLES [TESTS]");
        std::process::exit(2);
    };
    write_samples(&samples)?;
    if let Some(tests) = arguments.next() {
        fs::create_dir_all(&tests)?;
        trials::write(&tests)?;
    }
    Ok(())
}

fn write_samples(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let all: Vec<Sample> = other::oinf()
        .into_iter()
        .chain(ztensor::samples())
        .chain(idv::samples())
        .chain(other::bintensors())
        .chain(other::stb())
        .chain(other::safetensors())
        .chain(shards::samples())
        .chain(gguf::samples())
        .chain(other::npy())
        .chain(programs::pytorch())
        .chain(programs::onnx())
        .chain(programs::tflite())
        .chain(programs::executorch())
        .chain(archives::samples())
        .collect();
    let mut index = Vec::new();
    for sample in &all {
        fs::write(folder.join(sample.file), &sample.bytes)?;
        for (name, bytes) in &sample.beside {
            fs::write(folder.join(name), bytes)?;
        }
        let beside: Vec<_> = sample.beside.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        // The texts are our own and need no escaping.
        index.push(format!(
            "{{\"id\":\"{}\",\"file\":\"{}\",\"beside\":[{}],\"format\":\"{}\",\"title\":\"{}\",\"sound\":{},\"what\":\"{}\"}}",
            sample.id,
            sample.file,
            beside.join(","),
            sample.format,
            sample.title,
            sample.sound,
            sample.what
        ));
    }
    fs::write(folder.join("index.json"), format!("[\n{}\n]\n", index.join(",\n")))
}
