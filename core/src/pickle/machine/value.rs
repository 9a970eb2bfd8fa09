//! The arguments of operations, for who builds what a pickle describes.

use super::label::Spelling;
use super::parse::Argument;
use crate::input::Span;

/// The argument of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PickleValue {
    /// It has none, or its names were those of an import.
    None,
    /// A Boolean.
    Bool(bool),
    /// An integer, or a key of the memo.
    Integer(i64),
    /// An integer that does not fit in 64 bits.
    Long,
    /// A float.
    Float(f64),
    /// A text, or bytes, in the file.
    Text(Span, Spelling),
}

impl PickleValue {
    pub(super) fn of(byte: u8, argument: Argument<'_>, text: Span) -> Self {
        match argument {
            Argument::Bool(value) => PickleValue::Bool(value),
            Argument::Integer(value) => value.map_or(PickleValue::Long, PickleValue::Integer),
            Argument::Number(value) => {
                i64::try_from(value).map_or(PickleValue::Long, PickleValue::Integer)
            }
            Argument::Float(value) => PickleValue::Float(value),
            Argument::Data(_) if byte == 0x8B => PickleValue::Long,
            Argument::Data(_) => PickleValue::Text(text, Spelling::Plain),
            Argument::Line(line) => {
                let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
                // The line feed comes after it.
                let end = text.offset.saturating_sub(1);
                let span = Span::new(end.saturating_sub(len), len);
                let spelling = if byte == b'S' { Spelling::Quoted } else { Spelling::Raw };
                PickleValue::Text(span, spelling)
            }
            _ => PickleValue::None,
        }
    }
}
