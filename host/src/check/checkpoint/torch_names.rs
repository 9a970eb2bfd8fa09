//! The names that checkpoints of torch import, as far as they say what a tensor is.

use weighbridge_core::format::pytorch::storage::{class_number, type_number};

/// What an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A function that makes a tensor.
    Tensor(Rebuild),
    /// A class of storages, with the number of its type, and whether it counts bytes.
    Storage(u64, Counts),
    /// A type of elements.
    Dtype(u64),
    /// `torch.storage.TypedStorage`.
    TypedStorage,
    OrderedDict,
    Counter,
    Size,
    /// A quantisation scheme for the tensor, or for each index of an axis.
    PerTensor,
    PerChannel,
    Layout,
    Device,
    Encode,
    Set,
    Complex,
    ByteArray,
    /// A class of tensors.
    TensorClass,
    Parameter,
    /// A function of TorchScript that returns its first argument.
    Typed,
    Other,
}

/// What a storage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Elements,
    /// Bytes, of elements that share them.
    Groups,
    /// Bytes, of any type.
    Bytes,
}

/// A function of `torch._utils` that makes a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rebuild {
    V1,
    V2,
    V3,
    Parameter,
    ParameterWithState,
    Quantised,
    Sparse,
    Meta,
    FromType,
    /// The data of the tensor is elsewhere.
    Elsewhere,
}

impl Known {
    pub(super) fn of(module: &str, name: &str) -> Known {
        match (module, name) {
            ("torch._utils", name) => rebuild(name).map_or(Known::Other, Known::Tensor),
            ("torch._tensor", "_rebuild_from_type_v2") => Known::Tensor(Rebuild::FromType),
            ("collections", "OrderedDict") => Known::OrderedDict,
            ("collections", "Counter") => Known::Counter,
            ("torch", "Size") => Known::Size,
            ("torch", "device") => Known::Device,
            ("torch", "per_tensor_affine" | "per_tensor_symmetric") => Known::PerTensor,
            (
                "torch",
                "per_channel_affine" | "per_channel_symmetric" | "per_channel_affine_float_qparams",
            ) => Known::PerChannel,
            ("torch.serialization", "_get_layout") => Known::Layout,
            ("torch.nn.parameter", "Parameter") => Known::Parameter,
            ("torch.jit._pickle", "restore_type_tag") => Known::Typed,
            ("torch.jit._pickle", name) if name.starts_with("build_") => Known::Typed,
            ("torch.storage", "TypedStorage") => Known::TypedStorage,
            ("_codecs", "encode") => Known::Encode,
            ("builtins" | "__builtin__", "set") => Known::Set,
            ("builtins" | "__builtin__", "complex") => Known::Complex,
            ("builtins" | "__builtin__", "bytearray") => Known::ByteArray,
            (
                "torch" | "torch.cuda" | "torch.sparse" | "torch.cuda.sparse" | "torch.storage",
                _,
            ) => class(name),
            _ => Known::Other,
        }
    }
}

fn class(name: &str) -> Known {
    if let Some(number) = class_number(name) {
        let counts = match name {
            "UntypedStorage" => Counts::Bytes,
            "QUInt4x2Storage" | "QUInt2x4Storage" => Counts::Groups,
            _ => Counts::Elements,
        };
        return Known::Storage(number, counts);
    }
    match type_number(name) {
        Some(number) => Known::Dtype(number),
        None if name == "Tensor" || name.ends_with("Tensor") => Known::TensorClass,
        None => Known::Other,
    }
}

fn rebuild(name: &str) -> Option<Rebuild> {
    Some(match name {
        "_rebuild_tensor" => Rebuild::V1,
        "_rebuild_tensor_v2" => Rebuild::V2,
        "_rebuild_tensor_v3" => Rebuild::V3,
        "_rebuild_parameter" => Rebuild::Parameter,
        "_rebuild_parameter_with_state" => Rebuild::ParameterWithState,
        "_rebuild_qtensor" => Rebuild::Quantised,
        "_rebuild_sparse_tensor" => Rebuild::Sparse,
        "_rebuild_meta_tensor_no_storage" => Rebuild::Meta,
        "_rebuild_wrapper_subclass"
        | "_rebuild_device_tensor_from_numpy"
        | "_rebuild_device_tensor_from_cpu_tensor" => Rebuild::Elsewhere,
        _ => return None,
    })
}

/// The layouts of sparse tensors: of coordinates, and compressed along rows or columns.
pub(super) const COORDINATES: &[u8] = b"torch.sparse_coo";
pub(super) const COMPRESSED: &[&[u8]] =
    &[b"torch.sparse_csr", b"torch.sparse_csc", b"torch.sparse_bsr", b"torch.sparse_bsc"];

/// Kinds of devices that torch 2.15 knows.
pub(super) const DEVICES: &[&str] = &[
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// Attributes of a tensor that hold its data or are methods. A state that sets one changes what the
/// tensor is.
const RESERVED: &[&str] = &[
    "data",
    "grad",
    "grad_fn",
    "requires_grad",
    "dtype",
    "shape",
    "device",
    "layout",
    "numpy",
    "item",
    "tolist",
    "detach",
    "clone",
    "cpu",
    "cuda",
    "to",
    "size",
    "stride",
    "storage",
    "untyped_storage",
    "view",
    "reshape",
    "backward",
    "copy_",
    "set_",
    "data_ptr",
    "numel",
    "contiguous",
    "float",
    "half",
    "double",
    "long",
    "type",
    "dim",
    "is_cuda",
    "t",
    "sum",
    "mean",
    "add",
    "mul",
    "matmul",
];

/// Whether the state of a tensor may not set this attribute.
pub(super) fn is_reserved(attribute: &str) -> bool {
    attribute.starts_with("__") || RESERVED.contains(&attribute)
}
