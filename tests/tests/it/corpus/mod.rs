//! Conformance with the corpus of real and broken files, where there is one.

mod stb;
mod ztensor;
