//! Zstandard frames (RFC 8878): from the C library, and handcrafted.

use std::io::Write as _;

/// The frame magic, as stored.
pub const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// A window byte of 2 MiB, as in every real file of generation 0.1.
pub const WINDOW_2_MIB: u8 = 0x58;

/// One frame from the C library's streaming encoder at its default level: no content size, no
/// checksum.
pub fn compress(data: &[u8]) -> Vec<u8> {
    compress_with(data, 0, false)
}

/// One frame at `level`, with or without a content checksum.
pub fn compress_with(data: &[u8], level: i32, checksum: bool) -> Vec<u8> {
    let mut encoder = ::zstd::stream::Encoder::new(Vec::new(), level).expect("a valid level");
    encoder.include_checksum(checksum).expect("a known option");
    encoder.write_all(data).expect("memory takes every byte");
    encoder.finish().expect("memory takes every byte")
}

/// One frame with its content size.
pub fn compress_sized(data: &[u8]) -> Vec<u8> {
    compress_sized_with(data, 0)
}

/// The same at `level`: a single segment if its window holds the content.
pub fn compress_sized_with(data: &[u8], level: i32) -> Vec<u8> {
    ::zstd::bulk::compress(data, level).expect("memory takes every byte")
}

/// One block of a handcrafted frame.
#[derive(Clone, Debug)]
pub enum Block {
    /// Raw bytes.
    Raw(Vec<u8>),
    /// One byte, repeated this many times.
    Rle(u8, u32),
    /// A block header of this kind and size, then these bytes.
    Other(u32, u32, Vec<u8>),
}

impl Block {
    /// A literal and `count` sequences that take no bits: no literals, an offset of four bytes, a
    /// match of 3 + `code` bytes, for codes below 32.
    pub fn sequences(count: u64, code: u8) -> Self {
        let mut body = vec![8, b'a'];
        match count {
            0..128 => body.push(count as u8),
            128..0x7F00 => body.extend([(count >> 8) as u8 + 128, count as u8]),
            _ => body.extend([255, (count - 0x7F00) as u8, ((count - 0x7F00) >> 8) as u8]),
        }
        // Tables of one entry, and the end mark of the bit stream.
        body.extend([0x54, 0, 0, code, 1]);
        Block::Other(2, body.len() as u32, body)
    }
}

/// A handcrafted frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The first four bytes.
    pub magic: [u8; 4],
    /// Frame header descriptor.
    pub descriptor: u8,
    /// Window, dictionary id and content size, as stored.
    pub fields: Vec<u8>,
    /// The blocks; the last one is marked as last.
    pub blocks: Vec<Block>,
    /// Bytes after the last block.
    pub tail: Vec<u8>,
}

impl Frame {
    /// A plain frame of one raw block with a 2 MiB window and no content size.
    pub fn raw(data: &[u8]) -> Self {
        Self::of(vec![Block::Raw(data.to_vec())])
    }

    /// A plain frame of these blocks.
    pub fn of(blocks: Vec<Block>) -> Self {
        Self { magic: MAGIC, descriptor: 0, fields: vec![WINDOW_2_MIB], blocks, tail: Vec::new() }
    }

    /// The same frame with another window byte.
    pub fn window(mut self, byte: u8) -> Self {
        self.fields[0] = byte;
        self
    }

    /// The same frame with this content size, in eight bytes.
    pub fn content_size(mut self, size: u64) -> Self {
        self.descriptor |= 0xC0;
        self.fields.extend_from_slice(&size.to_le_bytes());
        self
    }

    /// Encodes the frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.magic.to_vec();
        out.push(self.descriptor);
        out.extend_from_slice(&self.fields);
        for (i, block) in self.blocks.iter().enumerate() {
            let last = u32::from(i + 1 == self.blocks.len());
            let (kind, size, body) = match block {
                Block::Raw(data) => (0, data.len() as u32, data.clone()),
                Block::Rle(byte, count) => (1, *count, vec![*byte]),
                Block::Other(kind, size, body) => (*kind, *size, body.clone()),
            };
            let header = last | kind << 1 | size << 3;
            out.extend_from_slice(&header.to_le_bytes()[..3]);
            out.extend_from_slice(&body);
        }
        out.extend_from_slice(&self.tail);
        out
    }
}

/// A skippable frame around `data`.
pub fn skippable(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x50, 0x2A, 0x4D, 0x18];
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handmade_zstd_frame_is_read_by_c_library() {
        let data: Vec<u8> = (0..24).collect();
        let by_hand = [
            Frame::raw(&data).encode(),
            Frame::raw(&data).content_size(24).encode(),
            Frame::of(vec![Block::Raw(data[..8].to_vec()), Block::Raw(data[8..].to_vec())])
                .encode(),
            [skippable(b"note"), Frame::raw(&data).encode()].concat(),
        ];
        for frame in by_hand {
            assert_eq!(::zstd::decode_all(&frame[..]).unwrap(), data);
        }
        for (count, code) in [(1, 0), (200, 31), (40_000, 0)] {
            let frame = Frame::of(vec![Block::Raw(data.clone()), Block::sequences(count, code)]);
            let decoded = ::zstd::decode_all(&frame.encode()[..]).unwrap();
            assert_eq!(decoded.len() as u64, 24 + 1 + count * (u64::from(code) + 3));
        }
        let rle = Frame::of(vec![Block::Rle(7, 300)]).encode();
        assert_eq!(::zstd::decode_all(&rle[..]).unwrap(), [7; 300]);
    }

    #[test]
    fn streamed_frame_has_form_of_real_files() {
        let frame = compress(&[1; 1000]);
        assert_eq!(frame[..6], [0x28, 0xB5, 0x2F, 0xFD, 0x00, WINDOW_2_MIB]);
        assert_eq!(compress(&[]), [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x00, 0x01, 0x00, 0x00]);
    }
}
