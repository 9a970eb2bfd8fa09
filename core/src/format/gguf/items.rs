//! The items of an array, read as far as its bytes are available.

use super::field;
use crate::base::limits;
use crate::model::{DType, Element, Endianness, Name, NameEncoding};

/// One item of a metadata array.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// Text.
    Text(Name<'a>),
    /// A number or a Boolean.
    Number(Element),
    /// An array.
    List(Items<'a>),
}

/// An iterator over the items of a metadata array: `u32` item type, `u64` count, the items.
/// Items are read lazily.
///
/// The iteration ends early if the bytes end or are invalid.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    tag: u32,
    left: u64,
    endianness: Endianness,
    depth: u8,
}

impl<'a> Items<'a> {
    /// Returns the items of the array at the start of `bytes`, whose end may be missing.
    pub fn new(bytes: &'a [u8], endianness: Endianness) -> Self {
        Items::within(bytes, endianness, 0)
    }

    fn within(bytes: &'a [u8], endianness: Endianness, depth: u8) -> Self {
        let mut items = Items { bytes, tag: u32::MAX, left: 0, endianness, depth };
        if depth < limits::GGUF_DEPTH
            && let (Some(tag), Some(left)) = (items.u32(), items.u64())
        {
            (items.tag, items.left) = (tag, left);
        }
        items
    }

    /// Number of declared items that have not been read yet.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// The items' type; `None` for arrays.
    pub fn dtype(&self) -> Option<DType> {
        if self.tag == field::STRING { Some(DType::Text) } else { field::dtype(self.tag) }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take()?;
        Some(match self.endianness {
            Endianness::Little => u32::from_le_bytes(bytes),
            Endianness::Big => u32::from_be_bytes(bytes),
        })
    }

    fn u64(&mut self) -> Option<u64> {
        let bytes = self.take()?;
        Some(match self.endianness {
            Endianness::Little => u64::from_le_bytes(bytes),
            Endianness::Big => u64::from_be_bytes(bytes),
        })
    }

    fn item(&mut self) -> Option<Item<'a>> {
        match self.tag {
            field::STRING => {
                let len = usize::try_from(self.u64()?).ok()?;
                let (text, rest) = self.bytes.split_at_checked(len)?;
                self.bytes = rest;
                Some(Item::Text(Name::new(text, NameEncoding::Plain)))
            }
            field::ARRAY => {
                let list = Items::within(self.bytes, self.endianness, self.depth.saturating_add(1));
                // Only reading its items finds the end of an array.
                let mut end = list.clone();
                end.by_ref().for_each(drop);
                let whole = end.left == 0 && end.tag != u32::MAX;
                self.bytes = if whole { end.bytes } else { &[] };
                (end.tag != u32::MAX).then_some(Item::List(list))
            }
            tag => {
                let dtype = field::dtype(tag)?;
                let width = usize::try_from(field::width(tag)).ok()?;
                let (element, rest) = self.bytes.split_at_checked(width)?;
                self.bytes = rest;
                Some(Item::Number(dtype.element(element, 0, self.endianness)?))
            }
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let left = self.left.checked_sub(1)?;
        let item = self.item();
        if item.is_some() {
            self.left = left;
        } else {
            self.bytes = &[];
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn list(tag: u32, count: u64, items: &[u8]) -> Vec<u8> {
        [&tag.to_le_bytes()[..], &count.to_le_bytes(), items].concat()
    }

    #[test]
    fn string_ends_with_the_file() {
        let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
        let bytes = list(field::STRING, 3, &[text("one"), text(""), text("three")].concat());
        let all = |bytes| Items::new(bytes, Endianness::Little);
        let texts: Vec<_> = all(&bytes)
            .map(|item| match item {
                Item::Text(name) => name.as_str().unwrap_or("?"),
                _ => "no text",
            })
            .collect();
        assert_eq!(texts, ["one", "", "three"]);
        let mut cut = all(&bytes[..bytes.len() - 1]);
        assert_eq!(cut.by_ref().count(), 2);
        assert_eq!(cut.left(), 1);
    }

    #[test]
    fn nested_array_is_skipped() {
        let inner = list(0, 2, &[7, 8]);
        let bytes = list(field::ARRAY, 2, &[inner.clone(), inner].concat());
        let mut sum = 0.0;
        for item in Items::new(&bytes, Endianness::Little) {
            let Item::List(items) = item else { panic!("{item:?}") };
            for item in items {
                let Item::Number(element) = item else { panic!("{item:?}") };
                sum += element.to_f64();
            }
        }
        assert_eq!(sum, 30.0);
    }

    #[test]
    fn array_always_ends() {
        // Arrays nested as deep as the bytes allow.
        let bytes: Vec<u8> =
            std::iter::repeat_n(list(field::ARRAY, 1, &[]), 100).flatten().collect();
        fn depth(items: Items<'_>) -> usize {
            items.map(|item| if let Item::List(list) = item { 1 + depth(list) } else { 0 }).sum()
        }
        assert!(depth(Items::new(&bytes, Endianness::Little)) <= 3);
        let endless = list(field::STRING, u64::MAX, &[0; 80]);
        assert_eq!(Items::new(&endless, Endianness::Little).count(), 10);
    }
}
