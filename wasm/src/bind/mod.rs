//! The interface to `js/index.js`, which offers the public interface.
//!
//! Results are packed; arguments are numbers and texts. Numeric selectors are
//! described where they are used, and named in `js/`.

#[cfg(feature = "full")]
mod cells;
#[cfg(feature = "compute")]
mod compute;
#[cfg(feature = "full")]
mod decoder;
#[cfg(feature = "documents")]
mod document;
#[cfg(feature = "documents")]
mod entries;
#[cfg(feature = "compute")]
mod health;
#[cfg(feature = "full")]
mod joint;
#[cfg(feature = "full")]
mod others;
#[cfg(feature = "full")]
mod pickles;
#[cfg(feature = "full")]
mod saving;
#[cfg(feature = "summary")]
mod summary;
#[cfg(feature = "documents")]
mod tables;
#[cfg(feature = "documents")]
mod thrown;
#[cfg(any(feature = "compute", feature = "documents"))]
mod unit;

#[cfg(feature = "documents")]
use document::{Answer, RawDocument, answer, stopped};
#[cfg(feature = "compute")]
use unit::dtype;
use weighbridge_core::Endianness;

fn endianness(big: bool) -> Endianness {
    if big { Endianness::Big } else { Endianness::Little }
}
