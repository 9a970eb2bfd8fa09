//! Text from untrusted files, made safe to show, and numbers formatted for people.
//!
//! A name in a file can contain terminal commands, or marks that make the rest of a line run
//! from right to left, so that it reads differently from what is there.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use weighbridge_core::{Name, NameEncoding};

/// A name from a file, or a path: bytes that should be UTF-8.
///
/// `Display` escapes what could mislead a reader, and bytes that are not text.
///
/// ```
/// use weighbridge::Text;
///
/// let name = Text::from("layer\u{202e}0");
/// assert_eq!(name.to_string(), "layer\\u{202e}0");
/// assert_eq!(name.as_str(), Some("layer\u{202e}0"));
/// assert_eq!(format!("{:?}", Text::from(String::from("layer"))), "\"layer\"");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Vec<u8>);

impl Text {
    /// The text, if it is UTF-8.
    ///
    /// ```
    /// use weighbridge::Text;
    ///
    /// assert_eq!(Text::from("emb").as_str(), Some("emb"));
    /// assert_eq!(Text::from(b"\xFF".to_vec()).as_str(), None);
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        str::from_utf8(&self.0).ok()
    }

    /// The raw bytes.
    ///
    /// ```
    /// use weighbridge::Text;
    ///
    /// assert_eq!(Text::from(b"a\xFF".to_vec()).as_bytes(), b"a\xFF");
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text for JSON; bytes that are not UTF-8 become replacement characters.
    ///
    /// ```
    /// use weighbridge::Text;
    ///
    /// assert_eq!(Text::from(b"a\xFF".to_vec()).lossy(), "a\u{FFFD}");
    /// ```
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The bytes as hexadecimal digits, if they are not UTF-8.
    ///
    /// ```
    /// use weighbridge::Text;
    ///
    /// assert_eq!(Text::from(b"a\xFF".to_vec()).hex().as_deref(), Some("61ff"));
    /// assert_eq!(Text::from("a").hex(), None);
    /// ```
    pub fn hex(&self) -> Option<String> {
        self.as_str().is_none().then(|| hex(&self.0))
    }

    /// The beginning of a name, with a mark if it was cut.
    pub(crate) fn start_of(name: &Name<'_>, most: usize) -> Text {
        let mut bytes: Vec<u8> = name.bytes().take(most.saturating_add(1)).collect();
        if bytes.len() > most {
            bytes.truncate(most);
            // Not cut in the middle of a character.
            let start = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
            if start + 3 >= most {
                bytes.truncate(start);
            }
            bytes.extend("…".as_bytes());
        }
        Text(bytes)
    }
}

/// Appends the decoded bytes of a name to `out`.
pub(crate) fn push_bytes(name: &Name<'_>, out: &mut Vec<u8>) {
    match name.as_bytes() {
        Some(bytes) => out.extend_from_slice(bytes),
        None => out.extend(name.bytes()),
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Padded as a string, so that a width applies.
        f.pad(&Name::new(&self.0, NameEncoding::Plain).to_string())
    }
}

/// As `Display`, in quotation marks.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl From<Name<'_>> for Text {
    fn from(name: Name<'_>) -> Self {
        let mut bytes = Vec::new();
        push_bytes(&name, &mut bytes);
        Text(bytes)
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Text(bytes)
    }
}

#[cfg(feature = "std")]
impl From<&std::path::Path> for Text {
    fn from(path: &std::path::Path) -> Self {
        Text(path.as_os_str().as_encoded_bytes().to_vec())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text.into_bytes())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Self {
        text.clone()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Bytes as lower-case hexadecimal digits.
///
/// ```
/// assert_eq!(weighbridge::text::hex(b"w\xff"), "77ff");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for bits in [byte >> 4, byte & 15] {
            out.push(char::from_digit(bits.into(), 16).unwrap_or('0'));
        }
    }
    out
}

/// Appends a text as a JSON string, escaping characters that could mislead a reader.
///
/// ```
/// let mut json = String::from("[");
/// weighbridge::text::quote("a\"b\u{202e}", &mut json);
/// assert_eq!(json, "[\"a\\\"b\\u202e\"");
/// ```
pub fn quote(text: &str, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if weighbridge_core::is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    json.push_str("\\u");
                    json.push_str(&hex(&unit.to_be_bytes()));
                }
            }
            c => json.push(c),
        }
    }
    json.push('"');
}

/// A number of bytes: exact, and with a larger unit where that helps.
///
/// ```
/// assert_eq!(weighbridge::text::bytes(1536), "1,536 bytes (1.5 KiB)");
/// ```
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return plural(n, "byte");
    }
    let power = (n.ilog2() / 10) as usize;
    let scaled = n as f64 / (1_u64 << (10 * power)) as f64;
    format!("{} bytes ({scaled:.1} {})", thousands(n), UNITS[power - 1])
}

/// A number with grouped digits.
///
/// ```
/// assert_eq!(weighbridge::text::thousands(1_234_567), "1,234,567");
/// ```
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, singular or plural.
///
/// ```
/// assert_eq!(weighbridge::text::plural(3, "tensor"), "3 tensors");
/// ```
pub fn plural(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Compares names byte by byte, but runs of digits by their value.
///
/// ```
/// use weighbridge::text::natural;
///
/// assert!(natural(b"layers.9.w", b"layers.10.w").is_lt());
/// ```
pub fn natural(a: &[u8], b: &[u8]) -> Ordering {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // The first difference may lie inside a number that begins before it.
    let before = a.get(..same).unwrap_or_default();
    let start = same - before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if let (Some(a), Some(b)) = (number(a, start), number(b, start)) {
        let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
        if order != Ordering::Equal {
            return order;
        }
    }
    a.cmp(b)
}

/// The digits of the number that begins at `start`, without leading zeros.
fn number(name: &[u8], start: usize) -> Option<&[u8]> {
    let rest = name.get(start..)?;
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let zeros = rest.iter().take_while(|byte| **byte == b'0').count();
    rest.get(zeros..len).filter(|_| len > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names = [
            "layers.10.w",
            "layers.9.w",
            "layers.9.b",
            "layers",
            "layers.09.w",
            "a2b10",
            "a2b9",
            "layers.100",
            "layers.10",
        ];
        names.sort_by(|a, b| natural(a.as_bytes(), b.as_bytes()));
        assert_eq!(
            names,
            [
                "a2b9",
                "a2b10",
                "layers",
                "layers.09.w",
                "layers.9.b",
                "layers.9.w",
                "layers.10",
                "layers.10.w",
                "layers.100",
            ]
        );
    }

    /// The comparison must be a total order, or sorting goes wrong.
    #[test]
    fn natural_order_is_transitive() {
        let alphabet = *b"019a.";
        let name = |mut n: usize| {
            let mut name = Vec::new();
            while n > 0 {
                name.push(alphabet[n % 5]);
                n /= 5;
            }
            name
        };
        let names: Vec<Vec<u8>> = (0..160).map(name).collect();
        for a in &names {
            for b in &names {
                assert_eq!(natural(a, b), natural(b, a).reverse());
                for c in &names {
                    if natural(a, b).is_le() && natural(b, c).is_le() {
                        assert!(natural(a, c).is_le(), "{a:?} {b:?} {c:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn shortened_name_ends_between_characters() {
        let start = |text: &[u8]| {
            Text::start_of(&Name::new(text, NameEncoding::Plain), 8).lossy().into_owned()
        };
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
    fn non_utf8_text_keeps_its_bytes() {
        let text = Text(b"w\xff1".to_vec());
        assert_eq!(text.to_string(), "w\\xff1");
        assert_eq!(text.lossy(), "w\u{fffd}1");
        assert_eq!(text.hex().as_deref(), Some("77ff31"));
        assert_eq!(Text::from("w1").hex(), None);
    }

    #[test]
    fn sizes_are_exact_and_readable() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1,023 bytes");
        assert_eq!(bytes(1024), "1,024 bytes (1.0 KiB)");
        assert_eq!(bytes(40_000_000_000), "40,000,000,000 bytes (37.3 GiB)");
        assert_eq!(bytes(u64::MAX), "18,446,744,073,709,551,615 bytes (16.0 EiB)");
    }
}
