//! Nested values.

use crate::encode::{gguf, idv, npy, npz, oinf, safetensors, shards, ztensor};
use weighbridge_core::Format;

/// Files in which something is nested `depth` levels deep, with a description.
pub fn nested(depth: usize) -> Vec<(&'static str, Format, Vec<u8>)> {
    let mut files = Vec::new();
    files.extend(cbor(depth).map(|(what, bytes)| (what, Format::ZTensor, bytes)));
    files.extend(codecs(depth).map(|(what, bytes)| (what, Format::Idv, bytes)));
    files.extend(json(depth).map(|(what, bytes)| (what, Format::Safetensors, bytes)));
    files.extend(index(depth).map(|(what, bytes)| (what, Format::Shards, bytes)));
    files.push(("arrays of metadata", Format::Gguf, arrays(depth)));
    files.push(("array of an array", Format::Oinf, array()));
    files.push(("structured types", Format::Npy, types(depth).encode()));
    let member = npz::Member::new("a", &types(depth));
    let compressed = member.clone().deflated();
    for (what, member) in [("structured types", member), ("compressed types", compressed)] {
        files.push((what, Format::Npz, npz::Npz::new(vec![member]).encode()));
    }
    files
}

/// Nested structured types of an array.
fn types(depth: usize) -> npy::Npy {
    let dictionary = format!("{{'descr': {}", "[('',".repeat(depth));
    npy::Npy { version: (2, 0), ..npy::Npy::of(&dictionary) }
}

/// Values of unknown fields, and an index that is not a list of maps.
fn cbor(depth: usize) -> [(&'static str, Vec<u8>); 5] {
    let with = |value: Vec<u8>| {
        let item = ztensor::Item::Raw(value);
        let tensor = ztensor::Tensor::raw("x", "uint8", &[1], vec![7]).custom("extra", item);
        ztensor::File::of([tensor]).encode()
    };
    let around =
        |open: &[u8], close: &[u8]| [open.repeat(depth), vec![0], close.repeat(depth)].concat();
    let mut draft = ztensor::File::default().draft();
    draft.index = Some(ztensor::Item::Raw(around(&[0x81], &[])));
    [
        ("arrays", with(around(&[0x81], &[]))),
        ("arrays without a length", with(around(&[0x9F], &[0xFF]))),
        ("maps", with(around(&[0xA1, 0x61, b'k'], &[]))),
        ("tags", with(around(&[0xC6], &[]))),
        ("the index", draft.finish()),
    ]
}

/// Nested codecs, in the definition of a column and of an annotation.
fn codecs(depth: usize) -> [(&'static str, Vec<u8>); 4] {
    let column = |name: &str, tail: &[u8]| {
        let mut column = idv::Column::new("c", idv::Codec::Text, vec![]);
        column.odd.codec = Some(definition(depth, name, tail));
        idv::encode(&idv::File::new(0, vec![column])).bytes
    };
    let mut annotation = idv::Annotation::new("Kind", idv::Codec::Text, idv::Cell::text("value"));
    annotation.odd.codec = Some(definition(depth, "VBuffer", &1_i64.to_le_bytes()));
    let annotated = idv::Column::new("c", idv::Codec::Text, vec![]).annotated(annotation);
    [
        ("keys of keys", column("Key2", &5_u64.to_le_bytes())),
        ("vectors of vectors", column("VBuffer", &1_i64.to_le_bytes())),
        ("unknown codecs", column("Unknown", &[])),
        ("annotations", idv::encode(&idv::File::new(0, vec![annotated])).bytes),
    ]
}

/// A codec nested `depth` times around a number: each level has a name, the length of the rest, the
/// inner definition and `tail`.
fn definition(depth: usize, name: &str, tail: &[u8]) -> Vec<u8> {
    let head = idv::string(name.as_bytes());
    let inner = idv::Codec::Number(idv::Number::UInt32).definition();
    // Lengths precede the contents, so compute them first.
    let mut lens = vec![inner.len()];
    for level in 0..depth {
        let parameters = lens[level] + tail.len();
        lens.push(head.len() + idv::leb(parameters as u64).len() + parameters);
    }
    let mut out = Vec::with_capacity(lens[depth]);
    for level in (0..depth).rev() {
        out.extend(&head);
        out.extend(idv::leb((lens[level] + tail.len()) as u64));
    }
    out.extend(inner);
    out.extend(tail.repeat(depth));
    out
}

/// Values in place of a text or in an unknown field.
fn json(depth: usize) -> [(&'static str, Vec<u8>); 4] {
    let deep = |open: &str, close: &str| format!("{}0{}", open.repeat(depth), close.repeat(depth));
    let arrays = deep("[", "]");
    let objects = deep("{\"k\":", "}");
    let tensor = "\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]";
    let raw = |header: String| safetensors::raw(header.as_bytes(), &[7]);
    [
        ("value of metadata", raw(format!("{{\"__metadata__\":{{\"k\":{arrays}}}}}"))),
        ("unknown field", raw(format!("{{\"x\":{{{tensor},\"extra\":{objects}}}}}"))),
        ("unknown member", raw(format!("{{\"x\":{arrays}}}"))),
        ("a shape", raw(format!("{{\"x\":{{\"shape\":{arrays},{tensor}}}}}"))),
    ]
}

fn index(depth: usize) -> [(&'static str, Vec<u8>); 2] {
    let sound = shards::Index::of(None, &[("x", "f.safetensors")]).encode();
    let sound = String::from_utf8(sound).unwrap();
    let deep = format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
    let member = sound.replacen('{', &format!("{{\"extra\": {deep}, "), 1);
    let shard = sound.replace("\"f.safetensors\"", &deep);
    [("member of an index", member.into_bytes()), ("file of a tensor", shard.into_bytes())]
}

fn arrays(depth: usize) -> Vec<u8> {
    let metadata = vec![(b"a.b".to_vec(), gguf::Value::Array(4, vec![gguf::Value::u32(1)]))];
    let mut file = gguf::File { metadata, ..gguf::File::default() }.encode();
    let at = file.values[0];
    // A one-element array of a one-element array, and so on.
    let level = [9_u32.to_le_bytes().as_slice(), &1_u64.to_le_bytes()].concat();
    file.bytes.splice(at..at, level.repeat(depth));
    file.bytes.resize(file.bytes.len().next_multiple_of(32), 0);
    file.bytes
}

/// OINF has no nesting: an array's element type is a number, and that of an array is not allowed
/// there.
fn array() -> Vec<u8> {
    let value = oinf::Value::Array(oinf::Type::U8, vec![1], vec![7]);
    let metadata = vec![oinf::metadata("k", value)];
    let model = oinf::Model { version: 1, sizevars: vec![], metadata, tensors: vec![] };
    let mut out = model.encode();
    let payload = out.metadata[0].payload;
    out.put_u32(payload, 15);
    out.bytes
}
