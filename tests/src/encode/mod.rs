//! One encoder a format: a plain description of a file in, bytes out.

pub mod bintensors;
pub mod oinf;
pub mod stb;
