//! One module a format, all of the same shape.
//!
//! Each has `rules` (its catalogue), `Header` (what opening proved) and, on
//! the header, the same functions in the same order, which
//! [`File`](crate::File) dispatches to:
//!
//! | function | task |
//! |---|---|
//! | `detect` | whether the first bytes are of this format |
//! | `open` | prove what the other functions rely on |
//! | `version`, `file_len`, `tensor_count` | what the header says |
//! | `meta`, `tensor` | the next entry, judged |
//! | `attribute` | the next metadata entry of one tensor |
//! | `value` | what a metadata entry holds |
//! | `chunk` | where a piece of a tensor's data lies |
//! | `checksum` | what its stored bytes are said to sum up to |
//! | `region` | the next part of the file that something refers to |
//! | `audit` | what needs more than one entry or bytes of values |
//! | `POLICY` | which of its rules stand for the checks that all formats share |

use crate::codec;
use crate::file::Format;
use crate::name::{Name, NameAt};
use crate::rule::Rule;
use crate::sparse;

#[cfg(feature = "bintensors")]
pub mod bintensors;
#[cfg(feature = "gguf")]
pub mod gguf;
#[cfg(feature = "idv")]
pub mod idv;
#[cfg(feature = "oinf")]
pub mod oinf;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "shards")]
pub mod shards;
#[cfg(feature = "stb")]
pub mod stb;
#[cfg(feature = "ztensor")]
pub mod ztensor;

impl Format {
    /// The format that is named `name` in options and reports.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The format of files with this extension, without the dot.
    pub fn by_extension(extension: &str) -> Option<Format> {
        let matches = |known: &&str| known.eq_ignore_ascii_case(extension);
        Format::ALL.iter().copied().find(|format| format.extensions().iter().any(matches))
    }
}

impl core::fmt::Display for Format {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.title())
    }
}

/// A tensor that a sweep is about to pass over.
pub(crate) struct Glance<'a> {
    /// Position in the index.
    pub(crate) index: u32,
    /// Absolute offset of its entry.
    pub(crate) at: u64,
    /// Where its name is stored.
    #[cfg_attr(
        not(feature = "sweep"),
        allow(dead_code, reason = "only an audit that sweeps keeps it")
    )]
    pub(crate) name_at: NameAt,
    /// Its name.
    pub(crate) name: Name<'a>,
}

/// Which rules of a format stand for the checks that all formats share; `None`
/// where the format makes the fault impossible or harmless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Two tensors have one name.
    pub(crate) duplicate_tensor: Option<Rule>,
    /// Two metadata entries have one key.
    pub(crate) duplicate_meta: Option<Rule>,
    /// Two metadata entries of one tensor have one key, stored plainly. With a
    /// rule here the audit judges every tensor's metadata entries.
    pub(crate) duplicate_attribute: Option<Rule>,
    /// Two size variables have one name.
    pub(crate) duplicate_size: Option<Rule>,
    /// Two parts of the file share some bytes.
    pub(crate) overlap: Option<Rule>,
    /// Two payloads are the same range of bytes.
    pub(crate) alias: Option<Rule>,
    /// At least `align` bytes in a row belong to nothing.
    pub(crate) gap: Option<Rule>,
    /// The same at the end of the file.
    pub(crate) trailing: Option<Rule>,
    /// Fewer than `align` bytes belong to nothing and are not all zero.
    pub(crate) padding: Option<Rule>,
    /// The alignment of payloads in bytes, which explains smaller gaps.
    pub(crate) align: u64,
    /// A `bool` byte is neither 0 nor 1.
    pub(crate) boolean: Option<Rule>,
    /// A two-bit ternary code is 10.
    pub(crate) ternary: Option<Rule>,
    /// Unused bits of the last byte of packed elements are not zero.
    pub(crate) tail_bits: Option<Rule>,
    /// The checksum of stored bytes is not what the file says.
    pub(crate) checksum: Option<Rule>,
    /// What a fault of an encoded stream breaks; with encodings other than raw
    /// it must not be `None`.
    pub(crate) stream: Option<fn(codec::Fault) -> Rule>,
    /// What a fault of the indices of a sparse tensor breaks.
    pub(crate) sparse: Option<fn(sparse::Fault) -> Rule>,
    /// What a fault in the structure of Zstandard frames breaks.
    pub(crate) frame: Option<fn(codec::frame::Fault) -> Rule>,
}

impl Policy {
    /// No shared check applies.
    pub(crate) const NONE: Policy = Policy {
        duplicate_tensor: None,
        duplicate_meta: None,
        duplicate_attribute: None,
        duplicate_size: None,
        overlap: None,
        alias: None,
        gap: None,
        trailing: None,
        padding: None,
        align: 1,
        boolean: None,
        ternary: None,
        tail_bits: None,
        checksum: None,
        stream: None,
        sparse: None,
        frame: None,
    };

    /// Whether the regions of the file are compared with one another.
    pub(crate) const fn covers(&self) -> bool {
        self.overlap.is_some()
            || self.alias.is_some()
            || self.gap.is_some()
            || self.padding.is_some()
    }
}
