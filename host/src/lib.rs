//! Validates and reads untrusted tensor files: safetensors (single and sharded), GGUF, NPY,
//! NPZ, ONNX, PyTorch, TensorFlow Lite, zTensor, OINF, BinTensors, STB and ML.NET data views.
//!
//! To check an upload, ask for a verdict:
//!
//! ```
//! use weighbridge::weighbridge_core::Profile;
//!
//! # let bytes = weighbridge_tests::samples::safetensors();
//! let report = weighbridge::check(&bytes)?;
//! if !report.verdict(Profile::Strict).is_valid() {
//!     for finding in report.findings() {
//!         eprintln!("{} at byte {}: {}", finding.rule(), finding.offset(), finding.message());
//!     }
//! }
//! # Ok::<(), weighbridge::Error>(())
//! ```
//!
//! To read a model, open it and ask for its tensors:
//!
//! ```
//! use weighbridge::Model;
//!
//! # let bytes = weighbridge_tests::samples::safetensors();
//! let model = Model::from_bytes(&bytes)?; // or `Model::open(path)`, which reads what is needed
//! for tensor in model.tensors() {
//!     let tensor = tensor?;
//!     println!("{} {} {}", tensor.name(), tensor.dtype().name(), tensor.shape());
//! }
//! let weights: Vec<f32> = model.tensor("emb")?.to_vec()?;
//! assert_eq!(weights, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
//! # Ok::<(), weighbridge::Error>(())
//! ```
//!
//! Where blocking reads do not fit, as in a browser or an async server, a [`Session`] says
//! which bytes it needs and the caller supplies them.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `std` | yes | files, seekable readers, sharded checkpoints, random seeds |
//! | `formats` | yes | all formats; each has a feature of its own: `bintensors`, `executorch`, `gguf`, `idv`, `npy`, `npz`, `oinf`, `onnx`, `pytorch`, `safetensors`, `shards`, `stb`, `tflite`, `ztensor` |
//! | `dequantise`, `codebooks` | yes | elements of ggml's block types; those of IQ1 to IQ3 too |
//! | `beside` | no | data in files beside a model; formats that have such data turn it on |
//! | `deflate`, `zstd`, `checksum` | yes | decompression and checksums |
//! | `pickles` | yes | pickles followed to what loading them would import and run |
//! | `serde` | no | serialisation of reports and values, as the JSON that the command prints |
//! | `output` | no | reports as SARIF, GitHub Actions annotations and JUnit |
//! | `digest` | no | SHA-256 of files and tensors, and the differences between two files |
//! | `policy` | no | `weighbridge.toml`: what a project denies and ignores |
//! | `second-opinion` | no | zstd streams decoded by a second decoder as well |
//! | `remote` | no | remote files: `https://`, `hf://`, `s3://`, `gs://`, `az://` |
//!
//! Without `std` the crate needs only an allocator. [`core`](mod@core) does not need even that,
//! so it runs on microcontrollers.
#![no_std]
#![warn(missing_docs)]
#![cfg_attr(
    not(all(feature = "formats", feature = "std", feature = "serde")),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "a subset of the formats uses only a part of the code they share"
    )
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod analyse;
mod base;
mod check;
mod input;
mod list;
#[cfg(feature = "output")]
pub mod output;
mod read;
#[cfg(feature = "std")]
pub mod remote;
pub mod repository;
pub mod save;
mod set;

pub use analyse::difference::Difference;
#[cfg(feature = "digest")]
pub use analyse::digest;
pub use analyse::feed::Feed;
pub use analyse::gguf_names::gguf_names;
pub use analyse::health::{Gauge, Health, Hole, Sign, Signs, Weights};
pub use analyse::heatmap;
pub use analyse::outline::{Outline, OutlinePair, Outlined};
pub use analyse::preview::Preview;
pub use analyse::stats::Summary;
pub use analyse::summary::{
    Cache, CacheGroup, CacheState, Fact, ModelBlock, ModelPart, ModelSummary, Origin, Share,
    Summariser, Template, TemplatePiece, TemplateWarning, TokenKind, Vocabulary,
};
pub use analyse::sweep::{BrokenOff, Measured, Sweep, TensorWeights};
pub use analyse::table;
pub use base::error::{Error, ReadError};
pub use base::text;
pub use base::text::Text;
pub use base::value::Value;
pub use check::diagnosis::Diagnosis;
pub use check::diagnosis::kind::DiagnosisKind;
#[cfg(feature = "pickles")]
pub use check::operations::{Operation, PickleCode};
pub use check::options::{Goal, Options, Progress};
pub use check::pickle_part::PicklePart;
pub use check::pickles::{Global, Pickles};
#[cfg(feature = "policy")]
pub use check::policy;
pub use check::recognise::recognise;
#[cfg(feature = "std")]
pub use check::recognise::recognise_path;
pub use check::report::{Found, NotListed, Report, Unchecked, Verdict};
pub use check::session::{Poll, Session};
pub use input::place::Place;
#[cfg(feature = "std")]
pub use input::reader::FileInput;
pub use input::reader::Input;
pub use list::areas::{Area, FileMap};
pub use list::entry::{Entry, Piece, Shape};
pub use list::index::Index;
#[cfg(feature = "gguf")]
pub use list::part::SetPart;
pub use read::data::{
    Block, ChunkStream, Decoding, Trouble, column_major, sparse_entries, sparse_len, strided,
};
pub use read::element_conversion::{Conversion, Number};
#[cfg(feature = "npy")]
pub use read::items::Items;
pub use read::metadata::Meta;
pub use read::model::Model;
pub use read::npy::Npy;
#[cfg(feature = "tflite")]
pub use read::operators::Operator;
pub use read::particulars::{Particulars, Quantization};
#[cfg(feature = "std")]
pub use read::parts::{Parts, Placed};
#[cfg(feature = "idv")]
pub use read::reading::{Annotation, RowReader};
#[cfg(feature = "idv")]
pub use read::rows::RowView;
#[cfg(feature = "pytorch")]
pub use read::storages::Storage;
pub use read::tensor::Tensor;
pub use read::values::Shown;
#[cfg(feature = "onnx")]
pub use set::OtherFiles;
#[cfg(feature = "shards")]
pub use set::ShardSet;
#[cfg(feature = "gguf")]
pub use set::SplitSet;
pub use set::gate::{check, check_at, check_input, check_with};
#[cfg(feature = "std")]
pub use set::gate::{check_path, check_reader};
#[cfg(all(feature = "formats", feature = "std"))]
pub use set::{Archive, ArchiveMember, MemberPlace};
pub use set::{Find, Member};
#[cfg(all(feature = "gguf", feature = "shards"))]
pub use set::{SetCheck, SetFile, SetPlace};

/// JSON that is safe to print.
#[cfg(all(feature = "serde", feature = "std"))]
pub mod json {
    pub use crate::analyse::sweep::SCHEMA_STATS;
    pub use crate::base::json::{line, write};
    pub use crate::base::program::{TOOL, Tool};
    pub use crate::check::report::SCHEMA_CHECK;
}

pub use half::{bf16, f16};
/// The core, which needs neither an allocator nor the standard library.
pub use weighbridge_core;
pub use weighbridge_core::{
    DType, Element, Encoding, Endianness, Finding, Format, Layout, Profile, Rule, Severity, Span,
    Status,
};

/// The README's example, run as a test.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
