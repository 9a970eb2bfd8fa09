//! Reads JSON as Python's `json` module does, within bounds.
//!
//! Settings of a model are loaded by Python, which accepts more than RFC 8259: `NaN`, `Infinity`
//! and lone surrogates. A stricter reader would not see what such a file loads.

use alloc::string::String;
use alloc::vec::Vec;

/// Levels of nesting. Python's own limit is about 1,000, and settings have fewer than 10.
const DEPTH: u32 = 100;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    /// All pairs, also with equal keys: Python takes the last.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Parses a whole document; `None` if it is not one, or too deeply nested.
    pub(crate) fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// The value of a key, as Python reads it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let pair = self.pairs().iter().rev().find(|(name, _)| name == key)?;
        Some(&pair.1)
    }

    pub(crate) fn pairs(&self) -> &[(String, Json)] {
        match self {
            Json::Map(pairs) => pairs,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Calls `visit` for this value and each one in it, at any depth.
    pub(crate) fn all<'j>(&'j self, visit: &mut dyn FnMut(&'j Json)) {
        visit(self);
        self.pairs().iter().for_each(|(_, value)| value.all(visit));
        self.items().iter().for_each(|item| item.all(visit));
    }

    /// Calls `visit` for each key with its value, at any depth.
    pub(crate) fn each<'j>(&'j self, visit: &mut dyn FnMut(&'j str, &'j Json)) {
        for (key, value) in self.pairs() {
            visit(key, value);
            value.each(visit);
        }
        for item in self.items() {
            item.each(visit);
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = self.rest().starts_with(word);
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        if depth > DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            b'{' => self.map(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Json::Text),
            _ => {
                const WORDS: [(&str, Json); 6] = [
                    ("null", Json::Null),
                    ("true", Json::Bool(true)),
                    ("false", Json::Bool(false)),
                    ("NaN", Json::Number(f64::NAN)),
                    ("Infinity", Json::Number(f64::INFINITY)),
                    ("-Infinity", Json::Number(f64::NEG_INFINITY)),
                ];
                let word = WORDS.into_iter().find(|(word, _)| self.takes(word));
                word.map(|(_, value)| value).or_else(|| self.number())
            }
        }
    }

    fn map(&mut self, depth: u32) -> Option<Json> {
        let mut pairs = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("}") {
            return Some(Json::Map(pairs));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            if !self.takes(":") {
                return None;
            }
            pairs.push((key, self.value(depth + 1)?));
            self.space();
            match (self.takes(","), self.takes("}")) {
                (true, false) => {}
                (false, true) => return Some(Json::Map(pairs)),
                _ => return None,
            }
        }
    }

    fn list(&mut self, depth: u32) -> Option<Json> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("]") {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match (self.takes(","), self.takes("]")) {
                (true, false) => {}
                (false, true) => return Some(Json::List(items)),
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<Json> {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let len = self.rest().bytes().take_while(is_part).count();
        let number = self.rest().get(..len)?.parse().ok()?;
        self.at += len;
        Some(Json::Number(number))
    }

    fn string(&mut self) -> Option<String> {
        if !self.takes("\"") {
            return None;
        }
        let mut text = String::new();
        loop {
            let len = self.rest().find(['"', '\\'])?;
            text.push_str(self.rest().get(..len)?);
            self.at += len + 1;
            if self.text.as_bytes().get(self.at - 1) == Some(&b'"') {
                return Some(text);
            }
            let escape = self.peek()?;
            self.at += 1;
            text.push(match escape {
                b'"' | b'\\' | b'/' => char::from(escape),
                b'b' => '\u{8}',
                b'f' => '\u{C}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.escaped()?,
                _ => return None,
            });
        }
    }

    /// A character as four hexadecimal digits, or two of them for a pair of surrogates.
    fn escaped(&mut self) -> Option<char> {
        let unit = self.unit()?;
        if (0xD800..0xDC00).contains(&unit) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.unit()?;
            if (0xDC00..0xE000).contains(&low) {
                return char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            }
            self.at = before;
        }
        Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_reads_is_read() {
        let read = |text| Json::parse(text).unwrap_or_else(|| panic!("{text}"));
        let found = read(" {\"a\\u0062\": [1, -2.5e3, NaN, -Infinity], \"a\": {}, \"a\": null} ");
        assert_eq!(found.get("ab").map(|it| it.items().len()), Some(4));
        assert_eq!(found.get("a"), Some(&Json::Null));
        assert_eq!(read("\"\\ud83d\\ude00\\ud83d\"").text(), Some("\u{1F600}\u{FFFD}"));
        for text in ["", "{", "{\"a\" 1}", "[1,]", "[1 2]", "\"\\x\"", "{} {}", "'a'", "\"a"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::parse(&deep(90)).is_some() && Json::parse(&deep(100_000)).is_none());
    }
}
