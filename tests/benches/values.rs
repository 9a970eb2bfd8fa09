//! Statistics, and decoding whole slices to `f32`, compared with `memcpy` of the same number of
//! bytes: bytes read for statistics, bytes written for decoding.

mod turns;

use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge_core::{DType, Endianness, Histogram, Stats};
use weighbridge_tests::codec::{Random, weights_bf16, weights_f32};

/// Fits in the L2 cache, so that memory bandwidth is not the limit.
const LEN: usize = 256 << 10;

/// Sample bytes of a type: weights for the common float types.
fn sample(dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 => weights_f32(LEN / 4, 9).iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::F64 => {
            weights_f32(LEN / 8, 9).iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect()
        }
        DType::BF16 => weights_bf16(LEN / 2, 9),
        DType::F16 => {
            // From 2^-9 to 2^-5, with either sign.
            let mut random = Random::new(9);
            let mut code = || 0x1800 + random.below(0x1000) as u16 + (random.below(2) << 15) as u16;
            (0..LEN / 2).flat_map(|_| code().to_le_bytes()).collect()
        }
        _ => {
            let unit = dtype.unit().map_or(1, |(_, len)| len as usize);
            let mut random = Random::new(9);
            let len = LEN / unit * unit;
            // Small bytes only, so that no block scale is NaN.
            (0..len).map(|_| random.below(0x60) as u8).collect()
        }
    }
}

fn statistics(dtype: DType, bytes: &[u8], words: Option<&mut Vec<u64>>) -> u64 {
    let mut stats = Stats::new(dtype, Endianness::Little, 0, u64::MAX).unwrap();
    let mut histogram = words.map(|words| Histogram::new(dtype, words).unwrap());
    stats.add(bytes, histogram.as_mut());
    stats.summary().count()
}

fn main() {
    let mut table = Table::new("values", 301);
    let mut words = vec![0; Histogram::WORDS];
    for dtype in [
        DType::F32,
        DType::BF16,
        DType::F16,
        DType::F64,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F8E4M3,
        DType::U4,
        DType::Q8_0,
        DType::Q4K,
    ] {
        let bytes = sample(dtype);
        let mut copy = vec![0; bytes.len()];
        let unit = Unit::Bytes(bytes.len() as u64);
        let mut copy = || black_box(&mut copy).copy_from_slice(black_box(&bytes));
        let name = dtype.name();
        table.race(
            &format!("statistics of {name}"),
            unit,
            ["memcpy"],
            &mut || _ = black_box(statistics(dtype, black_box(&bytes), None)),
            [&mut copy],
        );
        table.race(
            &format!("statistics of {name}, with a histogram"),
            unit,
            ["memcpy"],
            &mut || _ = black_box(statistics(dtype, black_box(&bytes), Some(&mut words))),
            [&mut copy],
        );
    }
    let mut out = vec![0.0_f32; 8 * LEN];
    for (dtype, endianness) in [
        (DType::F32, Endianness::Little),
        (DType::F32, Endianness::Big),
        (DType::BF16, Endianness::Little),
        (DType::F16, Endianness::Little),
        (DType::F8E4M3, Endianness::Little),
        (DType::F8E5M2, Endianness::Little),
        (DType::I8, Endianness::Little),
        (DType::U4, Endianness::Little),
        (DType::Q4_0, Endianness::Little),
        (DType::Q8_0, Endianness::Little),
        (DType::Q2K, Endianness::Little),
        (DType::Q3K, Endianness::Little),
        (DType::Q4K, Endianness::Little),
        (DType::Q5K, Endianness::Little),
        (DType::Q6K, Endianness::Little),
        (DType::Iq4Nl, Endianness::Little),
        (DType::MxFp4, Endianness::Little),
    ] {
        let all = sample(dtype);
        // The decoded data fills the cache.
        let (per, len) = dtype.unit().unwrap();
        let units = LEN / 4 / per as usize;
        let bytes = &all[..units * len as usize];
        let written = &mut out[..units * per as usize];
        let (from, mut to) = (written.to_vec(), written.to_vec());
        let big = if endianness == Endianness::Big { ", swapped" } else { "" };
        table.race(
            &format!("{}{big} to f32", dtype.name()),
            Unit::Bytes(from.len() as u64 * 4),
            ["memcpy"],
            &mut || {
                let out = black_box(&mut *written);
                _ = black_box(dtype.decode_f32(endianness, black_box(bytes), out).unwrap());
            },
            [&mut || black_box(&mut to).copy_from_slice(black_box(&from))],
        );
    }
}
