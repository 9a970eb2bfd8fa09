//! Codec definitions as text.

use super::leb128::{Leb, NUMBER};
use crate::base::limits;
use crate::input::leaf::{Parsed, byte, incomplete, le_u32, le_u64};
use crate::model::{Name, NameEncoding};
use core::fmt;

/// A codec definition as text: the loadname as stored, and the known parameters, such as
/// `VBuffer(Key2(UInt32, 5), [2, 3])`.
#[derive(Clone, Copy, Debug)]
pub struct Spelling<'a> {
    bytes: &'a [u8],
}

impl<'a> Spelling<'a> {
    /// Wraps the bytes of a stored definition.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Spelling { bytes }
    }

    /// The loadname of the outermost codec; empty if the definition is broken.
    pub fn loadname(&self) -> Name<'a> {
        split(self.bytes).map(|(_, (name, _))| name).unwrap_or_default()
    }
}

impl fmt::Display for Spelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.bytes, 0)
    }
}

/// Splits the definition at the start of `input` into loadname and parameters.
pub(super) fn split(input: &[u8]) -> Parsed<'_, (Name<'_>, &[u8])> {
    let (rest, name) = piece(input)?;
    let (rest, parameters) = piece(rest)?;
    Ok((rest, (Name::new(name, NameEncoding::Plain), parameters)))
}

/// Reads a length and that many bytes.
fn piece(input: &[u8]) -> Parsed<'_, &[u8]> {
    let piece = Leb::of(input, NUMBER).and_then(|Leb { value, len, .. }| {
        input.get(len..)?.split_at_checked(usize::try_from(value).ok()?)
    });
    match piece {
        Some((piece, rest)) => Ok((rest, piece)),
        None => incomplete(1),
    }
}

/// Writes the readable part of a definition.
fn write(f: &mut fmt::Formatter<'_>, bytes: &[u8], depth: u32) -> fmt::Result {
    let Ok((_, (name, parameters))) = split(bytes) else {
        return Ok(());
    };
    fmt::Display::fmt(&name, f)?;
    let nested = matches!(name.as_bytes(), Some(b"VBuffer" | b"Key2" | b"Key"));
    if !nested || depth >= limits::CODEC_DEPTH {
        return Ok(());
    }
    f.write_str("(")?;
    write(f, parameters, depth.saturating_add(1))?;
    if let Ok((rest, _)) = split(parameters) {
        match name.as_bytes() {
            Some(b"VBuffer") => write_dims(f, rest)?,
            Some(b"Key2") => {
                if let Ok((_, count)) = le_u64(rest) {
                    write!(f, ", {count}")?;
                }
            }
            _ => write_old_key(f, rest)?,
        }
    }
    f.write_str(")")
}

fn write_dims(f: &mut fmt::Formatter<'_>, rest: &[u8]) -> fmt::Result {
    let Ok((mut rest, rank)) = le_u32(rest) else {
        return Ok(());
    };
    f.write_str(", [")?;
    for i in 0..rank {
        let Ok((after, dim)) = le_u32(rest) else {
            break;
        };
        rest = after;
        f.write_str(if i == 0 { "" } else { ", " })?;
        write!(f, "{dim}")?;
    }
    f.write_str("]")
}

/// Writes the cardinality, and the parameters that newer keys do not have.
fn write_old_key(f: &mut fmt::Formatter<'_>, rest: &[u8]) -> fmt::Result {
    let parsed = byte(rest).and_then(|(rest, contiguous)| {
        let (rest, min) = le_u64(rest)?;
        let (_, count) = le_u32(rest)?;
        Ok((contiguous, min, count))
    });
    let Ok((contiguous, min, count)) = parsed else {
        return Ok(());
    };
    write!(f, ", {count}")?;
    if min != 0 {
        write!(f, ", min {min}")?;
    }
    f.write_str(if contiguous == 0 { ", not contiguous" } else { "" })
}
