//! Payloads that take very long to decode.

use crate::encode::idv::{self, Annotation, Cell, Codec, Column, Compression};
use crate::encode::ztensor::zstd::{Block, Frame};
use crate::encode::ztensor::{File, Item, Tensor};
use weighbridge_core::Format;

/// Files of about `len` bytes, and whether the audit stops before decoding all of them.
pub fn payloads(len: usize) -> Vec<(&'static str, Format, Vec<u8>, bool)> {
    let one = |size, blob| File::of([Tensor::framed("z", "uint8", &[size], blob)]).draft().finish();
    let (bomb, size) = sequences(len);
    let zeros = (len / 4) as u64;
    let rle = Frame::of((0..zeros).map(|_| Block::Rle(0, 1 << 17)).collect()).encode();
    let frames = [&Frame::raw(b"").encode()[..]].concat().repeat(len / 9);
    let nothing = Frame::of((0..len / 8).map(|_| empty()).collect()).encode();
    vec![
        ("sequences without a bit", Format::ZTensor, one(size, bomb), true),
        ("zeros", Format::ZTensor, one(zeros << 17, rle), true),
        ("frames of nothing", Format::ZTensor, one(0, frames), false),
        ("blocks of nothing", Format::ZTensor, one(0, nothing), true),
        ("shared sequences", Format::ZTensor, shared(len), true),
        ("an annotation", Format::Idv, annotation(32 * len), false),
        ("blocks of zeros", Format::Idv, blocks(len), false),
    ]
}

/// A frame of about `len` bytes, with sequences of three bytes each.
fn sequences(len: usize) -> (Vec<u8>, u64) {
    let count = (len / 13) as u64;
    let blocks = (0..count).map(|_| Block::sequences(43_690, 0));
    let first = Block::Raw(b"abcdefgh".to_vec());
    let frame = Frame::of([first].into_iter().chain(blocks).collect());
    (frame.encode(), 8 + count * (3 * 43_690 + 1))
}

/// A compressed block of no literals and no sequences.
fn empty() -> Block {
    Block::Other(2, 2, vec![0, 0])
}

/// Tensors that cycle through the data of a few.
fn shared(len: usize) -> Vec<u8> {
    let distinct = 20;
    let (blob, size) = sequences(len / 4 / distinct);
    let place = blob.len().next_multiple_of(64) as u64;
    let tensors = (0..200).map(|i| {
        let blob = if i < distinct { blob.clone() } else { Vec::new() };
        Tensor::framed(&format!("t{i:03}"), "uint8", &[size], blob)
    });
    let mut draft = File::of(tensors).draft();
    for (i, entry) in (0..).zip(draft.entries.iter_mut()) {
        entry.set("offset", Item::Uint(64 + i % distinct as u64 * place));
        entry.set("size", Item::Uint(blob.len() as u64));
    }
    draft.finish()
}

/// An annotation whose length is not recorded and not a power of two.
fn annotation(len: usize) -> Vec<u8> {
    let mut annotation = Annotation::new("Kind", Codec::Text, Cell::text(&"a".repeat(len + 3)));
    annotation.compression = Compression::Deflate;
    let column = Column::new("c", Codec::Text, vec![]).annotated(annotation);
    idv::encode(&idv::File::new(0, vec![column])).bytes
}

/// A block that must be decoded twice.
fn blocks(len: usize) -> Vec<u8> {
    let column = Column::new("c", Codec::Text, vec![Cell::text(&"a".repeat(64 * len))]);
    let column = column.rows_per_block(1).compressed(Compression::Deflate);
    idv::encode(&idv::File::new(1, vec![column])).bytes
}
