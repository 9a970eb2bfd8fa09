//! Decoding of frames. The parts that differ between hosts and small processors are in `fast/`
//! and in `small.rs`.

mod bits;
mod block;
mod codes;
mod frames;
mod fse;
mod huffman;
#[cfg_attr(feature = "sweep", path = "fast/mod.rs")]
#[cfg_attr(not(feature = "sweep"), path = "small.rs")]
mod kernel;
mod plain;
mod ring;
mod room;
mod sequences;
mod xxh64;

use crate::codec::Fault;
pub(in crate::codec) use frames::Frames;
