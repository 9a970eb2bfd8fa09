//! Words, offsets and bytes: helpers that know nothing about files.

pub(crate) mod division;
pub(crate) mod hash;
pub mod limits;
pub(crate) mod utf8;
mod word;

pub(crate) use word::{Word, place, wide, widen, word};
