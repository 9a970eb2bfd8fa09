//! Validates and reads untrusted tensor files: safetensors (single and sharded), GGUF, NPY,
//! NPZ, zTensor, OINF, BinTensors, STB and ML.NET data views.
//!
//! To check an upload, ask for a verdict:
//!
//! ```
//! use weighbridge::core::Profile;
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
//! | `formats` | yes | all formats; each has a feature of its own: `bintensors`, `gguf`, `idv`, `npy`, `npz`, `oinf`, `safetensors`, `shards`, `stb`, `ztensor` |
//! | `dequantise`, `codebooks` | yes | elements of ggml's block types; those of IQ1 to IQ3 too |
//! | `deflate`, `zstd`, `checksum` | yes | decompression and checksums |
//! | `serde` | no | serialisation of reports and values, as the JSON that the command prints |
//! | `output` | no | reports as SARIF, GitHub Actions annotations and JUnit |
//! | `digest` | no | SHA-256 of files and tensors, and the differences between two files |
//! | `policy` | no | `weighbridge.toml`: what a project denies and ignores |
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

mod access;
mod areas;
#[cfg(feature = "ztensor")]
mod cbor;
mod check;
#[cfg(feature = "idv")]
mod column;
mod convert;
mod criteria;
mod data;
mod diagnosis;
mod difference;
#[cfg(feature = "digest")]
pub mod digest;
mod entry;
mod error;
mod feed;
mod form;
mod gate;
mod gguf_names;
mod health;
pub mod heatmap;
mod index;
mod input;
#[cfg(all(feature = "serde", feature = "std"))]
pub mod json;
mod lock;
mod memory;
mod metadata;
mod model;
mod naming;
mod npy;
#[cfg(all(feature = "shards", feature = "std"))]
mod open_shards;
#[cfg(all(feature = "gguf", feature = "std"))]
mod open_splits;
mod opening;
mod options;
mod outline;
#[cfg(feature = "output")]
pub mod output;
#[cfg(feature = "gguf")]
mod part;
mod particulars;
#[cfg(feature = "std")]
mod parts;
mod place;
#[cfg(feature = "policy")]
pub mod policy;
mod preview;
#[cfg(feature = "idv")]
mod reading;
mod recognise;
#[cfg(feature = "std")]
pub mod remote;
mod report;
pub mod repository;
#[cfg(feature = "idv")]
mod rows;
pub mod save;
mod session;
mod set;
mod sort;
mod span;
mod stats;
mod store;
mod summary;
mod sweep;
pub mod table;
mod tensor;
pub mod text;
#[cfg(feature = "serde")]
mod tool;
mod value;
mod values;
mod walk;

pub use areas::{Area, FileMap};
pub use convert::{Conversion, Number};
pub use data::{Block, ChunkStream, Decoding, Trouble, column_major, sparse_entries, sparse_len};
pub use diagnosis::Diagnosis;
pub use difference::Difference;
pub use entry::{Entry, Piece, Shape};
pub use error::{Error, ReadError};
pub use feed::Feed;
pub use gate::{check, check_at, check_input, check_with};
#[cfg(feature = "std")]
pub use gate::{check_path, check_reader};
pub use gguf_names::gguf_names;
pub use health::{Gauge, Health, Sign, Signs, Weights};
pub use index::Index;
#[cfg(feature = "std")]
pub use input::FileInput;
pub use input::Input;
pub use metadata::Meta;
pub use model::Model;
pub use npy::Npy;
pub use options::{Goal, Options, Progress};
pub use outline::{Outline, OutlinePair, Outlined};
#[cfg(feature = "gguf")]
pub use part::SetPart;
pub use particulars::{Particulars, Quantization};
#[cfg(feature = "std")]
pub use parts::{Parts, Placed};
pub use place::Place;
pub use preview::Preview;
#[cfg(feature = "idv")]
pub use reading::{Annotation, RowReader};
pub use recognise::recognise;
#[cfg(feature = "std")]
pub use recognise::recognise_path;
pub use report::{Found, NotListed, Report, Unchecked, Verdict};
#[cfg(feature = "idv")]
pub use rows::RowView;
pub use session::{Poll, Session};
#[cfg(feature = "shards")]
pub use set::ShardSet;
#[cfg(feature = "gguf")]
pub use set::SplitSet;
pub use set::{Find, Member};
#[cfg(all(feature = "gguf", feature = "shards"))]
pub use set::{SetCheck, SetFile, SetPlace};
pub use stats::Summary;
pub use summary::{
    Cache, CacheGroup, CacheState, Fact, ModelBlock, ModelPart, ModelSummary, Origin, Share,
    Summariser, Template, TemplatePiece, TemplateWarning, TokenKind, Vocabulary,
};
pub use sweep::{Measured, Sweep, TensorWeights};
pub use tensor::Tensor;
pub use text::Text;
pub use value::Value;
pub use values::Shown;

pub use half::{bf16, f16};
/// The core, which needs neither an allocator nor the standard library.
pub use weighbridge_core as core;
pub use weighbridge_core::{
    DType, Element, Encoding, Endianness, Finding, Format, Layout, Profile, Rule, Severity, Span,
    Status,
};

/// The README's example, run as a test.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
