//! Encoders, fixtures and shared helpers of the Weighbridge tests.
//!
//! The encoders know nothing of the parsers under test: they write each format
//! from its specification, so that a mistake in a parser cannot hide in both
//! the same mistake in its test file.

#[cfg(feature = "encoders")]
pub mod advisories;
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
#[cfg(feature = "encoders")]
pub mod samples;
pub mod survey;

/// Whether tests take what lasts longer, as `make test-deep` does: all bytes, all files.
pub const DEEP: bool = cfg!(feature = "deep");

/// Says what is not tested for lack of something on this machine. Where nothing may
/// be left out, as in CI (`WEIGHBRIDGE_REQUIRE=1`), that is a failure. Whatever can
/// be skipped asks here; the corpus, which cannot be published, has its own rule.
pub fn left_out(what: &str) {
    println!("left out: {what}");
    let required = std::env::var_os("WEIGHBRIDGE_REQUIRE").is_some_and(|value| value != "0");
    assert!(!required, "WEIGHBRIDGE_REQUIRE is set: nothing may be left out, but {what}");
}

/// The example of the README, which is run as a test.
#[cfg(all(doctest, feature = "encoders"))]
#[doc = include_str!("../../README.md")]
struct Readme;
