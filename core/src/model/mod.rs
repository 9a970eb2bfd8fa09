//! Tensors, names and metadata in a form common to all formats.

pub(crate) mod block;
pub(crate) mod decode;
pub(crate) mod dims;
mod dtype;
pub(crate) mod element;
mod endianness;
mod entry;
pub(crate) mod name;
#[cfg(feature = "payloads")]
pub(crate) mod parted;
pub(crate) mod sparse;
mod tensor;
#[cfg(any(feature = "items", feature = "payloads"))]
pub(crate) mod texts;
mod version;
mod view;
mod width;

pub use block::Quant;
pub use dims::{DimEncoding, Dims, DimsAt};
pub use dtype::DType;
pub use element::Element;
pub use endianness::Endianness;
pub use entry::{Entry, KeyedMetadata};
pub use name::{Name, NameAt, NameEncoding};
pub use sparse::Sparse;
pub use tensor::{Chunk, Chunks, Encoding, Layout, Metadata, Part, Region, Status, Tensor, Value};
pub use version::Version;
pub use view::{Elements, Number};
#[cfg(feature = "items")]
pub(crate) use width::Width;
