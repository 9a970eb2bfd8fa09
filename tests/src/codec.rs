//! Sample data, and a way to run a decoder in pieces of any size.

use std::ops::Range;
use weighbridge_core::codec::{Decoder, Fault, Size};
use weighbridge_core::{Chunk, Encoding, Span};

/// How a stream is fed and drained.
#[derive(Clone, Debug)]
pub struct Portions {
    /// Bytes of input per step; more if a zstd block needs them.
    pub input: usize,
    /// Bytes of output buffer; more if a zstd frame has a larger window.
    pub output: usize,
}

impl Portions {
    /// Everything in one step.
    pub const WHOLE: Portions = Portions { input: usize::MAX, output: usize::MAX };
}

/// The decoded bytes, and the result.
pub type Decoded = (Vec<u8>, Result<(), Fault>);

/// Decodes a stream in portions.
///
/// # Panics
/// If the decoder makes no progress or writes outside its output.
pub fn decode(encoding: Encoding, stored: &[u8], size: Size, portions: &Portions) -> Decoded {
    decode_with(&mut Decoder::new(), encoding, stored, size, portions)
}

/// Like [`decode`], with a decoder that may have been used before.
///
/// # Panics
/// Under the same conditions as [`decode`].
pub fn decode_with(
    decoder: &mut Decoder,
    encoding: Encoding,
    stored: &[u8],
    size: Size,
    portions: &Portions,
) -> Decoded {
    let (Size::Exactly(most) | Size::AtMost(most)) = size;
    let mut buffer = vec![0xAA; portions.output.min(most as usize)];
    let mut out = Vec::new();
    decoder.start(encoding, Span::new(0, stored.len() as u64), size);
    loop {
        let from = decoder.read() as usize;
        let given = portions.input.max(decoder.needs() as usize);
        let to = from.saturating_add(given).min(stored.len());
        let step = match decoder.step(&stored[from..to], &mut buffer) {
            Ok(step) => step,
            Err(Fault::Buffer) if decoder.buffer() > buffer.len() as u64 => {
                buffer.resize(decoder.buffer() as usize, 0xAA);
                continue;
            }
            Err(fault) => return (out, Err(fault)),
        };
        let Range { start, end } = step.written;
        out.extend_from_slice(&buffer[start..end]);
        assert_eq!(out.len() as u64, decoder.written());
        assert!(out.len() as u64 <= most, "{} bytes of {most}", out.len());
        if step.done {
            assert_eq!(decoder.read(), stored.len() as u64);
            return (out, Ok(()));
        }
        let lacks = decoder.needs() as usize > to - from;
        assert!(step.read > 0 || end > start || lacks, "no progress at {from} of {}", stored.len());
    }
}

/// Decodes a chunk of a file in memory.
///
/// # Panics
/// If decoding fails.
pub fn decoded(file: &[u8], chunk: &Chunk) -> Vec<u8> {
    let stored = &file[chunk.stored.offset as usize..][..chunk.stored.len as usize];
    let size = chunk.decoded.map_or(Size::AtMost(1 << 26), Size::Exactly);
    let (bytes, end) = decode(chunk.encoding, stored, size, &Portions::WHOLE);
    end.unwrap_or_else(|fault| panic!("{chunk:?}: {fault}"));
    bytes
}

/// A fast pseudorandom number generator (xorshift).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (((self.number() >> 32) * end as u64) >> 32) as usize
    }
}

/// Samples of `len` bytes with different statistics: weights, text, numbers, noise, and one
/// repeated byte.
pub fn samples(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut random = Random::new(len as u64);
    let noise: Vec<u8> = (0..len).map(|_| random.number() as u8).collect();
    let weights = weights_bf16(len / 2, 7).into_iter().chain([0]).take(len).collect();
    let words = ["tensor", "weight", "bias", " of ", "layer.", "norm", "the ", "0.", "1", "\n"];
    let mut text = Vec::new();
    while text.len() < len {
        text.extend_from_slice(words[random.below(words.len())].as_bytes());
    }
    text.truncate(len);
    let numbers = (0..len.div_ceil(4)).flat_map(|i| (i as u32 * 3).to_le_bytes()).take(len);
    vec![
        ("weights", weights),
        ("text", text),
        ("numbers", numbers.collect()),
        ("noise", noise),
        ("zeros", vec![0; len]),
    ]
}

/// `count` weights as bfloat16 in a bell curve around zero, as in trained models.
pub fn weights_bf16(count: usize, seed: u64) -> Vec<u8> {
    let floats = weights_f32(count, seed);
    floats.iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect()
}

/// `count` weights in a bell curve around zero, as in trained models.
pub fn weights_f32(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut uniform = || (random.number() >> 40) as f32 / (1 << 24) as f32 - 0.5;
    (0..count).map(|_| 0.02 * (0..8).map(|_| uniform()).sum::<f32>()).collect()
}
