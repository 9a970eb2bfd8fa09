//! Stored data: what can be told of it without decoding it.

pub(crate) mod zstd;
