//! JSON that is safe to print.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};
use weighbridge_core::is_hidden;

/// Writes `value` on one line, with control and other hidden characters as `\u` escapes, and a
/// line feed.
///
/// ```
/// let mut out = Vec::new();
/// weighbridge::json::line(&mut out, &"a\u{202e}b")?;
/// assert_eq!(out, b"\"a\\u202eb\"\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of `out`.
pub fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    write(out, value)?;
    out.write_all(b"\n")
}

/// Writes `value`, with control and other hidden characters as `\u` escapes.
///
/// ```
/// let mut out = Vec::new();
/// weighbridge::json::write(&mut out, &[1, 2])?;
/// assert_eq!(out, b"[1,2]");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Safe))?)
}

/// The compact layout, with the characters escaped that could mislead a reader.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_hidden(*c)) {
            out.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;
    use serde_json::json;

    #[test]
    fn hidden_characters_are_escaped_and_round_trip() {
        let value = json!({"na\u{202e}me": ["\u{1b}[2J\n\"\\", "重み \u{7f}\u{9b}", "\u{e0041}"]});
        let mut out = Vec::new();
        line(&mut out, &value).expect("a vector takes all");
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        assert_eq!(
            text,
            "{\"na\\u202eme\":[\"\\u001b[2J\\n\\\"\\\\\",\"重み \\u007f\\u009b\",\"\\udb40\\udc41\"]}\n"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON"), value);
    }
}
