//! LEB128 numbers and strings, with sticky failures.

use super::rules;
use crate::base::{Word, place, wide, widen, word};
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::{Reader, reader::Overlong};
use crate::rule::{Halt, Rule};

/// An unsigned LEB128 number as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leb {
    pub(super) value: u64,
    /// Number of bytes read.
    pub(super) len: usize,
    /// Whether the number ends in time and fits its type.
    pub(super) whole: bool,
    /// Whether the number has its shortest form, the only one that writers use.
    pub(super) shortest: bool,
}

/// Minimum length of a number in bytes.
pub(super) fn least(value: u64) -> u8 {
    let bits = value.checked_ilog2().unwrap_or(0).wrapping_add(1);
    u8::try_from(bits.wrapping_add(6).wrapping_div(7)).unwrap_or(0)
}

/// Maximum length of a 64-bit number, whose last byte is 0 or 1.
pub(super) const NUMBER: usize = 10;

/// Maximum length of a string's length, which fits an i32.
pub(super) const LENGTH: usize = 5;

impl Leb {
    /// The number at the start of `input`, of at most `most` bytes; `None` if `input` ends
    /// inside it.
    #[inline(always)]
    pub(super) fn of(input: &[u8], most: usize) -> Option<Leb> {
        let (mut value, mut len, mut last) = (0_u64, 0, 0x80);
        while last >= 0x80 && len < most {
            last = *input.get(len)?;
            len = len.wrapping_add(1);
        }
        for byte in input.get(..len)?.iter().rev() {
            value = value << 7 | u64::from(byte & 0x7F);
        }
        // The largest last byte with which a number of maximum length fits.
        let top = if most == LENGTH { 7 } else { 1 };
        Some(Leb { value, len, whole: len < most || last <= top, shortest: len == 1 || last != 0 })
    }
}

/// The largest number that fits an i32.
pub(super) const LARGEST: u64 = 0x7FFF_FFFF;

impl<'a> Reader<'_, 'a> {
    /// Reports that `rule` is broken and halts the reader.
    #[cold]
    pub(super) fn fail(&mut self, rule: Rule, at: Word, len: u64, expected: u64, found: u64) {
        self.flag(rule, wide(at), len, expected, found);
        self.halt(Halt::refused(rule));
    }

    /// Reads one byte.
    pub(super) fn next_u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// Reads a 64-bit offset or length, saturated to the width of a word.
    pub(super) fn next_word(&mut self) -> Word {
        place(self.next_u64())
    }

    /// Reads an LEB128 number of at most `most` bytes. A malformed one breaks `rule`, whose
    /// finding names the `largest`, and halts the reader. The first number of an entry that is
    /// not in its shortest form is noted.
    pub(super) fn leb(&mut self, rule: Rule, most: usize, largest: u64) -> u64 {
        if self.is_halted() {
            return 0;
        }
        let start = self.here();
        let Some(leb) = Leb::of(self.resident(), most) else {
            let halt = self.lacks(1);
            self.halt(halt);
            return 0;
        };
        self.bytes(word(widen(leb.len)));
        if !leb.whole {
            self.fail(rule, start, widen(leb.len), largest, leb.value);
            return 0;
        }
        if !leb.shortest && self.overlong.at == 0 {
            let len = u8::try_from(leb.len).unwrap_or(u8::MAX);
            self.overlong = Overlong { at: start, len, least: least(leb.value) };
        }
        leb.value
    }

    /// Reports and clears the number that was noted, when an entry is validated.
    pub(super) fn flag_overlong(&mut self) {
        let Overlong { at, len, least } = core::mem::replace(&mut self.overlong, Overlong::NONE);
        if at != 0 {
            self.flag(rules::G_LEB, wide(at), len.into(), least.into(), len.into());
        }
    }

    /// Reads an LEB128 offset or length, saturated to the width of a word.
    pub(super) fn leb_word(&mut self, rule: Rule, largest: u64) -> Word {
        place(self.leb(rule, NUMBER, largest))
    }

    /// Reads a string: its location into `text`, and its bytes. A length that cannot be read
    /// breaks `rule` and halts the reader.
    pub(super) fn string(&mut self, rule: Rule, text: &mut Text) -> &'a [u8] {
        text.start = self.here();
        let len = self.leb(rule, LENGTH, LARGEST);
        text.at = self.here();
        let bytes = self.bytes(word(len));
        text.len = word(widen(bytes.len()));
        text.utf8 = crate::base::utf8::is(bytes);
        bytes
    }
}

/// A string as stored: a length and that many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// Offset of the length.
    start: Word,
    /// Offset and number of the bytes.
    at: Word,
    len: Word,
    /// Whether the bytes are UTF-8.
    pub(super) utf8: bool,
}

impl Text {
    /// A string before anything has been read.
    pub(super) const NONE: Text = Text { start: 0, at: 0, len: 0, utf8: false };

    /// Byte range of the length and the bytes.
    pub(super) fn span(&self) -> Span {
        let head = self.at.wrapping_sub(self.start);
        Span::new(wide(self.start), wide(head.wrapping_add(self.len)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Location of the bytes.
    pub(super) fn name(&self) -> NameAt {
        NameAt::plain(wide(self.at), wide(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(bytes: &[u8]) -> Option<u64> {
        let leb = Leb::of(bytes, NUMBER)?;
        (leb.whole && leb.shortest).then_some(leb.value)
    }

    #[test]
    fn leb128_reads_64_bits() {
        assert_eq!(sound(&[0]), Some(0));
        assert_eq!(sound(&[0x7F]), Some(127));
        assert_eq!(sound(&[0x80, 1]), Some(128));
        assert_eq!(
            sound(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            Some(u64::MAX)
        );
        // Too large, too long, not the shortest.
        assert_eq!(sound(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]), None);
        assert_eq!(sound(&[0x80; 11]), None);
        assert_eq!(sound(&[0x80, 0]), None);
        assert_eq!(Leb::of(&[0x80], NUMBER), None);
    }

    #[test]
    fn leb128_length_matches_value() {
        let taken = |bytes: &[u8], most| Leb::of(bytes, most).map(|leb| (leb.value, leb.len));
        assert_eq!(taken(&[0x80, 1, 7], NUMBER), Some((128, 2)));
        assert_eq!(taken(&[0x81, 0x80, 0, 7], NUMBER), Some((1, 3)));
        assert_eq!(taken(&[0x81; 11], LENGTH).map(|(_, len)| len), Some(LENGTH));
    }

    #[test]
    fn leb128_length_is_not_negative() {
        let whole = |bytes: &[u8]| Leb::of(bytes, LENGTH).map(|leb| leb.whole);
        assert_eq!(whole(&[0xFF, 0xFF, 0xFF, 0xFF, 0x07]), Some(true));
        assert_eq!(whole(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), Some(false));
        assert_eq!(whole(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), Some(false));
    }
}
