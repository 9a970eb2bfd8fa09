//! Weighbridge for C: validates tensor files in mapped memory, without a heap, globals or panics.
//!
//! `include/weighbridge.h` declares the interface; a test writes it from [`raw`] and [`types`].
//! All unsafe code is in [`raw`]: it turns the caller's pointers into references and slices. The
//! rest is safe.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::integer_division,
        clippy::panic,
        clippy::string_slice,
        clippy::unwrap_used,
        reason = "a test may fail"
    )
)]

#[cfg(test)]
mod header;
mod ids;
#[allow(unsafe_code, reason = "the border to C")]
pub mod raw;
mod reader;
#[cfg(test)]
#[allow(unsafe_code, reason = "calls what C calls")]
mod tests;
pub mod types;
