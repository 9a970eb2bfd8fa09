//! One part of an object: its type, its place, how it is stored, and its digest.

use super::super::{checksum, field, rules};
use super::node::Node;
use super::types::{self, Typed};
use super::{Generation, Header, PAGE, digest};
use crate::input::Span;
use crate::model::{DType, Encoding};
use crate::parse::Reader;
use crate::rule::{Rule, Severity, general};

/// A part as its map describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The type of its elements; unknown if the file does not say it.
    pub(super) dtype: DType,
    /// The data type without a logical one; unknown if there is a logical one.
    pub(super) plain: DType,
    /// Its place in this file, or in another.
    pub(super) blob: Option<Span>,
    /// Number of bytes once decoded; `None` if it is not recorded.
    pub(super) decoded: Option<u64>,
    pub(super) encoding: Encoding,
    /// Whether the data is in another file.
    pub(super) elsewhere: bool,
    /// A fatal fault was found.
    pub(super) broken: bool,
    /// A value is unknown to this build, so that the elements are not checked.
    pub(super) unknown: bool,
}

/// Reads and reports on the fields of one part.
struct Fields<'f, 'r, 'w, 'a> {
    header: &'f Header,
    r: &'f mut Reader<'r, 'w>,
    map: Node<'a>,
    part: Part,
}

impl Part {
    /// The part in `map`, in the role `key` of an object whose data type is `owner`, if objects
    /// have one.
    pub(super) fn read<'a>(
        header: &Header,
        r: &mut Reader<'_, '_>,
        (key, map): (Node<'a>, Node<'a>),
        owner: Option<Node<'a>>,
    ) -> Part {
        let part = Part {
            dtype: DType::Unknown,
            plain: DType::Unknown,
            blob: None,
            decoded: None,
            encoding: Encoding::Raw,
            elsewhere: false,
            broken: false,
            unknown: false,
        };
        let mut fields = Fields { header, r, map, part };
        fields.all(&key, owner);
        fields.part
    }

    /// Number of elements of its type in its decoded data, and whether they fill it.
    pub(super) fn elements(&self) -> Option<(u64, bool)> {
        types::elements(self.dtype, self.decoded?)
    }
}

impl<'a> Fields<'_, '_, '_, 'a> {
    fn is_two(&self) -> bool {
        self.header.generation == Generation::Two
    }

    fn all(&mut self, key: &Node<'a>, owner: Option<Node<'a>>) {
        let two = self.is_two();
        if two && key.text().is_some_and(|name| !super::attributes::is_name(&name)) {
            self.flag(rules::OBJECT_NAME_FORM, key, 0, 0);
        }
        let map = self.map;
        if !map.is_map() {
            return self.flag(rules::PART_MAP, &map, 0, 0);
        }
        self.dtype(key, owner);
        self.encoding();
        let placed = if two { self.blob() } else { self.offset_and_length() };
        if let Some(blob) = placed {
            self.part.blob = Some(blob);
            if self.part.encoding == Encoding::Raw {
                self.part.decoded = Some(blob.len);
            }
        }
        self.digest();
    }

    fn flag(&mut self, rule: Rule, node: &Node<'_>, expected: u64, found: u64) {
        self.part.broken |= rule.severity() == Severity::Fatal;
        let span = node.span();
        self.r.flag(rule, span.offset, span.len, expected, found);
    }

    fn flag_map(&mut self, rule: Rule) {
        self.part.broken |= rule.severity() == Severity::Fatal;
        self.r.flag(rule, self.map.at, 1, 0, 0);
    }

    fn dtype(&mut self, key: &Node<'a>, owner: Option<Node<'a>>) {
        if self.header.generation == Generation::One0 {
            // The object's type is that of its values; indices have 64 bits.
            self.part.dtype = match key.text() {
                Some(role) if ["indices", "indptr", "coords"].iter().any(|name| role == **name) => {
                    DType::U64
                }
                Some(role) if role == *"data" || role == *"values" => {
                    let word = owner.and_then(|owner| owner.text());
                    word.and_then(|word| types::long(&word)).unwrap_or(DType::Unknown)
                }
                _ => DType::Unknown,
            };
            self.part.unknown = self.part.dtype == DType::Unknown;
            self.part.plain = self.part.dtype;
            return;
        }
        let two = self.is_two();
        let Some(node) = self.map.get("dtype") else { return self.flag_map(rules::PART_DTYPE) };
        let Some(stored) = node.text().and_then(|word| types::short(&word, two)) else {
            return self.flag(rules::PART_DTYPE, &node, 0, 0);
        };
        self.part.dtype = stored;
        let Some(node) = self.map.get("type").filter(|node| two || !node.head.is_null()) else {
            self.part.plain = stored;
            return;
        };
        let Some(word) = node.text() else { return self.flag(rules::PART_TYPE, &node, 0, 0) };
        match types::logical(&word, stored) {
            Typed::As(dtype) => self.part.dtype = dtype,
            Typed::Otherwise => self.flag(rules::PART_TYPE, &node, 0, 0),
            Typed::Unknown if types::short(&word, two) == Some(stored) => {}
            Typed::Unknown => {
                self.part.dtype = DType::Unknown;
                self.part.unknown = true;
                self.flag(rules::PART_TYPE_UNKNOWN, &node, 0, 0);
            }
        }
    }

    fn encoding(&mut self) {
        let two = self.is_two();
        let key = if two { "decoded_length" } else { "uncompressed_length" };
        let length = self.map.get(key).filter(|node| two || !node.head.is_null());
        let encoding = self.map.get("encoding").filter(|node| two || !node.head.is_null());
        let decoded = length.and_then(|node| node.uint());
        if let (Some(node), None) = (length, decoded) {
            self.flag(rules::PART_DECODED, &node, 0, 0);
        }
        let Some(node) = encoding else {
            if let (true, Some(length)) = (two, length) {
                self.flag(rules::PART_DECODED, &length, 0, 0);
            }
            return;
        };
        let Some(word) = node.text() else { return self.flag(rules::PART_ENCODING, &node, 0, 0) };
        self.part.encoding = if two {
            if word == *"zt.zstd-seekable/1" { Encoding::Zstd } else { Encoding::Unknown }
        } else if word == *"raw" {
            Encoding::Raw
        } else if word == *"zstd" {
            Encoding::Zstd
        } else {
            Encoding::Unknown
        };
        match self.part.encoding {
            Encoding::Raw => return,
            Encoding::Unknown => {
                self.part.unknown = true;
                self.flag(rules::ENCODING_UNKNOWN, &node, 0, 0);
            }
            _ => {}
        }
        self.part.decoded = decoded;
        // Generations 1.0 and 1.1 do not record it.
        let states = two || self.header.minor >= 2;
        if length.is_none() && states {
            self.flag(rules::PART_DECODED, &node, 0, 0);
        }
    }

    /// The place before generation 2.
    fn offset_and_length(&mut self) -> Option<Span> {
        let offset = self.map.get("offset");
        let length = self.map.get("length");
        let (Some(at), Some(len)) =
            (offset.and_then(|node| node.uint()), length.and_then(|node| node.uint()))
        else {
            self.flag_map(rules::PART_BLOB);
            return None;
        };
        let node = offset.unwrap_or_default();
        let blob = Span::new(at, len);
        let limit = self.header.data_end();
        if at < field::MAGIC_LEN {
            self.flag(rules::BLOB_MAGIC, &node, field::MAGIC_LEN, at);
            return None;
        }
        if at & field::ALIGN.wrapping_sub(1) != 0 {
            self.flag(rules::BLOB_ALIGN, &node, field::ALIGN, at);
        }
        let file = self.r.source().len();
        match blob.end() {
            Some(end) if end <= limit => return Some(blob),
            None => self.flag(rules::BLOB_OVERFLOW, &node, 0, at),
            Some(_) if len == 0 => {
                self.flag(rules::BLOB_EMPTY_BOUNDS, &node, limit, at);
                return Some(blob);
            }
            Some(end) if end > file => self.flag(rules::BLOB_BOUNDS, &node, file, end),
            Some(end) => self.flag(rules::BLOB_INDEX, &node, limit, end),
        }
        None
    }

    /// The place in generation 2.
    fn blob(&mut self) -> Option<Span> {
        let node = self.map.get("blob");
        let mut numbers = node.filter(Node::is_array).unwrap_or_default().items();
        let pair = (numbers.next(), numbers.next(), numbers.next());
        let (Some(at), Some(len), None) = pair else {
            self.flag_map(rules::PART_BLOB);
            return None;
        };
        let place = node.unwrap_or_default();
        let (Some(at), Some(len)) = (at.uint(), len.uint()) else {
            self.flag(rules::PART_BLOB, &place, 0, 0);
            return None;
        };
        if at & PAGE.wrapping_sub(1) != 0 || at < PAGE {
            self.flag(rules::PAGE_ALIGN, &place, PAGE, at);
        }
        if let Some(shard) = self.map.get("shard") {
            self.part.elsewhere = true;
            if shard.text().is_none() || self.header.shards().is_empty() {
                self.flag(rules::SHARD_UNKNOWN, &shard, 0, 0);
            } else {
                self.part.unknown = true;
                self.flag(rules::SHARD_ELSEWHERE, &shard, 0, 0);
            }
            return Some(Span::new(at, len));
        }
        let blob = Span::new(at, len);
        match blob.end() {
            Some(end) if end <= self.header.data_end() => Some(blob),
            end => {
                let end = end.unwrap_or(u64::MAX);
                self.flag(rules::PAGE_FOOTER, &place, self.header.data_end(), end);
                None
            }
        }
    }

    fn digest(&mut self) {
        let two = self.is_two();
        let node = self.map.get("digest").filter(|node| two || !node.head.is_null());
        let Some(node) = node else { return };
        let Some(text) = node.text() else {
            let rule = if two { rules::DIGEST_FORM } else { rules::TYPE_CHECKSUM };
            self.flag(rule, &node, 0, 0);
            return self.flag(general::CHECKSUM_UNCHECKED, &node, 0, 0);
        };
        let rule = if two { digest::fault(&text) } else { checksum::fault(&text) };
        if let Some(rule) = rule {
            self.flag(rule, &node, 0, 0);
            // What it would have been compared with may be wrong as well.
            if rule.severity() == Severity::Violation {
                self.flag(general::CHECKSUM_UNCHECKED, &node, 0, 0);
            }
        }
    }
}
