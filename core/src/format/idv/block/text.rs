//! Texts that are slices of one string, cut between UTF-16 units.

use core::fmt;

/// A text. It may begin or end inside a character of two UTF-16 units, whose other half
/// belongs to the previous or next text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<'b> {
    low: Option<u16>,
    body: &'b str,
    high: Option<u16>,
}

impl<'b> Text<'b> {
    /// The text, or `None` if it begins or ends inside a character.
    pub const fn as_str(&self) -> Option<&'b str> {
        match (self.low, self.high) {
            (None, None) => Some(self.body),
            _ => None,
        }
    }

    /// The text's UTF-16 units, including halves of characters.
    pub fn utf16(&self) -> impl Iterator<Item = u16> {
        self.low.into_iter().chain(self.body.encode_utf16()).chain(self.high)
    }
}

/// Writes the text with U+FFFD for half a character.
impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HALF: &str = "\u{FFFD}";
        f.write_str(if self.low.is_some() { HALF } else { "" })?;
        f.write_str(self.body)?;
        f.write_str(if self.high.is_some() { HALF } else { "" })
    }
}

/// Position in the string up to which texts were read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Number of UTF-16 units.
    units: u32,
    /// Number of bytes; with `half`, up to the start of the current character.
    bytes: usize,
    /// Whether the first half of a character was read.
    half: bool,
}

impl Taken {
    /// Reads the units up to `end`.
    pub(super) fn next<'b>(&mut self, joined: &'b str, end: u32) -> Text<'b> {
        let mut text = Text::default();
        let rest = |bytes: usize| joined.get(bytes..).unwrap_or_default();
        if self.half && self.units < end {
            if let Some(c) = rest(self.bytes).chars().next() {
                text.low = c.encode_utf16(&mut [0; 2]).last().copied();
                self.bytes = self.bytes.saturating_add(c.len_utf8());
            }
            self.units = self.units.saturating_add(1);
            self.half = false;
        }
        let start = self.bytes;
        for c in rest(start).chars() {
            let left = end.saturating_sub(self.units);
            let units = if c.len_utf16() == 1 { 1 } else { 2 };
            if left < units {
                if left == 1 {
                    text.high = c.encode_utf16(&mut [0; 2]).first().copied();
                    self.units = end;
                    self.half = true;
                }
                break;
            }
            self.units = self.units.saturating_add(units);
            self.bytes = self.bytes.saturating_add(c.len_utf8());
        }
        text.body = joined.get(start..self.bytes).unwrap_or_default();
        text
    }
}

/// Number of UTF-16 units of a string.
pub(super) fn units(text: &str) -> u64 {
    let mut units = 0_u64;
    for byte in text.bytes() {
        // Every byte except continuation bytes begins a character; a character of four
        // bytes has two units.
        let begins = u64::from(byte & 0xC0 != 0x80);
        units = units.saturating_add(begins).saturating_add(u64::from(byte >= 0xF0));
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// Cutting a string into three parts anywhere preserves its units.
    #[test]
    fn text_may_be_cut_at_any_byte() {
        for joined in ["", "a", "é🚢z", "🚢🚢", "x😀😀y", "日本語", "\u{0}\u{10FFFF}"]
        {
            let all: Vec<u16> = joined.encode_utf16().collect();
            assert_eq!(units(joined), all.len() as u64);
            for i in 0..=all.len() {
                for j in i..=all.len() {
                    let mut taken = Taken::default();
                    for range in [0..i, i..j, j..all.len()] {
                        let text = taken.next(joined, range.end as u32);
                        let expected = &all[range];
                        assert_eq!(text.utf16().collect::<Vec<_>>(), expected);
                        assert_eq!(
                            text.as_str().map(String::from),
                            String::from_utf16(expected).ok(),
                            "{joined} at {i} and {j}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn lone_surrogate_shows_as_replacement() {
        let mut taken = Taken::default();
        let shown = |text: Text<'_>| std::format!("{text}");
        assert_eq!(shown(taken.next("a🚢b", 2)), "a\u{FFFD}");
        assert_eq!(shown(taken.next("a🚢b", 2)), "");
        assert_eq!(shown(taken.next("a🚢b", 4)), "\u{FFFD}b");
    }
}
