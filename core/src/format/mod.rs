//! One module per format, all of the same shape: `rules` (its catalogue), `Header` (the
//! validated header, plain numbers) with an implementation of `Container`, to which
//! [`File`](crate::File) dispatches.

#[cfg(feature = "bintensors")]
pub mod bintensors;
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
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "shards")]
pub mod shards;
#[cfg(feature = "stb")]
pub mod stb;
#[cfg(feature = "ztensor")]
pub mod ztensor;

#[cfg(feature = "npz")]
pub(crate) mod archive;
mod container;
mod formats;
mod pickle;
mod policy;

pub(crate) use container::{Container, Glance, data_of};
pub use formats::Format;
pub(crate) use formats::formats;
/// What an audit keeps of the keys of metadata; only GGUF has any that readers rely on.
#[cfg(feature = "keys")]
pub(crate) use gguf::Keys;
#[cfg(not(feature = "keys"))]
pub(crate) type Keys = ();
pub use pickle::is_pickle;
pub(crate) use policy::Policy;
