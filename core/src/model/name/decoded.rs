//! The bytes and characters that a stored name stands for.

use super::NameEncoding;
use crate::base::cbor::{Head, major};

/// The decoded bytes of a name.
#[derive(Clone, Debug, Default)]
pub struct Bytes<'a> {
    /// Plain bytes, or JSON with escapes.
    run: &'a [u8],
    /// CBOR chunks after `run`.
    rest: &'a [u8],
    /// The chunk after `rest`; none if no name is a path.
    then: [&'a [u8]; PATHS],
    /// Returned first: the last `left` groups of six bits, each extended to a byte.
    code: u32,
    left: u8,
    /// Whether `run` is JSON and `code` a character with UTF-8 bytes left; otherwise its groups
    /// are digits.
    json: bool,
}

/// Number of chunks that [`Bytes`] has room for after its others.
const PATHS: usize = if NameEncoding::Path.is_used() { 1 } else { 0 };

impl<'a> Bytes<'a> {
    /// Plain bytes.
    pub(super) fn plain(stored: &'a [u8]) -> Self {
        Bytes { run: stored, ..Bytes::default() }
    }

    /// CBOR chunks.
    pub(super) fn of_chunks(stored: &'a [u8]) -> Self {
        Bytes { rest: stored, ..Bytes::default() }
    }

    /// The first and the last text of CBOR data items, joined by a point.
    pub(super) fn of_path(stored: &'a [u8]) -> Self {
        let mut name = Bytes::of_chunks(stored);
        if name.chunk().is_none() {
            return Bytes::default();
        }
        let (mut items, mut last) = (name.rest, &[][..]);
        let mut head = Head::default();
        while let Some(content) = head.split(items) {
            let len = if head.is_string() && !head.is_indefinite() { head.argument } else { 0 };
            let Some(after) = usize::try_from(len).ok().and_then(|len| content.get(len..)) else {
                break;
            };
            if head.major == major::TEXT {
                last = items.get(..items.len().saturating_sub(after.len())).unwrap_or_default();
            }
            items = after;
        }
        Bytes { rest: b"\x61.", then: [last; PATHS], ..name }
    }

    /// JSON with escapes.
    pub(super) fn of_json(stored: &'a [u8]) -> Self {
        Bytes { json: true, ..Bytes::plain(stored) }
    }

    /// The decimal digits of `n`.
    pub(super) fn of_number(n: u8) -> Self {
        let digit = |n: u8| u32::from(n.checked_rem(10).unwrap_or(0).wrapping_add(b'0'));
        let tens = n.checked_div(10).unwrap_or(0);
        let hundreds = tens.checked_div(10).unwrap_or(0);
        let left = match n {
            0..=9 => 1,
            10..=99 => 2,
            _ => 3,
        };
        let code = (digit(hundreds) << 12) | (digit(tens) << 6) | digit(n);
        Bytes { code, left, ..Bytes::default() }
    }

    /// The first byte of the character after a backslash. An invalid escape, which was
    /// reported where the name was found, stands for itself.
    fn unescape(&mut self) -> u8 {
        let (code, used) = escape(self.run);
        if used == 0 {
            return b'\\';
        }
        self.run = self.run.get(used..).unwrap_or_default();
        self.code = code;
        // RFC 3629 §3: the number of leading ones in the first byte is the length of the
        // character.
        let (left, ones) = match self.code {
            0..=0x7F => (0, 0),
            0x80..=0x7FF => (1, 0xC0),
            0x800..=0xFFFF => (2, 0xE0),
            _ => (3, 0xF0),
        };
        self.left = left;
        ones | self.group(0xFF)
    }

    /// The bits of `code` above the last `left` groups, masked.
    fn group(&self, mask: u32) -> u8 {
        let bits = self.code.wrapping_shr(u32::from(self.left).wrapping_mul(6));
        u8::try_from(bits & mask).unwrap_or(0)
    }

    /// Moves to the next chunk of a CBOR text string: a head with major type 3, then as many
    /// bytes as it says. `None` at the end, or if the chunks have changed since the name was
    /// found.
    fn chunk(&mut self) -> Option<()> {
        if !NameEncoding::Chunks.is_used() && !NameEncoding::Path.is_used() {
            return None;
        }
        if self.rest.is_empty() {
            self.rest = core::mem::take(self.then.first_mut()?);
        }
        let mut head = Head::default();
        let rest = head.split(self.rest)?;
        (self.run, self.rest) = rest.split_at_checked(usize::try_from(head.argument).ok()?)?;
        Some(())
    }
}

impl Iterator for Bytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let json = NameEncoding::Json.is_used() && self.json;
        if (json || NameEncoding::Number.is_used()) && self.left > 0 {
            self.left = self.left.wrapping_sub(1);
            return Some(self.group(0x3F) | if json { 0x80 } else { 0 });
        }
        loop {
            if let Some((byte, rest)) = self.run.split_first() {
                self.run = rest;
                return Some(if json && *byte == b'\\' { self.unescape() } else { *byte });
            }
            self.chunk()?;
        }
    }

    /// Skips a whole run in one step: distant names are compared piece by piece, and each piece
    /// starts after all earlier ones.
    #[cfg(feature = "windows")]
    fn nth(&mut self, n: usize) -> Option<u8> {
        if self.left == 0
            && !self.json
            && let Some(run) = self.run.get(n..)
        {
            self.run = run;
            return self.next();
        }
        for _ in 0..n {
            self.next()?;
        }
        self.next()
    }
}

/// The character code of the JSON escape after the backslash, and the number of bytes of `rest`
/// it takes; 0 for an invalid escape or half a surrogate pair.
pub(crate) fn escape(rest: &[u8]) -> (u32, usize) {
    const NONE: (u32, usize) = (0, 0);
    let Some((first, digits)) = rest.split_first() else { return NONE };
    if *first != b'u' {
        let known = SHORT.iter().find(|(letter, _)| letter == first);
        return known.map_or(NONE, |(_, c)| (u32::from(*c), 1));
    }
    let Some(high) = hex4(digits) else { return NONE };
    match high & 0xFC00 {
        0xD800 => {}
        0xDC00 => return NONE,
        _ => return (high, 5),
    }
    let low = digits.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(hex4);
    match low {
        Some(low) if low & 0xFC00 == 0xDC00 => {
            let above = ((high & 0x3FF) << 10) | (low & 0x3FF);
            (above.wrapping_add(0x1_0000), 11)
        }
        _ => NONE,
    }
}

/// Letters after a backslash, and the bytes they stand for.
const SHORT: [(u8, u8); 8] = [
    (b'n', b'\n'),
    (b't', b'\t'),
    (b'r', b'\r'),
    (b'b', 8),
    (b'f', 12),
    (b'"', b'"'),
    (b'\\', b'\\'),
    (b'/', b'/'),
];

/// Four hexadecimal digits.
fn hex4(digits: &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for digit in digits.first_chunk::<4>()? {
        value = (value << 4) | char::from(*digit).to_digit(16)?;
    }
    Some(value)
}

/// The decoded characters of a name; invalid bytes are returned as `Err`.
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    bytes: Bytes<'a>,
}

impl<'a> Chars<'a> {
    pub(super) fn of(bytes: Bytes<'a>) -> Self {
        Chars { bytes }
    }
}

impl Iterator for Chars<'_> {
    type Item = Result<char, u8>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.bytes.next()?;
        let (more, bits, least) = match first {
            0..=0x7F => return Some(Ok(char::from(first))),
            0xC2..=0xDF => (1_u8, first & 0x1F, 0x80),
            0xE0..=0xEF => (2, first & 0x0F, 0x800),
            0xF0..=0xF4 => (3, first & 0x07, 0x1_0000),
            _ => return Some(Err(first)),
        };
        let mut ahead = self.bytes.clone();
        let mut code = u32::from(bits);
        for _ in 0..more {
            match ahead.next() {
                Some(byte @ 0x80..=0xBF) => code = (code << 6) | u32::from(byte & 0x3F),
                _ => return Some(Err(first)),
            }
        }
        match char::from_u32(code).filter(|_| code >= least) {
            Some(c) => {
                self.bytes = ahead;
                Some(Ok(c))
            }
            None => Some(Err(first)),
        }
    }
}
