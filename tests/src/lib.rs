//! Encoders, fixtures and shared helpers of the Weighbridge tests.
//!
//! Nothing here depends on the parsers under test: the encoders write each
//! format from its specification, so that a mistake in a parser cannot hide
//! behind the same mistake in its test file.

pub mod encode;
pub mod fixtures;
