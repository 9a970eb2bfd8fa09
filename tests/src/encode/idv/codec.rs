//! Codec definitions: a loadname and a parameterization that may be nested.

use super::{leb, string};

/// A fixed-size number that has no missing-value layout of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 1 byte, signed.
    SByte,
    /// 1 byte, unsigned.
    Byte,
    /// 2 bytes, signed.
    Int16,
    /// 2 bytes, unsigned.
    UInt16,
    /// 4 bytes, signed.
    Int32,
    /// 4 bytes, unsigned.
    UInt32,
    /// 8 bytes, signed.
    Int64,
    /// 8 bytes, unsigned.
    UInt64,
    /// 4 bytes, IEEE 754.
    Single,
    /// 8 bytes, IEEE 754.
    Double,
}

impl Number {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::SByte,
        Self::Byte,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::UInt32,
        Self::Int64,
        Self::UInt64,
        Self::Single,
        Self::Double,
    ];

    /// The loadname.
    pub fn name(self) -> &'static str {
        match self {
            Self::SByte => "SByte",
            Self::Byte => "Byte",
            Self::Int16 => "Int16",
            Self::UInt16 => "UInt16",
            Self::Int32 => "Int32",
            Self::UInt32 => "UInt32",
            Self::Int64 => "Int64",
            Self::UInt64 => "UInt64",
            Self::Single => "Single",
            Self::Double => "Double",
        }
    }

    /// Bytes of one value.
    pub fn width(self) -> usize {
        match self {
            Self::SByte | Self::Byte => 1,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int32 | Self::UInt32 | Self::Single => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
        }
    }
}

/// How the values of a column are stored, which also determines its type.
///
/// The second loadname of a pair is that of ML.NET 0.1 to 0.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codec {
    /// A number.
    Number(Number),
    /// `TextSpan`.
    Text,
    /// `Boolean`, one bit.
    Boolean,
    /// `DvBool`, two bits.
    DvBool,
    /// `TimeSpan` or, if set, `DvTimeSpan`: i64 ticks.
    TimeSpan(bool),
    /// `DateTime` or, if set, `DvDateTime`: i64 ticks.
    DateTime(bool),
    /// `DateTimeOffset` or, if set, `DvDateTimeZone`.
    DateTimeOffset(bool),
    /// `DataViewRowId`, `RowId` or `UInt128`: 16 bytes.
    RowId(&'static str),
    /// `Key2`: an inner unsigned integer and a cardinality.
    Key2(Box<Codec>, u64),
    /// `Key`, the older form.
    Key {
        /// An unsigned integer.
        inner: Box<Codec>,
        /// 0 or 1.
        contiguous: u8,
        /// Logical value of rank 1.
        min: u64,
        /// Cardinality, 0 if unknown.
        count: i32,
    },
    /// `VBuffer`: an item codec and its dimensions.
    Vector(Box<Codec>, Vec<i32>),
    /// Anything else.
    Other {
        /// The loadname.
        name: Vec<u8>,
        /// The parameterization.
        parameters: Vec<u8>,
    },
}

impl Codec {
    /// A `Key2` over `inner`.
    pub fn key(inner: Number, count: u64) -> Self {
        Self::Key2(Box::new(Self::Number(inner)), count)
    }

    /// A `VBuffer` of `inner`.
    pub fn vector(inner: Self, dims: &[i32]) -> Self {
        Self::Vector(Box::new(inner), dims.to_vec())
    }

    /// A codec that no reader knows.
    pub fn other(name: &str, parameters: &[u8]) -> Self {
        Self::Other { name: name.as_bytes().to_vec(), parameters: parameters.to_vec() }
    }

    /// The loadname.
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Number(number) => number.name().as_bytes(),
            Self::Text => b"TextSpan",
            Self::Boolean => b"Boolean",
            Self::DvBool => b"DvBool",
            Self::TimeSpan(false) => b"TimeSpan",
            Self::TimeSpan(true) => b"DvTimeSpan",
            Self::DateTime(false) => b"DateTime",
            Self::DateTime(true) => b"DvDateTime",
            Self::DateTimeOffset(false) => b"DateTimeOffset",
            Self::DateTimeOffset(true) => b"DvDateTimeZone",
            Self::RowId(name) => name.as_bytes(),
            Self::Key2(..) => b"Key2",
            Self::Key { .. } => b"Key",
            Self::Vector(..) => b"VBuffer",
            Self::Other { name, .. } => name,
        }
    }

    /// The parameterization.
    pub fn parameters(&self) -> Vec<u8> {
        match self {
            Self::Key2(inner, count) => {
                let mut out = inner.definition();
                out.extend_from_slice(&count.to_le_bytes());
                out
            }
            Self::Key { inner, contiguous, min, count } => {
                let mut out = inner.definition();
                out.push(*contiguous);
                out.extend_from_slice(&min.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
                out
            }
            Self::Vector(inner, dims) => {
                let mut out = inner.definition();
                out.extend_from_slice(&(dims.len() as i32).to_le_bytes());
                for dim in dims {
                    out.extend_from_slice(&dim.to_le_bytes());
                }
                out
            }
            Self::Other { parameters, .. } => parameters.clone(),
            _ => Vec::new(),
        }
    }

    /// The full definition: loadname, length, parameterization.
    pub fn definition(&self) -> Vec<u8> {
        let parameters = self.parameters();
        let mut out = string(self.name());
        out.extend(leb(parameters.len() as u64));
        out.extend(parameters);
        out
    }

    /// The definition with other parameters and the matching length.
    pub fn definition_with(&self, parameters: &[u8]) -> Vec<u8> {
        let mut out = string(self.name());
        out.extend(leb(parameters.len() as u64));
        out.extend_from_slice(parameters);
        out
    }

    /// Product of a vector's dimensions, 0 if variable; `None` for scalars.
    pub fn vector_size(&self) -> Option<i32> {
        match self {
            Self::Vector(_, dims) if dims.is_empty() => Some(0),
            Self::Vector(_, dims) => Some(dims.iter().product()),
            _ => None,
        }
    }
}
