//! Data items of a manifest, read in place from bytes that are well formed.

use crate::base::cbor::{Head, major};
use crate::base::limits::CBOR_DEPTH;
use crate::base::widen;
use crate::input::Span;
use crate::model::{Name, NameAt, NameEncoding};

/// Stands for the number of items if a break ends them.
const OPEN: u64 = u64::MAX;

/// A data item with its content.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node<'a> {
    /// Offset of the item, tags included.
    pub(super) at: u64,
    /// Offset of its head.
    pub(super) head_at: u64,
    /// Offset of its end.
    pub(super) end: u64,
    pub(super) head: Head,
    /// What follows the head.
    content: &'a [u8],
}

impl<'a> Node<'a> {
    /// All bytes of the item.
    pub(super) fn span(&self) -> Span {
        Span::between(self.at, self.end)
    }

    /// The text; `None` if it is of another type.
    pub(super) fn text(&self) -> Option<Name<'a>> {
        let encoding = match self.head.is_indefinite() {
            true => NameEncoding::Chunks,
            false => NameEncoding::Plain,
        };
        (self.head.major == major::TEXT).then(|| Name::new(self.content, encoding))
    }

    /// Where the text is stored.
    pub(super) fn text_at(&self) -> NameAt {
        let end = self.end.saturating_sub(u64::from(self.head.is_indefinite()));
        let text = self.text().unwrap_or_default();
        text.at(end.saturating_sub(widen(self.content.len())))
    }

    /// Whether it is a text in one piece.
    pub(super) fn is_plain_text(&self) -> bool {
        self.head.major == major::TEXT && !self.head.is_indefinite() && self.at == self.head_at
    }

    /// The unsigned integer; `None` if it is of another type.
    pub(super) fn uint(&self) -> Option<u64> {
        (self.head.major == major::UINT).then_some(self.head.argument)
    }

    pub(super) fn is_map(&self) -> bool {
        self.head.major == major::MAP
    }

    pub(super) fn is_array(&self) -> bool {
        self.head.major == major::ARRAY
    }

    /// The items of an array, or the keys and values of a map, one after the other.
    pub(super) fn items(&self) -> Nodes<'a> {
        if !self.head.is_container() {
            return Nodes::default();
        }
        let pairs = u32::from(self.is_map());
        let left = match self.head.is_indefinite() {
            true => OPEN,
            false => self.head.argument.saturating_mul(1 << pairs),
        };
        let breaks = u64::from(self.head.is_indefinite());
        let at = self.end.saturating_sub(breaks).saturating_sub(widen(self.content.len()));
        Nodes { run: self.content, at, left }
    }

    /// The pairs of a map.
    pub(super) fn pairs(&self) -> Pairs<'a> {
        Pairs(if self.is_map() { self.items() } else { Nodes::default() })
    }

    /// The value of a text key.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let is = |node: &Node<'_>| node.text().is_some_and(|text| text == *key);
        self.pairs().find(|(found, _)| is(found)).map(|(_, value)| value)
    }
}

/// Data items, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes<'a> {
    run: &'a [u8],
    at: u64,
    left: u64,
}

impl<'a> Nodes<'a> {
    /// The items of `bytes`, which lie at `at`.
    pub(super) fn new(bytes: &'a [u8], at: u64) -> Self {
        Nodes { run: bytes, at, left: OPEN }
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        if self.left == 0 {
            return None;
        }
        let offset = |from: &[u8], at: u64, rest: &[u8]| {
            at.saturating_add(widen(from.len().saturating_sub(rest.len())))
        };
        let mut head = Head::default();
        let (start, mut from) = (self.run, self.run);
        let mut rest = head.split(from)?;
        while head.major == major::TAG {
            from = rest;
            rest = head.split(from)?;
        }
        if head.is_break() {
            self.left = 0;
            return None;
        }
        let after = past(&head, rest)?;
        let len = rest.len().saturating_sub(after.len());
        let content = rest.get(..len.saturating_sub(usize::from(head.is_indefinite())))?;
        let node = Node {
            at: self.at,
            head_at: offset(start, self.at, from),
            end: offset(start, self.at, after),
            head,
            content,
        };
        (self.run, self.at) = (after, node.end);
        if self.left != OPEN {
            self.left = self.left.saturating_sub(1);
        }
        Some(node)
    }
}

/// The pairs of a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs<'a>(Nodes<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Node<'a>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// What follows the item whose head is `first` and whose content begins `run`; `None` if the
/// bytes are not well formed, or nest too deep.
fn past<'a>(first: &Head, mut run: &'a [u8]) -> Option<&'a [u8]> {
    let mut head = *first;
    let mut outside = [0_u64; CBOR_DEPTH + 1];
    let mut depth = 0_usize;
    // Number of items left on the innermost level.
    let mut left = 0_u64;
    loop {
        if head.is_break() {
            depth = depth.checked_sub(1)?;
            left = outside.get(depth).copied()?;
        } else if head.is_container() || head.is_string() && head.is_indefinite() {
            *outside.get_mut(depth)? = left;
            depth = depth.saturating_add(1);
            let pairs = u32::from(head.major == major::MAP);
            left = match head.is_indefinite() {
                true => OPEN,
                false => head.argument.saturating_mul(1 << pairs),
            };
        } else if head.is_string() {
            run = run.get(usize::try_from(head.argument).ok()?..)?;
        }
        if head.major != major::TAG {
            while left == 0 {
                let Some(above) = depth.checked_sub(1) else { return Some(run) };
                depth = above;
                left = outside.get(depth).copied()?;
            }
            if depth == 0 {
                return Some(run);
            }
        }
        run = head.split(run)?;
        if !head.is_break() && head.major != major::TAG && left != OPEN {
            left = left.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_with_their_content() {
        let bytes = b"\xA2\x61a\x82\x01\x9F\x02\xFF\x7F\x61b\x61c\xFF\xC1\xF6\x05";
        let nodes: std::vec::Vec<_> = Nodes::new(bytes, 100).collect();
        assert_eq!(nodes.len(), 2);
        assert_eq!((nodes[0].at, nodes[0].end, nodes[1].at), (100, 116, 116));
        let array = nodes[0].get("a").unwrap();
        assert_eq!((array.at, array.end), (103, 108));
        assert_eq!(array.items().count(), 2);
        let null = nodes[0].get("bc").unwrap();
        assert_eq!((null.at, null.head_at, null.end), (114, 115, 116));
        let (key, _) = nodes[0].pairs().nth(1).unwrap();
        assert_eq!(key.text_at().offset, 109);
        assert_eq!(key.text_at().len, 4);
    }

    #[test]
    fn items_that_are_cut_end_the_list() {
        for cut in [&b"\x82\x01"[..], b"\x62a", b"\x9F\x01", b"\xA1\x01", b"\x1C"] {
            assert_eq!(Nodes::new(cut, 0).count(), 0, "{cut:X?}");
        }
    }
}
