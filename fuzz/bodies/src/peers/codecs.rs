//! Decoders against the C libraries: libdeflate, and zstd's own.
//!
//! Accepted differences, and nothing else:
//!
//! * libdeflate takes the two length codes that do not exist (286 and 287) for
//!   258; RFC 1951 forbids them in a stream.
//! * libdeflate does not say how much it read. Bytes behind a stream are a fault
//!   here, and nothing there.
//! * zstd frames that ask for a window beyond `limits::ZSTD_WINDOW` are refused
//!   here, to bound memory.
//! * A stream without a frame that holds data (nothing at all, or skippable frames
//!   only) is no bytes for the C library, and cut off here.
//! * The C library leaves reserved bits and streams of literals that end early
//!   unchecked; RFC 8878 does not allow them, and they are malformed here.

use crate::Tail;
use weighbridge::Encoding;
use weighbridge::codec::{Fault, Size};
use weighbridge_tests::codec::{Decoded, Portions, decode};

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

/// A row of zstd frames.
pub fn zstd(input: &[u8]) {
    let mut tail = Tail::new(input);
    let largest = 1 + 8 * usize::from(tail.word());
    let stored = tail.rest;
    let theirs = zstd::bulk::decompress(stored, largest).ok();
    let (bytes, end) = ours(Encoding::Zstd, stored, largest);
    match (theirs, end) {
        (Some(theirs), Ok(())) => assert!(bytes == theirs, "different bytes"),
        (Some(_), Err(fault)) => {
            let stricter = [Fault::Window, Fault::ContentSize, Fault::Malformed];
            let nothing = fault == Fault::Truncated && only_skippable(stored);
            let old = fault == Fault::Trailing && names_a_legacy_frame(stored);
            assert!(nothing || old || stricter.contains(&fault), "only here: {fault:?}");
        }
        (None, Ok(())) => panic!("only the C library refuses it"),
        (None, Err(_)) => {}
    }
}

/// Whether a frame of zstd 0.1 to 0.7 may begin somewhere. RFC 8878 has none of
/// them; another crate of this workspace turns on the feature that reads them.
fn names_a_legacy_frame(stored: &[u8]) -> bool {
    stored
        .windows(4)
        .any(|magic| matches!(magic, [0x22..=0x27, 0xB5, 0x2F, 0xFD] | [0xFD, 0x2F, 0xB5, 0x1E]))
}

/// Whether there are skippable frames (RFC 8878, 3.1.2) and nothing else.
fn only_skippable(mut stored: &[u8]) -> bool {
    while let Some((head, rest)) = stored.split_first_chunk::<8>() {
        let [magic, len] = [0, 4]
            .map(|at| u32::from_le_bytes(*head[at..].first_chunk().expect("four bytes of eight")));
        match rest.get(len as usize..) {
            Some(rest) if magic & !0xF == 0x184D_2A50 => stored = rest,
            _ => return false,
        }
    }
    stored.is_empty()
}

fn ours(encoding: Encoding, stored: &[u8], largest: usize) -> Decoded {
    decode(encoding, stored, Size::AtMost(largest as u64), &Portions::WHOLE)
}
