//! Decoders compared with the C libraries: libdeflate and zstd.
//!
//! Accepted differences, and nothing else:
//!
//! * libdeflate reads the two invalid length codes (286 and 287) as 258; RFC 1951
//!   forbids them in a stream.
//! * libdeflate does not report how much it read. Bytes after a stream are a fault
//!   here; libdeflate ignores them.
//! * zstd frames that need a window beyond `limits::ZSTD_WINDOW` are refused here
//!   when decoding into a ring, and from `limits::ZSTD_WINDOW_END` on when decoding
//!   into whole output.
//! * An empty stream is no bytes for the C library, and truncated here.
//! * The C library does not check reserved bits, nor whether literal streams end with
//!   their last literal. In one-shot decoding, it also accepts matches beyond the
//!   window, raw blocks longer than the window, and codes of 12 bits. RFC 8878
//!   forbids all of these, and they are malformed here.

use crate::Tail;
use weighbridge_core::Encoding;
use weighbridge_core::codec::{Decoder, Fault, Size};
use weighbridge_tests::codec::{Decoded, Portions, decode, decode_with};

/// Sizes up to this many bytes are compared.
const LARGEST: usize = 1 << 17;

/// A raw deflate stream.
pub fn deflate(input: &[u8]) {
    inflated(Encoding::Deflate, input, |stored, out| {
        libdeflater::Decompressor::new().deflate_decompress(stored, out).ok()
    });
}

/// A zlib stream.
pub fn zlib(input: &[u8]) {
    inflated(Encoding::Zlib, input, |stored, out| {
        libdeflater::Decompressor::new().zlib_decompress(stored, out).ok()
    });
}

fn inflated(encoding: Encoding, stored: &[u8], theirs: impl Fn(&[u8], &mut [u8]) -> Option<usize>) {
    let mut out = vec![0; LARGEST];
    let theirs = theirs(stored, &mut out).map(|len| &out[..len]);
    let (bytes, end) = ours(encoding, stored, LARGEST);
    let accepted = end.is_ok() || end == Err(Fault::Trailing);
    match theirs {
        Some(theirs) if accepted => assert!(bytes == theirs, "different bytes"),
        Some(_) => assert_eq!(end, Err(Fault::Malformed), "only libdeflate accepts it"),
        None => assert!(!accepted, "only libdeflate refuses it"),
    }
}

/// A sequence of zstd frames.
pub fn zstd(input: &[u8]) {
    let mut tail = Tail::new(input);
    let largest = 1 + 8 * usize::from(tail.word());
    let stored = tail.rest;
    let theirs = zstd::bulk::decompress(stored, largest).ok();
    let (bytes, end) = ours(Encoding::Zstd, stored, largest);
    // In rings, sized by each frame, and by the second decoder.
    for output in [0, bytes.len() / 2, bytes.len(), bytes.len() + 200] {
        let portions = Portions { input: 1 + output % 100, output };
        let (other, ended) =
            decode(Encoding::Zstd, stored, Size::AtMost(largest as u64), &portions);
        let same = ended == end && other == bytes;
        assert!(same || ended == Err(Fault::Window), "a ring from {output} bytes on: {ended:?}");
    }
    let size = Size::AtMost(largest as u64);
    let mut second = Decoder::with_ruzstd();
    let second = decode_with(&mut second, Encoding::Zstd, stored, size, &Portions::WHOLE);
    if end.is_ok() && second.1.is_ok() {
        assert!(second.0 == bytes, "ruzstd has different bytes");
    }
    match (theirs, end) {
        (Some(theirs), Ok(())) => assert!(bytes == theirs, "different bytes"),
        (Some(_), Err(fault)) => {
            let stricter = [Fault::Window, Fault::ContentSize, Fault::Malformed];
            let nothing = fault == Fault::Truncated && stored.is_empty();
            let old = fault == Fault::Trailing && names_a_legacy_frame(stored);
            assert!(nothing || old || stricter.contains(&fault), "only here: {fault:?}");
        }
        (None, Ok(())) => panic!("only the C library refuses it"),
        (None, Err(_)) => {}
    }
}

/// Whether the stream may contain a frame of zstd 0.1 to 0.7. RFC 8878 has none of
/// them; another crate of this workspace enables the feature that reads them.
fn names_a_legacy_frame(stored: &[u8]) -> bool {
    stored
        .windows(4)
        .any(|magic| matches!(magic, [0x22..=0x27, 0xB5, 0x2F, 0xFD] | [0xFD, 0x2F, 0xB5, 0x1E]))
}

fn ours(encoding: Encoding, stored: &[u8], largest: usize) -> Decoded {
    decode(encoding, stored, Size::AtMost(largest as u64), &Portions::WHOLE)
}
