//! Chat templates: code that runs in the reader's template engine.
//!
//! Names are found wherever they are written out, and in string literals: with hexadecimal
//! and octal escapes and escapes by name, over lines that a backslash continues, and in pieces
//! that are joined by `~` or `+` or stand side by side. Names that come from variables, filters,
//! formatting or slices are not found: that would take running it.

use super::finding;
use weighbridge_core::format::gguf::rules;
use weighbridge_core::{Absent, EntryKind, Finding, Source, Span};

/// Attributes through which a template can escape a Python engine without a sandbox. No
/// template needs them, since its inputs are messages, tools and texts.
static ESCAPES: [&[u8]; 7] = [
    b"__globals__",
    b"__subclasses__",
    b"__builtins__",
    b"__import__",
    b"__class__",
    b"__bases__",
    b"__mro__",
];

/// Names of the characters that [`ESCAPES`] are made of, after `\N{`. The second is followed by a
/// letter.
const UNDERSCORE: &[u8; 8] = b"LOW LINE";
const LETTER: &[u8; 19] = b"LATIN SMALL LETTER ";

/// Progress in a template.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// Position of its entry.
    entry: u32,
    /// The bytes that are left to search.
    left: Span,
    state: State,
}

/// How much of a name has been matched.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Offset of the first character of the name that may have begun.
    start: u64,
    /// Distance from it to the second character, at most 65,535.
    second: u16,
    /// The name, as its index in [`ESCAPES`], and its number of characters so far.
    name: u8,
    matched: u8,
    part: Part,
}

/// What the next byte continues.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    #[default]
    Text,
    /// The operator between two string literals, or the space around it.
    Join,
    /// An escape, after its backslash.
    Escape,
    /// The digits of an escape.
    Digits { all: u8, left: u8, code: u8 },
    /// The three digits of an octal escape.
    Octal { left: u8, code: u8 },
    /// A line feed, which belongs to a carriage return after a backslash.
    Continued,
    /// After `\N`, before the name of a character.
    Name,
    /// The name of a character: its length so far, whether it may be [`UNDERSCORE`] or a [`LETTER`],
    /// and the letter.
    Named { len: u8, underscore: bool, letter: bool, last: u8 },
}

impl Search {
    /// A search of the text at `span`.
    pub(super) fn of(entry: u32, span: Span) -> Self {
        Search { entry, left: span, state: State::default() }
    }

    /// Searches to the first name or to the end of the text.
    pub(super) fn step(&mut self, source: &Source<'_>) -> Result<Option<Finding>, Absent> {
        while self.left.len > 0 {
            let Span { offset, len } = self.left;
            let run = source.run(offset);
            let run = usize::try_from(len).ok().and_then(|len| run.get(..len)).unwrap_or(run);
            if run.is_empty() {
                return Err(Absent { offset, need: 1, want: len });
            }
            if let Some(after) = self.state.find(run, offset) {
                let start = self.state.start;
                let bytes = (start, u32::try_from(after.saturating_sub(start)).unwrap_or(u32::MAX));
                let entry = (EntryKind::Metadata, self.entry);
                return Ok(Some(finding(rules::KEYS_TEMPLATE_ESCAPE, entry, bytes, (0, 0))));
            }
            let read = run.len() as u64;
            self.left = Span::new(offset.saturating_add(read), len.saturating_sub(read));
        }
        Ok(None)
    }
}

impl State {
    /// Searches `text`, which continues at offset `at`; returns the offset after a name.
    fn find(&mut self, text: &[u8], at: u64) -> Option<u64> {
        let mut left = text;
        loop {
            if self.matched == 0 && matches!(self.part, Part::Text) {
                // Names begin with an underscore, maybe an escaped one.
                let next = left.iter().position(|byte| matches!(byte, b'_' | b'\\'))?;
                left = left.get(next..)?;
            }
            let (byte, after) = left.split_first()?;
            let offset = at.wrapping_add((text.len() - left.len()) as u64);
            if self.take(*byte, offset) {
                return Some(offset.wrapping_add(1));
            }
            left = after;
        }
    }

    /// Takes the byte at `at`; returns whether it completes a name.
    fn take(&mut self, byte: u8, at: u64) -> bool {
        self.part = match (self.part, byte) {
            (Part::Join, b' ' | b'\t' | b'\r' | b'\n' | b'~' | b'+' | b'(' | b')') => Part::Join,
            (Part::Join, b'"' | b'\'') => Part::Text,
            (Part::Escape, b'x') => Part::digits(2),
            (Part::Escape, b'u') => Part::digits(4),
            (Part::Escape, b'U') => Part::digits(8),
            (Part::Text, b'\\') => Part::Escape,
            (Part::Text, b'"' | b'\'') if self.matched > 0 => Part::Join,
            (Part::Text, _) => return self.character(byte, at),
            (Part::Digits { all, left, code }, _) => match (digit(byte), code.checked_mul(16)) {
                (Some(digit), Some(code)) if left > 1 => {
                    Part::Digits { all, left: left.wrapping_sub(1), code: code | digit }
                }
                (Some(digit), Some(code)) => {
                    self.part = Part::Text;
                    // It begins at the backslash.
                    let at = at.wrapping_sub(all.wrapping_add(1).into());
                    return self.character(code | digit, at);
                }
                _ => return self.restart(byte, at),
            },
            (Part::Escape, digit @ b'0'..=b'1') => Part::Octal { left: 2, code: digit & 7 },
            (Part::Octal { left, code }, digit @ b'0'..=b'7') => {
                let code = code.wrapping_mul(8) | digit & 7;
                if left == 1 {
                    self.part = Part::Text;
                    // It begins at the backslash.
                    return self.character(code, at.wrapping_sub(3));
                }
                Part::Octal { left: left.wrapping_sub(1), code }
            }
            // A line that continues: neither the backslash nor the end of the line counts.
            (Part::Escape, b'\r') => Part::Continued,
            (Part::Escape | Part::Continued, b'\n') => Part::Text,
            (Part::Continued, _) => {
                self.part = Part::Text;
                return self.take(byte, at);
            }
            (Part::Escape, b'N') => Part::Name,
            (Part::Name, b'{') => Part::Named { len: 0, underscore: true, letter: true, last: 0 },
            (Part::Named { len, underscore, letter, last }, b'}') => {
                self.part = Part::Text;
                // It begins at the backslash.
                let at = at.wrapping_sub(u64::from(len)).wrapping_sub(3);
                if underscore && usize::from(len) == UNDERSCORE.len() {
                    return self.character(b'_', at);
                }
                if letter && usize::from(len) == LETTER.len().wrapping_add(1) {
                    return self.character(last, at);
                }
                return self.restart(b'}', at);
            }
            (Part::Named { len, underscore, letter, .. }, _) if underscore || letter => {
                let is =
                    |name: &[u8]| name.get(usize::from(len)) == Some(&byte.to_ascii_uppercase());
                Part::Named {
                    len: len.saturating_add(1),
                    underscore: underscore && is(UNDERSCORE),
                    letter: letter && (is(LETTER) || usize::from(len) == LETTER.len()),
                    last: byte.to_ascii_lowercase(),
                }
            }
            (Part::Escape, b'\\') => {
                *self = State::default();
                Part::Text
            }
            (
                Part::Join | Part::Escape | Part::Octal { .. } | Part::Name | Part::Named { .. },
                _,
            ) => {
                return self.restart(byte, at);
            }
        };
        false
    }

    /// Takes a byte that continues nothing.
    fn restart(&mut self, byte: u8, at: u64) -> bool {
        *self = State::default();
        self.take(byte, at)
    }

    /// Takes the character at `at`; returns whether it completes a name.
    fn character(&mut self, byte: u8, at: u64) -> bool {
        let matched = usize::from(self.matched);
        let known = ESCAPES.get(usize::from(self.name)).and_then(|name| name.get(..matched));
        let continues = |name: &&[u8]| {
            name.get(..matched) == known && name.get(matched).is_some_and(|next| *next == byte)
        };
        match ESCAPES.iter().position(continues) {
            Some(name) => {
                self.name = u8::try_from(name).unwrap_or(0);
                match matched {
                    0 => self.start = at,
                    1 => self.second = distance(self.start, at),
                    _ => {}
                }
                self.matched = self.matched.wrapping_add(1);
            }
            // The last two of three underscores.
            None if byte == b'_' && matched == 2 => {
                self.start = self.start.wrapping_add(self.second.into());
                self.second = distance(self.start, at);
            }
            None if byte == b'_' => (self.start, self.matched) = (at, 1),
            None => self.matched = 0,
        }
        ESCAPES
            .get(usize::from(self.name))
            .is_some_and(|name| name.len() == usize::from(self.matched))
    }
}

impl Part {
    fn digits(all: u8) -> Self {
        Part::Digits { all, left: all, code: 0 }
    }
}

fn distance(from: u64, to: u64) -> u16 {
    u16::try_from(to.wrapping_sub(from)).unwrap_or(u16::MAX)
}

/// The value of a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Range of the first name in `text`, which arrives in pieces of `step` bytes.
    fn found(text: &str, step: usize) -> Option<(u64, u64)> {
        let mut search = State::default();
        let mut at = 0;
        for piece in text.as_bytes().chunks(step) {
            if let Some(end) = search.find(piece, at) {
                return Some((search.start, end));
            }
            at += piece.len() as u64;
        }
        None
    }

    #[test]
    fn first_escape_in_template_is_found() {
        for (text, name) in [
            ("{{ x.__class__.__mro__ }}", "__class__"),
            ("___class__", "__class__"),
            ("\\__class__ \\x__class__", "__class__"),
            ("__cl\\\nass__", "__cl\\\nass__"),
            ("__cl\\\r\nass__", "__cl\\\r\nass__"),
            ("__cl\\\rass__", "__cl\\\rass__"),
            (r"\137_cl\141ss__", r"\137_cl\141ss__"),
            (r"'\N{LOW LINE}_class__'", r"\N{LOW LINE}_class__"),
            (
                r"_\N{low line}\N{Latin small letter M}ro__",
                r"_\N{low line}\N{Latin small letter M}ro__",
            ),
            ("____mro__ ___mr_ ___x__", "__mro__"),
            ("__cl__globals__", "__globals__"),
            ("__class___bases____bases__", "__class__"),
            (r#"x["a__cl" ~ "ass__"]"#, r#"__cl" ~ "ass__"#),
            ("x['_'+'_'\n+ \"class_\" '' '_b']", "_'+'_'\n+ \"class_\" '' '_"),
            ("('__mro')~('__')", "__mro')~('__"),
            ("'_' ~ '_' ~ '_' ~ '_mro__'", "_' ~ '_mro__"),
            (r"x|attr('\x5f_\u006dro\U0000005f_')", r"\x5f_\u006dro\U0000005f_"),
            (r"'_\x5F_' ~ 'bases__'", r"\x5F_' ~ 'bases__"),
        ] {
            let at = text.find(name).unwrap() as u64;
            for step in 1..=text.len() {
                assert_eq!(found(text, step), Some((at, at + name.len() as u64)), "{text} {step}");
            }
        }
    }

    #[test]
    fn harmless_template_has_no_finding() {
        for text in [
            "{{ __class }} __init__ _ __Class__",
            "'__cl', 'ass__'",
            "'__cl' ~ x ~ 'ass__'",
            "'__cl' - 'ass__'",
            "'__cl' ~ __ass__",
            "__cl ~ ass__",
            "__cl'ass__",
            "__cl\\\n\nass__ __cl\nass__",
            r"\N{LOW LINE _class__ \NLOW LINE}_class__ \N{DIGIT TWO}_class__ \N{}_class__",
            r"\237_class__ \13_class__ \537_class__",
            r"\\x5f_class__ \x5g_class__ \x5_class__ \u5f_class__",
        ] {
            for step in 1..=text.len() {
                assert_eq!(found(text, step), None, "{text} {step}");
            }
        }
    }
}
