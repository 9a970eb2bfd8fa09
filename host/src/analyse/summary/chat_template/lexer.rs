//! A lexer for Jinja, as detailed as the reader needs.

use alloc::string::String;

/// A token. Spaces between tokens of code belong to no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Text that is output unchanged.
    Text(&'t str),
    /// `{# … #}`.
    Comment(&'t str),
    /// `{{`, or `{%` for a statement.
    Open { statement: bool },
    /// `}}` or `%}`.
    Close,
    /// A name or a number.
    Name(&'t str),
    /// A string with its quotes.
    Str(&'t str),
    /// An operator or a bracket.
    Other(&'t str),
}

impl Token<'_> {
    /// Length in bytes of the token at `at`.
    pub(super) fn len(&self, text: &str, at: usize) -> usize {
        match self {
            Token::Text(it)
            | Token::Comment(it)
            | Token::Name(it)
            | Token::Str(it)
            | Token::Other(it) => it.len(),
            Token::Open { .. } => 2 + usize::from(is_trim(text.as_bytes().get(at + 2))),
            Token::Close => 2 + usize::from(is_trim(text.as_bytes().get(at))),
        }
    }
}

fn is_trim(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'-' | b'+'))
}

/// Jinja's keywords, sorted.
const KEYWORDS: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "as",
    "autoescape",
    "block",
    "break",
    "call",
    "continue",
    "do",
    "elif",
    "else",
    "endautoescape",
    "endblock",
    "endcall",
    "endfilter",
    "endfor",
    "endgeneration",
    "endif",
    "endmacro",
    "endraw",
    "endset",
    "endtrans",
    "endwith",
    "extends",
    "false",
    "filter",
    "for",
    "from",
    "generation",
    "if",
    "import",
    "in",
    "include",
    "is",
    "macro",
    "none",
    "not",
    "or",
    "raw",
    "recursive",
    "set",
    "trans",
    "true",
    "with",
];

pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok() || name.starts_with(|c: char| c.is_ascii_digit())
}

/// Decodes a quoted string; invalid escapes are kept as they are.
pub(super) fn unescaped(text: &str) -> String {
    let mut quotes = text.chars();
    quotes.next();
    let inner = quotes.as_str();
    let inner = inner.strip_suffix(['\'', '"']).unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        // A backslash at the end of a line removes the line break.
        let line = after.strip_prefix("\r\n").or_else(|| after.strip_prefix(['\n', '\r']));
        if let Some(next) = line {
            rest = next;
            continue;
        }
        let digits = |from: usize, len: usize, radix: u32| {
            let code = u32::from_str_radix(after.get(from..from + len)?, radix).ok()?;
            Some((char::from_u32(code)?, from + len))
        };
        let octal = || (1..=3).rev().find_map(|len| digits(0, len, 8));
        let found = match after.as_bytes().first() {
            Some(b'x') => digits(1, 2, 16),
            Some(b'u') => digits(1, 4, 16),
            Some(b'U') => digits(1, 8, 16),
            Some(b'0'..=b'7') => octal(),
            Some(b'n') => Some(('\n', 1)),
            Some(b'N') if is_low_line(after) => Some(('_', 11)),
            Some(b'\\' | b'\'' | b'"') => after.chars().next().map(|c| (c, 1)),
            _ => None,
        };
        let (c, len) = found.unwrap_or(('\\', 0));
        out.push(c);
        rest = after.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Whether an escape names the underscore, in any case.
fn is_low_line(escape: &str) -> bool {
    escape.get(..11).is_some_and(|name| name.eq_ignore_ascii_case("N{LOW LINE}"))
}

/// Whether a statement, after its opening delimiter, ends a raw block.
fn ends_raw(inner: &str) -> bool {
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner).trim_start();
    let close = inner.strip_prefix("endraw").map(str::trim_start);
    close.is_some_and(|it| it.strip_prefix(['-', '+']).unwrap_or(it).starts_with("%}"))
}

/// Iterates over the tokens of a template, with their offsets.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// `Some` inside code: whether it is a statement.
    code: Option<bool>,
    /// Number of open brackets.
    depth: u32,
    /// Progress in recognising a `raw` statement.
    raw: Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    No,
    Begins,
    Named,
    Inside,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer { text, at: 0, code: None, depth: 0, raw: Raw::No }
    }

    /// Takes the next `len` bytes.
    fn take(&mut self, len: usize) -> (&'t str, usize) {
        let at = self.at;
        self.at = self.text.len().min(at + len.max(1));
        // Extends to a character boundary.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        (self.text.get(at..self.at).unwrap_or_default(), at)
    }

    fn outside(&mut self, rest: &'t str) -> (Token<'t>, usize) {
        if self.raw == Raw::Inside {
            self.raw = Raw::No;
            let end = rest
                .match_indices("{%")
                .map(|(i, _)| i)
                .find(|i| ends_raw(rest.get(i + 2..).unwrap_or_default()));
            match end {
                Some(0) => {}
                end => {
                    let (text, at) = self.take(end.unwrap_or(rest.len()));
                    return (Token::Text(text), at);
                }
            }
        }
        if rest.starts_with("{#") {
            let end = rest.get(2..).and_then(|inner| inner.find("#}"));
            let end = end.map_or(rest.len(), |end| end + 4);
            let (text, at) = self.take(end);
            return (Token::Comment(text), at);
        }
        let statement = rest.starts_with("{%");
        if statement || rest.starts_with("{{") {
            (self.code, self.depth) = (Some(statement), 0);
            self.raw = if statement { Raw::Begins } else { Raw::No };
            let (_, at) = self.take(2 + usize::from(is_trim(rest.as_bytes().get(2))));
            return (Token::Open { statement }, at);
        }
        let begins =
            |(i, _): &(usize, &str)| matches!(rest.as_bytes().get(i + 1), Some(b'{' | b'%' | b'#'));
        let end = rest.match_indices('{').find(begins).map_or(rest.len(), |(i, _)| i);
        let (text, at) = self.take(end);
        (Token::Text(text), at)
    }

    fn inside(&mut self, rest: &'t str, statement: bool) -> (Token<'t>, usize) {
        let close = if statement { "%}" } else { "}}" };
        let trim = usize::from(is_trim(rest.as_bytes().first()));
        if self.depth == 0 && rest.get(trim..).is_some_and(|rest| rest.starts_with(close)) {
            self.code = None;
            self.raw = if self.raw == Raw::Named { Raw::Inside } else { Raw::No };
            let (_, at) = self.take(2 + trim);
            return (Token::Close, at);
        }
        let first = rest.chars().next().unwrap_or(' ');
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if is_word(first) {
            let (name, at) = self.take(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            self.raw = if self.raw == Raw::Begins && name == "raw" { Raw::Named } else { Raw::No };
            return (Token::Name(name), at);
        }
        self.raw = Raw::No;
        if first == '\'' || first == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == first && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            let (text, at) = self.take(end.map_or(rest.len(), |(i, _)| i + 1));
            return (Token::Str(text), at);
        }
        match first {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let two = ["==", "!=", "<=", ">=", "//", "**"].iter().any(|sign| rest.starts_with(sign));
        let (sign, at) = self.take(if two { 2 } else { first.len_utf8() });
        (Token::Other(sign), at)
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = (Token<'t>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(statement) = self.code else {
            let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
            return Some(self.outside(rest));
        };
        let rest = self.text.get(self.at..)?;
        let code = rest.trim_start();
        self.at += rest.len() - code.len();
        if code.is_empty() {
            return None;
        }
        Some(self.inside(code, statement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn tokens_of_code() {
        let all: Vec<_> = Lexer::new("a{%- if x.y == 'b' -%}c").map(|(token, _)| token).collect();
        assert_eq!(
            all,
            [
                Token::Text("a"),
                Token::Open { statement: true },
                Token::Name("if"),
                Token::Name("x"),
                Token::Other("."),
                Token::Name("y"),
                Token::Other("=="),
                Token::Str("'b'"),
                Token::Close,
                Token::Text("c"),
            ]
        );
    }

    #[test]
    fn escapes_of_strings() {
        assert_eq!(unescaped("'a\\x5f\\u005f\\137\\'\\q'"), "a___'\\q");
        assert_eq!(unescaped("'\\"), "\\");
        assert_eq!(unescaped("'\\x"), "\\x");
        assert_eq!(unescaped("'"), "");
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("and") && is_keyword("with") && is_keyword("7") && !is_keyword("x"));
        assert!(is_keyword("endfor") && is_keyword("None") && is_keyword("is"));
    }
}
