//! The order of data items by value (RFC 8949 §5.6.1), for map keys in any form.

use super::item::Items;
use crate::base::cbor::{Head, float_value, major};
use crate::base::features::WINDOWS;
use crate::base::limits::CBOR_KEY_DEPTH;
use crate::base::word::Cell;
use crate::base::{Word, place, wide};

/// The first key is less than the second, by type, then by value.
pub(super) const UP: Cell = 0x1000;
/// It is greater.
pub(super) const DOWN: Cell = 0x2000;
/// It comes first in the canonical form of RFC 7049, where shorter strings do.
pub(super) const FORM: Cell = 0x4000;

/// The order of the well-formed data items at the start of `first` and `second`: the flags that
/// hold, 0 if they are equal. `None` if it is unknown: they nest too deep, or first differ
/// inside maps of several pairs, which may be stored in any order.
#[inline(never)]
pub(super) fn order(first: &[u8], second: &[u8]) -> Option<Cell> {
    let (mut a, mut b) = (Side::new(first), Side::new(second));
    let is_string =
        first.first().is_some_and(|head| matches!(head >> 5, major::BYTES | major::TEXT));
    let mut depth = 0_usize;
    // Depth of the outermost map whose pairs may be in another order; 0 outside such maps.
    let mut unordered = 0;
    let (up, form) = loop {
        if WINDOWS && a.is_whole() && b.is_whole() {
            // Faster than byte by byte.
            let (x, y) = (a.rest(), b.rest());
            let order = x.cmp(y);
            if order.is_ne() {
                let is_key = depth == 1 && is_string;
                let form = if is_key { x.len().cmp(&y.len()).then(order) } else { order };
                break (order.is_lt(), form.is_lt());
            }
        }
        let (mut kind, mut other) = (a.next(depth), b.next(depth));
        let (x, y) = (a.head.argument, b.head.argument);
        let definite = !a.head.is_indefinite() && !b.head.is_indefinite();
        let same = x == y || kind == kind::MAP && !definite;
        if kind != other || !same {
            let up = if kind == other { x < y } else { kind < other };
            // In the other form, the shorter of two strings that are keys themselves comes first.
            while depth == 1 && is_string && kind == other && kind != kind::END {
                (kind, other) = (a.next(depth), b.next(depth));
            }
            let form = if kind == other { up } else { kind < other };
            break (up, form);
        }
        match kind {
            kind::END if depth == 0 => return Some(0),
            kind::END => {
                depth = depth.wrapping_sub(1);
                if depth < unordered {
                    unordered = 0;
                }
            }
            kind::BYTES..=kind::MAP => {
                depth = depth.wrapping_add(1);
                if depth > CBOR_KEY_DEPTH && kind >= kind::ARRAY {
                    return None;
                }
                if kind == kind::MAP && unordered == 0 && !(definite && x < 2) {
                    unordered = depth;
                }
            }
            _ => {}
        }
    };
    let order = if up { UP } else { DOWN } | if form { FORM } else { 0 };
    (unordered == 0).then_some(order)
}

/// What is compared first: the end of a level, or the type of an item, as one more than its major
/// type. Floats come last. The bytes of a string are compared like numbers.
mod kind {
    pub(super) const END: u32 = 0;
    pub(super) const NUMBER: u32 = 1;
    pub(super) const BYTES: u32 = 3;
    pub(super) const ARRAY: u32 = 5;
    pub(super) const MAP: u32 = 6;
    pub(super) const FLOAT: u32 = u32::MAX;
}

/// Stands for the number of items on a level that a break ends.
const OPEN: Word = Word::MAX;

/// One of two data items that are read in lockstep.
struct Side<'a> {
    items: Items<'a>,
    /// The last head; its argument is comparable.
    head: Head,
    /// Whether the bytes of a string are read.
    string: bool,
    /// Whether a break ends that string.
    chunks: bool,
    /// Number of data items left on this level, or of bytes; [`OPEN`] if a break ends it.
    left: Word,
    /// The same on each level outside.
    outside: [Word; CBOR_KEY_DEPTH + 1],
}

impl<'a> Side<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Side {
            items: Items::new(bytes),
            head: Head::default(),
            string: false,
            chunks: false,
            left: 1,
            outside: [0; CBOR_KEY_DEPTH + 1],
        }
    }

    /// Whether the bytes of a string in one piece are read.
    fn is_whole(&self) -> bool {
        self.string && !self.chunks
    }

    /// The rest of that string.
    fn rest(&mut self) -> &'a [u8] {
        let len = core::mem::take(&mut self.left);
        self.items.split(wide(len)).unwrap_or_default()
    }

    /// Reads the next head or byte on level `depth`. Opens the next level at an array, a map or a
    /// string, and closes this one at its end.
    fn next(&mut self, depth: usize) -> u32 {
        let head = &mut self.head;
        loop {
            head.argument = 0;
            if self.string && self.left > 0 {
                self.left = self.left.wrapping_sub(1);
                head.argument = self.items.byte().into();
                return kind::NUMBER;
            }
            // The head exists, because the bytes were read before.
            let ended = self.left == 0 && !self.chunks;
            if ended || !self.items.read(head) || head.is_break() {
                (self.string, self.chunks, head.argument) = (false, false, 0);
                let outside = self.outside.get(depth.wrapping_sub(1));
                self.left = outside.copied().unwrap_or(0);
                return kind::END;
            }
            if !self.string {
                break;
            }
            self.left = place(head.argument);
        }
        // The item of a tag follows.
        if self.left != OPEN && head.major != major::TAG {
            self.left = self.left.wrapping_sub(1);
        }
        if head.float_width() != 0 {
            head.argument = float_value(head.info, head.argument);
            return kind::FLOAT;
        }
        self.string = head.is_string();
        if self.string || head.is_container() {
            if let Some(outside) = self.outside.get_mut(depth) {
                *outside = self.left;
            }
            self.chunks = self.string && head.is_indefinite();
            self.left = match head.is_indefinite() && !self.string {
                true => OPEN,
                false => place(head.argument << u32::from(head.major == major::MAP)),
            };
            if head.major != major::MAP {
                head.argument = 0;
            }
        }
        u32::from(head.major).wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cmp::Ordering;

    fn value(first: &[u8], second: &[u8]) -> Option<Ordering> {
        let value = |order: Cell| (order & DOWN != 0).cmp(&(order & UP != 0));
        let there = order(first, second).map(value);
        let back = order(second, first).map(value).map(Ordering::reverse);
        assert_eq!(there, back, "{first:X?} {second:X?}");
        there
    }

    #[test]
    fn equal_cbor_keys_in_different_forms_are_equal() {
        let equal: &[(&[u8], &[u8])] = &[
            (b"\x05", b"\x19\x00\x05"),
            (b"\x25", b"\x38\x05"),
            (b"\x62ab", b"\x7F\x61a\x61b\xFF"),
            (b"\x42ab", b"\x5F\x40\x42ab\xFF"),
            (b"\xF9\x3E\x00", b"\xFB\x3F\xF8\0\0\0\0\0\0"),
            (b"\xF9\x3E\x00", b"\xFA\x3F\xC0\0\0"),
            // The least subnormal half.
            (b"\xF9\x00\x01", b"\xFB\x3E\x70\0\0\0\0\0\0"),
            (b"\xFA\x00\x00\x00\x01", b"\xFB\x36\xA0\0\0\0\0\0\0"),
            // Zeros of both signs, and infinities.
            (b"\xF9\x00\x00", b"\xFB\x80\0\0\0\0\0\0\0"),
            (b"\xF9\xFC\x00", b"\xFA\xFF\x80\0\0"),
            // NaNs with the same significand.
            (b"\xF9\x7E\x00", b"\xFB\x7F\xF8\0\0\0\0\0\0"),
            (b"\xF9\xFE\x00", b"\xFA\x7F\xC0\0\0"),
            (b"\x82\x01\x61a", b"\x9F\x18\x01\x7F\x61a\xFF\xFF"),
            (b"\xA1\x01\x02", b"\xBF\x01\x02\xFF"),
            (b"\xC1\x05", b"\xD8\x01\x18\x05"),
            (b"\x80", b"\x9F\xFF"),
            (b"\xA2\x01\x02\x03\x04", b"\xBF\x01\x02\x03\x04\xFF"),
        ];
        for (first, second) in equal {
            assert_eq!(value(first, second), Some(Ordering::Equal), "{first:X?} {second:X?}");
        }
    }

    #[test]
    fn different_cbor_keys_are_not_equal() {
        let less: &[(&[u8], &[u8])] = &[
            (b"\x05", b"\x06"),
            (b"\x05", b"\x25"),
            (b"\x41a", b"\x61a"),
            (b"\x01", b"\xF9\x3C\x00"),
            (b"\x05", b"\xC1\x05"),
            (b"\xC1\x06", b"\xC2\x05"),
            (b"\x81\x01", b"\x82\x01\x00"),
            (b"\x82\x01\x02", b"\x82\x01\x03"),
            (b"\x9F\xFF", b"\x81\x00"),
            (b"\xF4", b"\xF5"),
            (b"\xF4", b"\xF9\x00\x00"),
            (b"\xA1\x01\x02", b"\xA1\x01\x03"),
            (b"\xA1\x01\x02", b"\xA2\x01\x02\x03\x04"),
            (b"\xF9\x7E\x00", b"\xFB\x7F\xF8\0\0\0\0\0\x01"),
        ];
        for (first, second) in less {
            assert_eq!(value(first, second), Some(Ordering::Less), "{first:X?} {second:X?}");
        }
        assert_eq!(order(b"\x61b", b"\x62aa"), Some(DOWN | FORM));
        assert_eq!(order(b"\xC1\x61b", b"\xC1\x62aa"), Some(DOWN));
        assert_eq!(order(b"\x81\x61b", b"\x81\x62aa"), Some(DOWN));
        assert_eq!(order(b"\x61a", b"\x61b"), Some(UP | FORM));
    }

    #[test]
    fn nested_map_keys_are_not_compared() {
        // The same pairs in another order, or different pairs.
        assert_eq!(value(b"\xA2\x01\x02\x03\x04", b"\xA2\x03\x04\x01\x02"), None);
        assert_eq!(value(b"\xA2\x01\x02\x03\x04", b"\xA2\x01\x02\x03\x05"), None);
        // Items after equal maps decide.
        let (first, second) = (b"\x82\xA2\x01\x02\x03\x04\x05", b"\x82\xA2\x01\x02\x03\x04\x06");
        assert_eq!(value(first, second), Some(Ordering::Less));
        let deep = |depth: usize, last: u8| {
            let mut bytes = std::vec![0x81; depth];
            bytes.push(last);
            bytes
        };
        let (most, more) = (CBOR_KEY_DEPTH, CBOR_KEY_DEPTH + 1);
        assert_eq!(value(&deep(most, 1), &deep(most, 2)), Some(Ordering::Less));
        assert_eq!(value(&deep(more, 1), &deep(more, 2)), None);
    }
}
