//! What a scan finds in a pickle.

use super::allowed::Standing;
use super::label::PickleName;
use super::value::PickleValue;
use core::fmt;

/// What a scan finds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PickleEvent {
    /// A module is imported, and a name looked up in it.
    Import(Import),
    /// The import of this number is called by the operation at `at`.
    Call {
        /// The number of the import.
        number: u32,
        /// The offset of the operation that calls.
        at: u64,
    },
    /// The import of this number, a listed function, becomes an item of a list or a dictionary. Who
    /// has the object may call it.
    Kept {
        /// The number of the import.
        number: u32,
        /// The offset of the operation that adds it.
        at: u64,
    },
    /// The operation at `at` was carried out, in a scan that is
    /// [`watched`](super::PickleScan::watched). It comes after the other events of the operation.
    Operation {
        /// The offset of the operation.
        at: u64,
        /// Its byte.
        byte: u8,
        /// Its argument.
        value: PickleValue,
    },
    /// The operation at `at` cannot be carried out.
    Fault {
        /// The offset of the operation.
        at: u64,
        /// What is wrong with it.
        fault: PickleFault,
    },
}

/// An import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its number, from 0 in each pickle.
    pub number: u32,
    /// The offset of the operation that imports.
    pub at: u64,
    /// Length of this operation in bytes.
    pub len: u32,
    /// The module.
    pub module: PickleName,
    /// The name in the module.
    pub name: PickleName,
    /// Where the two stand.
    pub standing: Standing,
}

/// What is wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickleFault {
    /// The pickle ends in or before it.
    CutOff,
    /// No operation has this byte.
    Operation(u8),
    /// The protocol has not been defined.
    Protocol(u64),
    /// The argument is not of its type.
    Argument,
    /// The stack has too few values.
    Stack,
    /// There is no mark on the stack.
    Mark,
    /// The memo has no such entry.
    Memo,
    /// Its frame is inside another, or ends in an operation or past the end.
    Frame,
    /// The names of an import are no texts.
    NoText,
    /// It calls a value that cannot be called.
    NotCallable,
    /// It adds to a value that takes nothing.
    Target,
    /// A key has no value.
    Pairs,
    /// It takes more memory than this reader gives.
    Full,
}

/// Writes the fault as the end of a sentence on an operation.
impl fmt::Display for PickleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PickleFault::Operation(byte) => {
                return write!(f, "no operation has the byte {byte:#04x}");
            }
            PickleFault::Protocol(found) => {
                return write!(f, "it states protocol {found}; only 0 to 5 are defined");
            }
            PickleFault::CutOff => "it ends before its last operation",
            PickleFault::Argument => "the argument of an operation is not of its type",
            PickleFault::Stack => "an operation takes more values than the stack has",
            PickleFault::Mark => "an operation takes the values above a mark, and there is none",
            PickleFault::Memo => "an operation reads an entry that the memo does not have",
            PickleFault::Frame => {
                "a frame begins inside another, or ends past the pickle or inside an operation"
            }
            PickleFault::NoText => "the names of an import are no texts",
            PickleFault::NotCallable => "it calls a value that cannot be called",
            PickleFault::Target => "an operation adds items or a state to a value that takes none",
            PickleFault::Pairs => "a dictionary has a key without a value",
            PickleFault::Full => "an operation takes more memory than this reader gives",
        })
    }
}
