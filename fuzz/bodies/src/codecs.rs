//! Streams of every encoding, in pieces of any size.

use crate::budget::{heap, within};
use crate::{Tail, facts};
use weighbridge_core::Encoding;
use weighbridge_core::codec::{Decoder, Fault, Size, WINDOW};
use weighbridge_tests::codec::{Portions, decode, decode_with};

/// Steps per byte of input and output.
const PER_BYTE: u64 = 600;
/// An empty zstd frame still sets up tables, many times over if there are many
/// frames.
const BASE: u64 = 400_000;

/// Neither the output nor the final result depends on the pieces or on the
/// decoder's earlier use.
pub fn codecs(input: &[u8]) {
    let mut tail = Tail::new(input);
    let (how, pieces, size) = (tail.byte(), tail.byte(), tail.word());
    let encoding =
        [Encoding::Raw, Encoding::Deflate, Encoding::Zlib, Encoding::Zstd][usize::from(how & 3)];
    let size = match how & 4 {
        0 => Size::Exactly(size.into()),
        _ => Size::AtMost(u64::from(size) << 4),
    };
    streams(encoding, tail.rest, size, usize::from(pieces));
}

/// Decodes one stream in several ways.
///
/// # Panics
/// If the results differ, or decoding takes too much.
pub fn streams(encoding: Encoding, stored: &[u8], size: Size, pieces: usize) {
    let (Size::Exactly(most) | Size::AtMost(most)) = size;
    let bytes = stored.len() as u64 + most;
    let allowed = 4 * most as i64 + (1 << 10);
    let whole = within(
        "whole",
        || heap(allowed, || decode(encoding, stored, size, &Portions::WHOLE)),
        |_| BASE + PER_BYTE * bytes,
    );
    facts::note(&whole.1);
    facts::note(&whole.0);
    let mut decoder = Decoder::new();
    // The first use leaves state in the buffers.
    let _ =
        decode_with(&mut decoder, encoding, &stored[stored.len() / 2..], size, &Portions::WHOLE);
    let portions = Portions { input: 1 + pieces, output: WINDOW };
    let parts = decode_with(&mut decoder, encoding, stored, size, &portions);
    // A large window is available only if the output is a single buffer.
    let windowed = encoding == Encoding::Zstd && parts.1 == Err(Fault::Window);
    assert!(windowed || parts.1 == whole.1, "pieces of {} matter", portions.input);
    if whole.1.is_ok() {
        around(encoding, stored, &whole.0, pieces);
    }
    if whole.1.is_ok() && !windowed {
        assert!(parts.0 == whole.0, "pieces of {} matter", portions.input);
        if let Size::Exactly(size) = size {
            assert_eq!(whole.0.len() as u64, size);
        }
    }
    assert!(!matches!(whole.1, Err(Fault::Buffer | Fault::Unsupported)));
}

/// Decodes into buffers that are a little smaller or larger than the output, or
/// of other sizes, when the output length is unknown.
fn around(encoding: Encoding, stored: &[u8], expected: &[u8], which: usize) {
    let len = expected.len();
    let sizes = [len.saturating_sub(1), len, len + 1, len.next_power_of_two(), len + len / 3 + 1];
    let output = sizes[which % sizes.len()].max(WINDOW);
    let size = Size::AtMost(2 * output as u64);
    let (bytes, end) = decode(encoding, stored, size, &Portions { input: 1 << 10, output });
    let windowed = encoding == Encoding::Zstd && end == Err(Fault::Window);
    assert!(windowed || (end.is_ok() && bytes == expected), "{len} bytes into {output}: {end:?}");
}
