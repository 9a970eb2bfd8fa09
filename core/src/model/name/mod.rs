//! Names as files store them.
//!
//! A name is not always a borrowed `&str`: STB has numbers, CBOR text may come
//! in chunks, and bytes may not be UTF-8. [`NameAt`] says where a name lies,
//! [`Name`] holds its stored bytes and behaves as the decoded name.

mod decoded;
mod hash;
#[cfg(any(feature = "cbor", feature = "json", test))]
mod words;

#[cfg(any(feature = "json", test))]
pub(crate) use decoded::escape;
pub use decoded::{Bytes, Chars};
pub(crate) use hash::hash;

use crate::base::{features::WINDOWS, widen};
use crate::input::{Absent, Source, Span};
use core::cmp::Ordering;
use core::fmt::{self, Write as _};
use core::hash::{Hash, Hasher};

/// How a name is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameEncoding {
    /// Plain bytes, which should be UTF-8.
    #[default]
    Plain,
    /// A one-byte identifier; the name is its decimal number.
    Number,
    /// The chunks of a CBOR text string of indefinite length, without the first byte and the
    /// break (RFC 8949 §3.2.3).
    Chunks,
    /// The inside of a JSON string with escapes (RFC 8259 §7).
    Json,
    /// CBOR data items, of which the first and the last are texts of definite length: both,
    /// joined by a point.
    Path,
}

/// Whether all names of this build are one-byte ids.
pub(crate) const NUMBERS_ONLY: bool = cfg!(not(any(feature = "names", test)));

/// Whether some names of this build have to be decoded.
const DECODED: bool =
    NameEncoding::Chunks.is_used() || NameEncoding::Json.is_used() || NameEncoding::Path.is_used();

impl NameEncoding {
    /// Whether a format of this build stores names this way; code for the others is not
    /// compiled in.
    const fn is_used(self) -> bool {
        match self {
            NameEncoding::Plain => true,
            NameEncoding::Number => cfg!(any(feature = "numbers", test)),
            NameEncoding::Chunks => cfg!(any(feature = "cbor", test)),
            NameEncoding::Json => cfg!(any(feature = "json", test)),
            NameEncoding::Path => cfg!(any(feature = "paths", test)),
        }
    }

    /// The number of this encoding.
    pub(crate) const fn code(self) -> u32 {
        match self {
            NameEncoding::Plain => 0,
            NameEncoding::Number => 1,
            NameEncoding::Chunks => 2,
            NameEncoding::Json => 3,
            NameEncoding::Path => 4,
        }
    }

    /// The encoding with this number.
    pub(crate) const fn of(code: u32) -> NameEncoding {
        match code {
            1 => NameEncoding::Number,
            2 => NameEncoding::Chunks,
            3 => NameEncoding::Json,
            4 => NameEncoding::Path,
            _ => NameEncoding::Plain,
        }
    }

    /// This encoding, or the substitute for one that no format of this build uses.
    const fn known(self) -> Self {
        match self {
            NameEncoding::Number if NameEncoding::Number.is_used() => self,
            NameEncoding::Chunks if NameEncoding::Chunks.is_used() => self,
            NameEncoding::Json if NameEncoding::Json.is_used() => self,
            NameEncoding::Path if NameEncoding::Path.is_used() => self,
            _ => NameEncoding::Plain,
        }
    }
}

/// Where a name is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameAt {
    /// Absolute offset of its first stored byte.
    pub offset: u64,
    /// Number of stored bytes.
    pub len: u32,
    /// How it is stored.
    pub encoding: NameEncoding,
}

impl NameAt {
    /// A plain name of `len` bytes at `at`, cut at 4 GiB, which no index reaches.
    pub(crate) fn plain(at: u64, len: u64) -> Self {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        NameAt { offset: at, len, encoding: NameEncoding::Plain }
    }

    /// The stored bytes.
    #[allow(clippy::as_conversions, reason = "u32 to u64 in a const fn")]
    pub const fn span(&self) -> Span {
        Span { offset: self.offset, len: self.len as u64 }
    }

    /// Reads the name.
    ///
    /// # Errors
    /// [`Absent`] when its bytes are not resident in one window.
    pub fn read<'a>(&self, source: &Source<'a>) -> Result<Name<'a>, Absent> {
        Ok(Name { bytes: source.get(self.span())?, encoding: self.encoding })
    }
}

/// A name: compares, orders and hashes as the decoded bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Name<'a> {
    bytes: &'a [u8],
    encoding: NameEncoding,
}

impl<'a> Name<'a> {
    /// The name that is stored as `bytes` in `encoding`.
    pub const fn new(bytes: &'a [u8], encoding: NameEncoding) -> Self {
        Name { bytes, encoding }
    }

    /// Where the name is stored if its first stored byte is at `offset`.
    pub(crate) fn at(&self, offset: u64) -> NameAt {
        NameAt { encoding: self.encoding, ..NameAt::plain(offset, widen(self.bytes.len())) }
    }

    /// The name as text if it can be borrowed: it is stored plainly and is UTF-8.
    pub fn as_str(&self) -> Option<&'a str> {
        core::str::from_utf8(self.as_bytes()?).ok()
    }

    /// The decoded bytes if they can be borrowed.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        matches!(self.encoding.known(), NameEncoding::Plain).then_some(self.bytes)
    }

    /// The decoded bytes, one by one.
    #[inline(never)]
    pub fn bytes(&self) -> Bytes<'a> {
        match self.encoding.known() {
            NameEncoding::Plain => Bytes::plain(self.bytes),
            NameEncoding::Number => Bytes::of_number(self.bytes.first().copied().unwrap_or(0)),
            NameEncoding::Chunks => Bytes::of_chunks(self.bytes),
            NameEncoding::Json => Bytes::of_json(self.bytes),
            NameEncoding::Path => Bytes::of_path(self.bytes),
        }
    }

    /// Whether the decoded name is valid UTF-8, checked without a buffer.
    pub fn is_utf8(&self) -> bool {
        match self.as_bytes() {
            Some(bytes) => crate::base::utf8::is(bytes),
            None => Chars::of(self.bytes()).all(|c| c.is_ok()),
        }
    }

    /// The id that this name stands for: a stored id, or a decimal number of at most 255 in
    /// canonical form.
    #[inline(always)]
    fn number(&self) -> Option<u8> {
        let Some(text) = self.as_bytes() else { return self.bytes.first().copied() };
        let mut number = 0_u32;
        for digit in text {
            let digit = digit.wrapping_sub(b'0');
            // A 0 must stand alone.
            if digit > 9 || (number == 0 && text.len() != 1 && digit == 0) {
                return None;
            }
            number = number.wrapping_mul(10).wrapping_add(digit.into());
            if number > 0xFF {
                return None;
            }
        }
        u8::try_from(number).ok().filter(|_| !text.is_empty())
    }

    /// The sort order within a table: by bytes, or by numbers.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let numbers = (NameEncoding::Number, NameEncoding::Number);
        if NUMBERS_ONLY || (self.encoding.known(), other.encoding.known()) == numbers {
            return self.bytes.first().cmp(&other.bytes.first());
        }
        self.cmp(other)
    }

    /// Whether this name comes before `other` in that order.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        self.order(other).is_lt()
    }

    /// Whether the name has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes().next().is_none()
    }

    /// The decoded characters; `Err` holds an invalid byte.
    pub fn chars(&self) -> Chars<'a> {
        Chars::of(self.bytes())
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Name::new(text.as_bytes(), NameEncoding::Plain)
    }
}

impl PartialEq for Name<'_> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        match (self.as_bytes(), other.as_bytes()) {
            // In small readers, the function that orders decoded names is there anyway.
            (Some(a), Some(b)) if WINDOWS || !DECODED => a == b,
            // Only numbers are names here, so no digits are needed.
            _ if NUMBERS_ONLY => self.number().is_some_and(|n| other.number() == Some(n)),
            _ => self.cmp(other).is_eq(),
        }
    }
}

impl Eq for Name<'_> {}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        *self == Name::new(other.as_bytes(), NameEncoding::Plain)
    }
}

impl PartialOrd for Name<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.as_bytes(), other.as_bytes()) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => self.bytes().cmp(other.bytes()),
        }
    }
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.bytes() {
            state.write_u8(byte);
        }
        state.write_u8(0xFF);
    }
}

/// Writes the name safely for a terminal or a page: control, invisible and
/// direction characters as `\u{…}`, invalid UTF-8 as `\x…`, a backslash doubled.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.chars() {
            match c {
                Ok('\\') => f.write_str("\\\\")?,
                Ok(c) if is_hidden(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                Ok(c) => f.write_char(c)?,
                Err(byte) => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

/// Whether a character must not reach a terminal or a page unescaped: it is a control
/// character, invisible, or changes the direction of the text around it.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{61C}' | '\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for n in 0..=255_u8 {
            let stored = [n];
            let name = Name::new(&stored, NameEncoding::Number);
            let mut text = [0; 3];
            let len = name.bytes().zip(text.iter_mut()).map(|(b, t)| *t = b).count();
            let text = core::str::from_utf8(text.get(..len).unwrap()).unwrap();
            assert_eq!(text.parse::<u8>().unwrap(), n);
            assert!(name == *text);
            assert_eq!(name.number(), Some(n));
            assert_eq!(Name::from(text).number(), Some(n));
        }
        for none in ["", "00", "01", "256", "1e", "-1", "999", "4294967297", "1 "] {
            assert_eq!(Name::from(none).number(), None, "{none}");
        }
    }

    #[test]
    fn chunked_name_reads_as_one() {
        let chunked = Name::new(b"\x62ab\x60\x78\x01c", NameEncoding::Chunks);
        assert!(chunked == *"abc");
        assert!(chunked < Name::new(b"abd", NameEncoding::Plain));
        assert!(chunked.is_utf8());
        let reserved = Name::new(b"\x62ab\x7C\x61c", NameEncoding::Chunks);
        assert!(reserved == *"ab");
    }

    #[test]
    fn path_reads_as_its_first_and_last_text() {
        let path = |stored: &'static [u8]| Name::new(stored, NameEncoding::Path);
        assert!(path(b"\x61a\xA2\x65shape\x82\x01\x02\x61p\xA1\x62xy") == *"a.xy");
        assert!(path(b"\x60\x60") == *".");
        assert!(path(b"\x61a").is_utf8());
        // Bytes that have changed since.
        assert!(path(b"\x64a").is_empty());
        assert!(path(b"").is_empty());
    }

    #[test]
    fn escapes_in_name_are_resolved() {
        let json = |text: &'static str| Name::new(text.as_bytes(), NameEncoding::Json);
        assert!(json(r"a\u0062\n\/\ud83d\ude00\u00e9") == *"ab\n/\u{1f600}\u{e9}");
        assert!(json("plain") == *"plain");
        assert!(json(r"\u007f\u0080\u07ff\u0800\uffff") == *"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}");
        assert!(json(r"\ud800\udc00\udbff\udfff") == *"\u{10000}\u{10ffff}");
        assert!(json(r#"\"\\\b\f\r\t"#) == *"\"\\\u{8}\u{c}\r\t");
        assert!(json(r"\x\") == *r"\x\");
        assert_eq!(escape(b"ud800").1, 0);
        assert_eq!(escape(b"ud800\\u0041").1, 0);
        assert_eq!(escape(b"udc00").1, 0);
        assert_eq!(escape(b"x").1, 0);
        assert_eq!(escape(b"u00g0").1, 0);
    }

    #[test]
    fn characters_agree_with_the_standard_library() {
        let valid = "a\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}";
        let name = Name::new(valid.as_bytes(), NameEncoding::Plain);
        assert!(name.chars().map(|c| c.unwrap()).eq(valid.chars()));
        for bad in
            [&b"\xC0\x80"[..], b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE1\x80", b"\x80", b"\xFF"]
        {
            assert!(core::str::from_utf8(bad).is_err());
            assert!(Name::new(bad, NameEncoding::Plain).chars().any(|c| c.is_err()));
        }
    }
}
