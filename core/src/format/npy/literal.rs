//! A parser for the parts of Python dictionary literals that occur in headers: strings,
//! integers, `True` and `False`, tuples and lists. Nothing is evaluated.

use super::header::{Place, Prelude};
use super::rules;
use crate::model::dims::{Packed, product};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Reads a header from its start to its end.
pub(super) struct Literal<'l, 'r, 'a> {
    r: &'l mut Reader<'r, 'a>,
    pub(super) place: Place,
    prelude: Prelude,
    len: usize,
    rest: &'l [u8],
    /// White space other than spaces was reported.
    spaced: bool,
    /// Position of the shape.
    pub(super) shape: usize,
    /// The product of the extents that are not 0; `None` if it exceeds `u64`.
    pub(super) product: Option<u64>,
    /// The extents, three bits per hexadecimal digit, the first extent lowest.
    pub(super) packed: Packed,
}

impl<'l, 'r, 'a> Literal<'l, 'r, 'a> {
    /// Starts at the first byte of `text` after leading spaces and tabs.
    pub(super) fn new(
        r: &'l mut Reader<'r, 'a>,
        place: Place,
        prelude: Prelude,
        text: &'l [u8],
    ) -> Self {
        let mut rest = text;
        while let Some((b' ' | b'\t', after)) = rest.split_first() {
            rest = after;
        }
        Literal {
            r,
            place,
            prelude,
            len: text.len(),
            rest,
            spaced: false,
            shape: 0,
            product: None,
            packed: Packed::default(),
        }
    }

    /// Position of the next byte, relative to the magic string.
    pub(super) fn at(&self) -> usize {
        let passed = self.len.wrapping_sub(self.rest.len());
        self.prelude.len.wrapping_add(passed)
    }

    /// Reports that the bytes from `at` to the next byte break `rule`.
    pub(super) fn flag(&mut self, rule: Rule, at: usize, expected: u64, found: u64) {
        let len = self.at().wrapping_sub(at);
        self.place.flag(self.r, rule, (at, len), (expected, found));
    }

    /// Reports that `rule` is broken, and ends validation.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, rule: Rule, at: usize, found: u64) -> Halt {
        self.flag(rule, at, 0, found);
        Halt::refused(rule)
    }

    /// Rejects the next byte, or the end of the text.
    #[cold]
    pub(super) fn unexpected(&mut self) -> Halt {
        let at = self.at();
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                self.refuse(rules::NPY_SYNTAX, at, (*byte).into())
            }
            None => self.refuse(rules::NPY_END, at, 0),
        }
    }

    /// Skips white space; returns the byte after it.
    pub(super) fn peek(&mut self) -> Result<u8, Halt> {
        while let Some((byte @ (b' ' | b'\t' | b'\n' | b'\r' | b'\x0C'), after)) =
            self.rest.split_first()
        {
            let at = self.at();
            self.rest = after;
            if *byte != b' ' && !self.spaced && !after.is_empty() {
                self.spaced = true;
                self.flag(rules::NPY_SPACE, at, 0, (*byte).into());
            }
        }
        match self.rest.first() {
            Some(byte) => Ok(*byte),
            None => Err(self.unexpected()),
        }
    }

    /// Skips white space, then `byte` if it is next; returns whether it was.
    pub(super) fn eat(&mut self, byte: u8) -> Result<bool, Halt> {
        let found = self.peek()? == byte;
        if let (true, Some((_, rest))) = (found, self.rest.split_first()) {
            self.rest = rest;
        }
        Ok(found)
    }

    /// Skips white space and `byte`, which must be next.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Halt> {
        match self.eat(byte)? {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// Reads a string; returns its contents with escapes unresolved.
    pub(super) fn string(&mut self) -> Result<&'l [u8], Halt> {
        if self.peek()? == b'u' {
            self.rest = self.rest.split_first().map_or(&[], |(_, rest)| rest);
        }
        let Some((quote @ (b'\'' | b'"'), inside)) = self.rest.split_first() else {
            return Err(self.unexpected());
        };
        self.rest = inside;
        loop {
            match self.rest.split_first() {
                Some((byte, after)) if byte == quote => {
                    let len = inside.len().wrapping_sub(self.rest.len());
                    self.rest = after;
                    return Ok(inside.get(..len).unwrap_or_default());
                }
                Some((b'\\', after)) => {
                    self.rest = after;
                    if let Some((b' '..=b'~', after)) = after.split_first() {
                        self.rest = after;
                    }
                }
                Some((0 | b'\n' | b'\r', _)) | None => return Err(self.unexpected()),
                Some((_, after)) => self.rest = after,
            }
        }
    }

    /// Reads `True` or `False`; anything else breaks `rule`.
    pub(super) fn boolean(&mut self, rule: Rule) -> Result<bool, Halt> {
        self.peek()?;
        let at = self.at();
        for (word, value) in [(b"True".as_slice(), true), (b"False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.refuse(rule, at, 0))
    }

    /// Reads a decimal integer; `None` if it exceeds `u64`.
    pub(super) fn extent(&mut self) -> Result<Option<u64>, Halt> {
        let first = self.peek()?;
        let at = self.at();
        let mut digits = 0_u32;
        let mut value = Some(0_u64);
        while let Some((byte @ b'0'..=b'9', rest)) = self.rest.split_first() {
            if digits > 0 && first == b'0' {
                return Err(self.unexpected());
            }
            let digit = u64::from(byte.wrapping_sub(b'0'));
            value = value.and_then(|value| product(value, 10)?.checked_add(digit));
            self.rest = rest;
            digits = 1;
        }
        if digits == 0 {
            let rule = if first == b'-' { rules::NPY_SHAPE_NEGATIVE } else { rules::NPY_SHAPE };
            return Err(self.refuse(rule, at, 0));
        }
        if self.prelude.major < 3 && self.eat(b'L')? {
            self.flag(rules::NPY_LONG, at, 0, 0);
        }
        Ok(value)
    }

    /// Checks the bytes after the dictionary: spaces and a newline.
    pub(super) fn finish(&mut self) -> Result<(), Halt> {
        let mut padded = true;
        while let Some((byte, rest)) = self.rest.split_first() {
            match byte {
                b' ' if !rest.is_empty() => {}
                b'\n' if rest.is_empty() => return Ok(()),
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0C' => {
                    let at = self.at();
                    if *byte != b' ' && padded {
                        padded = false;
                        self.rest = rest;
                        self.flag(rules::NPY_PADDING, at, 0, (*byte).into());
                    }
                }
                _ => return Err(self.unexpected()),
            }
            self.rest = rest;
        }
        if padded {
            let at = self.at();
            self.flag(rules::NPY_NEWLINE, at, 0, 0);
        }
        Ok(())
    }
}
