//! The order of data items by value (RFC 8949 §5.6.1), for map keys in any form.

use super::cbor::OPEN;
use super::head::{Head, float_value, major};
use super::item::Items;
use crate::base::limits::CBOR_KEY_DEPTH;
use crate::model::Name;
use core::cmp::Ordering;

/// The order of two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// By type, then by value.
    pub(super) value: Ordering,
    /// The same, but shorter strings come first, as in the canonical form of
    /// RFC 7049.
    pub(super) form: Ordering,
}

impl Order {
    fn both(order: Ordering) -> Self {
        Order { value: order, form: order }
    }
}

/// The order of the well-formed data items at the start of `first` and `second`. `None` if
/// it is unknown: they nest too deep, or first differ inside maps of several pairs, which
/// may be stored in any order.
#[inline(never)]
pub(super) fn order(first: &[u8], second: &[u8]) -> Option<Order> {
    let (mut a, mut b) = (Side::new(first), Side::new(second));
    let mut depth = 0_usize;
    // Depth of the outermost map whose pairs may be in another order.
    let mut unordered = usize::MAX;
    let mut tagged = false;
    loop {
        let within_tag = core::mem::take(&mut tagged);
        let (follows, other) = match within_tag {
            true => {
                a.read();
                b.read();
                (true, true)
            }
            false => (a.next(depth), b.next(depth)),
        };
        let mut order = Order::both(follows.cmp(&other));
        if !follows && !other {
            depth = depth.saturating_sub(1);
            if depth < unordered {
                unordered = usize::MAX;
            }
        } else if follows && other {
            order = Order::both(a.head.major.cmp(&b.head.major));
            if order.value.is_eq() {
                let (x, y) = (&a.head, &b.head);
                tagged = x.major == major::TAG;
                order = match x.major {
                    major::BYTES | major::TEXT => strings(&mut a, &mut b),
                    major::ARRAY | major::MAP => {
                        let definite = !x.is_indefinite() && !y.is_indefinite();
                        let map = x.major == major::MAP;
                        let counts = x.argument.cmp(&y.argument);
                        let single = definite && x.argument < 2;
                        if map && definite && counts.is_ne() {
                            Order::both(counts)
                        } else {
                            a.open(depth)?;
                            b.open(depth)?;
                            depth = depth.saturating_add(1);
                            if map && !single {
                                unordered = unordered.min(depth);
                            }
                            Order::both(Ordering::Equal)
                        }
                    }
                    _ => Order::both(number(x).cmp(&number(y))),
                };
            }
            // Only strings that are keys themselves differ in form.
            if depth > 0 || within_tag {
                order.form = order.value;
            }
        }
        if order.value.is_ne() {
            return (unordered == usize::MAX).then_some(order);
        }
        if depth == 0 && !tagged {
            return Some(order);
        }
    }
}

/// One of two data items that are read in lockstep.
struct Side<'a> {
    items: Items<'a>,
    /// The last head.
    head: Head,
    /// Number of data items left in each open array or map; [`OPEN`] if a break ends it.
    left: [u32; CBOR_KEY_DEPTH],
}

impl<'a> Side<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Side { items: Items::new(bytes), head: Head::default(), left: [0; CBOR_KEY_DEPTH] }
    }

    /// Reads the head of the next data item on level `depth`; `false` at the end of the
    /// array or map.
    fn next(&mut self, depth: usize) -> bool {
        let left = depth.checked_sub(1).and_then(|top| self.left.get_mut(top));
        match left {
            Some(0) => return false,
            Some(&mut OPEN) | None => {}
            Some(left) => *left = left.wrapping_sub(1),
        }
        self.read();
        !self.head.is_break()
    }

    /// Reads the next head, which exists because the bytes were read before.
    fn read(&mut self) {
        self.head = self.items.head().unwrap_or_else(Head::of_break);
    }

    /// Opens the current array or map on level `depth`; `None` if that is too deep.
    fn open(&mut self, depth: usize) -> Option<()> {
        let items = u32::try_from(self.head.argument).unwrap_or(0);
        *self.left.get_mut(depth)? = match (self.head.is_indefinite(), self.head.major) {
            (true, _) => OPEN,
            (false, major::MAP) => items.wrapping_mul(2),
            (false, _) => items,
        };
        Some(())
    }

    /// Reads the rest of the current string.
    fn string(&mut self) -> Name<'a> {
        self.items.string(&self.head).unwrap_or_default()
    }
}

/// The order of two strings of the same type.
fn strings(a: &mut Side<'_>, b: &mut Side<'_>) -> Order {
    let (x, y) = (a.string(), b.string());
    let value = x.cmp(&y);
    let len = |name: &Name<'_>| match name.as_bytes() {
        Some(bytes) => bytes.len(),
        None => name.bytes().count(),
    };
    Order { value, form: len(&x).cmp(&len(&y)).then(value) }
}

/// The sort key of a number, a simple value or a tag: floats come last.
fn number(head: &Head) -> (bool, u64) {
    match head.float_width() {
        0 => (false, head.argument),
        _ => (true, float_value(head.info, head.argument)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(first: &[u8], second: &[u8]) -> Option<Ordering> {
        let there = order(first, second).map(|order| order.value);
        let back = order(second, first).map(|order| order.value.reverse());
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
        let order = order(b"\x61b", b"\x62aa").unwrap();
        assert_eq!(order, Order { value: Ordering::Greater, form: Ordering::Less });
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
