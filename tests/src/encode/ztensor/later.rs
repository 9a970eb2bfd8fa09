//! zTensor 1.0 to 2: aligned blobs, and a manifest of objects and their parts.
//!
//! [`Later`] describes the writer's input. [`Later::draft`] lays it out like the published writers
//! of its generation; a [`LaterDraft`] is the file in parts, so that a test can change any part
//! before [`LaterDraft::finish`] joins them.

use super::Item;
use weighbridge_core::codec::checksum::{Algorithm, Hasher};

/// The magic of generation 2.
pub const MAGIC_2: [u8; 8] = *b"\x89ZT2\r\n\x1A\n";

/// A generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// 1.0.
    V1_0,
    /// 1.1.
    V1_1,
    /// 1.2.
    V1_2,
    /// 2.
    V2,
}

impl Generation {
    fn is_two(self) -> bool {
        self == Generation::V2
    }

    /// The key of the objects, that of a layout, and that of parts.
    fn keys(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Generation::V1_0 => ("tensors", "format", "components"),
            Generation::V2 => ("objects", "layout", "parts"),
            _ => ("objects", "format", "components"),
        }
    }
}

/// One part of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its role.
    pub role: String,
    /// Its data type.
    pub dtype: String,
    /// Its logical type.
    pub logical: Option<String>,
    /// Its encoding.
    pub encoding: Option<String>,
    /// Number of bytes once decoded, if it is encoded.
    pub decoded: u64,
    /// Its digest.
    pub digest: Option<String>,
    /// The shard that it lies in, and where.
    pub shard: Option<(String, u64, u64)>,
    /// The stored bytes.
    pub blob: Vec<u8>,
}

impl Part {
    /// A raw part.
    pub fn raw(role: &str, dtype: &str, blob: Vec<u8>) -> Self {
        Self {
            role: role.to_owned(),
            dtype: dtype.to_owned(),
            logical: None,
            encoding: None,
            decoded: blob.len() as u64,
            digest: None,
            shard: None,
            blob,
        }
    }

    /// The same part with a logical type.
    pub fn of_type(mut self, logical: &str) -> Self {
        self.logical = Some(logical.to_owned());
        self
    }

    /// The same part with these stored bytes in another encoding.
    pub fn encoded(mut self, encoding: &str, stored: Vec<u8>) -> Self {
        self.encoding = Some(encoding.to_owned());
        self.blob = stored;
        self
    }

    /// The same part with a digest.
    pub fn digest(mut self, text: &str) -> Self {
        self.digest = Some(text.to_owned());
        self
    }

    /// The same part with the XXH3 of its raw bytes.
    pub fn xxh3(self) -> Self {
        let text = format!("xxh3:{:016x}", xxh3(&self.blob));
        self.digest(&text)
    }

    /// The same part in another file.
    pub fn elsewhere(mut self, shard: &str, at: u64, len: u64) -> Self {
        self.shard = Some((shard.to_owned(), at, len));
        self
    }

    fn map(&self, generation: Generation, at: u64) -> Item {
        let mut pairs = Vec::new();
        let mut put = |key: &str, value: Item| pairs.push((Item::text(key), value));
        if generation != Generation::V1_0 {
            put("dtype", Item::text(&self.dtype));
        }
        if let Some(logical) = &self.logical {
            put("type", Item::text(logical));
        }
        let len = self.blob.len() as u64;
        let (at, len) = self.shard.as_ref().map_or((at, len), |(_, at, len)| (*at, *len));
        if generation.is_two() {
            put("blob", Item::Array(vec![Item::Uint(at), Item::Uint(len)]));
            if let Some((shard, ..)) = &self.shard {
                put("shard", Item::text(shard));
            }
        } else {
            put("offset", Item::Uint(at));
            put("length", Item::Uint(len));
        }
        if let Some(encoding) = &self.encoding {
            match generation {
                Generation::V1_2 => put("uncompressed_length", Item::Uint(self.decoded)),
                Generation::V2 => put("decoded_length", Item::Uint(self.decoded)),
                _ => {}
            }
            put("encoding", Item::text(encoding));
        }
        if let Some(digest) = &self.digest {
            put("digest", Item::text(digest));
        }
        Item::Map(pairs)
    }
}

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its layout.
    pub layout: String,
    /// Its attributes.
    pub attributes: Option<Item>,
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Object {
    /// An object of these parts.
    pub fn of(name: &str, shape: &[u64], layout: &str, parts: Vec<Part>) -> Self {
        let (name, layout) = (name.to_owned(), layout.to_owned());
        Self { name, shape: shape.to_vec(), layout, attributes: None, parts }
    }

    /// A dense object of raw bytes.
    pub fn dense(name: &str, dtype: &str, shape: &[u64], blob: Vec<u8>) -> Self {
        Self::of(name, shape, "dense", vec![Part::raw("data", dtype, blob)])
    }

    /// The same object with an attribute map.
    pub fn attributes(mut self, attributes: Item) -> Self {
        self.attributes = Some(attributes);
        self
    }
}

/// A whole file, as given to a writer.
#[derive(Clone, Debug, PartialEq)]
pub struct Later {
    /// Its generation.
    pub generation: Generation,
    /// Its objects.
    pub objects: Vec<Object>,
    /// Its attributes.
    pub attributes: Option<Item>,
    /// Its table of shards.
    pub shards: Option<Item>,
    /// Alignment of blobs.
    pub alignment: u64,
}

impl Later {
    /// A file of these objects.
    pub fn of(generation: Generation, objects: impl IntoIterator<Item = Object>) -> Self {
        let alignment = if generation.is_two() { 4096 } else { 64 };
        let objects = objects.into_iter().collect();
        Self { generation, objects, attributes: None, shards: None, alignment }
    }

    /// The file in parts.
    pub fn draft(&self) -> LaterDraft {
        let two = self.generation.is_two();
        let mut body = if two { MAGIC_2.to_vec() } else { b"ZTEN1000".to_vec() };
        let (objects_key, layout_key, parts_key) = self.generation.keys();
        let mut objects = Vec::new();
        for object in &self.objects {
            let mut parts = Vec::new();
            for part in &object.parts {
                let at = body.len().next_multiple_of(self.alignment as usize);
                if part.shard.is_none() {
                    body.resize(at, 0);
                    body.extend_from_slice(&part.blob);
                }
                let role = Item::text(&part.role);
                parts.push((role, part.map(self.generation, at as u64)));
            }
            let shape = object.shape.iter().map(|&dim| Item::Uint(dim)).collect();
            let mut pairs = vec![(Item::text("shape"), Item::Array(shape))];
            if self.generation == Generation::V1_0 {
                let values = object.parts.iter().find(|part| part.role == "values");
                let dtype = &values.or(object.parts.first()).expect("a part").dtype;
                pairs.push((Item::text("dtype"), Item::text(dtype)));
            }
            pairs.push((Item::text(layout_key), Item::text(&object.layout)));
            if let Some(attributes) = &object.attributes {
                pairs.push((Item::text("attributes"), attributes.clone()));
            }
            pairs.push((Item::text(parts_key), Item::Map(parts)));
            objects.push((Item::text(&object.name), Item::Map(pairs)));
        }
        let mut root = Vec::new();
        match self.generation {
            Generation::V1_0 => root.push((Item::text("version"), Item::text("1.0"))),
            Generation::V1_1 => root.push((Item::text("version"), Item::text("1.1.0"))),
            Generation::V1_2 => root.push((Item::text("version"), Item::text("1.2.0"))),
            Generation::V2 => {}
        }
        if self.generation == Generation::V1_0 {
            root.push((Item::text("generator"), Item::text("zTensor-Rust v0.1.0")));
        }
        if let Some(attributes) = &self.attributes {
            root.push((Item::text("attributes"), attributes.clone()));
        }
        if let Some(shards) = &self.shards {
            root.push((Item::text("shards"), shards.clone()));
        }
        root.push((Item::text(objects_key), Item::Map(objects)));
        let mut root = Item::Map(root);
        if two {
            sort(&mut root);
            body.resize(body.len().next_multiple_of(self.alignment as usize), 0);
        }
        LaterDraft {
            generation: self.generation,
            body,
            root,
            after: Vec::new(),
            size: None,
            place: None,
            hash: None,
            version: 2,
        }
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        self.draft().finish()
    }
}

/// A file in parts, to be changed before they are joined.
#[derive(Clone, Debug)]
pub struct LaterDraft {
    /// Its generation.
    pub generation: Generation,
    /// Everything before the manifest.
    pub body: Vec<u8>,
    /// The manifest.
    pub root: Item,
    /// Bytes after the manifest, within its length.
    pub after: Vec<u8>,
    /// Replaces the length of the manifest.
    pub size: Option<u64>,
    /// Replaces the offset of the manifest (2).
    pub place: Option<u64>,
    /// Replaces the hash of the manifest (2).
    pub hash: Option<u64>,
    /// The version in the footer (2).
    pub version: u32,
}

impl LaterDraft {
    /// The value at a path of text keys; panics if it is missing.
    pub fn at(&mut self, path: &[&str]) -> &mut Item {
        path.iter().fold(&mut self.root, |item, key| {
            let wanted = Item::text(key);
            let pair = pairs(item).iter_mut().find(|(key, _)| *key == wanted);
            &mut pair.unwrap_or_else(|| panic!("no {key}")).1
        })
    }

    /// Replaces the value at a path.
    pub fn set(&mut self, path: &[&str], value: Item) {
        *self.at(path) = value;
    }

    /// Appends a pair to the map at a path.
    pub fn push(&mut self, path: &[&str], key: Item, value: Item) {
        pairs(self.at(path)).push((key, value));
    }

    /// Removes a key of the map at a path.
    pub fn remove(&mut self, path: &[&str], key: &str) {
        pairs(self.at(path)).retain(|(found, _)| *found != Item::text(key));
    }

    /// Renames a key of the map at a path.
    pub fn rename(&mut self, path: &[&str], key: &str, to: Item) {
        let wanted = Item::text(key);
        let pair = pairs(self.at(path)).iter_mut().find(|(found, _)| *found == wanted);
        pair.expect("the key is there").0 = to;
    }

    /// Joins the parts into a file.
    pub fn finish(&self) -> Vec<u8> {
        let mut manifest = self.root.encode();
        manifest.extend_from_slice(&self.after);
        let size = self.size.unwrap_or(manifest.len() as u64);
        let mut out = self.body.clone();
        let at = self.place.unwrap_or(out.len() as u64);
        out.extend_from_slice(&manifest);
        if self.generation.is_two() {
            out.extend_from_slice(&at.to_le_bytes());
            out.extend_from_slice(&size.to_le_bytes());
            out.extend_from_slice(&self.hash.unwrap_or_else(|| xxh3(&manifest)).to_le_bytes());
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&MAGIC_2);
            return out;
        }
        out.extend_from_slice(&size.to_le_bytes());
        if self.generation != Generation::V1_0 {
            out.extend_from_slice(b"ZTEN1000");
        }
        out
    }
}

fn pairs(item: &mut Item) -> &mut Vec<(Item, Item)> {
    match item {
        Item::Map(pairs) => pairs,
        other => panic!("{other:?} is no map"),
    }
}

/// Sorts the keys of all maps by their encoded bytes, as generation 2 requires.
fn sort(item: &mut Item) {
    match item {
        Item::Map(pairs) => {
            pairs.iter_mut().for_each(|(_, value)| sort(value));
            pairs.sort_by_key(|(key, _)| key.encode());
        }
        Item::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// XXH3 of 64 bits.
pub fn xxh3(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::new(Algorithm::Xxh3).expect("this build has it");
    hasher.update(bytes);
    hasher.finish().head()
}

/// `data` in the form `zt.zstd-seekable/1`: frames of `each` bytes with content checksums, and a
/// seek table in a skippable frame.
pub fn seekable(data: &[u8], each: usize) -> Vec<u8> {
    let (mut out, mut table) = (Vec::new(), Vec::new());
    for piece in data.chunks(each) {
        let frame = super::zstd::compress_with(piece, 3, true);
        table.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        table.extend_from_slice(&(piece.len() as u32).to_le_bytes());
        out.extend_from_slice(&frame);
    }
    let count = (table.len() / 8) as u32;
    out.extend_from_slice(&0x184D_2A5E_u32.to_le_bytes());
    out.extend_from_slice(&(table.len() as u32 + 9).to_le_bytes());
    out.extend_from_slice(&table);
    out.extend_from_slice(&count.to_le_bytes());
    out.push(0);
    out.extend_from_slice(&0x8F92_EAB1_u32.to_le_bytes());
    out
}
