//! One module per format. Each has a rule catalogue, `rules`, and a validated header,
//! `Header`, which holds only plain numbers and implements `Container`.
//! [`File`](crate::File) dispatches to it.

#[cfg(feature = "bintensors")]
pub mod bintensors;
#[cfg(feature = "executorch")]
pub mod executorch;
#[cfg(feature = "gguf")]
pub mod gguf;
#[cfg(feature = "idv")]
pub mod idv;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "oinf")]
pub mod oinf;
#[cfg(feature = "onnx")]
pub mod onnx;
#[cfg(feature = "pytorch")]
pub mod pytorch;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "shards")]
pub mod shards;
#[cfg(feature = "stb")]
pub mod stb;
#[cfg(feature = "tflite")]
pub mod tflite;
#[cfg(feature = "ztensor")]
pub mod ztensor;

#[cfg(feature = "npz")]
pub(crate) mod archive;
mod container;
mod fault;
#[cfg(any(all(test, feature = "windows"), feature = "flatbuffer"))]
pub(crate) mod flatbuffer;
mod formats;
mod marks;
#[cfg(any(feature = "onnx", feature = "tflite"))]
pub mod path;
#[cfg(feature = "sweep")]
pub(crate) mod taken;

pub use crate::pickle::{PickleWalk, Pickled, is_pickle};
pub(crate) use container::{Container, Glance, data_of};
pub(crate) use fault::Fault;
pub use formats::Format;
pub(crate) use formats::formats;
pub(crate) use marks::Marks;
#[cfg(feature = "sweep")]
pub(crate) use taken::{Memory, Words};
