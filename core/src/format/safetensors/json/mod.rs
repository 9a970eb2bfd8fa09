//! A JSON (RFC 8259) pull parser over resident bytes.
//!
//! Nothing is stored: a token is a position in the text. Values that the caller does not
//! want are skipped, but their grammar is still validated.
//!
//! The first failure is sticky: from then on every token is the byte 0, which is invalid
//! anywhere in JSON, so callers can run to their end and check once.

mod foreign;
mod notes;
mod words;

use super::rules;
use crate::base::{Word, limits::JSON_DEPTH, wide, widen};
use crate::model::{NameAt, NameEncoding, name::escape};
use crate::parse::Reader;
use crate::rule::Rule;
use notes::Notes;

/// The inside of a string.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::format) struct Text {
    /// Position of its first byte, after the quote.
    pub(in crate::format) at: usize,
    pub(in crate::format) len: usize,
    pub(in crate::format) escaped: bool,
}

impl Text {
    pub(in crate::format) fn encoding(&self) -> NameEncoding {
        if self.escaped { NameEncoding::Json } else { NameEncoding::Plain }
    }

    /// The location of the name stored in the string.
    pub(in crate::format) fn name_at(&self, json: &Json<'_>) -> NameAt {
        let mut name = NameAt::plain(wide(json.place(self.at)), widen(self.len));
        name.encoding = self.encoding();
        name
    }
}

/// The largest number that can be multiplied by ten within 64 bits.
const TENTH: u64 = 0x1999_9999_9999_9999;

/// Reads forward through resident bytes.
pub(in crate::format) struct Json<'a> {
    /// The text; after a failure, the part before it.
    all: &'a [u8],
    /// Offset of `all` in the file.
    #[cfg(feature = "windows")]
    base: u64,
    pub(in crate::format) at: usize,
    /// The text cannot be read beyond `at`.
    pub(in crate::format) failed: bool,
    /// The rule broken there; `None` if the resident bytes end there.
    broken: Option<Rule>,
    /// The last string.
    pub(in crate::format) text: Text,
    /// The last number, if it is a count.
    pub(in crate::format) number: u64,
    /// The rule that the last number breaks as a count, if any.
    pub(in crate::format) odd: Option<Rule>,
    notes: Notes,
    keys: foreign::Keys,
}

impl<'a> Json<'a> {
    /// Reads from `at` in a text that ends at `end`. `truncated` is the rule broken if the
    /// text ends too early.
    pub(in crate::format) fn of(
        r: &mut Reader<'_, 'a>,
        at: Word,
        end: Word,
        truncated: Rule,
    ) -> Self {
        #[cfg(feature = "windows")]
        let (all, start) = {
            r.region(at, end, truncated);
            (r.resident(), 0)
        };
        #[cfg(not(feature = "windows"))]
        let (all, start) = {
            let _ = truncated;
            (r.source().run(0).get(..end).unwrap_or_default(), at)
        };
        Json {
            all,
            #[cfg(feature = "windows")]
            base: at,
            at: start,
            failed: false,
            broken: None,
            text: Text::default(),
            number: 0,
            odd: None,
            notes: notes::NONE,
            keys: foreign::NONE,
        }
    }

    /// Offset of `at` in the file.
    pub(in crate::format) fn place(&self, at: usize) -> Word {
        #[cfg(feature = "windows")]
        return self.base.wrapping_add(widen(at));
        #[cfg(not(feature = "windows"))]
        at
    }

    /// The inside of the last string.
    fn inside(&self) -> &'a [u8] {
        let Text { at, len, .. } = self.text;
        self.all.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }

    /// The next byte; 0 at the end.
    fn peek(&self) -> u8 {
        self.all.get(self.at).copied().unwrap_or(0)
    }

    pub(in crate::format) fn bump(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    /// Skips white space; returns the byte after it, 0 at the end.
    pub(in crate::format) fn token(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if !is_space(byte) {
                return byte;
            }
            self.bump();
        }
    }

    /// Stops reading here. `rule` is broken unless the resident bytes have ended.
    #[cold]
    fn fail(&mut self, rule: Rule) {
        if !self.failed {
            self.failed = true;
            self.broken = (self.at < self.all.len()).then_some(rule);
            self.all = self.all.get(..self.at).unwrap_or_default();
        }
    }

    pub(in crate::format) fn syntax(&mut self) {
        self.fail(rules::JSON_SYNTAX);
    }

    /// Requires another byte.
    pub(super) fn need(&mut self) {
        if self.at == self.all.len() {
            self.syntax();
        }
    }

    /// The rest of the text.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.all.get(self.at..).unwrap_or_default()
    }

    /// Skips `byte` if it is next; returns whether it was.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        if found {
            self.bump();
        }
        found
    }

    /// Skips white space, then `byte` if it is next; returns whether it was.
    pub(in crate::format) fn eat(&mut self, byte: u8) -> bool {
        self.token();
        self.take(byte)
    }

    fn expect(&mut self, byte: u8) {
        if !self.eat(byte) {
            self.syntax();
        }
    }

    /// Reads the comma or `close` after an item of a list; returns whether another item
    /// follows.
    pub(in crate::format) fn more(&mut self, close: u8) -> bool {
        let more = self.eat(b',');
        if !more {
            self.expect(close);
        }
        more
    }

    /// Reads a string, and notes faults inside.
    fn string(&mut self) {
        self.expect(b'"');
        let mut text = Text { at: self.at, ..Text::default() };
        let mut ascii = true;
        // Position of the first control character; 0 if there is none.
        let mut control = 0;
        loop {
            let Some(byte) = self.all.get(self.at).copied() else {
                return self.syntax();
            };
            if byte == b'"' {
                break;
            }
            if byte < 0x20 && control == 0 {
                control = self.at;
            }
            ascii &= byte < 0x80;
            self.bump();
            if byte == b'\\' {
                text.escaped = true;
                self.escape();
            }
        }
        text.len = self.at.wrapping_sub(text.at);
        self.text = text;
        if control != 0 {
            let byte = self.all.get(control).copied().unwrap_or(0);
            self.note(rules::JSON_CONTROL, control, 0, u64::from(byte));
        }
        if !ascii && !crate::base::utf8::is(self.inside()) {
            self.note(rules::HEADER_UTF8, text.at, 0, 0);
        }
        self.bump();
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self) {
        let rest = self.rest();
        let (_, used) = escape(rest);
        if used > 0 {
            self.at = self.at.wrapping_add(used);
        } else if rest.len() < 11 && rest.iter().all(|byte| *byte != b'"') {
            // The longest escape may not be resident yet.
            self.at = self.all.len();
        } else {
            let at = self.at.wrapping_sub(1);
            self.bump();
            self.note(rules::JSON_ESCAPE, at, 0, 0);
        }
    }

    /// Reads a string and the colon after it.
    pub(in crate::format) fn key(&mut self) {
        self.string();
        self.expect(b':');
    }

    /// Reads a number in the grammar of RFC 8259 §6; another byte must follow it.
    fn number(&mut self) {
        (self.number, self.odd) = (0, None);
        let at = self.at;
        let negative = self.take(b'-');
        if !self.take(b'0') {
            self.digits();
        }
        let mut fraction = self.take(b'.');
        if fraction {
            self.digits();
        }
        if self.take(b'e') || self.take(b'E') {
            fraction = true;
            _ = self.take(b'+') || self.take(b'-');
            self.digits();
        }
        if fraction {
            self.odd = Some(rules::NUMBER_FRACTION);
        }
        if negative {
            self.odd = Some(rules::NUMBER_NEGATIVE);
        }
        self.passed_number(at);
        self.need();
    }

    /// Reads one or more digits.
    fn digits(&mut self) {
        let from = self.at;
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            self.bump();
            let next = self.number.wrapping_mul(10).wrapping_add(digit.into());
            // The sum is less than the digit only if the addition wrapped.
            if self.number > TENTH || next < digit.into() {
                self.odd = Some(rules::NUMBER_RANGE);
            }
            self.number = next;
        }
        if self.at == from {
            self.syntax();
        }
    }

    /// Skips any value; returns its first byte. `outside` is the number of open levels
    /// around it.
    pub(in crate::format) fn value(&mut self, outside: u32) -> u8 {
        // One bit per level: whether it is an object.
        let mut objects = [0_u32; 4];
        let mut depth = 0_u32;
        let first = self.token();
        loop {
            let byte = self.token();
            match byte {
                b'{' | b'[' => {
                    if depth.wrapping_add(outside) >= JSON_DEPTH {
                        self.fail(rules::JSON_DEPTH);
                        return first;
                    }
                    self.bump();
                    let (bit, object) = (1_u32.wrapping_shl(depth), byte == b'{');
                    if let Some(word) = objects.get_mut(word_of(depth)) {
                        *word = if object { *word | bit } else { *word & !bit };
                    }
                    depth = depth.wrapping_add(1);
                    if object {
                        self.object_begins();
                    }
                    if self.token() != closing(object) {
                        if object {
                            self.object_member();
                        }
                        continue;
                    }
                }
                b'"' => self.string(),
                b't' => self.word(b"true"),
                b'f' => self.word(b"false"),
                b'n' => self.word(b"null"),
                _ => self.number(),
            }
            // A value has ended.
            loop {
                depth = depth.wrapping_sub(1);
                let Some(word) = objects.get(word_of(depth)) else { return first };
                let object = word.wrapping_shr(depth) & 1 != 0;
                if self.more(closing(object)) {
                    depth = depth.wrapping_add(1);
                    if object {
                        self.object_member();
                    }
                    break;
                }
                if self.failed {
                    return first;
                }
                if object {
                    self.object_ends();
                }
            }
        }
    }

    /// Reads a member's key in a skipped object.
    fn object_member(&mut self) {
        self.key();
        self.object_key();
    }

    fn word(&mut self, word: &[u8]) {
        for byte in word {
            if !self.take(*byte) {
                self.syntax();
            }
        }
    }
}

/// The closing bracket of an object or an array.
fn closing(object: bool) -> u8 {
    if object { b'}' } else { b']' }
}

/// The index of the word with a level's bit; out of range for levels below the first.
fn word_of(level: u32) -> usize {
    usize::try_from(level >> 5).unwrap_or(usize::MAX)
}

pub(in crate::format) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
