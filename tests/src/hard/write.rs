//! One writer per format, for a million entries: writes directly where that is simple, because the
//! encoders would keep every entry in memory.

use super::Entry;
use crate::encode::{bintensors as bt, gguf, idv as dv, oinf as oi, safetensors as st, ztensor};
use crate::encode::{shards as sh, stb as sb};

pub(super) fn stb(entries: &[Entry], data: usize) -> Vec<u8> {
    let table_end = 32 + 32 * entries.len();
    let place = table_end.next_multiple_of(64) as u64;
    let tensor = |(i, entry): (usize, &Entry)| sb::Tensor {
        id: i as u8,
        dtype: 2,
        rank: 1,
        layout: 0,
        dims: [entry.len as u32, 0, 0],
        offset: Some(place + entry.at),
        size: Some(entry.len),
        payload: Vec::new(),
    };
    let mut stb = sb::Stb::new(entries.iter().enumerate().map(tensor).collect());
    stb.tail = vec![0; data];
    stb.encode()
}

pub(super) fn oinf(entries: &[Entry], data: usize) -> Vec<u8> {
    let tensor = |entry: &Entry| {
        oi::tensor(std::str::from_utf8(&entry.name).unwrap(), oi::Type::Bool, &[entry.len], &[])
    };
    let tensors = entries.iter().map(tensor).collect();
    let model = oi::Model { version: 1, sizevars: vec![], metadata: vec![], tensors };
    let mut out = model.encode();
    for (i, entry) in entries.iter().enumerate() {
        let fields = out.tensors[i];
        out.put_u64(fields.data_nbytes, entry.len);
        out.put_u64(fields.data_offset, out.data as u64 + entry.at);
    }
    out.resize(out.data + data);
    out.bytes
}

pub(super) fn bintensors(entries: &[Entry], data: usize) -> Vec<u8> {
    let mut header = bt::Header::plain(entries.len() as u64);
    for Entry { name, at, len } in entries {
        header.entry(name, bt::Dtype::Bool.code(), &[*len], *at, at + len);
    }
    header.pad().file(&vec![0; data])
}

pub(super) fn ztensor(entries: &[Entry], data: usize) -> Vec<u8> {
    let mut index = Vec::new();
    ztensor::cbor::head(&mut index, 4, entries.len() as u64, 0);
    for Entry { name, at, len } in entries {
        let name = std::str::from_utf8(name).unwrap();
        let tensor = ztensor::Tensor::raw(name, "bool", &[*len], Vec::new());
        let mut entry = ztensor::File::of([tensor]).draft().entries.remove(0);
        entry.set("offset", ztensor::Item::Uint(64 + at)).set("size", ztensor::Item::Uint(*len));
        index.extend(ztensor::Item::MapIndefinite(entry.pairs).encode());
    }
    let mut file = ztensor::MAGIC.to_vec();
    file.resize(64 + data, 0);
    file.extend(&index);
    file.extend((index.len() as u64).to_le_bytes());
    file
}

/// Columns of one row: numbers if every block has one byte, otherwise texts.
pub(super) fn idv(entries: &[Entry], data: usize) -> Vec<u8> {
    let bytes = entries.iter().all(|entry| entry.len == 1);
    let codec = if bytes { dv::Codec::Number(dv::Number::SByte) } else { dv::Codec::Text };
    let column = |(i, Entry { name, len, .. }): (usize, &Entry)| {
        let mut column = dv::Column::new("", codec.clone(), vec![]).rows_per_block(1);
        column.name.clone_from(name);
        // All blocks share the bytes of the first.
        let stored = vec![0; if i == 0 { data } else { 0 }];
        column.content = dv::Content::Blocks(vec![dv::Block { stored, decoded: *len as i32 }]);
        column
    };
    let columns = entries.iter().enumerate().map(column).collect();
    let mut out = dv::encode(&dv::File::new(1, columns));
    for (entry, place) in entries.iter().zip(&out.columns) {
        let block = (dv::HEADER as u64 + entry.at).to_le_bytes();
        out.bytes[place.lookup..place.lookup + 8].copy_from_slice(&block);
        let len = (entry.len as u32).to_le_bytes();
        out.bytes[place.lookup + 8..place.lookup + 12].copy_from_slice(&len);
    }
    out.bytes
}

pub(super) fn safetensors(entries: &[Entry], data: usize) -> Vec<u8> {
    use std::fmt::Write as _;
    let mut header = String::from("{");
    for (i, Entry { name, at, len }) in entries.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let name = st::quote(std::str::from_utf8(name).unwrap());
        let end = at + len;
        write!(
            header,
            "{comma}{name}:{{\"dtype\":\"BOOL\",\"shape\":[{len}],\"data_offsets\":[{at},{end}]}}"
        )
        .unwrap();
    }
    header.push('}');
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    st::raw(header.as_bytes(), &vec![0; data])
}

pub(super) fn gguf(entries: &[Entry], data: usize) -> Vec<u8> {
    let metadata = vec![(b"general.alignment".to_vec(), gguf::Value::u32(8))];
    let head = gguf::File { alignment: 8, metadata, ..gguf::File::default() };
    let mut encoded = head.encode();
    // The head was padded for the data.
    let padded = &encoded.bytes[encoded.values[0]..];
    assert!(padded.len() >= 4);
    encoded.bytes.truncate(encoded.values[0] + 4);
    encoded.set(8, 8, entries.len() as u64);
    let mut file = encoded.bytes;
    for Entry { name, at, len } in entries {
        file.extend((name.len() as u64).to_le_bytes());
        file.extend(name);
        file.extend(1_u32.to_le_bytes());
        file.extend(len.to_le_bytes());
        file.extend(24_u32.to_le_bytes());
        file.extend(at.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(8) + data.next_multiple_of(8), 0);
    file
}

pub(super) fn shards(entries: &[Entry]) -> Vec<u8> {
    let map = entries.iter().map(|entry| {
        let name = String::from_utf8(entry.name.clone()).unwrap();
        (name, sh::shard(1, 1))
    });
    sh::Index { total: None, map: map.collect() }.encode()
}
