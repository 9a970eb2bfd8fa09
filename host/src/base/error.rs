//! The errors of this crate.

use crate::base::text::{Text, plural};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use weighbridge_core::codec::Fault;
use weighbridge_core::{DType, Element, Rule, Span};

/// An error while opening, reading or converting a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes could not be read.
    Read(ReadError),
    /// The file breaks this rule, and cannot be read past that point.
    Invalid(Rule),
    /// The file could not be opened.
    NotOpened {
        /// What the file is instead, or what is wrong with it, as a sentence.
        why: String,
        /// Whether it is of a format or a generation that this build does not read.
        unsupported: bool,
    },
    /// No tensor has this name.
    NoTensor(Text),
    /// The tensor breaks a rule and therefore cannot be read.
    Broken(Text),
    /// The data cannot be decoded.
    Undecodable(Fault),
    /// Not every element of the first type fits into the second.
    Lossy {
        /// The type in the file.
        from: DType,
        /// The requested type.
        to: DType,
    },
    /// This element does not fit into the requested type.
    Inexact {
        /// Its position in the tensor.
        element: u64,
        /// Its value.
        value: Element,
        /// The requested type.
        to: DType,
    },
    /// A slice or a buffer has a different length from the data.
    Length {
        /// Number of elements.
        expected: u64,
        /// Number of elements that fit.
        found: u64,
    },
    /// The tensor is not an array of numbers; the sentence says why.
    NoArray(String),
    /// The tensor cannot be provided in this form; the sentence says why.
    Unsupported(String),
    /// Number of bytes of memory needed, more than the options or the machine allow.
    Memory(u64),
    /// A bug in this crate: bytes were requested that are already in memory.
    Internal(Span),
    /// An error in a file that this one lists.
    Shard(Text, Box<Error>),
    /// This file could not be written.
    #[cfg(feature = "std")]
    Write(Text, std::io::Error),
}

/// Why bytes of a file could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// An I/O error.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// Any other failure of the input, as a sentence.
    Other(String),
    /// The path does not lead to a regular file.
    NotAFile(&'static str),
    /// The file no longer has the bytes it had when it was opened.
    Changed,
    /// More bytes are needed in one piece than may be kept in memory.
    TooLarge(Span),
    /// These bytes were not supplied to the [`Session`](crate::Session).
    Absent(Span),
    /// The read was cancelled: see [`Options::cancel_when`](crate::Options::cancel_when).
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
            ReadError::Absent(Span { offset, .. }) => {
                write!(f, "the bytes at offset {offset} were not supplied")
            }
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
            Error::Broken(name) => {
                write!(f, "tensor \"{name}\" is broken: check the file for details")
            }
            Error::Undecodable(fault) => write!(f, "its data cannot be decoded: {fault}"),
            Error::Lossy { from, to } => {
                let (from, to) = (from.name(), to.name());
                write!(f, "not every {from} fits in {to}: choose a conversion or a wider type")
            }
            Error::Inexact { element, value, to } => {
                let (value, to) = (crate::Value::from(*value), to.name());
                write!(f, "element {element} is {value}, which is not representable as {to}")
            }
            Error::Length { expected, found } => {
                write!(f, "length mismatch: {}, room for {found}", plural(*expected, "element"))
            }
            Error::Memory(bytes) => write!(f, "{} of memory needed", plural(*bytes, "byte")),
            Error::Internal(Span { offset, len }) => {
                let bytes = plural(*len, "byte");
                write!(f, "internal error: {bytes} at offset {offset} requested twice")
            }
            Error::Shard(name, error) => write!(f, "\"{name}\": {error}"),
            #[cfg(feature = "std")]
            Error::Write(name, error) => write!(f, "\"{name}\" cannot be written: {error}"),
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
