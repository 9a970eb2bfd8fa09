//! Validates and indexes untrusted tensor files.
//!
//! No allocator, no `std`, no unsafe code, no panics: the same code runs over a whole file
//! in memory, over the parts of a file that a browser or a flash driver fetched, and on a
//! microcontroller.
//!
//! ```
//! use weighbridge_core::{Audit, Cursor, File, Finding, Slot, Source};
//!
//! // A file of the format STB: a header, no tensors.
//! let mut bytes = [0; 64];
//! bytes[..8].copy_from_slice(b"STB0\x01\0\0\0");
//! bytes[16] = 64; // data_offset
//! bytes[24] = 63; // file_size: one byte less than there is
//!
//! let source = Source::whole(&bytes);
//! let mut findings = Vec::new();
//! let mut sink = |finding: Finding| findings.push(finding);
//! let file = File::open(&source, &mut sink)?;
//! Audit::new(file).step(&source, &mut [Slot::EMPTY; 8], &mut sink)?;
//!
//! assert_eq!(findings[0].rule.id(), "H-FSIZE");
//! assert_eq!(findings[0].offset, 24);
//! assert_eq!(findings[0].to_string(), "file_size says 63 bytes and the file has 64");
//!
//! let mut cursor = Cursor::default();
//! while let Some(entry) = file.next_tensor(&source, &mut cursor, &mut |_| {})? {
//!     println!("{} {}", entry.name, entry.dtype.name());
//! }
//! # Ok::<(), weighbridge_core::Stop>(())
//! ```
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `formats` | yes | every format; or a single one by name: `bintensors`, `executorch`, `gguf`, `idv`, `npy`, `npz`, `oinf`, `onnx`, `pytorch`, `safetensors`, `shards`, `stb`, `tflite`, `ztensor` |
//! | `windows` | yes | partially resident files, and `Audit`; without it, use [`MappedAudit`] |
//! | `details` | yes | findings with a length and with expected and found numbers |
//! | `payloads` | yes | the audit stage that needs the data |
//! | `pickles` | no | what a pickle imports and calls |
//! | `ztensor-later` | yes | zTensor 1.0 to 2 |
//! | `dequantise` | yes | elements of ggml's block types |
//! | `codebooks` | yes | those of IQ1 to IQ3 too, whose tables take 9 KiB |
//! | `deflate` | yes | raw deflate and zlib streams |
//! | `checksum` | yes | CRC-32, CRC-32C, SHA-256 and XXH3 |
//! | `zstd` | no | Zstandard frames, without a heap |
//! | `ruzstd` | no | a second zstd decoder, which allocates |
//! | `bytemuck` | no | elements as slices of numbers |
//! | `heapless` | no | findings and an index in fixed-size memory |
//! | `embedded-storage` | no | unmapped flash, through a driver; turns on `heapless`, `windows` |
//! | `defmt` | no | `defmt::Format` for reported types |
//! | `sweep` | no | faster passes over valid entries, in more code |
//! | `std` | no | CRC-32C with processor instructions; turns on `details`, `payloads`, `sweep`, `windows` |
//!
//! Each format turns on the shared parts that it needs: `any-alignment`, `beside`, `bincode`,
//! `blocks`, `cbor`, `columns`, `complex`, `crc32`, `decimal`, `dims32`, `dims64`,
//! `dims-reversed`, `flatbuffer`, `frames`, `items`, `json`, `more-dtypes`, `names`, `numbers`,
//! `packed`, `parted`, `paths`, `protobuf`, `strided`, `varints`, `xxh3`. They are of no use on their own.
#![no_std]
#![cfg_attr(
    not(all(feature = "formats", feature = "payloads", feature = "windows")),
    allow(
        dead_code,
        irrefutable_let_patterns,
        reason = "a partial build uses only part of the shared code"
    )
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::integer_division,
        clippy::panic,
        clippy::string_slice,
        clippy::unwrap_used,
        reason = "a test may fail"
    )
)]

#[cfg(feature = "ruzstd")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod audit;
mod base;
pub mod codec;
mod file;
pub mod format;
mod input;
mod model;
mod parse;
pub mod pickle;
#[cfg(any(feature = "protobuf", test))]
mod protobuf;
mod rule;
mod stats;

#[cfg(feature = "windows")]
pub use audit::Audit;
pub use audit::{MappedAudit, NumberedAudit, Stage};
#[cfg(feature = "payloads")]
pub use audit::{Scratch, ScratchIn};
pub use base::limits;
pub use codec::checksum;
pub use file::{Count, Cursor, File, Index, Opening, Quoted, Slot, Tally};
#[cfg(feature = "embedded-storage")]
pub use file::{Flash, FlashError};
pub use format::Format;
/// The crate whose `f16` and `bf16` represent elements of these types.
pub use half;
/// The crate whose `Vec` [`Index::bounded`] uses.
#[cfg(feature = "heapless")]
pub use heapless;
#[cfg(feature = "beside")]
pub use input::Beside;
pub use input::{Absent, Source, Span, Window};
pub use model::name::{Bytes, Chars, is_hidden};
pub use model::{
    Chunk, Chunks, DType, DimEncoding, Dims, DimsAt, Element, Elements, Encoding, Endianness,
    Entry, KeyedMetadata, Layout, Metadata, Name, NameAt, NameEncoding, Number, Part, Quant,
    Region, Sparse, Status, Tensor, Value, Version,
};
pub use parse::Stop;
#[cfg(feature = "heapless")]
pub use rule::Findings;
pub use rule::{Basis, EntryKind, Finding, Profile, Rule, RuleInfo, Severity, Subject, general};
pub use stats::{Histogram, Stats, Summary};

/// Runs the README's example as a test.
#[cfg(all(doctest, feature = "formats", feature = "windows"))]
#[doc = include_str!("../README.md")]
struct Readme;
