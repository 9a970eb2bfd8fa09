//! Decoders: their output, how it is split, and what they reject.

mod faults;
mod frames;
mod mutated;
mod streams;

use std::io::Write as _;

/// A raw deflate stream from libdeflate.
fn deflate(data: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = compressor(level);
    let mut stored = vec![0; compressor.deflate_compress_bound(data.len())];
    let len = compressor.deflate_compress(data, &mut stored).unwrap();
    stored.truncate(len);
    stored
}

/// A zlib stream from libdeflate.
fn zlib(data: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = compressor(level);
    let mut stored = vec![0; compressor.zlib_compress_bound(data.len())];
    let len = compressor.zlib_compress(data, &mut stored).unwrap();
    stored.truncate(len);
    stored
}

fn compressor(level: i32) -> libdeflater::Compressor {
    libdeflater::Compressor::new(libdeflater::CompressionLvl::new(level).unwrap())
}

/// The options of a zstd frame.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    level: i32,
    checksum: bool,
    content_size: bool,
    window_log: Option<u32>,
}

/// A zstd frame from the C library.
fn zstd(data: &[u8], frame: Frame) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), frame.level).unwrap();
    encoder.include_checksum(frame.checksum).unwrap();
    encoder.include_contentsize(frame.content_size).unwrap();
    if let Some(log) = frame.window_log {
        encoder.window_log(log).unwrap();
    }
    if frame.content_size {
        encoder.set_pledged_src_size(Some(data.len() as u64)).unwrap();
    }
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
