//! Texts for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{Name, NameEncoding, is_hidden};

/// Maximum characters of a name or a value in a table.
pub const SHOWN: usize = 256;

/// Concatenated strings; ends are in UTF-16 units, as JavaScript counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// All strings.
    pub text: String,
    /// End of each string.
    pub ends: Vec<u32>,
    units: u32,
    counted: usize,
}

impl Texts {
    /// Ends the string that was appended to `text`.
    pub fn end(&mut self) {
        let new = self.text.get(self.counted..).unwrap_or_default();
        // Every character has a first byte; characters of four bytes take two
        // units.
        let units =
            new.bytes().map(|byte| u32::from(byte & 0xC0 != 0x80) + u32::from(byte >= 0xF0));
        self.units = self.units.saturating_add(units.sum());
        self.counted = self.text.len();
        self.ends.push(self.units);
    }

    /// Adds a string.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.end();
    }

    /// Adds a name in a form that is safe to show, cut off after `most`
    /// characters.
    pub fn push_name(&mut self, name: &Name<'_>, most: usize) {
        push_label(name.chars(), most, &mut self.text);
        self.end();
    }

    /// Adds decoded bytes in the form used for names.
    pub fn push_safe(&mut self, bytes: &[u8], most: usize) {
        self.push_name(&plain(bytes), most);
    }

    /// Adds decoded bytes, replacing invalid UTF-8.
    pub fn push_lossy(&mut self, bytes: &[u8]) {
        for c in plain(bytes).chars() {
            self.text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.end();
    }
}

/// Decoded bytes as a name.
pub fn plain(bytes: &[u8]) -> Name<'_> {
    Name::new(bytes, NameEncoding::Plain)
}

/// Writes a name in a form that is safe to show, like `Display` of [`Name`] but
/// without the formatting machinery: hidden characters as `\u{…}`, bytes that
/// are not UTF-8 as `\x…`, a backslash doubled.
pub fn push_label(chars: impl Iterator<Item = Result<char, u8>>, most: usize, out: &mut String) {
    for (i, c) in chars.enumerate() {
        if i >= most {
            out.push('…');
            return;
        }
        match c {
            Ok('\\') => out.push_str("\\\\"),
            Ok(c) if is_hidden(c) => {
                out.push_str("\\u{");
                push_hex(u32::from(c), 1, out);
                out.push('}');
            }
            Ok(c) => out.push(c),
            Err(byte) => {
                out.push_str("\\x");
                push_hex(byte.into(), 2, out);
            }
        }
    }
}

/// Writes `n` in hexadecimal, with at least `least` digits.
fn push_hex(n: u32, least: u32, out: &mut String) {
    let used = (32 - n.leading_zeros()).div_ceil(4);
    for digit in (0..used.max(least)).rev() {
        out.push(char::from_digit((n >> (digit * 4)) & 15, 16).unwrap_or('0'));
    }
}

/// Writes a number in decimal.
pub fn push_decimal(n: u64, out: &mut String) {
    let mut digits = [0; 20];
    let mut left = n;
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (left % 10) as u8;
        left /= 10;
        used += 1;
        if left == 0 {
            break;
        }
    }
    let from = digits.len() - used;
    out.extend(digits.iter().skip(from).map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn text_ends_count_utf16_units() {
        let mut texts = Texts::default();
        for text in ["a", "", "\u{1F600}é"] {
            texts.push(text);
        }
        texts.push_safe("\u{202e}<script>\n".as_bytes(), 100);
        texts.push_safe(b"abcdef", 3);
        texts.push_lossy(b"w\xff");
        assert_eq!(texts.ends, [1, 1, 4, 25, 29, 31]);
        assert_eq!(texts.text, "a\u{1F600}é\\u{202e}<script>\\u{a}abc…w\u{fffd}");
        assert_eq!(texts.text.encode_utf16().count(), 31);
    }

    #[test]
    fn label_matches_display() {
        let names: [&[u8]; 6] = [
            b"plain",
            b"back\\slash",
            "\u{200b}\u{7f}\u{feff}\u{e0041}".as_bytes(),
            "é\u{1b}[0m\u{0}".as_bytes(),
            b"w\xff1\xc3",
            b"",
        ];
        for name in names {
            let mut label = String::new();
            push_label(plain(name).chars(), usize::MAX, &mut label);
            assert_eq!(label, plain(name).to_string());
        }
    }

    #[test]
    fn numbers_as_text() {
        for n in [0, 7, 10, 99, 100, 12_345_678_901, u64::MAX] {
            let mut out = String::new();
            push_decimal(n, &mut out);
            assert_eq!(out, n.to_string());
        }
    }
}
