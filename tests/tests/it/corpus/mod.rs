//! Conformance with the corpus of real and broken files, where there is one.

mod bintensors;
mod idv;
mod stb;
