//! Opcodes of pickles with their arguments, protocols 0 to 5, as `pickletools` lists them.

use nom::bytes::streaming::{tag, take, take_until};
use nom::combinator::{map, value, verify};
use nom::multi::length_data;
use nom::number::streaming::{le_u32, le_u64, u8 as byte};
use nom::sequence::{pair, terminated};
use nom::{IResult, Parser as _};

/// What an opcode does to the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Removes values, then adds some.
    Plain {
        /// Values removed.
        takes: usize,
        /// Values added.
        gives: usize,
    },
    /// Pushes a mark.
    Mark,
    /// Removes the values above the topmost mark, the mark, and values below it; adds some.
    ToMark {
        /// Values removed below the mark.
        takes: usize,
        /// Values added.
        gives: usize,
    },
    /// Removes a value or a mark.
    Pop,
    /// Ends the pickle, which is the value on top.
    Stop,
}

/// An opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    pub(super) effect: Effect,
    /// Whether it imports a name.
    pub(super) imports: bool,
    /// Whether it calls what was imported.
    pub(super) calls: bool,
}

const fn plain(takes: usize, gives: usize) -> Effect {
    Effect::Plain { takes, gives }
}

const fn to_mark(takes: usize, gives: usize) -> Effect {
    Effect::ToMark { takes, gives }
}

/// Reads one opcode with its argument.
///
/// # Errors
/// `Incomplete` if the argument ends past the input; any other error if no opcode starts here.
pub(super) fn opcode(input: &[u8]) -> IResult<&[u8], Opcode> {
    let (rest, code) = byte(input)?;
    let (rest, ()) = argument(code, rest)?;
    let effect = match code {
        b'(' => Effect::Mark,
        b'.' => Effect::Stop,
        b'0' => Effect::Pop,
        b'1' => to_mark(0, 0),
        b'2' => plain(1, 2),
        // Scalars, empty containers, names, memo reads, extensions, buffers.
        b'F'
        | b'I'
        | b'J'
        | b'K'
        | b'L'
        | b'M'
        | b'N'
        | b'S'
        | b'T'
        | b'U'
        | b'V'
        | b'X'
        | b')'
        | b']'
        | b'}'
        | b'c'
        | b'g'
        | b'h'
        | b'j'
        | b'B'
        | b'C'
        | b'G'
        | b'P'
        | 0x82..=0x84
        | 0x88..=0x8B
        | 0x8C..=0x8F
        | 0x96
        | 0x97 => plain(0, 1),
        // Memo writes, protocol, frame.
        b'p' | b'q' | b'r' | 0x94 | 0x98 => plain(1, 1),
        0x80 | 0x95 => plain(0, 0),
        b'Q' | 0x85 => plain(1, 1),
        // REDUCE, BUILD, APPEND, NEWOBJ, TUPLE2, STACK_GLOBAL.
        b'R' | b'b' | b'a' | 0x81 | 0x86 | 0x93 => plain(2, 1),
        // SETITEM, TUPLE3, NEWOBJ_EX.
        b's' | 0x87 | 0x92 => plain(3, 1),
        // APPENDS, SETITEMS, ADDITEMS change the value below the mark.
        b'e' | b'u' | 0x90 => to_mark(1, 1),
        // TUPLE, LIST, DICT, FROZENSET, INST, OBJ.
        b't' | b'l' | b'd' | 0x91 | b'i' | b'o' => to_mark(0, 1),
        _ => {
            return Err(nom::Err::Error(nom::error::make_error(input, nom::error::ErrorKind::Alt)));
        }
    };
    let imports = matches!(code, b'c' | b'i' | 0x82..=0x84 | 0x93);
    let calls = matches!(code, b'i' | b'o' | b'R' | b'b' | 0x81 | 0x92);
    Ok((rest, Opcode { effect, imports, calls }))
}

/// Skips the argument of an opcode.
fn argument(code: u8, input: &[u8]) -> IResult<&[u8], ()> {
    let bytes = |n: usize| value((), take::<_, _, nom::error::Error<&[u8]>>(n));
    match code {
        b'K' | b'h' | b'q' | 0x82 => bytes(1).parse_complete(input),
        0x80 => value((), verify(byte, |protocol| *protocol <= 5)).parse_complete(input),
        b'M' | 0x83 => bytes(2).parse_complete(input),
        b'J' | b'j' | b'r' | 0x84 => bytes(4).parse_complete(input),
        b'G' | 0x95 => bytes(8).parse_complete(input),
        b'U' | b'C' | 0x8A | 0x8C => value((), length_data(byte)).parse_complete(input),
        b'T' | b'B' | b'X' | 0x8B => value((), length_data(le_u32)).parse_complete(input),
        0x8D | 0x8E | 0x96 => value((), long_data).parse_complete(input),
        b'F' => value((), verify(line, is_float)).parse_complete(input),
        b'I' | b'L' => value((), verify(line, is_integer)).parse_complete(input),
        b'g' | b'p' => value((), verify(line, is_digits)).parse_complete(input),
        b'S' => value((), verify(line, is_quoted)).parse_complete(input),
        b'V' | b'P' => value((), line).parse_complete(input),
        b'c' | b'i' => value((), pair(name, name)).parse_complete(input),
        _ => Ok((input, ())),
    }
}

/// Bytes after a length of 64 bits.
fn long_data(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let (rest, len) = le_u64(input)?;
    take(usize::try_from(len).unwrap_or(usize::MAX)).parse_complete(rest)
}

/// An argument that ends with its line.
fn line(input: &[u8]) -> IResult<&[u8], &[u8]> {
    map(terminated(take_until("\n"), tag("\n")), trimmed).parse_complete(input)
}

/// A line without the carriage return that Windows adds in text mode.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A module or an attribute, whose parts are joined by dots.
fn name(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let is_name = |name: &&[u8]| {
        let mut parts = name.split(|byte| *byte == b'.');
        parts.all(|part| {
            part.first().is_some_and(|byte| !byte.is_ascii_digit())
                && part
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
        })
    };
    verify(line, is_name).parse_complete(input)
}

fn is_digits(text: &&[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether Python's `int` reads the text, with the `L` of a long integer.
fn is_integer(text: &&[u8]) -> bool {
    let text = text.trim_ascii();
    let text = text.strip_suffix(b"L").unwrap_or(text);
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
}

/// Whether Python's `float` reads the text.
fn is_float(text: &&[u8]) -> bool {
    let text = str::from_utf8(text).unwrap_or_default().trim_ascii();
    text.parse::<f64>().is_ok()
}

/// Whether the text is a string in quotes.
fn is_quoted(text: &&[u8]) -> bool {
    let text = text.trim_ascii();
    match (text.first(), text.last()) {
        (Some(first), Some(last)) => {
            text.len() >= 2 && first == last && matches!(first, b'\'' | b'"')
        }
        _ => false,
    }
}
