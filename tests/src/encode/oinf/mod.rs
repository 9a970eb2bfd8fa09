//! OINF, versions 1 and 2: a model description and its encoder.
//!
//! The writer lays a file out like the published tools: sizevars, metadata and tensors in the given
//! order, then all metadata values, then for each tensor its data and its quantisation, every
//! payload on a multiple of eight. Sizes are taken from the description unchecked, so a description
//! whose data does not match its shape produces a file with that fault.

mod arbitrary;
mod write;

pub use arbitrary::arbitrary;
pub use write::{Encoded, Filler, MetadataAt, QuantAt, SizevarAt, TensorAt, header};

/// The contents of an OINF file.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Version word; 1 and 2 differ in the tensor entry.
    pub version: u32,
    /// Named numbers that shapes refer to.
    pub sizevars: Vec<Sizevar>,
    /// Named values.
    pub metadata: Vec<Metadata>,
    /// Tensors, in table order.
    pub tensors: Vec<Tensor>,
}

/// One named number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizevar {
    pub name: String,
    pub value: u64,
}

/// One metadata entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub key: String,
    pub value: Value,
}

/// A metadata value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One element, little-endian; packed types hold it in the low bits of one byte.
    Scalar(Type, Vec<u8>),
    /// A string of the name alphabet.
    Text(String),
    /// Number of bits and the packed bits, least significant bit first.
    Bits(u32, Vec<u8>),
    /// Element type, dimensions and row-major data.
    Array(Type, Vec<u64>, Vec<u8>),
}

impl Value {
    /// Tag of the value in the metadata table.
    #[must_use]
    pub fn tag(&self) -> u32 {
        match self {
            Self::Scalar(ty, _) => ty.tag(),
            Self::Bits(..) => 13,
            Self::Text(_) => 14,
            Self::Array(..) => 15,
        }
    }
}

/// One tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    pub ty: Type,
    pub dims: Vec<u64>,
    /// Row-major data, or `None` for a tensor that is only declared.
    pub data: Option<Vec<u8>>,
    /// Quantisation; version 1 has no field for it, so the writer omits it.
    pub quant: Option<Quant>,
}

/// Quantisation of a tensor (version 2).
#[derive(Clone, Debug, PartialEq)]
pub struct Quant {
    pub asymmetric: bool,
    pub scales: Scales,
    pub zero_points: ZeroPoints,
}

/// The granularity of the scales of a quantised tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Scales {
    PerTensor(f32),
    /// Axis, and one scale per index along it.
    PerChannel(u64, Vec<f32>),
}

/// Zero points; per-channel ones use the axis of the scales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZeroPoints {
    None,
    PerTensor(i32),
    PerChannel(Vec<i32>),
}

/// The element types of scalars, arrays and tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    Bool,
    Bf16,
    F8,
    I4,
    I2,
    I1,
    U4,
    U2,
    U1,
    T2,
    T1,
}

impl Type {
    /// All types, in tag order.
    pub const ALL: [Self; 22] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bool,
        Self::Bf16,
        Self::F8,
        Self::I4,
        Self::I2,
        Self::I1,
        Self::U4,
        Self::U2,
        Self::U1,
        Self::T2,
        Self::T1,
    ];

    /// Tag in the file, its lower-case name, and the width of an element in bits.
    const fn row(self) -> (u32, &'static str, u64) {
        match self {
            Self::I8 => (1, "i8", 8),
            Self::I16 => (2, "i16", 16),
            Self::I32 => (3, "i32", 32),
            Self::I64 => (4, "i64", 64),
            Self::U8 => (5, "u8", 8),
            Self::U16 => (6, "u16", 16),
            Self::U32 => (7, "u32", 32),
            Self::U64 => (8, "u64", 64),
            Self::F16 => (9, "f16", 16),
            Self::F32 => (10, "f32", 32),
            Self::F64 => (11, "f64", 64),
            Self::Bool => (12, "bool", 8),
            Self::Bf16 => (16, "bf16", 16),
            Self::F8 => (17, "f8", 8),
            Self::I4 => (18, "i4", 4),
            Self::I2 => (19, "i2", 2),
            Self::I1 => (20, "i1", 1),
            Self::U4 => (21, "u4", 4),
            Self::U2 => (22, "u2", 2),
            Self::U1 => (23, "u1", 1),
            Self::T2 => (24, "t2", 2),
            Self::T1 => (25, "t1", 1),
        }
    }

    /// Tag in the file.
    #[must_use]
    pub const fn tag(self) -> u32 {
        self.row().0
    }

    /// Lower-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Width of an element in bits; packed types are narrower than a byte.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.row().2
    }

    /// Bytes occupied by `count` elements.
    #[must_use]
    pub const fn bytes(self, count: u64) -> u64 {
        (count * self.bits()).div_ceil(8)
    }

    /// Turns arbitrary bytes into valid data of the type: `bool` bytes are 0 or 1, ternary codes
    /// are one of three, unused bits are zero.
    #[must_use]
    pub fn tidy(self, count: u64, mut data: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Bool => data.iter_mut().for_each(|byte| *byte &= 1),
            Self::T2 => {
                for byte in &mut data {
                    // A code with only its high bit set is reset to zero.
                    let alone = *byte & 0xAA & !(*byte << 1);
                    *byte ^= alone;
                }
            }
            _ => {}
        }
        let used = count * self.bits() % 8;
        if used != 0
            && let Some(last) = data.last_mut()
        {
            *last &= (1 << used) - 1;
        }
        data
    }
}

/// A sizevar.
#[must_use]
pub fn sizevar(name: &str, value: u64) -> Sizevar {
    Sizevar { name: name.into(), value }
}

/// A metadata entry.
#[must_use]
pub fn metadata(key: &str, value: Value) -> Metadata {
    Metadata { key: key.into(), value }
}

/// A tensor with data and without quantisation.
#[must_use]
pub fn tensor(name: &str, ty: Type, dims: &[u64], data: &[u8]) -> Tensor {
    Tensor { name: name.into(), ty, dims: dims.into(), data: Some(data.into()), quant: None }
}

/// A tensor that is declared but has no data.
#[must_use]
pub fn declared(name: &str, ty: Type, dims: &[u64]) -> Tensor {
    Tensor { name: name.into(), ty, dims: dims.into(), data: None, quant: None }
}
