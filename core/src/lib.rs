//! Validates and indexes tensor files that nobody vouches for.
//!
//! No allocator, no `std`, no unsafe code, no panic: the same code runs over a
//! whole file in memory, over the parts of a file that a browser or a flash
//! driver fetched, and on a microcontroller.
//!
//! ```
//! use weighbridge::{Audit, Cursor, File, Finding, Slot, Source};
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
//! assert_eq!(findings[0].at, 24);
//! assert_eq!(findings[0].to_string(), "file_size says 63 bytes and the file has 64");
//!
//! let mut cursor = Cursor::default();
//! while let Some(tensor) = file.next_tensor(&source, &mut cursor, &mut |_| {})? {
//!     println!("{} {}", tensor.name(&source)?, tensor.dtype.name());
//! }
//! # Ok::<(), weighbridge::Stop>(())
//! ```
#![no_std]
#![cfg_attr(
    not(all(feature = "formats", feature = "payloads", feature = "windows")),
    allow(
        dead_code,
        irrefutable_let_patterns,
        reason = "a part of the core takes a part of what its parts share"
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

pub mod checksum;
pub mod codec;
pub mod format;
pub mod limits;

mod aligned;
#[cfg(feature = "windows")]
mod audit;
#[cfg(any(feature = "gguf", test))]
mod block;
mod cursor;
mod dims;
mod division;
mod dtype;
mod element;
mod file;
mod finding;
#[cfg(feature = "embedded-storage")]
mod flash;
mod halt;
mod hash;
mod index;
mod judge;
mod leaf;
#[cfg(not(feature = "windows"))]
mod mapped;
mod name;
mod opening;
mod plural;
mod read;
mod rule;
mod slot;
mod source;
mod sparse;
mod stage;
mod stats;
mod tally;
mod tensor;
#[cfg(feature = "windows")]
mod twins;
mod utf8;
mod view;

#[cfg(feature = "windows")]
pub use audit::Audit;
#[cfg(feature = "payloads")]
pub use audit::{Paused, Scratch};
pub use cursor::Cursor;
pub use dims::{DimEncoding, Dims, DimsAt};
pub use dtype::DType;
pub use element::Element;
pub use file::{File, Format};
pub use finding::{Finding, Kind, Stop, Subject};
#[cfg(feature = "embedded-storage")]
pub use flash::{Flash, FlashError};
pub use index::Index;
#[cfg(not(feature = "windows"))]
pub use mapped::Audit;
pub use name::{Bytes, Chars, Name, NameAt, NameEncoding, is_hidden};
pub use opening::Opening;
pub use rule::{Basis, Profile, Rule, RuleInfo, Severity, general};
pub use slot::Slot;
pub use source::{Absent, Source, Span, Window};
pub use sparse::Sparse;
pub use stage::Stage;
pub use stats::{Histogram, Stats};
pub use tally::{Count, Tally};
pub use tensor::{
    Chunk, Chunks, Encoding, Endianness, Layout, Meta, Part, Region, Status, Tensor, Value, Version,
};
pub use view::{Elements, Number};
