//! The order of data items by value (RFC 8949 §5.6.1), for map keys in any form.

use super::cbor::OPEN;
use super::head::{Head, float_value, major};
use super::item::Items;
use crate::base::limits::CBOR_KEY_DEPTH;
use crate::base::word::Cell;
use crate::model::Name;
use core::cmp::Ordering;

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
    let mut depth = 0_usize;
    // Depth of the outermost map whose pairs may be in another order.
    let mut unordered = usize::MAX;
    let mut is_first = true;
    loop {
        let (kind, other) = (a.next(depth), b.next(depth));
        let mut order = kind.cmp(&other);
        // Only strings that are keys themselves differ in form.
        let mut form = Ordering::Equal;
        let (x, y) = (&a.head, &b.head);
        if order.is_ne() {
            // Of different types, or one has ended.
        } else if kind == 0 {
            if depth == 0 {
                return Some(0);
            }
            depth = depth.wrapping_sub(1);
            if depth < unordered {
                unordered = usize::MAX;
            }
        } else if x.is_string() {
            let (x, y) = (a.string(), b.string());
            order = x.cmp(&y);
            if is_first {
                form = len(&x).cmp(&len(&y));
            }
        } else {
            let definite = !x.is_indefinite() && !y.is_indefinite();
            let map = x.major == major::MAP;
            if !x.is_container() || map && definite {
                order = x.argument.cmp(&y.argument);
            }
            if x.is_container() && order.is_eq() {
                depth = depth.wrapping_add(1);
                if depth > CBOR_KEY_DEPTH {
                    return None;
                }
                if map && !(definite && x.argument < 2) {
                    unordered = unordered.min(depth);
                }
            }
        }
        if order.is_ne() {
            let value = if order.is_lt() { UP } else { DOWN };
            let form = if form.then(order).is_lt() { FORM } else { 0 };
            return (unordered == usize::MAX).then_some(value | form);
        }
        is_first = false;
    }
}

/// One of two data items that are read in lockstep.
struct Side<'a> {
    items: Items<'a>,
    /// The last head; its argument is comparable.
    head: Head,
    /// Number of data items left outside, and in each open array or map; [`OPEN`] if a break
    /// ends it.
    left: [u32; CBOR_KEY_DEPTH + 1],
}

impl<'a> Side<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut left = [0; CBOR_KEY_DEPTH + 1];
        left[0] = 1;
        Side { items: Items::new(bytes), head: Head::default(), left }
    }

    /// Reads the next head on level `depth`. Returns 0 at the end of the level, otherwise a number
    /// for each type, of which that of floats is the highest.
    fn next(&mut self, depth: usize) -> u8 {
        let Some(left) = self.left.get_mut(depth).filter(|left| **left > 0) else { return 0 };
        let head = &mut self.head;
        // The head exists, because the bytes were read before.
        if !self.items.read(head) || head.is_break() {
            return 0;
        }
        // The item of a tag follows.
        if *left != OPEN && head.major != major::TAG {
            *left = left.wrapping_sub(1);
        }
        if head.float_width() != 0 {
            head.argument = float_value(head.info, head.argument);
            return u8::MAX;
        }
        if head.is_container()
            && let Some(left) = self.left.get_mut(depth.wrapping_add(1))
        {
            let items = u32::try_from(head.argument).unwrap_or(0);
            *left = match head.major {
                _ if head.is_indefinite() => OPEN,
                major::MAP => items.wrapping_mul(2),
                _ => items,
            };
        }
        head.major.wrapping_add(1)
    }

    /// Reads the rest of the current string.
    fn string(&mut self) -> Name<'a> {
        self.items.string(&self.head).unwrap_or_default()
    }
}

/// Number of bytes of a string.
fn len(name: &Name<'_>) -> usize {
    match name.as_bytes() {
        Some(bytes) => bytes.len(),
        None => name.bytes().count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(first: &[u8], second: &[u8]) -> Option<Ordering> {
        let value = |order: Cell| (order & DOWN != 0).cmp(&(order & UP != 0));
        let there = order(first, second).map(value);
        let back = order(second, first).map(value).map(Ordering::reverse);
        assert_eq!(there, back, "{first:X?} {second:X?}");
        there
    }

    #[test]
    fn equal_values_in_different_forms() {
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
    fn other_values() {
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
    fn what_is_not_compared() {
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
