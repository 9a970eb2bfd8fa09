//! Streams that must be rejected, and the fault reported.

use super::{Frame, deflate, zlib, zstd};
use weighbridge_core::codec::{Fault, Size, WINDOW};
use weighbridge_core::{Encoding, limits};
use weighbridge_tests::codec::{Portions, decode, samples};

/// Decodes with several portions, which must agree, and returns the fault.
fn fault(encoding: Encoding, stored: &[u8], size: u64) -> (usize, Fault) {
    let mut results = [(1, WINDOW), (3, WINDOW), (1000, WINDOW), (usize::MAX, usize::MAX)]
        .map(|(input, output)| {
            let (data, end) =
                decode(encoding, stored, Size::Exactly(size), &Portions { input, output });
            (data.len(), end.expect_err("the stream is faulty"))
        })
        .into_iter();
    let first = results.next().unwrap();
    for other in results {
        assert_eq!(first.1, other.1, "{encoding:?}: portions matter");
    }
    first
}

fn data() -> Vec<u8> {
    samples(50_000).swap_remove(1).1
}

fn streams() -> Vec<(Encoding, Vec<u8>)> {
    let data = data();
    let checked = Frame { level: 3, checksum: true, content_size: true, window_log: None };
    vec![
        (Encoding::Raw, data.clone()),
        (Encoding::Deflate, deflate(&data, 6)),
        (Encoding::Deflate, deflate(&data, 0)),
        (Encoding::Zlib, zlib(&data, 6)),
        (Encoding::Zstd, zstd(&data, Frame::default())),
        (Encoding::Zstd, zstd(&data, checked)),
    ]
}

#[test]
fn wrong_decoded_length_is_found() {
    for (encoding, stored) in streams() {
        assert_eq!(fault(encoding, &stored, 50_001).1, Fault::Short, "{encoding:?}");
        for size in [0, 1, 49_999] {
            assert_eq!(fault(encoding, &stored, size).1, Fault::Long, "{encoding:?}, {size}");
        }
        // A buffer of exactly the declared size leaves no room to detect more output.
        let whole = Portions { input: 100, output: usize::MAX };
        let (out, end) = decode(encoding, &stored, Size::Exactly(49_999), &whole);
        assert_eq!((out == data()[..49_999], end), (true, Err(Fault::Long)), "{encoding:?}");
        let (_, end) = decode(encoding, &stored, Size::AtMost(49_999), &whole);
        assert_eq!(end, Err(Fault::Long), "{encoding:?}");
    }
}

#[test]
fn truncated_stream_is_found() {
    for (encoding, stored) in streams() {
        let lengths = [0, 1, 2, 5, 9, stored.len() / 2, stored.len() - 4, stored.len() - 1];
        for len in lengths {
            let expected = match encoding {
                Encoding::Raw => Fault::Short,
                _ => Fault::Truncated,
            };
            let found = fault(encoding, &stored[..len], 50_000).1;
            assert_eq!(found, expected, "{encoding:?}, {len} of {} bytes", stored.len());
        }
    }
}

#[test]
fn bytes_after_stream_are_found() {
    for (encoding, stored) in streams() {
        let expected = match encoding {
            Encoding::Raw => Fault::Long,
            _ => Fault::Trailing,
        };
        for tail in [&[0][..], &[0x28], &[0x28, 0xB5, 0x2F], &[0; 4], &[7; 5000]] {
            let longer = [&stored[..], tail].concat();
            let (written, found) = fault(encoding, &longer, 50_000);
            assert_eq!(found, expected, "{encoding:?} and {} bytes", tail.len());
            assert_eq!(written, 50_000, "{encoding:?}: the data comes first");
        }
    }
}

#[test]
fn wrong_stream_checksum_is_found() {
    for (encoding, mut stored) in streams().into_iter().skip(3) {
        let sums = encoding == Encoding::Zlib || stored[4] & 4 != 0;
        if sums {
            *stored.last_mut().unwrap() ^= 1;
            assert_eq!(fault(encoding, &stored, 50_000), (50_000, Fault::Checksum));
        }
    }
}

#[test]
fn broken_zlib_header_is_found() {
    let stored = zlib(&data(), 6);
    // A method other than deflate, a window of 64 KiB, a wrong check, and a preset dictionary; the
    // first three bytes with a corrected check.
    for header in [[0x79, 0x18], [0x88, 0x1C], [0x78, 0x9D], [0x78, 0xBB]] {
        let changed = [&header[..], &stored[2..]].concat();
        assert_eq!(fault(Encoding::Zlib, &changed, 50_000), (0, Fault::Malformed), "{header:x?}");
    }
    assert_eq!(fault(Encoding::Zlib, &deflate(&data(), 6), 50_000).1, Fault::Malformed);
}

/// References before the first byte must not expose earlier contents of a ring.
#[test]
fn distance_before_start_is_found() {
    // Fixed codes: a literal "a", then a match of length 3 at distance 2.
    let stored = [0x4B, 0x04, 0x12, 0x00];
    for output in [WINDOW, usize::MAX] {
        let portions = Portions { input: usize::MAX, output };
        let (out, end) = decode(Encoding::Deflate, &stored, Size::AtMost(100_000), &portions);
        assert_eq!((out.as_slice(), end), (&b"a"[..], Err(Fault::Malformed)));
    }
}

/// A frame header, one raw block "abc", and `tail`.
fn frame(descriptor: u8, fields: &[u8], tail: &[u8]) -> Vec<u8> {
    let magic = 0xFD2F_B528_u32.to_le_bytes();
    [&magic[..], &[descriptor], fields, &[0x19, 0, 0], b"abc", tail].concat()
}

#[test]
fn broken_frame_header_is_found() {
    let ok = |stored: &[u8]| decode(Encoding::Zstd, stored, Size::Exactly(3), &Portions::WHOLE);
    let bad = |stored: &[u8]| fault(Encoding::Zstd, stored, 3).1;
    assert_eq!(ok(&frame(0, &[0x58], &[])), (b"abc".to_vec(), Ok(())));
    assert_eq!(ok(&frame(0x20, &[3], &[])), (b"abc".to_vec(), Ok(())));
    assert_eq!(ok(&frame(0x81, &[0x58, 0, 3, 0, 0, 0], &[])), (b"abc".to_vec(), Ok(())));

    // The window: 8 MiB is the limit; 9 MiB and 3.75 TiB exceed it.
    assert_eq!(limits::ZSTD_WINDOW, 8 << 20);
    assert_eq!(ok(&frame(0, &[13 << 3], &[])).1, Ok(()));
    // If the output buffer holds everything, only windows above 4 GiB are rejected.
    assert_eq!(ok(&frame(0, &[(13 << 3) | 1], &[])), (b"abc".to_vec(), Ok(())));
    assert_eq!(ok(&frame(0, &[0xAF], &[])), (b"abc".to_vec(), Ok(())));
    assert_eq!(bad(&frame(0, &[0xB0], &[])), Fault::Window);
    assert_eq!(bad(&frame(0, &[0xFF], &[])), Fault::Window);
    assert_eq!(bad(&frame(0xE0, &[0xFF; 8], &[])), Fault::ContentSize);
    let narrow = |stored: &[u8]| {
        decode(Encoding::Zstd, stored, Size::AtMost(4), &Portions { input: 9, output: 3 }).1
    };
    assert_eq!(narrow(&frame(0, &[13 << 3], &[])), Ok(()));
    assert_eq!(narrow(&frame(0, &[(13 << 3) | 1], &[])), Err(Fault::Window));
    assert_eq!(narrow(&frame(0xE0, &[0xFF; 8], &[])), Err(Fault::Window));

    // The content size in the header.
    assert_eq!(bad(&frame(0x20, &[4], &[])), Fault::ContentSize);
    assert_eq!(bad(&frame(0xC0, &[0x58, 0, 0, 0, 0, 0, 1, 0, 0], &[])), Fault::ContentSize);
    assert_eq!(bad(&frame(0xC0, &[&[0x58][..], &[0xFF; 8]].concat(), &[])), Fault::ContentSize);
    assert_eq!(bad(&frame(0x40, &[0x58, 3, 0], &[])), Fault::ContentSize);

    assert_eq!(bad(&frame(1, &[0x58, 9], &[])), Fault::Dictionary);
    assert_eq!(bad(&frame(0x08, &[0x58], &[])), Fault::Malformed);
    assert_eq!(bad(&frame(0x04, &[0x58], &[1, 2, 3, 4])), Fault::Checksum);
    assert_eq!(bad(b"abc"), Fault::Truncated);
    assert_eq!(bad(b"abcd"), Fault::Malformed);
    assert_eq!(bad(b""), Fault::Truncated);
    // Skippable frames alone form an empty stream.
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
    let (out, end) = decode(Encoding::Zstd, &skippable, Size::Exactly(0), &Portions::WHOLE);
    assert_eq!((out.len(), end), (0, Ok(())));
    assert_eq!(fault(Encoding::Zstd, &skippable, 1).1, Fault::Short);
    // The magic of zstd 0.7, and a block of the reserved type.
    assert_eq!(bad(&[0x27, 0xB5, 0x2F, 0xFD, 0, 0x58, 1, 0, 0]), Fault::Malformed);
    assert_eq!(bad(&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x58, 7, 0, 0]), Fault::Malformed);
    // A block beyond 128 KiB.
    assert_eq!(bad(&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x58, 0x0B, 0, 0x10, 0]), Fault::Malformed);
}

#[test]
fn misuse_of_decoder_is_error() {
    let stored = deflate(&data(), 6);
    let portions = Portions { input: usize::MAX, output: WINDOW - 1 };
    let (out, end) = decode(Encoding::Deflate, &stored, Size::Exactly(50_000), &portions);
    assert_eq!((out.len(), end), (0, Err(Fault::Buffer)));
    assert!(!Fault::Buffer.is_of_file());
    assert!(!Fault::Window.is_of_file() && !Fault::Dictionary.is_of_file());
    let (_, end) = decode(Encoding::Unknown, &stored, Size::Exactly(1), &Portions::WHOLE);
    assert_eq!(end, Err(Fault::Unsupported));
}
