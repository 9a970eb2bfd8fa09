//! The operations of a pickle: what follows each in the file, and what it does to the stack.
//!
//! The module `pickletools` of Python documents them, up to protocol 5.

/// What follows the byte of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// This many bytes.
    Fixed(u8),
    /// A length in this many bytes, and that many bytes of data.
    Counted(u8),
    /// A line that ends with a line feed.
    Line(Text),
    /// A module and a name in it, each on a line.
    Names,
}

/// What a line has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Any,
    Integer,
    Float,
    Quoted,
}

/// What an operation does to the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Takes some items and leaves others.
    Takes(u8, u8),
    /// The same, and one of the items that it leaves is a text.
    LeavesText,
    /// The same, and the text may be any line.
    LeavesLine,
    /// Takes this many items, calls one with the others, and leaves another.
    Calls(u8),
    /// States the protocol.
    States,
    /// Takes everything above the last mark, and this many items below; leaves others.
    TakesMarked(u8, u8),
    /// As `TakesMarked(0, 1)`, but the first marked item is the class to call.
    CallsMarked,
    Mark,
    /// Takes an item, or the last mark if nothing is above it.
    Pop,
    /// Reads from the memo, which must have something.
    Recalls,
    /// Writes the item at the top to the memo.
    Memorises,
    /// Imports a module by the names in its argument. `INST` also takes what is marked.
    Imports {
        marked: bool,
    },
    /// Imports a module by the two texts at the top.
    ImportsByTexts,
    Stops,
    /// Is an error in a pickle that is loaded without further functions.
    Refused,
}

/// The operation with this byte; `None` if there is none.
pub(super) const fn of(byte: u8) -> Option<(Argument, Effect)> {
    use Argument::{Counted, Fixed, Line, Names};
    use Effect::{Imports, LeavesText, Memorises, Recalls, Takes, TakesMarked};
    Some(match byte {
        b'(' => (Fixed(0), Effect::Mark),
        b'.' => (Fixed(0), Effect::Stops),
        b'0' => (Fixed(0), Effect::Pop),
        b'1' => (Fixed(0), TakesMarked(0, 0)),
        b'2' => (Fixed(0), Takes(1, 2)),
        b'I' | b'L' => (Line(Text::Integer), Takes(0, 1)),
        b'F' => (Line(Text::Float), Takes(0, 1)),
        b'S' => (Line(Text::Quoted), LeavesText),
        b'V' => (Line(Text::Any), Effect::LeavesLine),
        b'P' => (Line(Text::Any), Effect::Refused),
        b'Q' => (Fixed(0), Takes(1, 1)),
        b'N' | b')' | b']' | b'}' | 0x88 | 0x89 | 0x8F | 0x97 => (Fixed(0), Takes(0, 1)),
        b'K' => (Fixed(1), Takes(0, 1)),
        b'M' => (Fixed(2), Takes(0, 1)),
        b'J' => (Fixed(4), Takes(0, 1)),
        b'G' => (Fixed(8), Takes(0, 1)),
        b'T' | b'X' => (Counted(4), LeavesText),
        b'U' | 0x8C => (Counted(1), LeavesText),
        0x8D => (Counted(8), LeavesText),
        0x8A | b'C' => (Counted(1), Takes(0, 1)),
        0x8B | b'B' => (Counted(4), Takes(0, 1)),
        0x8E | 0x96 => (Counted(8), Takes(0, 1)),
        b'a' => (Fixed(0), Takes(2, 1)),
        b's' => (Fixed(0), Takes(3, 1)),
        b'R' | b'b' | 0x81 => (Fixed(0), Effect::Calls(2)),
        0x92 => (Fixed(0), Effect::Calls(3)),
        b't' | b'l' | b'd' | 0x91 => (Fixed(0), TakesMarked(0, 1)),
        b'e' | b'u' | 0x90 => (Fixed(0), TakesMarked(1, 1)),
        b'o' => (Fixed(0), Effect::CallsMarked),
        b'c' => (Names, Imports { marked: false }),
        b'i' => (Names, Imports { marked: true }),
        b'g' => (Line(Text::Integer), Recalls),
        b'h' => (Fixed(1), Recalls),
        b'j' => (Fixed(4), Recalls),
        b'p' => (Line(Text::Integer), Memorises),
        b'q' => (Fixed(1), Memorises),
        b'r' => (Fixed(4), Memorises),
        0x94 => (Fixed(0), Memorises),
        0x80 => (Fixed(1), Effect::States),
        0x95 => (Fixed(8), Takes(0, 0)),
        0x82 => (Fixed(1), Takes(0, 1)),
        0x83 => (Fixed(2), Takes(0, 1)),
        0x84 => (Fixed(4), Takes(0, 1)),
        0x85 | 0x98 => (Fixed(0), Takes(1, 1)),
        0x86 => (Fixed(0), Takes(2, 1)),
        0x87 => (Fixed(0), Takes(3, 1)),
        0x93 => (Fixed(0), Effect::ImportsByTexts),
        _ => return None,
    })
}

impl Text {
    /// Whether a line of this kind may begin with the byte.
    pub(super) fn may_begin(self, byte: u8) -> bool {
        let number = byte.is_ascii_whitespace() || byte.is_ascii_digit() || b"+-".contains(&byte);
        match self {
            Text::Any => true,
            Text::Integer => number,
            Text::Float => number || b".iInN".contains(&byte),
            Text::Quoted => byte.is_ascii_whitespace() || matches!(byte, b'\'' | b'"'),
        }
    }

    /// Whether the unpickler accepts this line, without its line feed.
    pub(super) fn accepts(self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        match self {
            Text::Any => true,
            Text::Integer => {
                let digits = line.strip_prefix(b"-").or_else(|| line.strip_prefix(b"+"));
                let digits = digits.unwrap_or(line);
                digits.first().is_some_and(u8::is_ascii_digit)
                    && digits
                        .iter()
                        .all(|byte| byte.is_ascii_hexdigit() || b"xXoO_L".contains(byte))
            }
            Text::Float => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-._eE".contains(byte);
                let word = line.strip_prefix(b"-").or_else(|| line.strip_prefix(b"+"));
                let word = word.unwrap_or(line);
                let named = [&b"nan"[..], b"inf", b"infinity"];
                (line.iter().any(u8::is_ascii_digit) && line.iter().all(is_part))
                    || named.iter().any(|name| word.eq_ignore_ascii_case(name))
            }
            Text::Quoted => match line {
                [first @ (b'\'' | b'"'), .., last] => first == last,
                _ => false,
            },
        }
    }
}

/// Whether a module or a name in one may be called this.
pub(super) fn is_name(line: &[u8]) -> bool {
    !line.is_empty() && line.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80)
}

/// Whether this is a module or a name as programmers write them.
pub(super) fn is_module(line: &[u8]) -> bool {
    line.split(|byte| *byte == b'.').all(|part| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        part.first().is_some_and(|byte| !byte.is_ascii_digit()) && part.iter().all(is_part)
    })
}
