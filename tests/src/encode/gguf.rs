//! Writes GGUF according to the section "File Structure" of ggml's `gguf.md`.

use proptest::prelude::*;

/// A file to be encoded.
#[derive(Clone, Debug)]
pub struct File {
    /// 3, or 2 for older files.
    pub version: u32,
    /// Whether the file is big-endian.
    pub big: bool,
    /// The alignment of the data. Unless it is 32, the metadata must say so.
    pub alignment: u64,
    /// Keys and values, in order.
    pub metadata: Vec<(Vec<u8>, Value)>,
    /// The tensors, in the order of both their entries and their data.
    pub tensors: Vec<Tensor>,
}

/// A metadata value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number of this type (0 to 7, 10 to 12), as bits.
    Number(u32, u64),
    /// Text.
    Text(Vec<u8>),
    /// An array of items of this type.
    Array(u32, Vec<Value>),
}

/// One tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The name.
    pub name: Vec<u8>,
    /// The extents, innermost first.
    pub dims: Vec<u64>,
    /// The element type.
    pub ty: u32,
    /// The data.
    pub data: Vec<u8>,
}

/// An encoded file and the offsets of its parts.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Offset of each metadata entry.
    pub metadata: Vec<usize>,
    /// Offset of each value, including the head of an array.
    pub values: Vec<usize>,
    /// Offset of each tensor's entry.
    pub tensors: Vec<usize>,
    /// Offset of each tensor's number of dimensions.
    pub ranks: Vec<usize>,
    /// Offset of the data.
    pub data_at: usize,
    big: bool,
}

/// The element types: type number, elements per block, bytes per block.
pub const TYPES: [(u32, u64, u64); 35] = [
    (0, 1, 4),
    (1, 1, 2),
    (2, 32, 18),
    (3, 32, 20),
    (6, 32, 22),
    (7, 32, 24),
    (8, 32, 34),
    (9, 32, 36),
    (10, 256, 84),
    (11, 256, 110),
    (12, 256, 144),
    (13, 256, 176),
    (14, 256, 210),
    (15, 256, 292),
    (16, 256, 66),
    (17, 256, 74),
    (18, 256, 98),
    (19, 256, 50),
    (20, 32, 18),
    (21, 256, 110),
    (22, 256, 82),
    (23, 256, 136),
    (24, 1, 1),
    (25, 1, 2),
    (26, 1, 4),
    (27, 1, 8),
    (28, 1, 8),
    (29, 256, 56),
    (30, 1, 2),
    (34, 256, 54),
    (35, 256, 66),
    (39, 32, 17),
    (40, 64, 36),
    (41, 128, 18),
    (42, 64, 18),
];

impl Tensor {
    /// A sound tensor filled with ascending bytes.
    pub fn new(name: &str, ty: u32, dims: &[u64]) -> Self {
        let (_, block, width) = TYPES.iter().find(|(code, ..)| *code == ty).copied().unwrap();
        let len = dims.iter().product::<u64>() / block * width;
        let data = (0..len).map(|i| (i % 251) as u8).collect();
        Tensor { name: name.as_bytes().to_vec(), dims: dims.to_vec(), ty, data }
    }
}

impl Value {
    /// A 32-bit number.
    pub fn u32(value: u32) -> Value {
        Value::Number(4, value.into())
    }

    /// A text value.
    pub fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }

    /// An array of texts.
    pub fn texts<T: AsRef<str>>(texts: &[T]) -> Value {
        Value::Array(8, texts.iter().map(|text| Value::text(text.as_ref())).collect())
    }

    fn tag(&self) -> u32 {
        match self {
            Value::Number(tag, _) => *tag,
            Value::Text(_) => 8,
            Value::Array(..) => 9,
        }
    }
}

/// Bytes of a number of this type.
pub fn width(tag: u32) -> usize {
    match tag {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        _ => 8,
    }
}

impl Default for File {
    fn default() -> Self {
        File { version: 3, big: false, alignment: 32, metadata: Vec::new(), tensors: Vec::new() }
    }
}

impl File {
    /// Encodes the file and records the offsets of its parts.
    pub fn encode(&self) -> Encoded {
        let mut out = Encoded { big: self.big, ..Encoded::default() };
        out.bytes.extend(b"GGUF");
        out.number(4, self.version.into());
        out.number(8, self.tensors.len() as u64);
        out.number(8, self.metadata.len() as u64);
        for (key, value) in &self.metadata {
            out.metadata.push(out.bytes.len());
            out.text(key);
            out.number(4, value.tag().into());
            out.values.push(out.bytes.len());
            out.value(value);
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            out.tensors.push(out.bytes.len());
            out.text(&tensor.name);
            out.ranks.push(out.bytes.len());
            out.number(4, tensor.dims.len() as u64);
            for extent in &tensor.dims {
                out.number(8, *extent);
            }
            out.number(4, tensor.ty.into());
            out.number(8, offset);
            offset += (tensor.data.len() as u64).next_multiple_of(self.alignment);
        }
        out.align(self.alignment);
        out.data_at = out.bytes.len();
        for tensor in &self.tensors {
            out.bytes.extend(&tensor.data);
            out.align(self.alignment);
        }
        out
    }
}

impl Encoded {
    fn number(&mut self, width: usize, value: u64) {
        let at = self.bytes.len();
        self.bytes.resize(at + width, 0);
        self.set(at, width, value);
    }

    fn text(&mut self, text: &[u8]) {
        self.number(8, text.len() as u64);
        self.bytes.extend(text);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Number(tag, bits) => self.number(width(*tag), *bits),
            Value::Text(text) => self.text(text),
            Value::Array(tag, items) => {
                self.number(4, (*tag).into());
                self.number(8, items.len() as u64);
                for item in items {
                    self.value(item);
                }
            }
        }
    }

    fn align(&mut self, alignment: u64) {
        let len = self.bytes.len().next_multiple_of(alignment as usize);
        self.bytes.resize(len, 0);
    }

    /// Overwrites the number of `width` bytes at offset `at`.
    pub fn set(&mut self, at: usize, width: usize, value: u64) -> &mut Self {
        let place = &mut self.bytes[at..at + width];
        if self.big {
            place.copy_from_slice(&value.to_be_bytes()[8 - width..]);
        } else {
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
        self
    }

    /// Offset of extent `i` of tensor `tensor`.
    pub fn extent(&self, tensor: usize, i: usize) -> usize {
        self.ranks[tensor] + 4 + 8 * i
    }
}

/// Sound values, without nested arrays.
fn value() -> impl Strategy<Value = Value> {
    let number = |tag: u32| {
        any::<u64>().prop_map(move |bits| {
            let bits = if tag == 7 { bits & 1 } else { bits };
            Value::Number(tag, bits & (u64::MAX >> (64 - 8 * width(tag))))
        })
    };
    let tag = prop::sample::select(vec![0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12]);
    let text = || "\\PC{0,20}".prop_map(|text| Value::text(&text));
    prop_oneof![
        tag.clone().prop_flat_map(number),
        text(),
        tag.prop_flat_map(move |tag| {
            prop::collection::vec(number(tag), 0..9).prop_map(move |items| Value::Array(tag, items))
        }),
        prop::collection::vec(text(), 0..9).prop_map(|items| Value::Array(8, items)),
    ]
}

/// Sound files: up to 8 tensors with distinct names in any order.
pub fn arbitrary() -> impl Strategy<Value = File> {
    let shape = prop::collection::vec(1_u64..4, 0..=4);
    let tensors = prop::collection::btree_map("\\PC{1,15}", (0..TYPES.len(), shape), 0..8)
        .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        .prop_shuffle();
    let metadata =
        prop::collection::btree_map("[a-z][a-z0-9_]{0,8}(\\.[a-z_]{1,9}){0,2}", value(), 0..6)
            .prop_map(|map| map.into_iter().collect::<Vec<_>>())
            .prop_shuffle();
    let alignment = prop::sample::select(vec![8_u64, 16, 32, 64, 128]);
    (2..=3_u32, any::<bool>(), alignment, metadata, tensors).prop_map(
        |(version, big, alignment, metadata, tensors)| {
            let big = big && version == 3;
            let mut metadata: Vec<_> =
                metadata.into_iter().map(|(key, value)| (key.into_bytes(), value)).collect();
            let stated = Value::u32(alignment as u32);
            metadata.push((b"general.alignment".to_vec(), stated));
            let make = |(name, (ty, mut dims)): (String, (usize, Vec<u64>))| {
                let (ty, block, _) = TYPES[ty];
                match dims.first_mut() {
                    Some(first) => *first *= block,
                    None if block > 1 => dims.push(block),
                    None => {}
                }
                Tensor::new(&name, ty, &dims)
            };
            let tensors = tensors.into_iter().map(make).collect();
            File { version, big, alignment, metadata, tensors }
        },
    )
}
