//! One-pass histograms, compared with counting the elements one by one.

use super::stats::{NUMBERS, bytes, bytes_of};
use weighbridge_core::{DType, Element, Endianness, Histogram, Stats};
use weighbridge_tests::codec::{Random, weights_f32};

/// Bins computed from all elements one by one.
fn in_steps(values: &[f64], low: f64, high: f64, bins: usize) -> Vec<u64> {
    let mut all = vec![0; bins];
    let scale = bins as f64 / (high - low);
    for value in values.iter().filter(|value| **value >= low && **value <= high) {
        all[(((value - low) * scale) as usize).min(bins - 1)] += 1;
    }
    all
}

fn in_magnitudes(values: &[f64]) -> Vec<u64> {
    let mut all = vec![0; 2 * Histogram::MAGNITUDES];
    for value in values.iter().filter(|value| value.is_finite() && **value != 0.0) {
        let exponent = (0..2100).rev().find(|i| value.abs() >= 2.0_f64.powi(i - 1075)).unwrap();
        all[exponent as usize + if *value < 0.0 { 0 } else { Histogram::MAGNITUDES }] += 1;
    }
    all
}

struct Counted {
    values: Vec<f64>,
    ends: Option<(f64, f64)>,
    steps: Vec<u64>,
    magnitudes: Vec<u64>,
}

/// The histogram of `bytes`, whole and in pieces, and the elements.
fn counted(dtype: DType, endianness: Endianness, bytes: &[u8], bins: usize) -> Counted {
    let element = |i| dtype.element(bytes, i, endianness);
    let values: Vec<_> = (0..).map_while(element).map(|element| element.to_f64()).collect();
    let mut all = [vec![0; Histogram::WORDS], vec![0; Histogram::WORDS]];
    let mut ends = None;
    for (words, size) in all.iter_mut().zip([bytes.len().max(1), 37]) {
        let mut stats = Stats::new(dtype, endianness, 0, values.len() as u64).unwrap();
        let mut histogram = Histogram::new(dtype, words).unwrap();
        bytes.chunks(size).for_each(|piece| stats.add(piece, Some(&mut histogram)));
        let stats = stats.summary();
        ends = stats.min().map(Element::to_f64).zip(stats.max().map(Element::to_f64));
    }
    let [mut whole, mut pieces] = all;
    assert_eq!(whole, pieces, "{}", dtype.name());
    // Merging two equal histograms doubles the counts.
    let mut histogram = Histogram::new(dtype, &mut whole).unwrap();
    let (mut once, mut twice) = (vec![0; bins], vec![0; bins]);
    let (low, high) = ends.unwrap_or((0.0, 0.0));
    histogram.steps(low, high, &mut once);
    let mut magnitudes = vec![0; 2 * Histogram::MAGNITUDES];
    histogram.magnitudes(&mut magnitudes);
    histogram.merge(&Histogram::new(dtype, &mut pieces).unwrap());
    histogram.steps(low, high, &mut twice);
    assert_eq!(once.iter().sum::<u64>() * 2, twice.iter().sum::<u64>());
    Counted { values, ends, steps: once, magnitudes }
}

#[test]
fn histograms_of_every_type() {
    let mut random = Random::new(8);
    for dtype in NUMBERS {
        for endianness in [Endianness::Little, Endianness::Big] {
            if dtype == DType::F64 && endianness == Endianness::Big {
                continue; // random exponents: see `bytes`
            }
            let bytes = bytes(dtype, 5003, &mut random);
            let Counted { values, ends, steps, magnitudes } =
                counted(dtype, endianness, &bytes, 16);
            let name = dtype.name();
            let differ = |(one, other): (&u64, &u64)| one != other;
            let expected = in_magnitudes(&values);
            // The smallest doubles are only known approximately.
            let differ = magnitudes.iter().zip(&expected).position(differ);
            let known = dtype == DType::F64 && differ.is_some_and(|i| i % 2100 < 1075 - 1025);
            assert!(known || differ.is_none(), "{name}: {differ:?}");
            let (low, high) = ends.unwrap();
            let expected = in_steps(&values, low, high, 16);
            if (high - low).is_finite() {
                assert_eq!(steps.iter().sum::<u64>(), expected.iter().sum::<u64>(), "{name}");
            }
            if dtype.bits() <= 16 {
                assert_eq!(steps, expected, "{name}");
            }
        }
    }
}

/// Values with more digits are in the right bin, or so close to its border that their leading
/// digits do not determine the side.
#[test]
fn histograms_of_wide_types() {
    let weights = weights_f32(50_000, 3);
    for (dtype, part) in [(DType::F32, 128.0), (DType::I32, 128.0), (DType::F64, 16.0)] {
        let bytes = bytes_of(dtype, &weights);
        let Counted { values, ends, steps, .. } = counted(dtype, Endianness::Little, &bytes, 40);
        let (low, high) = ends.unwrap();
        let below = |border: f64| values.iter().filter(|value| **value < border).count() as u64;
        let mut sum = 0;
        for (i, count) in (1_u32..).zip(&steps) {
            sum += count;
            let border = low + (high - low) * f64::from(i) / 40.0;
            let near = border.abs() / part;
            let (least, most) = (below(border - near), below(border + near).max(1));
            if i < 40 {
                assert!(least <= sum && sum <= most, "{} bin {i}: {sum}", dtype.name());
            }
        }
        assert_eq!(sum, 50_000);
    }
    // Wide types with few digits lose no digits.
    let few: Vec<f32> = weights.iter().map(|value| (value * 150.0).round()).collect();
    for dtype in [DType::F32, DType::F64] {
        let Counted { values, ends, steps, .. } =
            counted(dtype, Endianness::Little, &bytes_of(dtype, &few), 25);
        let (low, high) = ends.unwrap();
        assert_eq!(steps, in_steps(&values, low, high, 25), "{}", dtype.name());
    }
}

#[test]
fn histogram_limits_are_exact() {
    let special = [0.0, 1.0, 4.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.999];
    let bytes: Vec<u8> = special.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut words = vec![0; Histogram::WORDS];
    let mut histogram = Histogram::new(DType::F64, &mut words).unwrap();
    let mut stats = Stats::new(DType::F64, Endianness::Little, 0, 7).unwrap();
    stats.add(&bytes, Some(&mut histogram));
    let steps = |low, high, bins| {
        let mut bins = vec![0; bins];
        histogram.steps(low, high, &mut bins);
        bins
    };
    assert_eq!(steps(0.0, 4.0, 4), [1, 1, 0, 2]);
    for (low, high, bins) in [(1.0, 1.0, 3), (0.0, f64::INFINITY, 3), (4.0, 0.0, 2), (0.0, 4.0, 0)]
    {
        assert!(steps(low, high, bins).iter().all(|bin| *bin == 0));
    }
    assert!(Histogram::new(DType::F32, &mut [0; 100]).is_none());

    // The smallest numbers are not zero, and the largest are not infinite.
    let bits = [1, 0x8000_0001, 0x0000_FFFF, 0x7F7F_FFFF, 0xFF7F_FFFF, 0, 0x7F80_0000];
    let bytes: Vec<u8> = bits.iter().flat_map(|bits: &u32| bits.to_le_bytes()).collect();
    let Counted { steps, magnitudes, .. } = counted(DType::F32, Endianness::Little, &bytes, 2);
    assert_eq!(steps.iter().sum::<u64>(), 6);
    assert_eq!(magnitudes.iter().sum::<u64>(), 5);
    assert_eq!(magnitudes[Histogram::MAGNITUDES + 1075 + 127], 1);
}

/// The largest numbers are as accurate as the known digits, and never exceed the type's range.
#[test]
fn quantiles_of_largest_values() {
    let quantiles = |dtype, bytes: &[u8], count| {
        let mut words = vec![0; Histogram::WORDS];
        let mut histogram = Histogram::new(dtype, &mut words).unwrap();
        let mut stats = Stats::new(dtype, Endianness::Little, 0, count).unwrap();
        stats.add(bytes, Some(&mut histogram));
        [0.0, 0.5, 1.0].map(|share| histogram.quantile(share).unwrap())
    };
    let singles = [f32::MIN, f32::MIN, f32::MAX, f32::MAX];
    let bytes: Vec<u8> = singles.iter().flat_map(|value| value.to_le_bytes()).collect();
    let found = quantiles(DType::F32, &bytes, 4);
    for (found, expected) in found.iter().zip([f32::MIN, f32::MAX, f32::MAX].map(f64::from)) {
        let off = (found - expected).abs() / f64::from(f32::MAX);
        assert!(off <= 1.0 / 128.0 && found.abs() <= f32::MAX.into(), "{found}");
    }
    let doubles = [f64::MIN, f64::MIN, f64::MAX, f64::MAX];
    let bytes: Vec<u8> = doubles.iter().flat_map(|value| value.to_le_bytes()).collect();
    let found = quantiles(DType::F64, &bytes, 4);
    for (found, expected) in found.iter().zip([f64::MIN, f64::MAX, f64::MAX]) {
        assert!((found / expected - 1.0).abs() <= 1.0 / 16.0, "{found}");
    }
}

/// The digits of a NaN do not affect those of numbers.
#[test]
fn histogram_keeps_nan_payloads() {
    for nan in [0x7FC0_0001_u32, 0xFFFF_FFFF, 0x7F80_0001] {
        let values = [1.0, 1.0, 2.0, f32::from_bits(nan), f32::INFINITY, 2.0, 3.0];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut words = vec![0; Histogram::WORDS];
        let mut histogram = Histogram::new(DType::F32, &mut words).unwrap();
        let mut stats = Stats::new(DType::F32, Endianness::Little, 0, 7).unwrap();
        stats.add(&bytes, Some(&mut histogram));
        assert_eq!((stats.summary().nans(), stats.summary().infinities()), (1, 1));
        assert_eq!(
            [0.3, 0.5, 0.9].map(|share| histogram.quantile(share)),
            [1.0, 2.0, 3.0].map(Some)
        );
    }
}
