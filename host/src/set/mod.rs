//! Checks models stored in several files as a whole, for hosts that read the files themselves.

#[cfg(all(feature = "formats", feature = "std"))]
mod archive;
#[cfg(all(feature = "gguf", feature = "shards"))]
mod check;
#[cfg(all(feature = "gguf", feature = "shards"))]
mod found;
pub(crate) mod gate;
#[cfg(all(feature = "formats", feature = "std"))]
mod open_archive;
#[cfg(all(feature = "onnx", feature = "std"))]
pub(crate) mod open_beside;
#[cfg(all(feature = "shards", feature = "std"))]
pub(crate) mod open_shards;
#[cfg(all(feature = "gguf", feature = "std"))]
pub(crate) mod open_splits;
#[cfg(feature = "onnx")]
pub(crate) mod other_files;
#[cfg(feature = "shards")]
mod shards;
#[cfg(feature = "gguf")]
mod splits;

#[cfg(all(feature = "formats", feature = "std"))]
pub use archive::{Archive, ArchiveMember, MemberPlace};
#[cfg(all(feature = "gguf", feature = "shards"))]
pub use check::SetCheck;
#[cfg(all(feature = "gguf", feature = "shards"))]
pub use found::{SetFile, SetPlace};
#[cfg(feature = "onnx")]
pub use other_files::OtherFiles;
#[cfg(feature = "shards")]
pub use shards::ShardSet;
#[cfg(feature = "gguf")]
pub(crate) use splits::PartName;
#[cfg(feature = "gguf")]
pub use splits::SplitSet;

use crate::base::text::Text;
use crate::check::entry_names::MOST_NAME;
use core::hash::Hasher as _;
use siphasher::sip128::{Hasher128 as _, SipHasher13};
#[cfg(feature = "shards")]
use weighbridge_core::{Chunks, Span};
use weighbridge_core::{Finding, Name};

/// The state of a file in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The file breaks no rule that counts.
    Valid,
    /// The file breaks a rule that counts.
    Invalid,
    /// The file does not exist.
    Missing,
    /// The file is a link that leads elsewhere.
    Outside,
    /// The file could not be read, or was not looked for.
    Unread,
}

/// Receives a finding on a set, and a function that returns the name of its entry.
pub type Find<'f> = &'f mut dyn FnMut(Finding, &dyn Fn() -> Option<Text>);

/// The bytes of a file that hold a tensor; empty if they are in several places or none.
#[cfg(feature = "shards")]
fn data(chunks: &Chunks) -> Span {
    match chunks {
        Chunks::One(span) => *span,
        _ => Span::default(),
    }
}

/// The name of a tensor, cut to the length that is shown.
fn named(name: &Name<'_>) -> Option<Text> {
    Some(Text::start_of(name, MOST_NAME))
}

/// Hashes a name to save memory: there may be millions.
fn hash(seed: u64, name: &Name<'_>) -> u128 {
    let mut hasher = SipHasher13::new_with_keys(seed, 1);
    name.bytes().for_each(|byte| hasher.write_u8(byte));
    hasher.finish128().as_u128()
}
