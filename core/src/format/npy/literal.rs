//! A parser for the parts of Python dictionary literals that occur in headers: strings,
//! integers, `True` and `False`, tuples and lists. Nothing is evaluated.
//!
//! The first fault halts the parser: from then on it reports nothing, has no bytes left, and acts
//! as if every optional byte were there, so that loops end. [`finish`](Literal::finish) returns
//! the fault.

use super::header::Place;
use super::{field, rules};
use crate::base::utf8;
use crate::model::{Tensor, dims::times, texts::Texts};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Reads a header from its start to its end. Positions count from its start.
pub(super) struct Literal<'l, 'r, 'a> {
    r: &'l mut Reader<'r, 'a>,
    place: Place,
    /// What was read.
    pub(super) tensor: &'l mut Tensor,
    text: &'l [u8],
    /// Position of the next byte.
    pub(super) at: usize,
    /// Position of the last token.
    pub(super) token: usize,
    /// The first fault.
    halt: Option<Halt>,
    /// Integers may have the suffix L.
    long: bool,
    /// White space other than spaces was reported.
    spaced: bool,
    /// The last tuple or list ended with a comma.
    pub(super) comma: bool,
    /// The last tuple of integers had a 0.
    pub(super) zero: bool,
    /// The width of a part of an element is unknown.
    pub(super) unknown: bool,
    /// The text in fields.
    pub(super) texts: Texts,
    /// Number of integers in the last tuple.
    pub(super) rank: u32,
}

/// The value of no digits.
pub(super) const NONE: u64 = u64::MAX;

impl<'l, 'r, 'a> Literal<'l, 'r, 'a> {
    /// Starts at the first byte of `text`.
    pub(super) fn new(
        r: &'l mut Reader<'r, 'a>,
        place: Place,
        major: u8,
        text: &'l [u8],
        tensor: &'l mut Tensor,
    ) -> Self {
        Literal {
            r,
            place,
            tensor,
            text,
            at: 0,
            token: 0,
            halt: None,
            long: major < 3,
            spaced: false,
            comma: false,
            zero: false,
            unknown: false,
            texts: Texts::NONE,
            rank: 0,
        }
    }

    /// Checks the encoding of the text: ASCII, and from version 3.0 on UTF-8. Skips leading spaces
    /// and tabs.
    pub(super) fn start(&mut self) {
        if let Some(at) = self.text.iter().position(|byte| !byte.is_ascii()) {
            self.at = at;
            let found = self.byte();
            self.at = at.wrapping_add(1);
            if self.long {
                self.flag(rules::NPY_ASCII, at, 0, found.into());
            } else if !utf8::is(self.text) {
                self.refuse(rules::NPY_UTF8, at, 0, found.into());
            }
            self.at = 0;
        }
        while matches!(self.byte(), b' ' | b'\t') {
            self.at = self.at.wrapping_add(1);
        }
    }

    /// The absolute offset of the next byte.
    pub(super) fn here(&self) -> u64 {
        self.place.absolute(self.at)
    }

    /// Reports that the bytes from `at` to the next byte break `rule`.
    pub(super) fn flag(&mut self, rule: Rule, at: usize, expected: u64, found: u64) {
        if self.halt.is_none() {
            let len = self.at.wrapping_sub(at);
            self.place.flag(self.r, rule, (at, len), (expected, found));
        }
    }

    /// Reports that `rule` is broken, and halts.
    pub(super) fn refuse(&mut self, rule: Rule, at: usize, expected: u64, found: u64) {
        self.flag(rule, at, expected, found);
        self.halt = self.halt.or(Some(Halt::refused(rule)));
        self.text = &[];
    }

    /// Rejects the next byte, or the end of the text.
    pub(super) fn unexpected(&mut self) {
        let (at, found) = (self.at, self.byte());
        let mut rule = rules::NPY_END;
        if at < self.text.len() {
            rule = rules::NPY_SYNTAX;
            self.at = at.wrapping_add(1);
        }
        self.refuse(rule, at, 0, found.into());
    }

    /// The next byte, or 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Skips `byte` if it is next; returns whether it was.
    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let found = self.byte() == byte;
        self.at = self.at.wrapping_add(found.into());
        found
    }

    /// Skips `word` if it is next; returns whether it was.
    pub(super) fn word(&mut self, word: &[u8]) -> bool {
        let at = self.at;
        let found = word.iter().all(|byte| self.skip(*byte));
        if !found {
            self.at = at;
        }
        found
    }

    /// Skips white space. Reports `rule` for the first byte that is not a space, unless it is the
    /// last of the text.
    fn blank(&mut self, rule: Rule) {
        loop {
            let (at, byte) = (self.at, self.byte());
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C') {
                return;
            }
            self.at = at.wrapping_add(1);
            if byte != b' ' && !self.spaced && self.at < self.text.len() {
                self.spaced = true;
                self.flag(rule, at, 0, byte.into());
            }
        }
    }

    /// Skips white space; returns the byte after it, which must be there.
    pub(super) fn peek(&mut self) -> u8 {
        self.blank(rules::NPY_SPACE);
        self.token = self.at;
        if self.at >= self.text.len() {
            self.unexpected();
        }
        self.byte()
    }

    /// Skips white space, then `byte` if it is next; returns whether it was.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.peek();
        self.skip(byte) || self.halt.is_some()
    }

    /// Skips white space and `byte`, which must be next.
    pub(super) fn expect(&mut self, byte: u8) {
        if !self.eat(byte) {
            self.unexpected();
        }
    }

    /// Skips the comma between two items, or the bracket `close` after the last one; returns
    /// whether another item follows.
    pub(super) fn more(&mut self, close: u8) -> bool {
        self.comma = self.eat(b',');
        if !self.comma {
            self.expect(close);
        }
        self.comma && !self.eat(close)
    }

    /// Reads a string; returns its contents with escapes unresolved.
    pub(super) fn string(&mut self) -> &'l [u8] {
        self.peek();
        self.skip(b'u');
        let quote = self.byte();
        if matches!(quote, b'\'' | b'"') {
            self.at = self.at.wrapping_add(1);
            let start = self.at;
            loop {
                let (end, byte) = (self.at, self.byte());
                if matches!(byte, 0 | b'\n' | b'\r') {
                    break;
                }
                self.at = end.wrapping_add(1);
                if byte == quote {
                    return self.text.get(start..end).unwrap_or_default();
                }
                if byte == b'\\' && !self.skip(quote) && !self.skip(b'\\') && !self.escape() {
                    break;
                }
            }
        }
        self.unexpected();
        &[]
    }

    /// Skips the rest of an escape after its backslash; returns `false` if Python refuses it. A
    /// backslash before any other letter stands for itself.
    fn escape(&mut self) -> bool {
        let digits = match self.byte() {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            b'N' => {
                self.at = self.at.wrapping_add(1);
                return self.skip(b'{') && self.byte() != b'}';
            }
            _ => return true,
        };
        self.at = self.at.wrapping_add(1);
        let mut value = 0_u32;
        for _ in 0..digits {
            let Some(digit) = char::from(self.byte()).to_digit(16) else { return false };
            self.at = self.at.wrapping_add(1);
            value = value << 4 | digit;
        }
        value <= u32::from(char::MAX)
    }

    /// Takes decimal digits; returns their number, which may be saturated from 2^63 on, or
    /// [`NONE`].
    pub(super) fn digits(&mut self) -> u64 {
        let (start, mut value) = (self.at, 0_u64);
        loop {
            let digit = self.byte().wrapping_sub(b'0');
            if digit > 9 {
                return if self.at == start { NONE } else { value };
            }
            self.at = self.at.wrapping_add(1);
            value = if value >> 60 == 0 { value.wrapping_mul(10) } else { 1 << 63 };
            value = value.wrapping_add(digit.into());
        }
    }

    /// Reads a decimal integer, which may be saturated from 2^63 on.
    pub(super) fn extent(&mut self) -> u64 {
        let first = self.peek();
        let at = self.token;
        let mut value = 0;
        if !self.skip(b'0') {
            value = self.digits();
        } else if self.byte().is_ascii_digit() {
            self.unexpected();
        }
        if value == NONE {
            let rule = if first == b'-' { rules::NPY_SHAPE_NEGATIVE } else { rules::NPY_SHAPE };
            self.refuse(rule, at, 0, 0);
        }
        if self.long && self.eat(b'L') {
            self.flag(rules::NPY_LONG, at, 0, 0);
        }
        value
    }

    /// Reads a tuple of integers after its opening bracket; returns the product of all but
    /// zeros, saturated at `u64::MAX`.
    pub(super) fn extents(&mut self) -> u64 {
        let mut product = 1;
        (self.rank, self.zero) = (0, false);
        let mut more = !self.eat(b')');
        while more {
            match self.extent() {
                0 => self.zero = true,
                extent => product = times(product, extent),
            }
            self.rank = self.rank.wrapping_add(1);
            more = self.more(b')');
        }
        product
    }

    /// Checks the number of extents of the last tuple, before which the reader was at `start`.
    pub(super) fn check_rank(&mut self, start: usize) {
        if self.rank > field::RANK {
            self.refuse(rules::NPY_RANK, start, field::RANK.into(), self.rank.into());
        } else if self.rank > field::RANK_OLD {
            self.flag(rules::NPY_RANK_32, start, field::RANK_OLD.into(), self.rank.into());
        }
    }

    /// Checks the bytes after the dictionary, which are spaces and a newline. Fails if the
    /// header had a fatal fault.
    pub(super) fn finish(mut self) -> Result<(), Halt> {
        self.spaced = false;
        self.blank(rules::NPY_PADDING);
        let end = self.at;
        if end < self.text.len() {
            self.unexpected();
        } else if !self.spaced {
            match self.text.last().copied().unwrap_or(0) {
                b'\n' => {}
                b' ' | b'}' => self.flag(rules::NPY_NEWLINE, end, 0, 0),
                last => self.flag(rules::NPY_PADDING, end.wrapping_sub(1), 0, last.into()),
            }
        }
        self.halt.map_or(Ok(()), Err)
    }
}
