//! An iterator over CBOR data items, for display and conversion.

use crate::base::cbor::{Head, major};
use crate::model::{Name, NameEncoding};
use half::f16;

/// A CBOR data item or break (RFC 8949).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// The negative integer -1 - n.
    Nint(u64),
    /// A byte string.
    Bytes(Name<'a>),
    /// A text string.
    Text(Name<'a>),
    /// The start of an array with this many items; `None` if a break ends it.
    Array(Option<u64>),
    /// The start of a map with this many pairs; `None` if a break ends it.
    Map(Option<u64>),
    /// A tag for the next item.
    Tag(u64),
    /// A simple value; false, true, null and undefined are 20 to 23.
    Simple(u8),
    /// A float.
    Float(f64),
    /// The end of an array or map of indefinite length.
    Break,
}

/// An iterator over the data items in resident bytes, in stored order. It ends at bytes that
/// are not CBOR.
#[derive(Clone, Debug, Default)]
pub struct Items<'a> {
    bytes: &'a [u8],
}

impl<'a> Items<'a> {
    /// The items of `bytes`, such as those of a [`Value::Cbor`](crate::Value::Cbor).
    pub const fn new(bytes: &'a [u8]) -> Self {
        Items { bytes }
    }

    pub(super) fn split(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(len).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Reads the next byte; 0 if there is none.
    pub(super) fn byte(&mut self) -> u8 {
        let (first, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        self.bytes = rest;
        *first
    }

    /// Reads the next head; returns whether there is one.
    pub(super) fn read(&mut self, head: &mut Head) -> bool {
        let len = head.read(self.bytes);
        match self.bytes.get(len..) {
            Some(rest) if len > 0 => self.bytes = rest,
            _ => return false,
        }
        true
    }

    /// Reads the rest of the text or byte string with this `head`.
    fn string(&mut self, head: &Head) -> Option<Name<'a>> {
        if !head.is_indefinite() {
            return Some(Name::new(self.split(head.argument)?, NameEncoding::Plain));
        }
        let start = self.bytes;
        let mut chunk = Head::default();
        loop {
            let before = self.bytes.len();
            if !self.read(&mut chunk) {
                return None;
            }
            if chunk.is_break() {
                let chunks = start.get(..start.len().saturating_sub(before))?;
                return Some(Name::new(chunks, NameEncoding::Chunks));
            }
            if chunk.major != head.major || chunk.is_indefinite() {
                return None;
            }
            self.split(chunk.argument)?;
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let mut head = Head::default();
        if !self.read(&mut head) {
            return None;
        }
        let count = (!head.is_indefinite()).then_some(head.argument);
        Some(match head.major {
            major::UINT => Item::Uint(head.argument),
            major::NINT => Item::Nint(head.argument),
            major::BYTES => Item::Bytes(self.string(&head)?),
            major::TEXT => Item::Text(self.string(&head)?),
            major::ARRAY => Item::Array(count),
            major::MAP => Item::Map(count),
            major::TAG => Item::Tag(head.argument),
            _ => other(&head)?,
        })
    }
}

/// Returns the float, simple value or break with this `head`.
fn other<'a>(head: &Head) -> Option<Item<'a>> {
    let bits = head.argument;
    Some(match head.float_width() {
        2 => Item::Float(f16::from_bits(u16::try_from(bits).ok()?).to_f64()),
        4 => Item::Float(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        8 => Item::Float(f64::from_bits(bits)),
        _ if head.is_break() => Item::Break,
        _ => Item::Simple(u8::try_from(bits).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cbor_item_of_every_kind_is_read() {
        let name = |bytes| Name::new(bytes, NameEncoding::Plain);
        let bytes = b"\x05\x20\x41a\x61b\x82\xA1\x9F\xFF\xC1\xF5\xF9\x3E\x00\xFA\x3F\xC0\0\0\
            \xFB\x3F\xF8\0\0\0\0\0\0\x7F\x61c\x61d\xFF\xF8\xFF";
        let items: std::vec::Vec<_> = Items::new(bytes).collect();
        assert_eq!(
            items[..8],
            [
                Item::Uint(5),
                Item::Nint(0),
                Item::Bytes(name(b"a")),
                Item::Text(name(b"b")),
                Item::Array(Some(2)),
                Item::Map(Some(1)),
                Item::Array(None),
                Item::Break,
            ]
        );
        assert_eq!(
            items[8..13],
            [Item::Tag(1), Item::Simple(21), Item::Float(1.5), Item::Float(1.5), Item::Float(1.5),]
        );
        assert_eq!(items[13..], [Item::Text(name(b"cd")), Item::Simple(255)]);
        assert_eq!(Items::new(b"\x1C").count(), 0);
        assert_eq!(Items::new(b"\x62a").count(), 0);
    }
}
