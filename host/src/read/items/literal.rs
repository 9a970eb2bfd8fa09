//! Python literals, as far as headers of arrays have them.

use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::limits;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Number(u64),
    /// `True` or `False`.
    Truth,
    List(Vec<Literal>),
    Tuple(Vec<Literal>),
}

impl Literal {
    pub(super) fn text(&self) -> Option<&str> {
        if let Literal::Text(text) = self { Some(text) } else { None }
    }

    /// The extents of a shape: a tuple, or a number.
    pub(super) fn extents(&self) -> Option<Vec<u64>> {
        let number = |literal: &Literal| match literal {
            Literal::Number(number) => Some(*number),
            _ => None,
        };
        match self {
            Literal::Tuple(items) => items.iter().map(number).collect(),
            one => Some([number(one)?].into()),
        }
    }
}

/// The only value in `text`.
pub(super) fn parse(text: &str) -> Option<Literal> {
    let mut parser = Parser { rest: text };
    let value = parser.value(0)?;
    parser.space();
    parser.rest.is_empty().then_some(value)
}

/// The text of `descr` in the header of an array, which begins with the magic string.
pub(crate) fn descr(header: &[u8]) -> Option<String> {
    let major = *header.get(6)?;
    let text = decoded(header.get(if major == 1 { 10 } else { 12 }..)?, major.into());
    let mut parser = Parser { rest: &text };
    let mut found = None;
    parser.expect('{')?;
    while !parser.eat('}') {
        let key = parser.value(0)?;
        parser.expect(':')?;
        parser.space();
        let value = parser.rest;
        parser.value(0)?;
        // Of equal keys, Python keeps the last.
        if key.text() == Some("descr") {
            found = value.get(..value.len() - parser.rest.len()).map(String::from);
        }
        if !parser.eat(',') {
            parser.expect('}')?;
            break;
        }
    }
    found
}

/// The text of a header: Latin-1 before version 3, where NumPy has written more than ASCII.
pub(super) fn decoded(text: &[u8], major: u16) -> String {
    match major {
        1 | 2 => text.iter().copied().map(char::from).collect(),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{C}']);
    }

    /// Passes `expected` if it is next, after white space.
    fn eat(&mut self, expected: char) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, expected: char) -> Option<()> {
        self.eat(expected).then_some(())
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn value(&mut self, depth: u32) -> Option<Literal> {
        // Fields are tuples in lists.
        if depth > limits::NPY_DEPTH.saturating_mul(2).saturating_add(2) {
            return None;
        }
        if self.eat('[') {
            return self.items(']', depth).map(Literal::List);
        }
        if self.eat('(') {
            return self.items(')', depth).map(Literal::Tuple);
        }
        for word in ["True", "False"] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Some(Literal::Truth);
            }
        }
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        if !number.is_empty() {
            // Python 2 wrote 3L.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            return number.parse().ok().map(Literal::Number);
        }
        self.rest = self.rest.strip_prefix('u').unwrap_or(self.rest);
        let quote = self.next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        loop {
            match self.next()? {
                c if c == quote => return Some(Literal::Text(text)),
                '\\' => self.escape(&mut text)?,
                c => text.push(c),
            }
        }
    }

    /// The items up to a closing bracket.
    fn items(&mut self, close: char, depth: u32) -> Option<Vec<Literal>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value(depth.saturating_add(1))?);
            if !self.eat(',') {
                self.expect(close)?;
                break;
            }
        }
        Some(items)
    }

    /// Reads the rest of an escape. A backslash before any other character stands for itself.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let kind = self.next()?;
        let (radix, digits) = match kind {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            // One to three digits, of which the first was read.
            '0'..='7' => {
                let mut point = kind.to_digit(8)?;
                for _ in 0..2 {
                    let digit = self.rest.chars().next().and_then(|c| c.to_digit(8));
                    let Some(digit) = digit else { break };
                    self.next();
                    point = point * 8 + digit;
                }
                text.push(char::from_u32(point)?);
                return Some(());
            }
            c => {
                match c {
                    'a' => text.push('\u{7}'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{C}'),
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    'v' => text.push('\u{B}'),
                    '\\' | '\'' | '"' => text.push(c),
                    c => text.extend(['\\', c]),
                }
                return Some(());
            }
        };
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        let point = u32::from_str_radix(number, radix).ok()?;
        text.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn strings_are_those_of_python() {
        let text = |literal: &str| parse(literal)?.text().map(String::from);
        assert_eq!(
            text(r"'it\'s \x41\u00e9\U0001F600\101\7\d\\'").as_deref(),
            Some("it's Aé😀A\u{7}\\d\\")
        );
        assert_eq!(text("u\"a'b\"").as_deref(), Some("a'b"));
        assert_eq!(text(r"'\x4'"), None);
        assert_eq!(text("'a"), None);
        assert_eq!(text("'a' 'b'"), None);
    }

    #[test]
    fn descr_is_found_in_header() {
        let header = |version: u8, text: &str| {
            let len = if version == 1 { 2 } else { 4 };
            [b"\x93NUMPY", [version, 0].as_slice(), &vec![0; len], text.as_bytes()].concat()
        };
        let text = "{'shape': (3L,), 'fortran_order': False, 'descr': [('a', '<f4'), ], }  \n";
        assert_eq!(descr(&header(1, text)).as_deref(), Some("[('a', '<f4'), ]"));
        assert_eq!(descr(&header(3, "{\"descr\":'<U3'}")).as_deref(), Some("'<U3'"));
        assert_eq!(descr(&header(1, "{'shape': ()}")), None);
        assert_eq!(descr(&header(3, "{'descr': 'é'}")).as_deref(), Some("'é'"));
        assert_eq!(decoded(b"\xE9", 1), "é");
        assert_eq!(descr(b"\x93NUM"), None);
    }

    #[test]
    fn deep_literal_is_refused() {
        assert_eq!(parse(&["[".repeat(10_000), "]".repeat(10_000)].concat()), None);
        assert!(parse("[('a', [('b', '<f4', (2, 3))], 2)]").is_some());
    }
}
