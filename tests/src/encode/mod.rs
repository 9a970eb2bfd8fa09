//! One encoder per format: a plain description of a file in, bytes out.

pub mod bintensors;
pub mod executorch;
pub mod flatbuffer;
pub mod gguf;
pub mod idv;
pub mod npy;
pub mod npz;
pub mod oinf;
pub mod onnx;
pub mod pickle;
pub mod pytorch;
pub mod safetensors;
pub mod shards;
pub mod stb;
pub mod tflite;
pub mod ztensor;
