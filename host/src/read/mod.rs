//! An open model: its tensors, their data, its metadata.

#[cfg(feature = "ztensor")]
pub(crate) mod cbor;
#[cfg(feature = "idv")]
pub(crate) mod column;
pub(crate) mod data;
pub(crate) mod element_conversion;
pub(crate) mod form;
#[cfg(feature = "npy")]
pub(crate) mod items;
pub(crate) mod metadata;
pub(crate) mod model;
pub(crate) mod npy;
pub(crate) mod opening;
#[cfg(feature = "tflite")]
pub(crate) mod operators;
pub(crate) mod particulars;
#[cfg(feature = "std")]
pub(crate) mod parts;
#[cfg(feature = "idv")]
pub(crate) mod reading;
#[cfg(feature = "idv")]
pub(crate) mod rows;
#[cfg(feature = "pytorch")]
pub(crate) mod storages;
pub(crate) mod tensor;
pub(crate) mod values;
