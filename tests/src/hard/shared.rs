//! Tables and values shared by all entries.

use crate::encode::{idv, npy, npz, oinf, ztensor};
use weighbridge_core::Format;

/// Files with `count` entries that all refer to the same `len` bytes, or slightly fewer, which take
/// time to check.
pub fn shared(count: usize, len: usize) -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("text of metadata", Format::Oinf, text(count, len)),
        ("quantisation", Format::Oinf, quantisation(count, len)),
        ("truth values", Format::Oinf, truth(count, len)),
        ("lookup table", Format::Idv, lookup(count, len, false)),
        ("broken lookup table", Format::Idv, lookup(count, len, true)),
        ("annotations", Format::Idv, annotations(count, len)),
        ("checksums", Format::ZTensor, checksums(count, len)),
        ("headers of arrays", Format::Npz, headers(count, false)),
        ("headers of compressed arrays", Format::Npz, headers(count, true)),
        ("fields of a member", Format::Npz, fields(count)),
    ]
}

fn text(count: usize, len: usize) -> Vec<u8> {
    let value = |len| oinf::Value::Text("x".repeat(len));
    let mut metadata = vec![oinf::metadata("k", value(len))];
    metadata.extend((1..count).map(|i| oinf::metadata(&format!("k{i:07}"), value(1))));
    let model = oinf::Model { version: 1, sizevars: vec![], metadata, tensors: vec![] };
    let out = model.encode();
    let places = out.metadata.iter().map(|entry| [entry.nbytes, entry.offset]).collect();
    repeated(out, places)
}

/// The file with the lengths and offsets at all `places` set to the first ones.
fn repeated(mut out: oinf::Encoded, places: Vec<[usize; 2]>) -> Vec<u8> {
    let first = places[0].map(|at| out.get_u64(at));
    for (at, value) in places.iter().flat_map(|place| place.iter().zip(first)) {
        out.put_u64(*at, value);
    }
    out.bytes
}

fn quantisation(count: usize, len: usize) -> Vec<u8> {
    let channels = (len / 4) as u64;
    let tensor = |i: usize| {
        let scales = vec![1.0; if i == 0 { channels as usize } else { 0 }];
        oinf::Tensor {
            quant: Some(oinf::Quant {
                asymmetric: false,
                scales: oinf::Scales::PerChannel(0, scales),
                zero_points: oinf::ZeroPoints::None,
            }),
            ..oinf::tensor(&format!("t{i:07}"), oinf::Type::U8, &[channels, 0], &[])
        }
    };
    let tensors = (0..count).map(tensor).collect();
    let model = oinf::Model { version: 2, sizevars: vec![], metadata: vec![], tensors };
    let out = model.encode();
    let places = out.tensors.iter().map(|entry| [entry.quant_nbytes, entry.quant_offset]).collect();
    repeated(out, places)
}

fn truth(count: usize, len: usize) -> Vec<u8> {
    let len = len.next_multiple_of(8) as u64;
    let entry = |i: usize| super::Entry { name: format!("t{i:07}").into_bytes(), at: 0, len };
    let entries: Vec<_> = (0..count).map(entry).collect();
    super::file(Format::Oinf, &entries)
}

/// Columns that share one lookup table. If `broken`, its blocks lie outside the file.
fn lookup(count: usize, len: usize, broken: bool) -> Vec<u8> {
    let rows = len / 16;
    let codec = idv::Codec::Number(idv::Number::SByte);
    let column = |i: usize| {
        let mut column =
            idv::Column::new(&format!("c{i:07}"), codec.clone(), vec![]).rows_per_block(1);
        let blocks = if i == 0 { rows } else { 0 };
        column.content =
            idv::Content::Blocks(vec![idv::Block { stored: vec![0], decoded: 1 }; blocks]);
        column
    };
    let columns = (0..count).map(column).collect();
    let mut out = idv::encode(&idv::File::new(rows as i64, columns));
    let table = out.columns[0].lookup;
    for place in &out.columns {
        let at = (table as i64).to_le_bytes();
        out.bytes[place.lookup_offset..place.lookup_offset + 8].copy_from_slice(&at);
    }
    if broken {
        for i in 0..rows {
            let at = table + 16 * i;
            out.bytes[at..at + 8].copy_from_slice(&(1_i64 << 40).to_le_bytes());
        }
    }
    out.bytes
}

/// Columns that share one annotation table.
fn annotations(count: usize, len: usize) -> Vec<u8> {
    let column = |i: usize| {
        let mut column = idv::Column::new(&format!("c{i:07}"), idv::Codec::Text, vec![]);
        if i == 0 {
            let one = |i: usize| {
                idv::Annotation::new(&format!("k{i:07}"), idv::Codec::Text, idv::Cell::text("x"))
            };
            column.annotations = (0..len / 30).map(one).collect();
        }
        column
    };
    let columns = (0..count).map(column).collect();
    let mut out = idv::encode(&idv::File::new(0, columns));
    let table = (out.columns[0].metadata as i64).to_le_bytes();
    for place in &out.columns {
        out.bytes[place.metadata_offset..place.metadata_offset + 8].copy_from_slice(&table);
    }
    out.bytes
}

/// Tensors that share one blob, each with a checksum.
fn checksums(count: usize, len: usize) -> Vec<u8> {
    let one = |i: usize| {
        let blob = if i == 0 { vec![0; len] } else { Vec::new() };
        let name = format!("t{i:07}");
        ztensor::Tensor::raw(&name, "uint8", &[len as u64], blob)
    };
    let mut first = one(0).checksum(ztensor::Checksum::Crc32c);
    let sum = first.checksum_text().expect("it was asked for");
    first.name = "t0000000".into();
    let mut draft = ztensor::File::of([first].into_iter().chain((1..count).map(one))).draft();
    draft.body.truncate(64 + len);
    for (i, entry) in draft.entries.iter_mut().enumerate() {
        if i > 0 {
            entry.push(ztensor::Item::text("checksum"), ztensor::Item::Text(sum.clone()));
        }
        entry.set("offset", ztensor::Item::Uint(64));
        entry.set("size", ztensor::Item::Uint(len as u64));
    }
    draft.finish()
}

/// Members that share one local header: that of an array with a long header, or of compressed data
/// after thousands of empty blocks.
fn headers(count: usize, deflated: bool) -> Vec<u8> {
    const EMPTY: &[u8] = &[0, 0, 0, 0xFF, 0xFF];
    let mut array = npy::Npy::new("'|u1'", 1, &[0]);
    if !deflated {
        array.padding = Some([&[b' '; 60_000][..], b"\n"].concat());
    }
    let mut member = npz::Member::new("t0000000", &array);
    if deflated {
        let stream = miniz_oxide::deflate::compress_to_vec(&member.content, 6);
        member.data = Some([&EMPTY.repeat(1_600), &stream[..]].concat());
        member.deflated = true;
    }
    members(&member, count)
}

/// A member whose local header has 16,000 extra fields, which decide the form of its data
/// descriptor: here the wrong one.
fn fields(count: usize) -> Vec<u8> {
    let mut member = npz::Member::new("t0000000", &npy::Npy::new("'|u1'", 1, &[1]));
    member.descriptor = Some((true, false));
    member.local.extra = npz::field(9, &[]).repeat(16_000);
    members(&member, count)
}

/// An archive with `count` entries for one member, whose names differ.
fn members(member: &npz::Member, count: usize) -> Vec<u8> {
    let mut file = npz::Npz::new(vec![member.clone()]).encode();
    let mut end = file.split_off(file.len() - 22);
    let at = u32::from_le_bytes([end[16], end[17], end[18], end[19]]) as usize;
    let entry = file.split_off(at);
    for i in 0..count {
        let mut entry = entry.clone();
        entry[46..54].copy_from_slice(format!("t{i:07}").as_bytes());
        file.extend(entry);
    }
    let number = (count as u16).to_le_bytes();
    end[8..12].copy_from_slice(&[number, number].concat());
    end[12..16].copy_from_slice(&((file.len() - at) as u32).to_le_bytes());
    file.extend(end);
    file
}
