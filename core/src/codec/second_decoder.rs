//! A second decoder, ruzstd, that follows the first through a zstd stream.
//!
//! Both decoders are hashed: a file that makes them differ could carry one model for one reader and
//! another model for the next. Only streams that the first decoder accepts need the second.

use super::checksum::{Algorithm, Checksum, Hasher};
use super::{End, Fault, Job, ruzstd};
use crate::base::widen;
use alloc::vec::Vec;

/// Bytes decoded at a time, unless all of the stream stays in the output.
const PIECE: u64 = 128 << 10;

/// The second decoder, and what both have decoded so far.
pub(super) struct Second {
    frames: ruzstd::Frames,
    buffer: Vec<u8>,
    written: u64,
    /// All output stays in the buffer, as it does in that of the first decoder when it begins.
    whole: bool,
    end: End,
    sums: Option<(Hasher, Hasher)>,
}

impl Second {
    pub(super) fn new() -> Self {
        Second {
            frames: ruzstd::Frames::new(),
            buffer: Vec::new(),
            written: 0,
            whole: false,
            end: End::NotYet,
            sums: None,
        }
    }

    /// Starts a stream.
    pub(super) fn start(&mut self) {
        let hasher = || Hasher::new(Algorithm::Sha256);
        self.frames.start();
        self.buffer.clear();
        self.written = 0;
        self.end = End::NotYet;
        self.sums = hasher().zip(hasher());
    }

    /// Decodes the input that the first decoder has just used. `last` is true for the last of it,
    /// `decoded` is the output of the first decoder, `most` the largest size of the stream in bytes.
    /// The output of the second is kept if that of the first is (`whole`): only then are windows
    /// beyond the limit decoded.
    pub(super) fn follow(
        &mut self,
        mut input: &[u8],
        last: bool,
        decoded: &[u8],
        (most, whole): (u64, bool),
    ) {
        if let Some((first, _)) = &mut self.sums {
            first.update(decoded);
        }
        if self.buffer.is_empty() {
            self.whole = whole;
            if !self.make_buffer(if whole { most } else { PIECE.min(most) }) {
                self.end = End::Fault(Fault::Buffer);
            }
        }
        let whole = self.whole;
        while self.end == End::NotYet {
            let left = most.saturating_sub(self.written);
            let at = if whole { usize::try_from(self.written).unwrap_or(usize::MAX) } else { 0 };
            let room = self.buffer.len().saturating_sub(at);
            let room = room.min(usize::try_from(left).unwrap_or(usize::MAX));
            let (written, work) = (self.written, u64::MAX);
            let output = self.buffer.as_mut_slice();
            let mut job = Job { input, last, output, at, room, whole, left, written, work };
            let outcome = self.frames.step(&mut job);
            let piece = at..at.saturating_add(outcome.written);
            let piece = self.buffer.get(piece).unwrap_or_default();
            if let Some((_, second)) = &mut self.sums {
                second.update(piece);
            }
            self.written = self.written.saturating_add(widen(outcome.written));
            self.end = outcome.end;
            input = input.get(outcome.read..).unwrap_or_default();
            // It has used everything, or waits for more.
            if outcome.written == 0 && (outcome.read == 0 || input.is_empty()) {
                break;
            }
        }
    }

    /// Whether the second decoder has accepted the stream too, with the same bytes.
    pub(super) fn agrees(&mut self) -> bool {
        let sums = self.sums.take().map(|(first, second)| (first.finish(), second.finish()));
        let same = sums.is_some_and(|(first, second): (Checksum, Checksum)| first == second);
        same && self.end == End::Done
    }

    /// Zeros of this length, or one byte for an empty stream.
    fn make_buffer(&mut self, len: u64) -> bool {
        let Ok(len) = usize::try_from(len.max(1)) else { return false };
        let fits = self.buffer.try_reserve_exact(len).is_ok();
        if fits {
            self.buffer.resize(len, 0);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, Size, Undecoded};
    use super::*;
    use crate::input::{Source, Span};
    use crate::model::Encoding;

    /// "abcd" in one raw block.
    const FRAME: [u8; 13] =
        [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x04, 0x21, 0x00, 0x00, b'a', b'b', b'c', b'd'];

    fn followed(input: &[u8], decoded: &[u8], whole: bool) -> bool {
        let mut second = Second::new();
        second.start();
        let (head, tail) = input.split_at(input.len() / 2);
        second.follow(head, false, &[], (4, whole));
        second.follow(tail, true, decoded, (4, whole));
        second.agrees()
    }

    #[test]
    fn second_decoder_agrees_only_with_its_own_bytes() {
        for whole in [false, true] {
            assert!(followed(&FRAME, b"abcd", whole));
            assert!(!followed(&FRAME, b"abce", whole));
            assert!(!followed(&FRAME, b"abc", whole));
            assert!(!followed(&FRAME[..12], b"abcd", whole), "it is cut off");
            let mut other = FRAME;
            other[12] = b'e';
            assert!(!followed(&other, b"abcd", whole));
        }
    }

    #[test]
    fn second_decoder_forgets_the_previous_stream() {
        let mut second = Second::new();
        for _ in 0..2 {
            second.start();
            second.follow(&FRAME, true, b"abcd", (4, true));
            assert!(second.agrees());
        }
    }

    #[test]
    fn stream_that_second_decoder_reads_differently_is_a_fault() {
        // "abcd" in one raw block.
        let stored = b"\x28\xB5\x2F\xFD\x20\x04\x21\x00\x00abcd";
        let source = Source::whole(stored);
        let mut decoder = Decoder::with_second_opinion();
        for seen in [b"".as_slice(), b"x"] {
            decoder.start(Encoding::Zstd, Span::new(0, 13), Size::Exactly(4));
            // As if the first decoder had decoded this in addition.
            decoder.second.as_mut().unwrap().follow(&[], false, seen, (4, true));
            let mut buffer = [0; 4];
            let result = decoder.fill(&source, &mut buffer).map(<[u8]>::to_vec);
            match seen {
                b"" => assert_eq!(result, Ok(b"abcd".to_vec())),
                _ => assert_eq!(result, Err(Undecoded::Fault(Fault::Second))),
            }
        }
    }
}
