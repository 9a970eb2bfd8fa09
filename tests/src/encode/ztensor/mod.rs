//! zTensor 0.1: magic, aligned blobs, a CBOR index at the end and its length.
//!
//! [`File`] describes the writer's input. [`File::draft`] lays it out like the published writer; a
//! [`Draft`] is the file in parts, so that a test can change any part before [`Draft::finish`]
//! joins them.

pub mod cbor;
pub mod later;
pub mod random;
pub mod sparse;
pub mod zstd;

pub use cbor::Item;
use sha2::{Digest, Sha256};

/// The first eight bytes of a file of generation 0.1.
pub const MAGIC: [u8; 8] = *b"ZTEN0001";

/// The 13 data types of the specification and their bytes per element.
pub const DTYPES: [(&str, u64); 13] = [
    ("float64", 8),
    ("float32", 4),
    ("float16", 2),
    ("bfloat16", 2),
    ("int64", 8),
    ("int32", 4),
    ("int16", 2),
    ("int8", 1),
    ("uint64", 8),
    ("uint32", 4),
    ("uint16", 2),
    ("uint8", 1),
    ("bool", 1),
];

/// Bytes per element of `dtype`; `None` if it is not one of the 13.
pub fn width(dtype: &str) -> Option<u64> {
    DTYPES.iter().find(|d| d.0 == dtype).map(|d| d.1)
}

/// The contents of the `checksum` field.
#[derive(Clone, Debug, PartialEq)]
pub enum Checksum {
    /// No field.
    None,
    /// CRC-32C of the stored bytes, as the published writer spells it.
    Crc32c,
    /// SHA-256 of the stored bytes, lower-case.
    Sha256,
    /// This text.
    Text(String),
}

/// One tensor, as given to a writer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Field `name`.
    pub name: String,
    /// Field `dtype`.
    pub dtype: String,
    /// Field `shape`.
    pub shape: Vec<u64>,
    /// Field `layout`.
    pub layout: String,
    /// Field `encoding`.
    pub encoding: String,
    /// Field `data_endianness`; omitted if `None`.
    pub endianness: Option<String>,
    /// Field `checksum`.
    pub checksum: Checksum,
    /// Further fields, in this order after the known ones.
    pub custom: Vec<(String, Item)>,
    /// The stored bytes: already compressed and byte-swapped.
    pub blob: Vec<u8>,
}

impl Tensor {
    /// A dense raw tensor; marked as little-endian where the published writer does so.
    pub fn raw(name: &str, dtype: &str, shape: &[u64], blob: Vec<u8>) -> Self {
        let multi_byte = width(dtype).is_some_and(|w| w > 1);
        Self {
            name: name.to_owned(),
            dtype: dtype.to_owned(),
            shape: shape.to_vec(),
            layout: "dense".to_owned(),
            encoding: "raw".to_owned(),
            endianness: multi_byte.then(|| "little".to_owned()),
            checksum: Checksum::None,
            custom: Vec::new(),
            blob,
        }
    }

    /// A dense tensor with `data` compressed by the C library.
    pub fn zstd(name: &str, dtype: &str, shape: &[u64], data: &[u8]) -> Self {
        Self::framed(name, dtype, shape, zstd::compress(data))
    }

    /// A dense zstd tensor with these stored bytes.
    pub fn framed(name: &str, dtype: &str, shape: &[u64], blob: Vec<u8>) -> Self {
        Self {
            endianness: None,
            encoding: "zstd".to_owned(),
            ..Self::raw(name, dtype, shape, blob)
        }
    }

    /// The same tensor with each unit of `width` bytes reversed, marked "big".
    pub fn big_endian(mut self) -> Self {
        let width = width(&self.dtype).unwrap_or(1) as usize;
        self.blob.chunks_mut(width).for_each(<[u8]>::reverse);
        self.endianness = Some("big".to_owned());
        self
    }

    /// The same tensor with a different checksum.
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = checksum;
        self
    }

    /// The same tensor with a different layout.
    pub fn layout(mut self, layout: &str) -> Self {
        self.layout = layout.to_owned();
        self
    }

    /// The same tensor with one more custom field.
    pub fn custom(mut self, key: &str, value: Item) -> Self {
        self.custom.push((key.to_owned(), value));
        self
    }

    /// The text of the `checksum` field.
    pub fn checksum_text(&self) -> Option<String> {
        match &self.checksum {
            Checksum::None => None,
            Checksum::Crc32c => Some(format!("crc32c:0x{:08X}", crc32c::crc32c(&self.blob))),
            Checksum::Sha256 => {
                let digest = Sha256::digest(&self.blob);
                let hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
                Some(format!("sha256:{hex}"))
            }
            Checksum::Text(text) => Some(text.clone()),
        }
    }

    /// The tensor's map, in the published writer's key order.
    fn entry(&self, offset: u64) -> Entry {
        let mut pairs = vec![
            (Item::text("name"), Item::text(&self.name)),
            (Item::text("offset"), Item::Uint(offset)),
            (Item::text("size"), Item::Uint(self.blob.len() as u64)),
            (Item::text("dtype"), Item::text(&self.dtype)),
            (Item::text("layout"), Item::text(&self.layout)),
            (Item::text("shape"), Item::Array(self.shape.iter().map(|&d| Item::Uint(d)).collect())),
            (Item::text("encoding"), Item::text(&self.encoding)),
        ];
        if let Some(order) = &self.endianness {
            pairs.push((Item::text("data_endianness"), Item::text(order)));
        }
        if let Some(text) = self.checksum_text() {
            pairs.push((Item::text("checksum"), Item::Text(text)));
        }
        pairs.extend(self.custom.iter().map(|(k, v)| (Item::text(k), v.clone())));
        Entry { pairs }
    }
}

/// A whole file, as given to a writer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The tensors in order.
    pub tensors: Vec<Tensor>,
}

impl File {
    /// A file of these tensors.
    pub fn of(tensors: impl IntoIterator<Item = Tensor>) -> Self {
        Self { tensors: tensors.into_iter().collect() }
    }

    /// Offset of each tensor's blob: the next multiple of 64, whether empty or not.
    pub fn offsets(&self) -> Vec<u64> {
        let mut end = 8;
        let mut offsets = Vec::new();
        for tensor in &self.tensors {
            let at = u64::next_multiple_of(end, 64);
            offsets.push(at);
            end = at + tensor.blob.len() as u64;
        }
        offsets
    }

    /// The file in parts, laid out like the published writer's.
    pub fn draft(&self) -> Draft {
        let mut body = MAGIC.to_vec();
        let offsets = self.offsets();
        for (tensor, &at) in self.tensors.iter().zip(&offsets) {
            body.resize(at as usize, 0);
            body.extend_from_slice(&tensor.blob);
        }
        let entries = self.tensors.iter().zip(&offsets).map(|(t, &at)| t.entry(at)).collect();
        Draft { body, entries, index: None, index_size: None, tail: Vec::new() }
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        self.draft().finish()
    }
}

/// One tensor's map, pair by pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Keys and values in writing order.
    pub pairs: Vec<(Item, Item)>,
}

impl Entry {
    /// Replaces the value of a text key; panics if the key is missing.
    pub fn set(&mut self, key: &str, value: Item) -> &mut Self {
        let wanted = Item::text(key);
        let pair = self.pairs.iter_mut().find(|p| p.0 == wanted).expect("the key is there");
        pair.1 = value;
        self
    }

    /// Renames a text key; panics if it is missing.
    pub fn rename(&mut self, key: &str, to: Item) -> &mut Self {
        let wanted = Item::text(key);
        let pair = self.pairs.iter_mut().find(|p| p.0 == wanted).expect("the key is there");
        pair.0 = to;
        self
    }

    /// Removes a text key.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        let wanted = Item::text(key);
        self.pairs.retain(|p| p.0 != wanted);
        self
    }

    /// Appends a pair.
    pub fn push(&mut self, key: Item, value: Item) -> &mut Self {
        self.pairs.push((key, value));
        self
    }
}

/// A file in parts, to be changed before they are joined.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Everything before the index: magic, padding, blobs.
    pub body: Vec<u8>,
    /// The maps of the index, in the published writer's form.
    pub entries: Vec<Entry>,
    /// Replaces the index, by default a definite array of [`Draft::entries`].
    pub index: Option<Item>,
    /// Replaces the actual length of the index in the length field.
    pub index_size: Option<u64>,
    /// Bytes after the length field.
    pub tail: Vec<u8>,
}

impl Draft {
    /// The maps as items of indefinite length.
    pub fn maps(&self) -> Vec<Item> {
        self.entries.iter().map(|e| Item::MapIndefinite(e.pairs.clone())).collect()
    }

    /// The encoded index.
    pub fn index_bytes(&self) -> Vec<u8> {
        self.index.as_ref().map_or_else(|| Item::Array(self.maps()).encode(), Item::encode)
    }

    /// Joins the parts into a file.
    pub fn finish(&self) -> Vec<u8> {
        let index = self.index_bytes();
        let size = self.index_size.unwrap_or(index.len() as u64);
        let mut out = self.body.clone();
        out.extend_from_slice(&index);
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&self.tail);
        out
    }
}
