//! An encoder's sound file with a few damaged fields: code after magics, lengths and
//! checksums is reached from the first input on.

use crate::walk::walk;
use crate::windows::compare;
use arbitrary::{Arbitrary, Unstructured};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use weighbridge_core::{Format, Part, Severity};
use weighbridge_tests::encode;
use weighbridge_tests::survey::{Access, survey_whole};

/// A change to a file.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Damage {
    /// Overwrites a number of `width` bytes.
    Number { at: u16, width: u8, value: u64 },
    /// Increases or decreases a number.
    Nudge { at: u16, width: u8, by: i8 },
    /// Copies bytes from one place to another.
    Copy { from: u16, to: u16, len: u8 },
    /// Removes a byte.
    Remove { at: u16 },
    /// Inserts bytes.
    Insert { at: u16, value: u8, count: u8 },
    /// Truncates the file.
    Cut { at: u16 },
}

/// Builds a file as described by the input, which must be sound, and damages it.
pub fn damaged(format: Format, input: &[u8]) {
    let Some((bytes, access)) = file(format, input) else { return };
    let verdict = walk(&bytes, Some(format));
    let access = match access % 4 {
        0 => Access::Rounded(1 << (access >> 4)),
        1 => Access::Ahead,
        2 => Access::Single(64 + u64::from(access)),
        _ => return,
    };
    if verdict.is_some() {
        compare(&bytes, Some(format), access);
    }
}

/// The damaged file described by an input, and a byte that says how it is read.
///
/// # Panics
/// If the file is not sound before it is damaged.
pub fn file(format: Format, input: &[u8]) -> Option<(Vec<u8>, u8)> {
    let mut choices = Unstructured::new(input);
    let seed = choices.arbitrary().unwrap_or_default();
    let access = choices.arbitrary().unwrap_or(0_u8);
    let damages: Vec<Damage> = choices.arbitrary_iter().into_iter().flatten().flatten().collect();
    let mut bytes = build(format, seed)?;
    let sound = survey_whole(&bytes, Some(format));
    assert!(sound.worst() < Severity::Violation, "{:?} of a sound file", sound.findings);

    // Fields are in the regions outside the payloads.
    let fields: Vec<_> = sound
        .regions
        .iter()
        .filter(|region| region.part != Part::Payload)
        .flat_map(|region| region.span.offset..region.span.offset + region.span.len)
        .collect();
    let place = |at: u16, len: usize| {
        let at = usize::from(at);
        match fields.get(at % fields.len().max(1)) {
            Some(field) if at & 0x8000 == 0 => *field as usize % len.max(1),
            _ => at % len.max(1),
        }
    };
    for damage in damages.into_iter().take(6) {
        let len = bytes.len();
        apply(&mut bytes, damage, |at| place(at, len));
    }
    Some((bytes, access))
}

/// Damages a file, at places that `place` makes of numbers.
pub(crate) fn apply(bytes: &mut Vec<u8>, damage: Damage, place: impl Fn(u16) -> usize) {
    let field = |at: u16, width: u8| {
        let at = place(at);
        at..at + (1 << (width % 4))
    };
    match damage {
        Damage::Number { at, width, value } => {
            if let Some(number) = bytes.get_mut(field(at, width)) {
                let value = value.to_le_bytes();
                number.iter_mut().zip(value).for_each(|(byte, value)| *byte = value);
            }
        }
        Damage::Nudge { at, width, by } => {
            if let Some(number) = bytes.get_mut(field(at, width)) {
                let mut value = [0; 8];
                value.iter_mut().zip(&*number).for_each(|(to, from)| *to = *from);
                let value = u64::from_le_bytes(value).wrapping_add_signed(by.into()).to_le_bytes();
                number.iter_mut().zip(value).for_each(|(byte, value)| *byte = value);
            }
        }
        Damage::Copy { from, to, len } => {
            let (from, to, len) = (place(from), place(to), 1 + usize::from(len % 64));
            if from + len <= bytes.len() && to + len <= bytes.len() {
                bytes.copy_within(from..from + len, to);
            }
        }
        Damage::Remove { at } if !bytes.is_empty() => drop(bytes.remove(place(at))),
        Damage::Remove { .. } => {}
        Damage::Insert { at, value, count } => {
            let at = place(at);
            bytes.splice(at..at, vec![value; 1 + usize::from(count % 64)]);
        }
        Damage::Cut { at } => bytes.truncate(place(at)),
    }
}

/// Encodes a file from a random description.
fn build(format: Format, seed: [u8; 8]) -> Option<Vec<u8>> {
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &[seed, *b"wbridge."].concat());
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    macro_rules! file {
        ($strategy:expr, $encode:expr) => {{
            let tree = $strategy.new_tree(&mut runner).ok()?;
            #[allow(clippy::redundant_closure_call, reason = "one closure per format")]
            ($encode)(tree.current())
        }};
    }
    Some(match format {
        Format::BinTensors => {
            file!(encode::bintensors::arbitrary(), |f: encode::bintensors::File| f.encode())
        }
        Format::ExecuTorch => {
            file!(encode::executorch::arbitrary(), |f: Vec<(u8, Vec<i32>)>| {
                encode::executorch::encode_program(&encode::executorch::of_constants(&f)).bytes
            })
        }
        Format::Gguf => {
            file!(encode::gguf::arbitrary(), |f: encode::gguf::File| f.encode().bytes)
        }
        Format::Idv => file!(encode::idv::arbitrary(), |f| encode::idv::encode(&f).bytes),
        Format::Npy => file!(encode::npy::arbitrary(), |f: encode::npy::Npy| f.encode()),
        Format::Npz => file!(encode::npz::arbitrary(), |f: encode::npz::Npz| f.encode()),
        Format::Oinf => {
            file!(encode::oinf::arbitrary(), |f: encode::oinf::Model| f.encode().bytes)
        }
        Format::Onnx => {
            file!(encode::onnx::arbitrary(), |f: Vec<encode::onnx::Tensor>| {
                encode::onnx::Model::new(&f).encode()
            })
        }
        Format::Safetensors => {
            file!(encode::safetensors::arbitrary(), |f: encode::safetensors::File| f.encode())
        }
        Format::Shards => {
            file!(encode::shards::arbitrary(), |f: encode::shards::Index| f.encode())
        }
        Format::Stb => file!(encode::stb::arbitrary(), |f: encode::stb::Stb| f.encode()),
        Format::Tflite => file!(encode::tflite::arbitrary(), |f: Vec<(u8, Vec<i32>)>| {
            encode::tflite::encode(&encode::tflite::of_constants(&f)).bytes
        }),
        Format::ZTensor => {
            file!(encode::ztensor::random::arbitrary(), |f: encode::ztensor::File| f.encode())
        }
        _ => return None,
    })
}
