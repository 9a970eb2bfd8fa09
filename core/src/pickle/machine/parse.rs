//! One operation of a pickle, taken from its bytes with nom's combinators.

use crate::pickle::opcodes::Text;
use nom::branch::alt;
use nom::bytes::streaming::{tag, take_until};
use nom::combinator::{map, value, verify};
use nom::multi::length_data;
use nom::number::streaming::{be_f64, le_i32, le_u8, le_u16, le_u32, le_u64};
use nom::sequence::{pair, preceded, terminated};
use nom::{Err, IResult, Parser};

/// What follows the byte of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument<'a> {
    Nothing,
    /// An unsigned number: a small integer, a memo key, a protocol, the length of a frame.
    Number(u64),
    /// A signed integer; `None` if it does not fit.
    Integer(Option<i64>),
    Float(f64),
    Bool(bool),
    /// Data of this length that follows the bytes taken. It need not be resident.
    Data(u64),
    /// The same, but the length is negative.
    Negative,
    /// One line, without its line feed.
    Line(&'a [u8]),
    /// A module and a name in it.
    Names(&'a [u8], &'a [u8]),
}

/// Why there is no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// More bytes are needed: at least this many from the operation's first byte.
    Incomplete(usize),
    /// No operation has this byte.
    Unknown(u8),
    /// The argument is not of its type.
    Argument,
}

type Parsed<'a, T> = IResult<&'a [u8], T, ()>;

/// Takes the operation at the start of `input`: its byte, its argument, and how many bytes both
/// take, without [`Argument::Data`].
pub(super) fn operation(input: &[u8]) -> Result<(u8, Argument<'_>, usize), Refusal> {
    let (rest, byte) = le_u8::<_, ()>(input).map_err(|_| Refusal::Incomplete(1))?;
    match argument(byte, rest) {
        Some(Ok((left, argument))) => Ok((byte, argument, input.len().saturating_sub(left.len()))),
        Some(Err(Err::Incomplete(nom::Needed::Size(more)))) => {
            Err(Refusal::Incomplete(input.len().saturating_add(more.get())))
        }
        Some(Err(Err::Incomplete(nom::Needed::Unknown))) => {
            Err(Refusal::Incomplete(input.len().saturating_add(1)))
        }
        Some(Err(_)) => Err(Refusal::Argument),
        None => Err(Refusal::Unknown(byte)),
    }
}

#[allow(clippy::disallowed_methods, reason = "an end of input is a request for more bytes")]
fn argument(byte: u8, input: &[u8]) -> Option<Parsed<'_, Argument<'_>>> {
    Some(match byte {
        b'('
        | b'.'
        | b'0'
        | b'1'
        | b'2'
        | b'N'
        | b'Q'
        | b'R'
        | b'a'
        | b'b'
        | b'd'
        | b'}'
        | b'e'
        | b'l'
        | b']'
        | b'o'
        | b's'
        | b't'
        | b')'
        | b'u'
        | 0x81
        | 0x85..=0x87
        | 0x8F..=0x94
        | 0x97
        | 0x98 => Ok((input, Argument::Nothing)),
        0x88 | 0x89 => Ok((input, Argument::Bool(byte == 0x88))),
        b'I' => integer_line(input),
        b'L' => map(text(Text::Integer), |line| Argument::Integer(integer(line))).parse(input),
        b'F' => map(text(Text::Float), |line| Argument::Float(float(line))).parse(input),
        b'S' => map(text(Text::Quoted), Argument::Line).parse(input),
        b'V' | b'P' => map(text(Text::Any), Argument::Line).parse(input),
        b'g' | b'p' => map(nom::combinator::map_opt(line, decimal), Argument::Number).parse(input),
        b'K' | b'h' | b'q' | 0x80 | 0x82 => map(le_u8, number).parse(input),
        b'M' | 0x83 => map(le_u16, number).parse(input),
        b'j' | b'r' | 0x84 => map(le_u32, number).parse(input),
        0x95 => map(le_u64, Argument::Number).parse(input),
        b'J' => map(le_i32, |value| Argument::Integer(Some(value.into()))).parse(input),
        b'G' => map(be_f64, Argument::Float).parse(input),
        0x8A => map(length_data(le_u8), |bytes| Argument::Integer(long(bytes))).parse(input),
        b'C' | b'U' | 0x8C => map(le_u8, |len| Argument::Data(len.into())).parse(input),
        b'B' | b'X' => map(le_u32, |len| Argument::Data(len.into())).parse(input),
        b'T' | 0x8B => map(le_i32, signed).parse(input),
        0x8D | 0x8E | 0x96 => map(le_u64, Argument::Data).parse(input),
        b'c' | b'i' => {
            map(pair(line, line), |(module, name)| Argument::Names(module, name)).parse(input)
        }
        _ => return None,
    })
}

/// `I`: a boolean is written as `00` or `01`.
#[allow(clippy::disallowed_methods, reason = "an end of input is a request for more bytes")]
fn integer_line(input: &[u8]) -> Parsed<'_, Argument<'_>> {
    let digit = alt((value(false, tag(&b"0\n"[..])), value(true, tag(&b"1\n"[..]))));
    alt((
        map(preceded(tag(&b"0"[..]), digit), Argument::Bool),
        map(text(Text::Integer), |line| Argument::Integer(integer(line))),
    ))
    .parse(input)
}

/// The integer on a line, which may end in `L`.
fn integer(line: &[u8]) -> Option<i64> {
    let line = line.trim_ascii();
    let digits = line.strip_suffix(b"L").unwrap_or(line);
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The number on a line; NaN for spellings that only Python has.
fn float(line: &[u8]) -> f64 {
    str::from_utf8(line.trim_ascii()).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// An integer in two's complement, of any length.
fn long(bytes: &[u8]) -> Option<i64> {
    let fill = if bytes.last().is_some_and(|last| *last >= 0x80) { 0xFF } else { 0 };
    let mut word = [fill; 8];
    let (low, high) = bytes.split_at_checked(8).unwrap_or((bytes, &[]));
    word.iter_mut().zip(low).for_each(|(to, from)| *to = *from);
    let value = i64::from_le_bytes(word);
    let fits = high.iter().all(|byte| *byte == fill) && (value < 0) == (fill != 0);
    fits.then_some(value)
}

/// A line, without its line feed.
#[allow(clippy::disallowed_methods, reason = "an end of input is a request for more bytes")]
fn line(input: &[u8]) -> Parsed<'_, &[u8]> {
    terminated(take_until(&b"\n"[..]), tag(&b"\n"[..])).parse(input)
}

/// A line of this kind.
fn text<'a>(kind: Text) -> impl Parser<&'a [u8], Output = &'a [u8], Error = ()> {
    verify(line, move |line: &[u8]| kind.accepts(line))
}

fn number(number: impl Into<u64>) -> Argument<'static> {
    Argument::Number(number.into())
}

fn signed(len: i32) -> Argument<'static> {
    u64::try_from(len).map_or(Argument::Negative, Argument::Data)
}

/// The memo key on a line: Python reads any integer and refuses a negative one.
fn decimal(line: &[u8]) -> Option<u64> {
    let line = line.trim_ascii();
    let digits = line.strip_prefix(b"+").unwrap_or(line);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_by_their_types() {
        for (bytes, argument, len) in [
            (&b"N."[..], Argument::Nothing, 1),
            (b"K\x07.", Argument::Number(7), 2),
            (b"I01\n.", Argument::Bool(true), 4),
            (b"I012\n.", Argument::Integer(Some(12)), 5),
            (b"J\xFF\xFF\xFF\xFF", Argument::Integer(Some(-1)), 5),
            (b"G\0\0\0\0\0\0\0\0", Argument::Float(0.0), 9),
            (b"\x8A\x02\x01\x02.", Argument::Integer(Some(513)), 4),
            (b"X\x03\0\0\0", Argument::Data(3), 5),
            (b"T\xFF\xFF\xFF\xFF", Argument::Negative, 5),
            (b"S'a'\n.", Argument::Line(b"'a'"), 5),
            (b"p12\n.", Argument::Number(12), 4),
            (b"cos\nsystem\n.", Argument::Names(b"os", b"system"), 11),
            (b"\x95\x08\0\0\0\0\0\0\0.", Argument::Number(8), 9),
        ] {
            assert_eq!(
                operation(bytes).map(|(_, argument, len)| (argument, len)),
                Ok((argument, len))
            );
            // Every prefix asks for more bytes, and says how far it is from enough.
            for end in 0..len {
                let cut = operation(&bytes[..end]);
                assert!(matches!(cut, Err(Refusal::Incomplete(need)) if need > end), "{cut:?}");
            }
        }
    }

    #[test]
    fn long_integers_keep_their_value_or_have_none() {
        assert_eq!(long(b""), Some(0));
        assert_eq!(long(b"\xFF"), Some(-1));
        assert_eq!(long(b"\xFF\0"), Some(255));
        assert_eq!(long(b"\0\0\0\0\0\0\0\x80\0"), None);
        assert_eq!(long(b"\0\0\0\0\0\0\0\x80"), Some(i64::MIN));
        assert_eq!(long(b"\x01\0\0\0\0\0\0\0\0\0"), Some(1));
        assert_eq!((integer(b" -7L "), integer(b"9999999999999999999")), (Some(-7), None));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert_eq!(operation(b"\xFF"), Err(Refusal::Unknown(0xFF)));
        for bytes in
            [&b"Iten\n"[..], b"Fx\n", b"Sbare\n", b"p-1\n", b"g\n", b"p99999999999999999999\n"]
        {
            assert_eq!(operation(bytes), Err(Refusal::Argument), "{bytes:?}");
        }
    }
}
