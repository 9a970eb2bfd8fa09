//! Why something could not be done.

use crate::text::{Text, plural};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use weighbridge_core::codec::Fault;
use weighbridge_core::{DType, Element, Rule, Span};

/// Why something could not be done.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be read.
    Read(ReadError),
    /// The file breaks this rule, and cannot be read on from there.
    Invalid(Rule),
    /// The file could not be opened.
    NotOpened {
        /// What it is instead, or what is wrong with it, as a sentence.
        why: String,
        /// It is of a format or a generation that this build does not read.
        unsupported: bool,
    },
    /// There is no tensor of this name.
    NoTensor(Text),
    /// The tensor breaks a rule without which it cannot be read.
    Broken(Text),
    /// The data cannot be decoded.
    Undecodable(Fault),
    /// Elements of the first type do not all fit into the second.
    Lossy {
        /// The type in the file.
        from: DType,
        /// The type that was asked for.
        to: DType,
    },
    /// This element does not fit into the type that was asked for.
    Inexact {
        /// Its position in the tensor.
        element: u64,
        /// Its value.
        value: Element,
        /// The type that was asked for.
        to: DType,
    },
    /// A slice or a buffer has another length than the data.
    Length {
        /// How many elements there are.
        expected: u64,
        /// How many there is room for.
        found: u64,
    },
    /// The tensor is no array of numbers; the sentence says why.
    NoArray(String),
    /// The tensor cannot be given in this form; the sentence says why.
    Unsupported(String),
    /// So many bytes of memory are needed, which the options or the machine do not give.
    Memory(u64),
    /// A fault of this program: bytes were asked for that were there.
    Internal(Span),
    /// What happened to a file that this one lists.
    Shard(Text, Box<Error>),
}

/// Why bytes of a file could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The system says why.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// Whoever reads the file says why.
    Other(String),
    /// The path leads to something that is not a file.
    NotAFile(&'static str),
    /// The file no longer has the bytes that it had when it was opened.
    Changed,
    /// More bytes are needed in one piece than are kept in memory.
    TooLarge(Span),
    /// The program gave up: see [`Options::cancel_when`](crate::Options::cancel_when).
    Cancelled,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "std")]
            ReadError::Io(error) => error.fmt(f),
            ReadError::Other(why) => f.write_str(why),
            ReadError::NotAFile(what) => write!(f, "is {what}, not a file"),
            ReadError::Changed => f.write_str("the file changed while it was read"),
            ReadError::Cancelled => f.write_str("cancelled"),
            ReadError::TooLarge(Span { offset, len }) => {
                let bytes = plural(*len, "byte");
                write!(f, "{bytes} at offset {offset} would have to be in memory at once")
            }
        }
    }
}

impl core::error::Error for ReadError {}

#[cfg(feature = "std")]
impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => error.fmt(f),
            Error::Invalid(rule) => write!(f, "breaks {}: {}", rule.id(), rule.info().spec),
            Error::NotOpened { why, .. } | Error::NoArray(why) | Error::Unsupported(why) => {
                f.write_str(why)
            }
            Error::NoTensor(name) => write!(f, "there is no tensor \"{name}\""),
            Error::Broken(name) => write!(f, "tensor \"{name}\" is broken: a check says why"),
            Error::Undecodable(fault) => write!(f, "its data cannot be decoded: {fault}"),
            Error::Lossy { from, to } => {
                let (from, to) = (from.name(), to.name());
                write!(f, "not every {from} is a {to}: choose a conversion, or a wider type")
            }
            Error::Inexact { element, value, to } => {
                let (value, to) = (crate::Value::from(*value), to.name());
                write!(f, "element {element} is {value}, which is no {to}")
            }
            Error::Length { expected, found } => {
                write!(f, "{} and room for {found}", plural(*expected, "element"))
            }
            Error::Memory(bytes) => write!(f, "{} of memory needed", plural(*bytes, "byte")),
            Error::Internal(Span { offset, len }) => {
                let bytes = plural(*len, "byte");
                write!(f, "internal error: {bytes} at offset {offset} asked for twice")
            }
            Error::Shard(name, error) => write!(f, "\"{name}\": {error}"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Read(error) => Some(error),
            Error::Undecodable(fault) => Some(fault),
            Error::Shard(_, error) => Some(error),
            _ => None,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Error::Read(error)
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Read(error.into())
    }
}
