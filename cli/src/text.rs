//! Text that comes from outside, made fit to show.
//!
//! A name in a file can hold terminal commands, or marks that make the rest of
//! a line run from right to left, so that what is read is not what is there.

use std::fmt::{self, Write as _};
use std::path::Path;
use weighbridge_core::{Name, NameEncoding};

/// A name from a file, or a path: bytes that should be UTF-8.
///
/// `Display` escapes what could mislead a reader, and bytes that are no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Text(Vec<u8>);

impl Text {
    /// The text for JSON; bytes that are not UTF-8 become replacement
    /// characters.
    pub(crate) fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// The beginning of a name, with a mark if that is not all of it.
    pub(crate) fn start_of(name: &Name<'_>, most: usize) -> Text {
        let mut bytes: Vec<u8> = name.bytes().take(most.saturating_add(1)).collect();
        if bytes.len() > most {
            bytes.truncate(most);
            // Not in the middle of a character.
            let start = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
            if start + 3 >= most {
                bytes.truncate(start);
            }
            bytes.extend("…".as_bytes());
        }
        Text(bytes)
    }

    /// The bytes as hexadecimal digits, if they are not UTF-8.
    pub(crate) fn hex(&self) -> Option<String> {
        str::from_utf8(&self.0).is_err().then(|| hex(&self.0))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Through a string, so that a width pads it.
        f.pad(&Name::new(&self.0, NameEncoding::Plain).to_string())
    }
}

impl From<Name<'_>> for Text {
    fn from(name: Name<'_>) -> Self {
        Text(name.bytes().collect())
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Text(bytes)
    }
}

impl From<&Path> for Text {
    fn from(path: &Path) -> Self {
        Text(path.as_os_str().as_encoded_bytes().to_vec())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_bytes().to_vec())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_name_is_marked_and_ends_with_a_character() {
        let start = |text: &[u8]| Text::start_of(&Name::new(text, NameEncoding::Plain), 8).lossy();
        assert_eq!(start(b"12345678"), "12345678");
        assert_eq!(start(b"123456789"), "12345678…");
        assert_eq!(start("123456€789".as_bytes()), "123456…");
        assert_eq!(start(b"\xFF23456789"), "\u{fffd}2345678…");
    }

    #[test]
    fn terminal_commands_and_directions_are_escaped() {
        let shown = |text: &str| Text::from(text).to_string();
        assert_eq!(shown("layer.0/веса 重み é"), "layer.0/веса 重み é");
        assert_eq!(shown("\u{1b}[31mred\u{7f}"), "\\u{1b}[31mred\\u{7f}");
        assert_eq!(shown("a\u{202e}txt\u{2066}\n"), "a\\u{202e}txt\\u{2066}\\u{a}");
    }

    #[test]
    fn what_is_not_utf_8_keeps_its_bytes() {
        let text = Text(b"w\xff1".to_vec());
        assert_eq!(text.to_string(), "w\\xff1");
        assert_eq!(text.lossy(), "w\u{fffd}1");
        assert_eq!(text.hex().as_deref(), Some("77ff31"));
        assert_eq!(Text::from("w1").hex(), None);
    }
}
