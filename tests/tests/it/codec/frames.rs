//! Zstd frames in every form, compared with the C library and ruzstd: rings and buffers of every
//! length, invalid blocks, and the output before a fault.

use super::{Frame, zstd};
use ::zstd::zstd_safe::{CParameter, Strategy};
use std::io::Write as _;
use weighbridge_core::Encoding;
use weighbridge_core::codec::{Decoder, Fault, Size, ring};
use weighbridge_tests::DEEP;
use weighbridge_tests::codec::{Portions, Random, decode, decode_with, samples};

/// Data with matches up to `far` bytes back.
fn repeats(len: usize, far: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut data = vec![1];
    while data.len() < len {
        let (reach, longest) = ([far, 300, 9][random.below(3)], [4, 40, 3000][random.below(3)]);
        let back = 1 + random.below(data.len().min(reach));
        let count = random.below(longest);
        (0..count).for_each(|_| data.push(data[data.len() - back]));
        (0..random.below(9)).for_each(|_| data.push(random.number() as u8 & 31));
    }
    data.truncate(len);
    data
}

fn inputs() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = samples(270_000).into_iter().map(|(_, data)| data).collect();
    all.extend((0..3).map(|seed| repeats(600_000, 500_000, seed)));
    all
}

/// Levels of every strategy with windows of every size: a ring of the window plus one block, plus
/// two blocks, or slightly more, so that the window is moved or wraps around.
#[test]
fn zstd_decodes_into_ring_of_any_length() {
    let mut random = Random::new(3);
    for data in inputs() {
        for (level, log) in [(-5, 10), (1, 12), (3, 17), (5, 15), (9, 18), (13, 19), (19, 16)] {
            let checksum = random.below(2) == 0;
            let frame = Frame { level, checksum, content_size: false, window_log: Some(log) };
            let stored = zstd(&data, frame);
            let (window, block) = (1_usize << log, (1_usize << log).min(128 << 10));
            let least = window + block + 96;
            let most = ring(window as u64) as usize;
            let lengths = [least, least + 1, least + block, most, most + 77, data.len()];
            for output in lengths.into_iter().chain([least + random.below(3 * window)]) {
                let portions = Portions { input: 1 + random.below(5000), output };
                let size = [Size::Exactly(data.len() as u64), Size::AtMost(1 << 30)];
                for size in size {
                    let (bytes, end) = decode(Encoding::Zstd, &stored, size, &portions);
                    let same = bytes == data;
                    assert!(same && end.is_ok(), "{frame:?} into {output}, {size:?}: {end:?}");
                }
            }
        }
    }
}

/// Rows of 1,536 pixels with slowly changing colours: many short codes.
fn picture(len: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let dot = |i: usize| (i % 1536 / 9 + i / 1536 / 5 + random.below(4)) as u8;
    (0..len).map(dot).collect()
}

/// The last block wraps around a small ring: its literals are kept where no match can refer to
/// them.
#[test]
fn zstd_literals_survive_overlapping_matches() {
    let mut random = Random::new(5);
    let noise: Vec<u8> = (0..2948).map(|_| random.number() as u8).collect();
    let (two, literals) = noise.split_at(2048);
    // 900 raw literals; a literal, then 124 bytes from 1000 back.
    let block = [&[0x44, 0x38][..], literals, &[1, 0x54, 1, 9, 42, 0x79, 0x7D]].concat();
    let raw = [0x00, 0x20, 0x00];
    let header = ((block.len() as u32) << 3 | 2 << 1 | 1).to_le_bytes();
    let head = [0x28, 0xB5, 0x2F, 0xFD, 0, 0];
    let (one, other) = two.split_at(1024);
    let stored = [&head[..], &raw, one, &raw, other, &header[..3], &block].concat();
    let data = [two, &literals[..1], &two[1049..1173], &literals[1..]].concat();
    assert_eq!(::zstd::bulk::decompress(&stored, 3072).unwrap(), data);
    for output in [1024 + 1024 + 96, 3072] {
        let portions = Portions { input: usize::MAX, output };
        let size = Size::Exactly(3072);
        assert!(decode(Encoding::Zstd, &stored, size, &portions) == (data.clone(), Ok(())));
    }
}

/// Every level and strategy on all kinds of data of random size, up to 20 MB in `make zstd`.
#[test]
fn zstd_decodes_every_level_and_strategy() {
    let large = DEEP && !cfg!(debug_assertions);
    let largest = if large { 20_000_000 } else { 200_000 };
    let mut all = samples(largest);
    all.push(("picture", picture(largest)));
    let mut random = Random::new(11);
    let mut decoder = Decoder::new();
    let levels = (-5..=22).map(|level| (level, None));
    let strategies = [
        Strategy::ZSTD_fast,
        Strategy::ZSTD_dfast,
        Strategy::ZSTD_greedy,
        Strategy::ZSTD_lazy,
        Strategy::ZSTD_lazy2,
        Strategy::ZSTD_btlazy2,
        Strategy::ZSTD_btopt,
        Strategy::ZSTD_btultra,
        Strategy::ZSTD_btultra2,
    ];
    let strategies = strategies.map(|strategy| (3, Some(strategy)));
    for (level, strategy) in levels.chain(strategies) {
        for (kind, data) in &all {
            // Short lengths are more frequent.
            let len = random.below(largest + 1) >> random.below(10);
            let data = &data[..len];
            let mut encoder = zstd::stream::Encoder::new(Vec::new(), level).unwrap();
            encoder.include_checksum(random.below(2) == 0).unwrap();
            if let Some(strategy) = strategy {
                encoder.set_parameter(CParameter::Strategy(strategy)).unwrap();
            }
            if !large {
                encoder.window_log(15).unwrap();
            }
            encoder.write_all(data).unwrap();
            let stored = encoder.finish().unwrap();
            let ring = if large { ring(8 << 20) as usize } else { 100_000 };
            for portions in [Portions::WHOLE, Portions { input: 1 << 17, output: ring }] {
                let size = Size::Exactly(len as u64);
                let (bytes, end) =
                    decode_with(&mut decoder, Encoding::Zstd, &stored, size, &portions);
                // Levels above 19 use windows too large for a ring.
                let too_wide = end == Err(Fault::Window) && portions.output == ring && level > 19;
                let same = end.is_ok() && bytes == data;
                assert!(too_wide || same, "{kind}, {len} bytes, {level} {strategy:?}: {end:?}");
            }
        }
    }
}

/// ruzstd decodes the same frames to the same bytes.
#[test]
fn zstd_decoder_matches_ruzstd() {
    let (mut ours, mut other) = (Decoder::new(), Decoder::with_ruzstd());
    for data in inputs() {
        for level in [-3, 1, 3, 7, 16, 22] {
            let frame = Frame { level, checksum: true, content_size: true, window_log: None };
            let stored = zstd(&data, frame);
            let size = Size::Exactly(data.len() as u64);
            for decoder in [&mut ours, &mut other] {
                let portions = Portions { input: 70_000, output: data.len() };
                let result = decode_with(decoder, Encoding::Zstd, &stored, size, &portions);
                assert!(result == (data.clone(), Ok(())), "{frame:?}: {:?}", result.1);
            }
            assert_eq!(ours.frames(), other.frames());
        }
    }
}

#[test]
fn zstd_second_opinion_accepts_sound_frames() {
    let mut decoder = Decoder::with_second_opinion();
    for data in inputs() {
        for (level, window_log) in [(1, None), (3, Some(10)), (19, Some(17))] {
            let stored =
                zstd(&data, Frame { level, checksum: true, content_size: true, window_log });
            let size = Size::Exactly(data.len() as u64);
            let ring = data.len().clamp(1, 600 << 10);
            for (input, output) in [(usize::MAX, data.len()), (1000, data.len()), (70_000, ring)] {
                let portions = Portions { input, output };
                let result = decode_with(&mut decoder, Encoding::Zstd, &stored, size, &portions);
                assert!(result == (data.clone(), Ok(())), "{level} {window_log:?}: {:?}", result.1);
            }
        }
    }
}

/// A frame of one block, with a window of 1 KiB for window byte 0.
fn one_block(window: u8, block: &[u8]) -> Vec<u8> {
    let header = ((block.len() as u32) << 3 | 2 << 1 | 1).to_le_bytes();
    [&[0x28, 0xB5, 0x2F, 0xFD, 0, window][..], &header[..3], block].concat()
}

fn fault(stored: &[u8]) -> (Vec<u8>, Result<(), Fault>) {
    let whole = decode(Encoding::Zstd, stored, Size::AtMost(1 << 20), &Portions::WHOLE);
    let ring = Portions { input: 1, output: 3000 };
    let parts = decode(Encoding::Zstd, stored, Size::AtMost(1 << 20), &ring);
    assert_eq!(whole, parts);
    let theirs = zstd::bulk::decompress(stored, 1 << 20).ok();
    assert!(whole.1.is_err() || theirs.as_ref() == Some(&whole.0), "C: {theirs:?}");
    whole
}

/// One repeated literal (`literals` times, in run-length form), then `count` sequences with
/// run-length tables, which take no bits, for the codes (literals, offset, match).
fn sequences(literals: u8, count: u8, codes: [u8; 3], bits: &[u8]) -> Vec<u8> {
    [&[literals << 3 | 1, b'x', count, 0b01_01_01_00], &codes[..], bits].concat()
}

#[test]
fn zstd_broken_sequence_is_found() {
    let bad = |block: &[u8]| fault(&one_block(0, block)).1;
    // One literal, offset code 0 (the previous offset, which is 1), a match of 3.
    let sound = sequences(1, 1, [1, 0, 0], &[1]);
    assert_eq!(fault(&one_block(0, &sound)), (b"xxxx".to_vec(), Ok(())));
    // One literal too few, then one left over, which is valid.
    assert_eq!(bad(&sequences(0, 1, [1, 0, 0], &[1])), Err(Fault::Malformed));
    let (bytes, end) = fault(&one_block(0, &sequences(2, 1, [1, 0, 0], &[1])));
    assert_eq!((bytes.len(), end), (5, Ok(())));
    // Two offset bits are missing: no byte is returned, although the block would yield more.
    let over = one_block(0, &sequences(1, 1, [1, 2, 0], &[1]));
    let end = decode(Encoding::Zstd, &over, Size::Exactly(2), &Portions::WHOLE);
    assert_eq!(end, (Vec::new(), Err(Fault::Malformed)));
    // Offset code 1 and one bit mean offset 4, but only one byte precedes.
    assert_eq!(bad(&sequences(1, 1, [1, 1, 0], &[0b10])), Err(Fault::Malformed));
    // Without literals, the third repeated offset is the last one minus one, which is 0.
    assert_eq!(bad(&sequences(1, 1, [0, 1, 0], &[0b11])), Err(Fault::Malformed));
    // One bit too many; no end mark; no bits.
    assert_eq!(bad(&sequences(1, 1, [1, 0, 0], &[0b10])), Err(Fault::Malformed));
    assert_eq!(bad(&sequences(1, 1, [1, 0, 0], &[0])), Err(Fault::Malformed));
    assert_eq!(bad(&sequences(1, 1, [1, 0, 0], &[])), Err(Fault::Malformed));
    // Invalid codes, and reserved bits.
    assert_eq!(bad(&sequences(1, 1, [36, 0, 0], &[1])), Err(Fault::Malformed));
    assert_eq!(bad(&sequences(1, 1, [1, 32, 0], &[1])), Err(Fault::Malformed));
    assert_eq!(bad(&sequences(1, 1, [1, 0, 53], &[1])), Err(Fault::Malformed));
    let mut reserved = sound.clone();
    reserved[3] |= 1;
    assert_eq!(bad(&reserved), Err(Fault::Malformed));
    // Tables and codes of an earlier block, but there is none.
    let mut repeated = sound.clone();
    repeated[3] = 0b11_01_01_00;
    assert_eq!(bad(&repeated), Err(Fault::Malformed));
    assert_eq!(bad(&[0x13, 0x40, 0, 1, 0]), Err(Fault::Malformed));
    // Bytes after a block without sequences.
    assert_eq!(bad(&[1 << 3 | 1, b'x', 0, 0]), Err(Fault::Malformed));
}

/// A block decodes to at most the window size and at most 128 KiB.
#[test]
fn zstd_block_beyond_128_kib_is_refused() {
    let long = |code: u8, bits: &[u8]| one_block(0, &sequences(1, 1, [1, 0, code], bits));
    // Match code 43 is 131 plus 7 bits, code 46 is 1027 plus 10 bits.
    assert_eq!(fault(&long(43, &[0x80])).0.len(), 1 + 131);
    let (bytes, end) = fault(&long(46, &[0, 4]));
    assert_eq!((bytes.len(), end), (0, Err(Fault::Malformed)), "1028 bytes and 1024 are a block");
    let larger = one_block(8, &sequences(1, 1, [1, 0, 46], &[0, 4]));
    assert_eq!(fault(&larger).0.len(), 1028);
    // The same for raw and repeated bytes.
    for kind in [0_u32, 1] {
        let header = (1025_u32 << 3 | kind << 1 | 1).to_le_bytes();
        let data = vec![7; if kind == 0 { 1025 } else { 1 }];
        let head = [0x28, 0xB5, 0x2F, 0xFD, 0, 0];
        assert_eq!(fault(&[&head, &header[..3], &data].concat()).1, Err(Fault::Malformed));
    }
}

/// A stream longer than declared first yields the declared bytes, however its literals are stored.
#[test]
fn zstd_overlong_block_keeps_its_declared_part() {
    for data in inputs() {
        for level in [1, 3, 19] {
            let stored = zstd(&data, Frame { level, ..Frame::default() });
            for len in [1, 77, 5000, 131_073, data.len() - 1] {
                for portions in [Portions::WHOLE, Portions { input: 9, output: 1 << 18 }] {
                    let size = Size::Exactly(len as u64);
                    let (bytes, end) = decode(Encoding::Zstd, &stored, size, &portions);
                    assert_eq!(end, Err(Fault::Long), "level {level}, {len} bytes");
                    assert!(bytes == data[..len], "level {level}, {len} bytes: {}", bytes.len());
                }
            }
        }
    }
}

/// A fault is located in the block at which reading stopped.
#[test]
fn zstd_fault_has_offset_of_block() {
    let data = repeats(400_000, 100_000, 1);
    let mut stored = zstd(&data, Frame { level: 3, ..Frame::default() });
    let mut at = 6;
    let mut blocks = Vec::new();
    while at < stored.len() {
        blocks.push(at);
        let header = u32::from_le_bytes([stored[at], stored[at + 1], stored[at + 2], 0]);
        at += 3 + (header >> 3) as usize;
    }
    let third = blocks[2];
    // The reserved block type.
    stored[third] |= 6;
    let mut decoder = Decoder::new();
    let size = Size::Exactly(data.len() as u64);
    let (bytes, end) = decode_with(&mut decoder, Encoding::Zstd, &stored, size, &Portions::WHOLE);
    assert_eq!((end, decoder.read()), (Err(Fault::Malformed), third as u64));
    assert!(bytes == data[..bytes.len()] && !bytes.is_empty());
}
