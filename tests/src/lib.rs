//! Encoders, fixtures and shared helpers of the Weighbridge tests.
//!
//! The encoders know nothing of the parsers under test: they write each format
//! from its specification, so that a mistake in a parser cannot hide behind
//! the same mistake in its test file.

pub mod alike;
pub mod codec;
pub mod corpus;
pub mod encode;
pub mod fixtures;
pub mod hard;
pub mod mlp;
pub mod survey;

/// The example of the README, which is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
