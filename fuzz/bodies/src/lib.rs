//! Fuzz target bodies: one function per target, which panics if a promise is
//! broken.
//!
//! The targets of cargo-fuzz, the replay program for stable Rust and the smoke
//! test of `cargo test` all call these. A target's input is an ordinary file,
//! so that seeds are files; other parameters of a target follow it, in the last
//! bytes ([`Tail`]).

pub mod budget;
pub mod changing;
#[cfg(feature = "host")]
pub mod checkpoint;
pub mod codecs;
#[cfg(feature = "host")]
pub mod damaged;
pub mod facts;
pub mod formats;
pub mod index;
#[cfg(feature = "host")]
pub mod kept;
#[cfg(feature = "host")]
pub mod peers;
pub mod pickle;
pub mod pytorch;
#[cfg(feature = "host")]
pub mod seeds;
mod tail;
pub mod walk;
pub mod windows;

pub use tail::Tail;
use weighbridge_core::Format;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the name of its binary, and of its folders of seeds and of
    /// regression files.
    pub name: &'static str,
    /// Runs the target on an input.
    pub run: fn(&[u8]),
    /// The longest input worth trying, in bytes.
    pub longest: usize,
}

/// Targets that need nothing but the core.
pub const TARGETS: &[Target] = &[
    target("bintensors", |input| formats::format(Format::BinTensors, input), 16 << 10),
    target("executorch", |input| formats::format(Format::ExecuTorch, input), 16 << 10),
    target("gguf", |input| formats::format(Format::Gguf, input), 32 << 10),
    target("idv", |input| formats::format(Format::Idv, input), 32 << 10),
    target("npy", |input| formats::format(Format::Npy, input), 16 << 10),
    target("npz", |input| formats::format(Format::Npz, input), 16 << 10),
    target("oinf", |input| formats::format(Format::Oinf, input), 16 << 10),
    target("onnx", |input| formats::format(Format::Onnx, input), 16 << 10),
    target("pytorch", pytorch::index, 16 << 10),
    target("safetensors", |input| formats::format(Format::Safetensors, input), 16 << 10),
    target("shards", |input| formats::format(Format::Shards, input), 16 << 10),
    target("stb", |input| formats::format(Format::Stb, input), 16 << 10),
    target("tflite", |input| formats::format(Format::Tflite, input), 16 << 10),
    target("ztensor", |input| formats::format(Format::ZTensor, input), 32 << 10),
    target("detect", formats::detect, 16 << 10),
    target("windows", windows::windows, 4 << 10),
    target("index", index::index, 8 << 10),
    target("codecs", codecs::codecs, 8 << 10),
    target("changing", changing::changing, 8 << 10),
    target("pickle", pickle::pickle, 8 << 10),
];

/// Targets that create files with our encoders, or compare with other readers.
#[cfg(feature = "host")]
pub const HOST_TARGETS: &[Target] = &[
    target("damaged_bintensors", |input| damaged::damaged(Format::BinTensors, input), 128),
    target("damaged_executorch", |input| damaged::damaged(Format::ExecuTorch, input), 128),
    target("damaged_gguf", |input| damaged::damaged(Format::Gguf, input), 128),
    target("damaged_idv", |input| damaged::damaged(Format::Idv, input), 128),
    target("damaged_npy", |input| damaged::damaged(Format::Npy, input), 128),
    target("damaged_npz", |input| damaged::damaged(Format::Npz, input), 128),
    target("damaged_oinf", |input| damaged::damaged(Format::Oinf, input), 128),
    target("damaged_onnx", |input| damaged::damaged(Format::Onnx, input), 128),
    target("damaged_pytorch", checkpoint::damaged, 128),
    target("damaged_safetensors", |input| damaged::damaged(Format::Safetensors, input), 128),
    target("damaged_shards", |input| damaged::damaged(Format::Shards, input), 128),
    target("damaged_stb", |input| damaged::damaged(Format::Stb, input), 128),
    target("damaged_tflite", |input| damaged::damaged(Format::Tflite, input), 128),
    target("damaged_ztensor", |input| damaged::damaged(Format::ZTensor, input), 128),
    target("peer_bintensors", peers::bintensors::peer, 8 << 10),
    target("peer_deflate", peers::codecs::deflate, 8 << 10),
    target("peer_safetensors", peers::safetensors::peer, 8 << 10),
    target("peer_shards", peers::shards::peer, 8 << 10),
    target("peer_zlib", peers::codecs::zlib, 8 << 10),
    target("peer_zstd", peers::codecs::zstd, 8 << 10),
    target("peer_ztensor", peers::ztensor::peer, 16 << 10),
];

const fn target(name: &'static str, run: fn(&[u8]), longest: usize) -> Target {
    Target { name, run, longest }
}

/// All targets of this build.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    #[cfg(feature = "host")]
    let host = HOST_TARGETS.iter();
    #[cfg(not(feature = "host"))]
    let host = [].iter();
    TARGETS.iter().chain(host)
}

/// The target of this name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    targets().find(|target| target.name == name)
}

/// Runs a target.
///
/// # Panics
/// If there is no target with this name, or a promise is broken.
pub fn run(name: &str, input: &[u8]) {
    let target = by_name(name).unwrap_or_else(|| panic!("no target {name}"));
    (target.run)(input);
}

/// Runs a target and hashes what it saw: the same number on every machine.
///
/// # Panics
/// As [`run`] does.
pub fn digest(name: &str, input: &[u8]) -> u64 {
    facts::collect(|| run(name, input))
}

/// The format selected by a byte of the input: by its number, which does not
/// change when formats are added, so that kept files keep their meaning.
pub(crate) fn format_of(byte: u8) -> Format {
    let known = Format::ALL.iter().find(|format| **format as u8 == byte);
    *known.unwrap_or(&Format::ALL[usize::from(byte) % Format::ALL.len()])
}
