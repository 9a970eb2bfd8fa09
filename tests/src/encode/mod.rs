//! One encoder a format: a plain description of a file in, bytes out.

pub mod bintensors;
pub mod idv;
pub mod oinf;
pub mod stb;
