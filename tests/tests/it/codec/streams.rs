//! Valid streams decode to their data, however they are fed and drained.

use super::{Frame, deflate, zlib, zstd};
use weighbridge_core::codec::{Decoder, Fault, Size, Undecoded, WINDOW, most};
use weighbridge_core::{Encoding, Source, Span, Window};
use weighbridge_tests::DEEP;
use weighbridge_tests::codec::{Portions, decode, decode_with, samples};

const LENGTHS: [usize; 8] = [0, 1, 100, 4096, 32_768, 32_769, 70_000, 300_001];

/// Number of lengths to test: the longest one takes most of the time.
const TAKEN: usize = if DEEP { LENGTHS.len() } else { 7 };

fn each(mut test: impl FnMut(&str, Encoding, &[u8], &[u8])) {
    for len in LENGTHS.into_iter().take(TAKEN) {
        for (name, data) in samples(len) {
            let name = format!("{name} × {len}");
            test(&name, Encoding::Raw, &data, &data);
            for level in [0, 1, 6, 12] {
                let name = format!("{name}, level {level}");
                test(&name, Encoding::Deflate, &deflate(&data, level), &data);
                test(&name, Encoding::Zlib, &zlib(&data, level), &data);
            }
            for level in [-5, 3, 19] {
                for (checksum, content_size) in [(false, false), (true, false), (true, true)] {
                    let frame = Frame { level, checksum, content_size, window_log: None };
                    let name = format!("{name}, {frame:?}");
                    test(&name, Encoding::Zstd, &zstd(&data, frame), &data);
                }
            }
        }
    }
}

#[test]
fn whole_stream_is_decoded() {
    let mut decoder = Decoder::new();
    each(|name, encoding, stored, data| {
        let size = Size::Exactly(data.len() as u64);
        let result = decode_with(&mut decoder, encoding, stored, size, &Portions::WHOLE);
        assert!(result == (data.to_vec(), Ok(())), "{name} {encoding:?}");
        assert!(most(encoding, stored.len() as u64) >= Some(data.len() as u64), "{name}");
    });
}

#[test]
fn stream_is_decoded_in_portions() {
    each(|name, encoding, stored, data| {
        // One byte at a time costs one call per byte.
        for (input, output) in [(1, WINDOW), (4096, WINDOW + 5), (usize::MAX, 65_536)] {
            if stored.len() / input > 5000 {
                continue;
            }
            let portions = Portions { input, output };
            for size in [Size::Exactly(data.len() as u64), Size::AtMost(data.len() as u64 + 9)] {
                let result = decode(encoding, stored, size, &portions);
                assert!(result == (data.to_vec(), Ok(())), "{name} {encoding:?} {portions:?}");
            }
        }
    });
}

#[test]
fn decoder_buffer_size_depends_on_encoding() {
    let (_, data) = samples(5000).swap_remove(0);
    let stored = zstd(&data, Frame { level: 3, checksum: true, ..Frame::default() });
    for (encoding, stored) in [(Encoding::Raw, &data), (Encoding::Zstd, &stored)] {
        for output in [1, 2, 3, 100] {
            let portions = Portions { input: 300, output };
            let size = Size::Exactly(5000);
            assert!(decode(encoding, stored, size, &portions) == (data.clone(), Ok(())));
            let mut decoder = Decoder::new();
            decoder.start(encoding, Span::new(0, stored.len() as u64), size);
            let step = decoder.step(stored, &mut vec![0; output]);
            match encoding {
                Encoding::Raw => assert_eq!(step.unwrap().written, 0..output),
                // The whole stream is shorter than the window plus two blocks.
                _ => assert_eq!((step, decoder.buffer()), (Err(Fault::Buffer), 5000)),
            }
        }
    }
}

#[test]
fn consecutive_frames_are_decoded() {
    let (_, data) = samples(10_000).swap_remove(1);
    let frame = Frame { level: 3, checksum: true, content_size: true, window_log: None };
    let skipped = [&0x184D_2A53_u32.to_le_bytes()[..], &5_u32.to_le_bytes(), b"hello"].concat();
    let parts = [
        skipped.clone(),
        zstd(&data[..4000], frame),
        zstd(&[], frame),
        skipped.clone(),
        zstd(&data[4000..], Frame::default()),
        skipped,
    ];
    let stored = parts.concat();
    for input in [1, 3, 1000, usize::MAX] {
        let portions = Portions { input, output: 512 };
        let mut decoder = Decoder::new();
        let size = Size::Exactly(10_000);
        let result = decode_with(&mut decoder, Encoding::Zstd, &stored, size, &portions);
        assert!(result == (data.clone(), Ok(())), "{input} bytes at a time: {:?}", result.1);
        assert_eq!(decoder.frames(), 6);
    }
}

/// Decodes through a source with only one resident window at a time.
#[test]
fn stream_is_decoded_from_windows() {
    let (_, data) = samples(100_000).swap_remove(0);
    let stored = [
        (Encoding::Raw, data.clone()),
        (Encoding::Deflate, deflate(&data, 6)),
        (Encoding::Zstd, zstd(&data, Frame::default())),
    ];
    for (encoding, stored) in stored {
        let file = [&[0xEE; 10][..], &stored, &[0xEE; 10]].concat();
        let span = Span::new(10, stored.len() as u64);
        let mut decoder = Decoder::new();
        decoder.start(encoding, span, Size::Exactly(data.len() as u64));
        let mut out = Vec::new();
        let mut buffer = vec![0; WINDOW];
        let mut held = Window { offset: 0, bytes: &file[..4] };
        loop {
            let windows = [held];
            match decoder.next(&Source::windows(file.len() as u64, &windows), &mut buffer) {
                Ok(Some(piece)) => out.extend_from_slice(piece),
                Ok(None) => break,
                Err(Undecoded::Absent(absent)) => {
                    assert!(absent.need == 1 || encoding == Encoding::Zstd);
                    assert_eq!(absent.offset + absent.want, 10 + span.len);
                    let (at, len) = (absent.offset as usize, absent.need.max(999) as usize);
                    held = Window {
                        offset: absent.offset,
                        bytes: &file[at..file.len().min(at + len)],
                    };
                }
                Err(Undecoded::Fault(Fault::Buffer)) if encoding == Encoding::Zstd => {
                    buffer = vec![0; decoder.buffer() as usize];
                }
                Err(Undecoded::Fault(fault)) => panic!("{encoding:?}: {fault}"),
            }
        }
        assert!(out == data, "{encoding:?}");
        assert!(decoder.is_done());

        let mut whole = vec![0; data.len()];
        decoder.start(encoding, span, Size::Exactly(data.len() as u64));
        assert!(decoder.fill(&Source::whole(&file), &mut whole).unwrap() == data);
    }
}
