//! A byte-by-byte validator of the index's JSON (RFC 8259).
//!
//! The state between two bytes is a few numbers, which fit in a cursor. The text may arrive
//! in pieces of any size, and none of it needs to stay resident.

use super::rules;
use crate::base::limits::JSON_DEPTH;
use crate::format::safetensors::json::is_space;
use crate::rule::Rule;

/// The state of the grammar before the next byte.
mod mode {
    /// A value must begin.
    pub(super) const VALUE: u8 = 0;
    /// A value must begin, or its array must end.
    pub(super) const FIRST_VALUE: u8 = 1;
    pub(super) const KEY: u8 = 2;
    /// A key must begin, or its object must end.
    pub(super) const FIRST_KEY: u8 = 3;
    pub(super) const COLON: u8 = 4;
    /// A value has ended.
    pub(super) const AFTER: u8 = 5;
    pub(super) const STRING: u8 = 6;
    pub(super) const ESCAPE: u8 = 7;
    pub(super) const HEX: u8 = 8;
    /// The second half of a surrogate pair: backslash, u, and its digits.
    pub(super) const PAIR: u8 = 9;
    pub(super) const PAIR_U: u8 = 10;
    pub(super) const PAIR_HEX: u8 = 11;
    /// After the first letter of `true`, `false` or `null`.
    pub(super) const WORD: u8 = 12;
    pub(super) const MINUS: u8 = 13;
    pub(super) const ZERO: u8 = 14;
    pub(super) const INTEGER: u8 = 15;
    pub(super) const POINT: u8 = 16;
    pub(super) const FRACTION: u8 = 17;
    pub(super) const EXPONENT: u8 = 18;
    pub(super) const SIGN: u8 = 19;
    pub(super) const POWER: u8 = 20;
    /// The outermost object has ended.
    pub(super) const END: u8 = 21;
}

/// Flags of the state.
mod flag {
    /// The current string is a key.
    pub(super) const KEY: u16 = 1;
    /// The next value is `weight_map`.
    pub(super) const MAP_NEXT: u16 = 1 << 1;
    /// The position is in the value of `weight_map`, or right after it.
    pub(super) const IN_MAP: u16 = 1 << 2;
    pub(super) const MAP_SEEN: u16 = 1 << 3;
    pub(super) const IN_METADATA: u16 = 1 << 4;
    pub(super) const METADATA_SEEN: u16 = 1 << 5;
    /// The current value is `total_size`.
    pub(super) const TOTAL: u16 = 1 << 6;
    pub(super) const TOTAL_SEEN: u16 = 1 << 7;
    /// The value of `total_size` is a number of bytes so far.
    pub(super) const TOTAL_HELD: u16 = 1 << 8;
    pub(super) const CONTROL_NOTED: u16 = 1 << 9;
    pub(super) const UTF8_NOTED: u16 = 1 << 10;
}

/// The known keys. In [`Scan::names`], key number `i` is bit `i`.
const NAMES: [&str; 3] = ["weight_map", "metadata", "total_size"];
const MAP: u8 = 1;
const METADATA: u8 = 2;
const TOTAL: u8 = 4;

/// The literals without their first letters, each ended by a semicolon.
const WORDS: &[u8] = b"rue;alse;ull;";

/// The state of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    mode: u8,
    /// Number of open objects and arrays.
    depth: u8,
    /// One bit per level, the innermost lowest: whether it is an object.
    objects: u128,
    flags: u16,
    /// The [`NAMES`] that match the key so far.
    names: u8,
    /// Number of the key's characters so far; inside a literal, the position in [`WORDS`].
    count: u8,
    /// Number of bytes in the current escape so far, including the backslash.
    escape: u8,
    /// Number of missing bytes or digits of the current character.
    lacks: u8,
    /// Smallest and largest valid value of the character's next byte.
    range: [u8; 2],
    /// The digits of the current escape so far.
    unit: u16,
    /// The value of `total_size` so far.
    total: u64,
}

impl Scan {
    /// The state before the text.
    pub(super) const START: Scan = Scan {
        mode: 0,
        depth: 0,
        objects: 0,
        flags: 0,
        names: 0,
        count: 0,
        escape: 0,
        lacks: 0,
        range: [0; 2],
        unit: 0,
        total: 0,
    };

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn set(&mut self, flag: u16, holds: bool) {
        self.flags = if holds { self.flags | flag } else { self.flags & !flag };
    }

    /// Whether the position is in, or right after, the value of `weight_map`.
    pub(super) fn in_map(&self) -> bool {
        self.has(flag::IN_MAP)
    }

    /// Whether the outermost object has ended.
    pub(super) fn is_over(&self) -> bool {
        self.mode == mode::END
    }

    /// `metadata.total_size`, if it is a number of bytes.
    pub(super) fn total(&self) -> Option<u64> {
        self.has(flag::TOTAL_HELD).then_some(self.total)
    }

    /// Whether the last byte belongs to the integer that is the value of `total_size`.
    pub(super) fn counts(&self) -> bool {
        self.has(flag::TOTAL) && matches!(self.mode, mode::ZERO | mode::INTEGER)
    }

    /// Whether `metadata` has occurred.
    pub(super) fn has_metadata(&self) -> bool {
        self.has(flag::METADATA_SEEN)
    }

    pub(super) fn open(mut self, object: bool) -> Self {
        self.depth = self.depth.saturating_add(1);
        self.objects = self.objects << 1 | u128::from(object);
        self.mode = if object { mode::FIRST_KEY } else { mode::FIRST_VALUE };
        self
    }

    /// Advances by one byte. `note` receives faults that are not fatal.
    ///
    /// # Errors
    /// The rule that ends the scan, and the number of bytes back to where it was broken.
    pub(super) fn pass(&mut self, byte: u8, note: &mut dyn FnMut(Rule)) -> Result<(), (Rule, u8)> {
        match self.mode {
            mode::STRING => {
                self.string(byte, note);
                Ok(())
            }
            mode::ESCAPE..=mode::PAIR_HEX => self.escape(byte),
            mode::WORD => match WORDS.get(usize::from(self.count)) {
                Some(letter) if *letter == byte => {
                    self.count = self.count.saturating_add(1);
                    if WORDS.get(usize::from(self.count)) == Some(&b';') {
                        self.mode = mode::AFTER;
                    }
                    Ok(())
                }
                _ => SYNTAX,
            },
            mode::MINUS..=mode::POWER => self.number(byte, note),
            _ if is_space(byte) => Ok(()),
            mode::FIRST_VALUE if byte == b']' => {
                self.close();
                Ok(())
            }
            mode::FIRST_KEY if byte == b'}' => {
                self.close();
                Ok(())
            }
            mode::VALUE | mode::FIRST_VALUE => self.value(byte, note),
            mode::KEY | mode::FIRST_KEY if byte == b'"' => {
                self.key();
                Ok(())
            }
            mode::COLON if byte == b':' => {
                self.mode = mode::VALUE;
                Ok(())
            }
            mode::AFTER => self.follow(byte),
            _ => SYNTAX,
        }
    }

    /// Handles the first byte of a value.
    fn value(&mut self, byte: u8, note: &mut dyn FnMut(Rule)) -> Result<(), (Rule, u8)> {
        if self.has(flag::MAP_NEXT) {
            self.flags = self.flags & !flag::MAP_NEXT | flag::IN_MAP;
        }
        if self.has(flag::TOTAL) && !byte.is_ascii_digit() {
            self.no_total(note);
        }
        let is_metadata = self.depth == 1 && self.has(flag::IN_METADATA);
        self.set(flag::KEY, false);
        self.mode = match byte {
            b'{' | b'[' => {
                if u32::from(self.depth) >= JSON_DEPTH {
                    return Err((rules::JSON_DEPTH, 0));
                }
                *self = self.open(byte == b'{');
                self.mode
            }
            b'"' => mode::STRING,
            b't' | b'f' | b'n' => {
                self.count = match byte {
                    b't' => 0,
                    b'f' => 4,
                    _ => 9,
                };
                mode::WORD
            }
            b'-' => mode::MINUS,
            b'0'..=b'9' => {
                self.digit(byte, note);
                if byte == b'0' { mode::ZERO } else { mode::INTEGER }
            }
            _ => return SYNTAX,
        };
        if is_metadata && byte != b'{' {
            note(rules::METADATA_TYPE);
        }
        Ok(())
    }

    /// Handles the byte after a value.
    fn follow(&mut self, byte: u8) -> Result<(), (Rule, u8)> {
        let object = self.objects & 1 == 1;
        match byte {
            b',' => {
                if self.depth == 1 {
                    self.set(flag::IN_MAP | flag::IN_METADATA, false);
                }
                self.mode = if object { mode::KEY } else { mode::VALUE };
            }
            b'}' if object => self.close(),
            b']' if !object => self.close(),
            _ => return SYNTAX,
        }
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.objects >>= 1;
        self.mode = if self.depth == 0 { mode::END } else { mode::AFTER };
    }

    /// Begins a key.
    fn key(&mut self) {
        self.names = match self.depth {
            1 => MAP | METADATA,
            2 if self.has(flag::IN_METADATA) => TOTAL,
            _ => 0,
        };
        self.count = 0;
        self.set(flag::KEY, true);
        self.mode = mode::STRING;
    }

    /// Handles a character of a string; 0 stands for any that occurs in no known key.
    fn character(&mut self, byte: u8) {
        for (i, name) in NAMES.iter().enumerate() {
            if name.as_bytes().get(usize::from(self.count)) != Some(&byte) {
                self.names &= !(1 << i);
            }
        }
        self.count = self.count.saturating_add(1);
        self.mode = mode::STRING;
    }

    /// Notes a fault in a string outside `weight_map`, once per rule. The entries of
    /// `weight_map` are validated when they are listed.
    fn once(&mut self, noted: u16, rule: Rule, note: &mut dyn FnMut(Rule)) {
        if !self.has(noted | flag::IN_MAP) {
            self.set(noted, true);
            note(rule);
        }
    }

    fn string(&mut self, byte: u8, note: &mut dyn FnMut(Rule)) {
        if self.lacks > 0 {
            let [from, to] = self.range;
            if (from..=to).contains(&byte) {
                self.lacks = self.lacks.saturating_sub(1);
                self.range = [0x80, 0xBF];
                return;
            }
            self.lacks = 0;
            self.once(flag::UTF8_NOTED, rules::JSON_UTF8, note);
        }
        match byte {
            b'"' => return self.end_of_string(note),
            b'\\' => {
                self.escape = 1;
                self.mode = mode::ESCAPE;
                return;
            }
            0..=0x1F => self.once(flag::CONTROL_NOTED, rules::JSON_CONTROL, note),
            0x20..=0x7F => return self.character(byte),
            _ => {
                // RFC 3629 §4.
                (self.lacks, self.range) = match byte {
                    0xC2..=0xDF => (1, [0x80, 0xBF]),
                    0xE0 => (2, [0xA0, 0xBF]),
                    0xED => (2, [0x80, 0x9F]),
                    0xE1..=0xEF => (2, [0x80, 0xBF]),
                    0xF0 => (3, [0x90, 0xBF]),
                    0xF1..=0xF3 => (3, [0x80, 0xBF]),
                    0xF4 => (3, [0x80, 0x8F]),
                    _ => (0, [0; 2]),
                };
                if self.lacks == 0 {
                    self.once(flag::UTF8_NOTED, rules::JSON_UTF8, note);
                }
            }
        }
        self.character(0);
    }

    fn end_of_string(&mut self, note: &mut dyn FnMut(Rule)) {
        if !self.has(flag::KEY) {
            self.mode = mode::AFTER;
            return;
        }
        self.mode = mode::COLON;
        let mut found = 0;
        for (i, name) in NAMES.iter().enumerate() {
            if name.len() == usize::from(self.count) {
                found |= self.names & 1 << i;
            }
        }
        let (seen, rule) = match found {
            MAP => {
                self.set(flag::MAP_NEXT, true);
                (flag::MAP_SEEN, rules::INDEX_MAP_TWICE)
            }
            METADATA => {
                // Readers keep the last.
                self.set(flag::TOTAL_HELD | flag::TOTAL_SEEN, false);
                self.set(flag::IN_METADATA, true);
                (flag::METADATA_SEEN, rules::METADATA_TWICE)
            }
            TOTAL => {
                self.total = 0;
                self.set(flag::TOTAL | flag::TOTAL_HELD, true);
                (flag::TOTAL_SEEN, rules::TOTAL_TWICE)
            }
            _ => return,
        };
        if self.has(seen) {
            note(rule);
        }
        self.set(seen, true);
    }

    /// Handles a byte of an escape (RFC 8259 §7).
    fn escape(&mut self, byte: u8) -> Result<(), (Rule, u8)> {
        let back = self.escape;
        let broken = Err((rules::JSON_ESCAPE, back));
        self.escape = back.saturating_add(1);
        match (self.mode, byte) {
            (mode::ESCAPE, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.character(0);
            }
            (mode::ESCAPE | mode::PAIR_U, b'u') => {
                self.mode = if self.mode == mode::ESCAPE { mode::HEX } else { mode::PAIR_HEX };
                (self.lacks, self.unit) = (4, 0);
            }
            (mode::PAIR, b'\\') => self.mode = mode::PAIR_U,
            (mode::HEX | mode::PAIR_HEX, _) => {
                let digit = match byte {
                    b'0'..=b'9' => byte.wrapping_sub(b'0'),
                    b'a'..=b'f' => byte.wrapping_sub(b'a' - 10),
                    b'A'..=b'F' => byte.wrapping_sub(b'A' - 10),
                    _ => return broken,
                };
                self.unit = self.unit << 4 | u16::from(digit);
                self.lacks = self.lacks.saturating_sub(1);
                if self.lacks > 0 {
                    return Ok(());
                }
                let second = self.mode == mode::PAIR_HEX;
                match self.unit {
                    0xDC00..=0xDFFF if second => self.character(0),
                    _ if second => return broken,
                    0xD800..=0xDBFF => self.mode = mode::PAIR,
                    0xDC00..=0xDFFF => return broken,
                    unit => self.character(u8::try_from(unit).unwrap_or(0)),
                }
            }
            _ => return broken,
        }
        Ok(())
    }

    /// Handles a byte of a number after its first (RFC 8259 §6), or the byte after it.
    fn number(&mut self, byte: u8, note: &mut dyn FnMut(Rule)) -> Result<(), (Rule, u8)> {
        self.mode = match (self.mode, byte) {
            (mode::MINUS, b'0') => mode::ZERO,
            (mode::MINUS | mode::INTEGER, b'0'..=b'9') => {
                self.digit(byte, note);
                mode::INTEGER
            }
            (mode::ZERO | mode::INTEGER, b'.') => mode::POINT,
            (mode::POINT | mode::FRACTION, b'0'..=b'9') => mode::FRACTION,
            (mode::ZERO | mode::INTEGER | mode::FRACTION, b'e' | b'E') => mode::EXPONENT,
            (mode::EXPONENT, b'+' | b'-') => mode::SIGN,
            (mode::EXPONENT | mode::SIGN | mode::POWER, b'0'..=b'9') => mode::POWER,
            (mode::ZERO | mode::INTEGER | mode::FRACTION | mode::POWER, _) => {
                self.set(flag::TOTAL, false);
                self.mode = mode::AFTER;
                return if is_space(byte) { Ok(()) } else { self.follow(byte) };
            }
            _ => return SYNTAX,
        };
        if self.has(flag::TOTAL) && self.mode > mode::INTEGER {
            self.no_total(note);
        }
        Ok(())
    }

    /// Handles a digit of an integer.
    fn digit(&mut self, byte: u8, note: &mut dyn FnMut(Rule)) {
        if !self.has(flag::TOTAL) {
            return;
        }
        let digit = u64::from(byte.wrapping_sub(b'0'));
        match self.total.checked_mul(10).and_then(|n| n.checked_add(digit)) {
            Some(total) => self.total = total,
            None => self.no_total(note),
        }
    }

    /// Notes that the value of `total_size` is not a number of bytes.
    fn no_total(&mut self, note: &mut dyn FnMut(Rule)) {
        self.set(flag::TOTAL | flag::TOTAL_HELD, false);
        note(rules::TOTAL_TYPE);
    }
}

const SYNTAX: Result<(), (Rule, u8)> = Err((rules::JSON_SYNTAX, 0));
