//! The bytes by which other formats are known.

use super::kind::DiagnosisKind;

pub(super) const NPY: &str = "a NumPy array (.npy)";
pub(super) const ONNX: &str = "an ONNX model";
pub(super) const TFLITE: &str = "a TensorFlow Lite model";
pub(super) const PROGRAM: &str = "an ExecuTorch program";
pub(super) const PROGRAM_DATA: &str = "tensor data of ExecuTorch";
pub(super) const TAR: &str = "a tar archive";

/// Bytes that identify a file of another format.
pub(super) struct Magic {
    pub(super) offset: usize,
    pub(super) bytes: &'static [u8],
    pub(super) name: &'static str,
    kind: DiagnosisKind,
}

const fn magic(offset: usize, bytes: &'static [u8], name: &'static str) -> Magic {
    Magic { offset, bytes, name, kind: DiagnosisKind::Other }
}

const fn packed(offset: usize, bytes: &'static [u8], name: &'static str) -> Magic {
    Magic { offset, bytes, name, kind: DiagnosisKind::Packed }
}

const fn superseded(bytes: &'static [u8], name: &'static str) -> Magic {
    Magic { offset: 0, bytes, name, kind: DiagnosisKind::Superseded }
}

/// The kind of the format with this name.
pub(super) fn kind_of(name: &str) -> DiagnosisKind {
    let known = MAGICS.iter().find(|magic| magic.name == name);
    known.map_or(DiagnosisKind::Other, |magic| magic.kind)
}

pub(super) const MAGICS: &[Magic] = &[
    magic(0, b"\x93NUMPY", NPY),
    magic(0, b"\x89HDF\r\n\x1A\n", "an HDF5 file"),
    magic(0, b"PAR1", "a Parquet file"),
    magic(0, b"ARROW1", "an Arrow file"),
    packed(0, b"\x1F\x8B\x08", "data compressed with gzip"),
    packed(0, b"\xFD7zXZ\0", "data compressed with xz"),
    packed(0, b"\x28\xB5\x2F\xFD", "data compressed with zstd"),
    packed(0, b"BZh", "data compressed with bzip2"),
    packed(0, b"\x04\x22\x4D\x18", "data compressed with lz4"),
    superseded(b"lmgg", "a GGML file, which GGUF has replaced"),
    superseded(b"fmgg", "a GGMF file, which GGUF has replaced"),
    superseded(b"tjgg", "a GGJT file, which GGUF has replaced"),
    magic(4, b"TFL3", TFLITE),
    magic(4, b"ET12", PROGRAM),
    magic(4, b"FT01", PROGRAM_DATA),
    packed(257, b"ustar", TAR),
];
