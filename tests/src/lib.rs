//! Encoders, fixtures and shared helpers of the Weighbridge tests.
//!
//! The encoders know nothing of the parsers under test: they write each format
//! from its specification, so that a mistake in a parser cannot hide behind
//! the same mistake in its test file.

#[cfg(feature = "encoders")]
pub mod alike;
pub mod codec;
#[cfg(feature = "encoders")]
pub mod corpus;
#[cfg(feature = "encoders")]
pub mod encode;
pub mod facts;
#[cfg(feature = "encoders")]
pub mod fixtures;
#[cfg(feature = "encoders")]
pub mod hard;
#[cfg(feature = "encoders")]
pub mod mlp;
pub mod survey;

/// The example of the README, which is run as a test.
#[cfg(all(doctest, feature = "encoders"))]
#[doc = include_str!("../../README.md")]
struct Readme;
