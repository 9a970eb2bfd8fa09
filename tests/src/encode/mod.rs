//! One encoder a format: a plain description of a file in, bytes out.

pub mod stb;
pub mod ztensor;
