//! zTensor compared with the published crate, 0.1.0.
//!
//! Accepted differences, and nothing else:
//!
//! * The crate checks little of what the specification requires, so it reads
//!   many files that break a rule here. Its content is compared for the tensors
//!   that are sound here, even if others are not.
//! * The crate may refuse a file with lints or with data that this build cannot
//!   check: it insists that a sparse tensor has the size of a dense one and that
//!   every key is text, and it does not know tags.
//! * The crate refuses custom integers below -2^63, which CBOR has.
//! * The crate reads only generation 0.1.
//! * The crate swaps big-endian bytes only in raw data, so bytes are compared in
//!   this processor's order.

use super::refusing;
use std::io::Cursor;
use weighbridge_core::{Encoding, Endianness, Format, Layout, Severity, Status};
use weighbridge_tests::codec::decoded;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};
use ztensor::ZTensorReader;

/// Files without faults here are read by the crate, with the same content.
pub fn peer(input: &[u8]) {
    compare("input", input);
}

/// Whether both accept the file.
///
/// # Panics
/// If the crate refuses a valid file, or the content differs.
pub fn compare(name: &str, bytes: &[u8]) -> bool {
    if bytes.starts_with(b"ZTEN1000") || bytes.starts_with(b"\x89ZT2\r\n\x1A\n") {
        return false;
    }
    let survey = survey_whole(bytes, Some(Format::ZTensor));
    if survey.worst() >= Severity::Violation {
        return false;
    }
    let clean = survey.findings.is_empty();
    let Some(mut peer) = refusing(|| ZTensorReader::new(Cursor::new(bytes)).ok()) else {
        assert!(!clean || has_long_integer(bytes), "{name}: only the crate refuses it");
        return false;
    };
    assert!(!clean || !has_long_integer(bytes), "{name}: the crate holds a long integer");
    let theirs = peer.list_tensors().clone();
    assert_eq!(theirs.len(), survey.tensors.len(), "{name}");
    for (fact, theirs) in survey.tensors.iter().zip(&theirs) {
        assert_eq!(fact.name, theirs.name.as_bytes(), "{name}");
        assert_eq!(fact.shape, theirs.shape, "{name}");
        let Some(chunk) = fact.chunks.first() else { continue };
        assert_eq!((chunk.stored.offset, chunk.stored.len), (theirs.offset, theirs.size), "{name}");
        if !is_comparable(&survey, fact) {
            continue;
        }
        match refusing(|| peer.read_raw_tensor_data(theirs).ok()) {
            Some(data) => assert!(data == native(bytes, fact), "{name}: {}", theirs.name),
            None => {
                let wide = asks_for_more_than_128_mib(bytes, fact);
                assert!(!clean || wide, "{name}: only the crate refuses {}", theirs.name);
            }
        }
    }
    clean
}

/// Whether a zstd frame has a window that the C library rejects by default; data
/// that fits in memory as a whole needs no window.
fn asks_for_more_than_128_mib(bytes: &[u8], fact: &TensorFact) -> bool {
    let stored = &bytes[fact.chunks[0].stored.offset as usize..];
    matches!(stored, [0x28, 0xB5, 0x2F, 0xFD, descriptor, window, ..]
        if descriptor & 0x20 == 0 && *window > (27 - 10) << 3)
}

/// Whether the index of a valid file contains an integer below -2^63, which is
/// possible only in a custom value.
fn has_long_integer(bytes: &[u8]) -> bool {
    let Some((rest, len)) = bytes.split_last_chunk() else { return false };
    let len = u64::from_le_bytes(*len) as usize;
    let mut items = &rest[rest.len().saturating_sub(len)..];
    // Heads follow each other at any nesting level, except for the bytes of
    // strings.
    while let Some((&head, tail)) = items.split_first() {
        let width = match head & 0x1F {
            info @ 24..=27 => 1 << (info - 24),
            _ => 0,
        };
        let Some((argument, tail)) = tail.split_at_checked(width) else { return false };
        let value = argument.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let value = if width == 0 { u64::from(head & 0x1F) } else { value };
        items = match head >> 5 {
            1 if value >= 1 << 63 => return true,
            // 31 begins a string in chunks, each of which is a string itself.
            2 | 3 if head & 0x1F != 31 => tail.get(value as usize..).unwrap_or_default(),
            _ => tail,
        };
    }
    false
}

/// Whether the data of a tensor is dense and was checked.
fn is_comparable(survey: &Survey, fact: &TensorFact) -> bool {
    let unchecked = |f: &weighbridge_core::Finding| {
        f.severity() == Severity::Unchecked && f.entry == fact.tensor.index
    };
    fact.tensor.status == Status::Sound
        && fact.tensor.layout == Layout::RowMajor
        && fact.tensor.bytes().is_some_and(|size| size <= 1 << 20)
        && !survey.findings.iter().any(unchecked)
}

/// The decoded data in the byte order of this processor.
fn native(bytes: &[u8], fact: &TensorFact) -> Vec<u8> {
    let mut data = decoded(bytes, &fact.chunks[0]);
    let swapped = fact.tensor.endianness == Endianness::Big && cfg!(target_endian = "little");
    if swapped && fact.tensor.encoding == Encoding::Raw {
        let width = fact.tensor.dtype.bits() as usize / 8;
        data.chunks_exact_mut(width.max(1)).for_each(<[u8]>::reverse);
    }
    data
}
