//! Words, offsets and bytes: helpers that know nothing about files.

#[cfg(feature = "sweep")]
pub(crate) mod ascii;
pub(crate) mod cbor;
pub(crate) mod division;
pub(crate) mod features;
pub(crate) mod hash;
pub mod limits;
pub(crate) mod utf8;
pub(crate) mod word;

pub(crate) use word::{Word, place, wide, widen, word};
