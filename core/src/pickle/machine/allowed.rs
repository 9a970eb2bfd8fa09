//! What a pickle may import.
//!
//! The list is that of `torch.load(weights_only=True)` in torch 2.15, by exact pairs of module and
//! name. Names of Python 2 stand beside those of Python 3.

use super::label::PickleName;

/// The release of torch whose list this is.
pub const PICKLE_LIST: &str = "torch 2.15";

/// Where an import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// On the list of `torch.load(weights_only=True)`.
    Listed,
    /// A function on that list: it is listed to be called, not to be a value.
    Function,
    /// Not on it, but known to make nothing but data.
    Inert,
    /// Anything else.
    Other,
}

type Names = &'static [(&'static str, &'static [&'static str])];

/// The 144 names.
const LISTED: Names = &[
    ("collections", &["OrderedDict", "Counter"]),
    ("builtins", &["set", "complex", "bytearray"]),
    ("__builtin__", &["set", "complex", "bytearray"]),
    ("_codecs", &["encode"]),
    ("torch.nn.parameter", &["Parameter"]),
    ("torch.serialization", &["_get_layout"]),
    ("torch._tensor", &["_rebuild_from_type_v2"]),
    (
        "torch._utils",
        &[
            "_rebuild_parameter",
            "_rebuild_parameter_with_state",
            "_rebuild_qtensor",
            "_rebuild_tensor",
            "_rebuild_tensor_v2",
            "_rebuild_tensor_v3",
            "_rebuild_sparse_tensor",
            "_rebuild_meta_tensor_no_storage",
            "_rebuild_wrapper_subclass",
            "_rebuild_device_tensor_from_numpy",
            "_rebuild_device_tensor_from_cpu_tensor",
        ],
    ),
    ("torch", &["Size", "Tensor", "device"]),
    ("torch", DTYPES),
    ("torch", SCHEMES),
    ("torch", STORAGES),
    ("torch", QUANTISED_STORAGES),
    ("torch", TENSORS),
    ("torch", &["BoolTensor"]),
    ("torch.cuda", STORAGES),
    ("torch.cuda", TENSORS),
    ("torch.cuda", &["BoolTensor"]),
    ("torch.sparse", TENSORS),
    ("torch.cuda.sparse", TENSORS),
    ("torch.storage", &["TypedStorage", "UntypedStorage"]),
];

const DTYPES: &[&str] = &[
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex32",
    "complex64",
    "complex128",
    "bcomplex32",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
    "qint8",
    "qint32",
    "quint8",
    "quint2x4",
    "quint4x2",
    "bits8",
    "bits16",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
];

const SCHEMES: &[&str] = &[
    "per_tensor_affine",
    "per_tensor_symmetric",
    "per_channel_affine",
    "per_channel_symmetric",
    "per_channel_affine_float_qparams",
];

const STORAGES: &[&str] = &[
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
];

const QUANTISED_STORAGES: &[&str] =
    &["QInt32Storage", "QInt8Storage", "QUInt2x4Storage", "QUInt4x2Storage", "QUInt8Storage"];

const TENSORS: &[&str] = &[
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
];

/// How the names of functions on the list begin; all others are of types and of values.
const FUNCTIONS: &[&str] = &["_rebuild_", "_get_layout", "encode"];

/// Whether a name is one of TorchScript's, which its reader in C++ looks up in the archive. Python
/// has no module `__torch__`.
fn is_of_torchscript(module: &str, name: &str) -> bool {
    let builds = name.starts_with("build_") || name == "restore_type_tag";
    module == "__torch__"
        || module.starts_with("__torch__.")
        || module == "torch.jit._pickle" && builds
}

/// NumPy's own pickles of arrays and scalars import these.
const NUMPY: Names = &[
    ("numpy", &["dtype", "ndarray"]),
    ("numpy.core.multiarray", &["scalar", "_reconstruct"]),
    ("numpy._core.multiarray", &["scalar", "_reconstruct"]),
    ("numpy.core.numeric", &["_frombuffer"]),
    ("numpy._core.numeric", &["_frombuffer"]),
];

/// Names that make nothing but data, off the list.
const INERT: Names = &[
    ("argparse", &["Namespace"]),
    ("collections", &["defaultdict"]),
    ("builtins", PLAIN),
    ("__builtin__", PLAIN),
    ("pathlib", PATHS),
    ("pathlib._local", PATHS),
    ("datetime", &["date", "datetime", "time", "timedelta", "timezone"]),
    ("omegaconf.dictconfig", &["DictConfig"]),
    ("omegaconf.listconfig", &["ListConfig"]),
    ("omegaconf.base", &["ContainerMetadata", "Metadata"]),
    ("omegaconf.nodes", &["AnyNode", "BooleanNode", "FloatNode", "IntegerNode", "StringNode"]),
    ("typing", &["Any"]),
    ("pytorch_lightning.utilities.parsing", &["AttributeDict"]),
    ("lightning.pytorch.utilities.parsing", &["AttributeDict"]),
    ("lightning_fabric.utilities.data", &["AttributeDict"]),
    ("lightning.fabric.utilities.data", &["AttributeDict"]),
];

const PLAIN: &[&str] =
    &["list", "dict", "tuple", "frozenset", "int", "float", "str", "bytes", "bool"];

const PATHS: &[&str] =
    &["Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath"];

/// Where these names stand. In an array of NumPy's, its own functions are listed.
pub(super) fn standing(module: &PickleName, name: &PickleName, is_numpy: bool) -> Standing {
    if !module.is_whole() || !name.is_whole() {
        return Standing::Other;
    }
    let has = |list: Names| {
        let of_module = list.iter().filter(|(known, _)| *known == module.as_str());
        of_module.flat_map(|(_, names)| names.iter()).any(|known| *known == name.as_str())
    };
    match () {
        () if has(LISTED) && FUNCTIONS.iter().any(|start| name.as_str().starts_with(start)) => {
            Standing::Function
        }
        () if has(LISTED) || is_numpy && has(NUMPY) => Standing::Listed,
        () if is_of_torchscript(module.as_str(), name.as_str()) => Standing::Listed,
        () if has(INERT) || has(NUMPY) => Standing::Inert,
        () => Standing::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::label::Spelling;
    use super::*;

    fn of(module: &str, name: &str) -> Standing {
        let [module, name] =
            [module, name].map(|it| PickleName::of(it.as_bytes(), Spelling::Plain));
        standing(&module, &name, false)
    }

    #[test]
    fn the_list_has_its_144_names() {
        let python_3 = LISTED.iter().filter(|(module, _)| *module != "__builtin__");
        assert_eq!(python_3.map(|(_, names)| names.len()).sum::<usize>(), 144);
    }

    #[test]
    fn only_exact_pairs_are_listed() {
        assert_eq!(of("torch._utils", "_rebuild_tensor_v2"), Standing::Function);
        assert_eq!(of("torch", "FloatStorage"), Standing::Listed);
        assert_eq!(of("__torch__.a.b", "C"), Standing::Listed);
        assert_eq!(of("__torch__x", "C"), Standing::Other);
        assert_eq!(of("torch", "_utils._rebuild_tensor_v2"), Standing::Other);
        assert_eq!(of("torch", "Floatstorage"), Standing::Other);
        assert_eq!(of("pathlib", "os.system"), Standing::Other);
        assert_eq!(of("argparse", "Namespace"), Standing::Inert);
        assert_eq!(of("numpy", "ndarray"), Standing::Inert);
        assert_eq!(of("posix", "system"), Standing::Other);
    }
}
