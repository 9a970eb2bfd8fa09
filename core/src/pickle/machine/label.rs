//! The name of a module or of something in it, as a pickle spells it.

use crate::input::{Absent, Source, Span};
use core::fmt;

/// Bytes of a name that are kept, and shown. No name on a list is longer.
const KEPT: usize = 96;
/// Bytes of the file that spell as many characters.
const SPELLED: u64 = 1 << 10;

/// How the bytes of a text spell its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// UTF-8.
    Plain,
    /// A quoted line with Python's escapes.
    Quoted,
    /// A line with `\u` and `\U` escapes, otherwise Latin-1.
    Raw,
}

/// A name, in UTF-8: all of it, or its beginning if it is long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PickleName {
    bytes: [u8; KEPT],
    len: u8,
    is_whole: bool,
}

impl Default for PickleName {
    fn default() -> Self {
        PickleName { bytes: [0; KEPT], len: 0, is_whole: true }
    }
}

impl PickleName {
    /// The name, or as much of it as is kept.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len.into()).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    /// Whether nothing of the name is left out.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The name that a pickle computes.
    pub(super) fn unknown() -> Self {
        PickleName { is_whole: false, ..PickleName::default() }
    }

    /// What stands for the module of names in the registry of extensions.
    pub(super) fn registry() -> Self {
        PickleName::of(b"copyreg extension", Spelling::Plain)
    }

    /// A number as a name.
    pub(super) fn number(number: u64) -> Self {
        let mut name = PickleName::default();
        // Infallible: a number has at most 20 digits.
        let _ = fmt::write(&mut name, format_args!("{number}"));
        name
    }

    /// Reads the text at `span`.
    pub(super) fn read(
        source: &Source<'_>,
        span: Span,
        spelling: Spelling,
    ) -> Result<Self, Absent> {
        let bytes = source.get(Span::new(span.offset, span.len.min(SPELLED)))?;
        let mut name = PickleName::of(bytes, spelling);
        name.is_whole &= span.len <= SPELLED;
        Ok(name)
    }

    /// The characters that these bytes spell.
    pub(super) fn of(bytes: &[u8], spelling: Spelling) -> Self {
        let mut name = PickleName::default();
        match spelling {
            Spelling::Plain => {
                for chunk in bytes.utf8_chunks() {
                    chunk.valid().chars().for_each(|char| name.push(char));
                    if !chunk.invalid().is_empty() {
                        name.push(char::REPLACEMENT_CHARACTER);
                    }
                }
            }
            Spelling::Quoted => {
                let line = bytes.trim_ascii();
                let inner = line.len().checked_sub(1).and_then(|end| line.get(1..end));
                name.unescape(inner.unwrap_or_default(), true);
            }
            Spelling::Raw => name.unescape(bytes, false),
        }
        name
    }

    fn unescape(&mut self, bytes: &[u8], all: bool) {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            rest = after;
            let [kind, digits @ ..] = after else {
                self.push(char::from(*byte));
                continue;
            };
            if *byte != b'\\' {
                self.push(char::from(*byte));
                continue;
            }
            let (width, radix) = match kind {
                b'u' if !all => (4, 16),
                b'U' if !all => (8, 16),
                b'x' if all => (2, 16),
                b'0'..=b'7' if all => (3, 8),
                _ if all => {
                    rest = digits;
                    self.push(match kind {
                        b'a' => '\x07',
                        b'b' => '\x08',
                        b'f' => '\x0C',
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        b'v' => '\x0B',
                        other => char::from(*other),
                    });
                    continue;
                }
                _ => {
                    self.push('\\');
                    continue;
                }
            };
            let from = if radix == 8 { after } else { digits };
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            let count = from.iter().take(width).take_while(is_digit).count();
            let value = from.iter().take(count).fold(0_u32, |value, byte| {
                let digit = char::from(*byte).to_digit(radix).unwrap_or(0);
                value.wrapping_mul(radix).wrapping_add(digit)
            });
            self.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = from.get(count..).unwrap_or_default();
        }
    }

    fn push(&mut self, char: char) {
        let mut bytes = [0; 4];
        let text = char.encode_utf8(&mut bytes).as_bytes();
        let from = usize::from(self.len);
        let to = from.checked_add(text.len()).and_then(|end| self.bytes.get_mut(from..end));
        match to.filter(|_| self.is_whole) {
            Some(to) => {
                to.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
                self.len = self.len.saturating_add(u8::try_from(text.len()).unwrap_or(0));
            }
            None => self.is_whole = false,
        }
    }
}

impl fmt::Write for PickleName {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().for_each(|char| self.push(char));
        Ok(())
    }
}

impl fmt::Debug for PickleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Writes the name; one that is cut ends with an ellipsis.
impl fmt::Display for PickleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        if self.is_whole { Ok(()) } else { f.write_str("…") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_spell_the_same_name() {
        for (bytes, spelling) in [
            (&b"posix"[..], Spelling::Plain),
            (b"'posix'", Spelling::Quoted),
            (b" \"p\\x6fsi\\170\" ", Spelling::Quoted),
            (b"posi\\u0078", Spelling::Raw),
        ] {
            let name = PickleName::of(bytes, spelling);
            assert_eq!((name.as_str(), name.is_whole()), ("posix", true), "{bytes:?}");
        }
        assert_eq!(PickleName::of(b"a\\nb\\", Spelling::Raw).as_str(), "a\\nb\\");
        assert_eq!(PickleName::of(b"a\xFFb", Spelling::Plain).as_str(), "a\u{FFFD}b");
    }

    #[test]
    fn a_long_name_is_cut() {
        use std::string::ToString as _;
        let name = PickleName::of(&[b'a'; 1000], Spelling::Plain);
        assert!(!name.is_whole() && name.as_str().len() == KEPT && name.to_string().ends_with('…'));
    }
}
