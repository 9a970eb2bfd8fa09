//! The bytes and characters that a stored name stands for.

use super::NameEncoding;

/// The decoded bytes of a name.
#[derive(Clone, Debug, Default)]
pub struct Bytes<'a> {
    /// Bytes that stand for themselves.
    run: &'a [u8],
    /// CBOR chunks, or JSON with escapes, that come after `run`.
    rest: &'a [u8],
    /// Decoded bytes that come before all else, the last `left` of them.
    decoded: [u8; 4],
    left: u8,
    /// Whether `rest` is JSON.
    json: bool,
}

impl<'a> Bytes<'a> {
    /// Bytes that stand for themselves.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn plain(stored: &'a [u8]) -> Self {
        Bytes { run: stored, ..Bytes::default() }
    }

    /// CBOR chunks.
    pub(super) fn of_chunks(stored: &'a [u8]) -> Self {
        Bytes { rest: stored, ..Bytes::default() }
    }

    /// JSON with escapes.
    pub(super) fn of_json(stored: &'a [u8]) -> Self {
        Bytes { rest: stored, json: true, ..Bytes::default() }
    }

    /// The decimal digits of `n`.
    pub(super) fn of_number(n: u8) -> Self {
        let digit = |n: u8| n.checked_rem(10).unwrap_or(0).wrapping_add(b'0');
        let tens = n.checked_div(10).unwrap_or(0);
        let hundreds = tens.checked_div(10).unwrap_or(0);
        let left = match n {
            0..=9 => 1,
            10..=99 => 2,
            _ => 3,
        };
        Bytes { decoded: [0, digit(hundreds), digit(tens), digit(n)], left, ..Bytes::default() }
    }

    /// The next byte of JSON with escapes. An escape that is none, which was
    /// reported where the name was found, stands for itself.
    fn json(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *first != b'\\' {
            return Some(*first);
        }
        let (c, used) = match escape(rest) {
            Some(found) => found,
            None => return Some(b'\\'),
        };
        self.rest = rest.get(used..).unwrap_or_default();
        let mut utf8 = [0; 4];
        let encoded = c.encode_utf8(&mut utf8).as_bytes();
        let (byte, more) = encoded.split_first()?;
        self.left = u8::try_from(more.len()).unwrap_or(0);
        let at = self.decoded.len().saturating_sub(more.len());
        for (slot, byte) in self.decoded.iter_mut().skip(at).zip(more) {
            *slot = *byte;
        }
        Some(*byte)
    }

    /// The next chunk of a CBOR text string: a head with major type 3, then as
    /// many bytes as it says. `None` at the end, or where the chunks are not
    /// what they were when the name was found.
    fn chunk(&mut self) -> Option<()> {
        if !NameEncoding::Chunks.is_used() {
            return None;
        }
        let (head, rest) = self.rest.split_first()?;
        let (len, rest) = match head & 0x1F {
            n @ 0..=23 => (usize::from(n), rest),
            24 => {
                let (n, rest) = rest.split_first()?;
                (usize::from(*n), rest)
            }
            25 => {
                let (n, rest) = rest.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(*n)), rest)
            }
            26 => {
                let (n, rest) = rest.split_first_chunk()?;
                (usize::try_from(u32::from_be_bytes(*n)).ok()?, rest)
            }
            27 => {
                let (n, rest) = rest.split_first_chunk()?;
                (usize::try_from(u64::from_be_bytes(*n)).ok()?, rest)
            }
            _ => return None,
        };
        (self.run, self.rest) = rest.split_at_checked(len)?;
        Some(())
    }
}

impl Iterator for Bytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let decodes = NameEncoding::Number.is_used() || NameEncoding::Json.is_used();
        if decodes && self.left > 0 {
            let at = self.decoded.len().checked_sub(usize::from(self.left))?;
            self.left = self.left.saturating_sub(1);
            return self.decoded.get(at).copied();
        }
        loop {
            if let Some((byte, rest)) = self.run.split_first() {
                self.run = rest;
                return Some(*byte);
            }
            if NameEncoding::Json.is_used() && self.json {
                return self.json();
            }
            self.chunk()?;
        }
    }

    /// Passes over a run at once: names that lie apart are compared piece by
    /// piece, and each piece begins behind all that come before.
    #[cfg(feature = "windows")]
    fn nth(&mut self, n: usize) -> Option<u8> {
        if self.left == 0
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

/// The character of the JSON escape whose backslash came before `rest`, and how
/// many bytes of `rest` it takes; `None` for what is no escape and for halves of
/// surrogate pairs.
pub(crate) fn escape(rest: &[u8]) -> Option<(char, usize)> {
    let c = match *rest.first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        c @ (b'"' | b'\\' | b'/') => char::from(c),
        b'u' => {
            let first = hex4(rest.get(1..)?)?;
            if !(0xD800..0xDC00).contains(&first) {
                return Some((char::from_u32(first)?, 5));
            }
            let second = match rest.get(5..7)? {
                b"\\u" => hex4(rest.get(7..)?)?,
                _ => return None,
            };
            let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            let high = first.saturating_sub(0xD800);
            return Some((char::from_u32(((high << 10) | low).saturating_add(0x1_0000))?, 11));
        }
        _ => return None,
    };
    Some((c, 1))
}

/// Four hexadecimal digits.
fn hex4(digits: &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for digit in digits.first_chunk::<4>()? {
        value = (value << 4) | char::from(*digit).to_digit(16)?;
    }
    Some(value)
}

/// The decoded characters of a name; bytes that are part of no character come
/// as `Err`.
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
