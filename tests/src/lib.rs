//! Encoders, fixtures and helpers shared by the Weighbridge tests.
//!
//! The encoders are independent of the parsers under test: they write each format from its
//! specification, so that a parser and its test files cannot share the same mistake.

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

/// Whether the longer tests run, as in `make test-deep`: all bytes, all files.
pub const DEEP: bool = cfg!(feature = "deep");

/// Reports a test skipped because this machine lacks something. With `WEIGHBRIDGE_REQUIRE=1`, as in
/// CI, that is a failure. Every skippable test calls this function; the corpus, which cannot be
/// published, has its own rule.
pub fn left_out(what: &str) {
    println!("left out: {what}");
    let required = std::env::var_os("WEIGHBRIDGE_REQUIRE").is_some_and(|value| value != "0");
    assert!(!required, "WEIGHBRIDGE_REQUIRE is set: nothing may be left out, but {what}");
}

/// The example of the README, run as a doctest.
#[cfg(all(doctest, feature = "encoders"))]
#[doc = include_str!("../../README.md")]
struct Readme;
