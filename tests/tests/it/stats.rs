//! One-pass statistics, compared with a naive two-pass computation.

use weighbridge_core::{DType, Element, Endianness, Stats, Summary};
use weighbridge_tests::codec::{Random, weights_f32};

pub(super) const NUMBERS: [DType; 23] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::F8E5M2,
    DType::F8E4M3,
    DType::Bool,
    DType::I4,
    DType::I2,
    DType::I1,
    DType::U4,
    DType::U2,
    DType::U1,
    DType::T2,
    DType::T1,
];

/// The result of two passes over all elements.
#[derive(Debug, Default)]
struct Naive {
    nans: u64,
    infinities: u64,
    zeros: u64,
    subnormals: u64,
    first_nan: Option<u64>,
    finite: Vec<Element>,
    mean: f64,
    deviation: f64,
}

fn naive(dtype: DType, endianness: Endianness, bytes: &[u8], count: u64) -> Naive {
    let mut naive = Naive::default();
    for i in 0..count {
        let element = dtype.element(bytes, i, endianness).unwrap();
        let value = element.to_f64();
        if value.is_nan() {
            naive.nans += 1;
            naive.first_nan.get_or_insert(i);
        } else if value.is_infinite() {
            naive.infinities += 1;
        } else {
            naive.finite.push(element);
            naive.zeros += u64::from(value == 0.0);
            let size = value.abs();
            let normal = match dtype {
                DType::F64 => 2.0_f64.powi(-1022),
                DType::F32 | DType::BF16 => 2.0_f64.powi(-126),
                DType::F16 | DType::F8E5M2 => 2.0_f64.powi(-14),
                DType::F8E4M3 => 2.0_f64.powi(-6),
                _ => 0.0,
            };
            naive.subnormals += u64::from(value != 0.0 && size < normal);
        }
    }
    let values = || naive.finite.iter().map(|element| element.to_f64());
    let len = naive.finite.len() as f64;
    let mean = values().sum::<f64>() / len;
    let squares: f64 = values().map(|value| (value - mean).powi(2)).sum();
    (naive.mean, naive.deviation) = (mean, (squares / len).sqrt());
    naive
}

fn close(name: &str, one: f64, other: f64, scale: f64) {
    let scale = scale.max(other.abs()).max(f64::MIN_POSITIVE);
    assert!(((one - other) / scale).abs() < 1e-11, "{name}: {one} and {other}");
}

fn compare(name: &str, stats: &Summary, naive: &Naive) {
    assert_eq!(stats.finite(), naive.finite.len() as u64, "{name}");
    assert_eq!(stats.count(), stats.finite() + naive.nans + naive.infinities, "{name}");
    assert_eq!((stats.nans(), stats.infinities()), (naive.nans, naive.infinities), "{name}");
    assert_eq!((stats.zeros(), stats.subnormals()), (naive.zeros, naive.subnormals), "{name}");
    assert_eq!(stats.first_nan(), naive.first_nan, "{name}");
    let exact = |element: &Element| match *element {
        Element::Int(value) => i128::from(value),
        Element::Uint(value) => i128::from(value),
        Element::Bool(value) => i128::from(value),
        _ => 0,
    };
    let order = |a: &&Element, b: &&Element| {
        a.to_f64().total_cmp(&b.to_f64()).then(exact(a).cmp(&exact(b)))
    };
    let (least, greatest) = (naive.finite.iter().min_by(order), naive.finite.iter().max_by(order));
    // Two zeros are equal; their order does not matter.
    assert_eq!(stats.min().as_ref(), least, "{name}");
    assert_eq!(stats.max().as_ref(), greatest, "{name}");
    assert_eq!(stats.mean().is_some(), !naive.finite.is_empty(), "{name}");
    if let (Some(mean), Some(deviation), Some(least), Some(greatest)) =
        (stats.mean(), stats.deviation(), least, greatest)
    {
        let scale = least.to_f64().abs().max(greatest.to_f64().abs());
        close(&format!("{name}, mean"), mean, naive.mean, scale);
        close(&format!("{name}, deviation"), deviation, naive.deviation, 0.0);
    }
}

/// Bytes of every kind. Random bytes include NaN and infinities in all floats except `f64`, whose
/// squares would overflow.
pub(super) fn bytes(dtype: DType, count: usize, random: &mut Random) -> Vec<u8> {
    let len = dtype.bytes(count as u64).unwrap() as usize;
    if dtype != DType::F64 {
        return (0..len).map(|_| random.number() as u8).collect();
    }
    let special = [0.0, -0.0, 1e-310, f64::NAN, f64::INFINITY, -1e100, 5.0];
    let mut value = || match random.below(40) {
        i if i < special.len() => special[i],
        _ => random.number() as i64 as f64 / 1e12,
    };
    (0..count).flat_map(|_| value().to_le_bytes()).collect()
}

#[test]
fn statistics_do_not_depend_on_pieces() {
    let mut random = Random::new(5);
    for dtype in NUMBERS {
        for count in [0, 1, 2, 7, 127, 128, 129, 1000, 5003] {
            let bytes = bytes(dtype, count, &mut random);
            for endianness in [Endianness::Little, Endianness::Big] {
                if dtype == DType::F64 && endianness == Endianness::Big {
                    continue; // random exponents: see `bytes`
                }
                let name = format!("{} × {count}, {endianness:?}", dtype.name());
                let expected = naive(dtype, endianness, &bytes, count as u64);
                let new = |first, count| Stats::new(dtype, endianness, first, count).unwrap();
                let mut whole = new(0, count as u64);
                whole.add(&bytes, None);
                compare(&name, &whole.summary(), &expected);

                let mut pieces = new(0, count as u64);
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (piece, left) = rest.split_at(random.below(20).min(rest.len()));
                    pieces.add(piece, None);
                    rest = left;
                }
                assert_eq!(pieces.summary(), whole.summary(), "{name}, pieces");

                // Two threads, of which the second finishes first.
                let cut = count / 2 / 8 * 8;
                let at = dtype.bytes(cut as u64).unwrap() as usize;
                let (mut one, mut two) =
                    (new(0, cut as u64), new(cut as u64, (count - cut) as u64));
                one.add(&bytes[..at], None);
                two.add(&bytes[at..], None);
                let mut both = two.summary();
                both.merge(&one.summary());
                compare(&format!("{name}, parts"), &both, &expected);
            }
        }
    }
}

#[test]
fn statistics_of_big_endian_doubles() {
    let bytes: Vec<u8> = [1.0, -3.0, f64::NAN].iter().flat_map(|v: &f64| v.to_be_bytes()).collect();
    let mut stats = Stats::new(DType::F64, Endianness::Big, 0, 3).unwrap();
    stats.add(&bytes, None);
    let stats = stats.summary();
    assert_eq!((stats.mean(), stats.deviation(), stats.nans()), (Some(-1.0), Some(2.0), 1));
}

/// Values far from zero and close together: a plain sum of squares would lose all digits.
#[test]
fn small_deviation_far_from_zero_is_exact() {
    let bytes: Vec<u8> =
        (0..100_000).flat_map(|i| (1e9 + f64::from(i % 2)).to_le_bytes()).collect();
    let mut stats = Stats::new(DType::F64, Endianness::Little, 0, 100_000).unwrap();
    stats.add(&bytes, None);
    let stats = stats.summary();
    assert_eq!(stats.mean(), Some(1e9 + 0.5));
    close("deviation", stats.deviation().unwrap(), 0.5, 0.0);
}

#[test]
fn bytes_after_the_last_element_are_ignored() {
    let mut stats = Stats::new(DType::U2, Endianness::Little, 0, 5).unwrap();
    stats.add(&[0b11_10_01_00, 0b11_11_11_01, 0xFF], None);
    let stats = stats.summary();
    assert_eq!((stats.count(), stats.max(), stats.zeros()), (5, Some(Element::Uint(3)), 1));
    assert_eq!(stats.mean(), Some(7.0 / 5.0));
    assert!(Stats::new(DType::Text, Endianness::Little, 0, 1).is_none());
}

#[test]
fn extremes_of_wide_integers_are_exact() {
    let values = [i64::MIN, i64::MIN + 1, 0, i64::MAX - 1];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut stats = Stats::new(DType::I64, Endianness::Little, 0, 4).unwrap();
    stats.add(&bytes, None);
    let stats = stats.summary();
    assert_eq!(stats.min(), Some(Element::Int(i64::MIN)));
    assert_eq!(stats.max(), Some(Element::Int(i64::MAX - 1)));
    let mut stats = Stats::new(DType::U64, Endianness::Little, 0, 2).unwrap();
    stats.add(&bytes[..16], None);
    assert_eq!(stats.summary().max(), Some(Element::Uint((1 << 63) + 1)));
}

/// A sum without significant loss: Neumaier's algorithm, with products split in two.
#[derive(Default)]
pub(super) struct Exact(f64, f64);

impl Exact {
    pub(super) fn add(&mut self, term: f64) {
        let sum = self.0 + term;
        let large = self.0.abs() >= term.abs();
        self.1 += if large { (self.0 - sum) + term } else { (term - sum) + self.0 };
        self.0 = sum;
    }

    pub(super) fn add_square(&mut self, value: f64) {
        let square = value * value;
        self.add(square);
        self.add(value.mul_add(value, -square));
    }

    pub(super) fn value(&self) -> f64 {
        self.0 + self.1
    }
}

/// The relative errors of mean and standard deviation for the stored values: that of the mean is in
/// standard deviations.
fn errors(dtype: DType, bytes: &[u8]) -> (f64, f64) {
    let count = bytes.len() as u64 * 8 / u64::from(dtype.bits());
    let all = || (0..count).map(|i| dtype.element(bytes, i, Endianness::Little).unwrap().to_f64());
    let mut sum = Exact::default();
    all().for_each(|value| sum.add(value));
    let mean = sum.value() / count as f64;
    let (mut sum, mut squares) = (Exact::default(), Exact::default());
    for value in all() {
        sum.add(value - mean);
        squares.add_square(value - mean);
    }
    let rest = sum.value() / count as f64;
    let (mean, variance) = (mean + rest, squares.value() / count as f64 - rest * rest);
    let deviation = variance.sqrt();
    let mut stats = Stats::new(dtype, Endianness::Little, 0, count).unwrap();
    bytes.chunks(100_003).for_each(|piece| stats.add(piece, None));
    let stats = stats.summary();
    let (ours, off) = (stats.mean().unwrap(), stats.deviation().unwrap());
    ((ours - mean).abs() / deviation, (off - deviation).abs() / deviation)
}

pub(super) fn bytes_of(dtype: DType, values: &[f32]) -> Vec<u8> {
    let half = |value: f32| {
        let bits = value.to_bits();
        let (sign, exponent) = ((bits >> 16) as u16 & 0x8000, (bits >> 23 & 0xFF) as i32 - 112);
        let digits = (bits >> 13 & 0x3FF) as u16;
        if exponent <= 0 { sign } else { sign | (exponent as u16) << 10 | digits }
    };
    match dtype {
        DType::F32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        DType::F64 => values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect(),
        DType::F16 => values.iter().flat_map(|value| half(*value).to_le_bytes()).collect(),
        DType::BF16 => {
            values.iter().flat_map(|v| (v.to_bits() >> 16).to_le_bytes()[..2].to_vec()).collect()
        }
        DType::I32 => values.iter().flat_map(|v| ((v * 1e9) as i32).to_le_bytes()).collect(),
        DType::I64 => values.iter().flat_map(|v| ((v * 1e15) as i64).to_le_bytes()).collect(),
        DType::I16 => values.iter().flat_map(|v| ((v * 1e5) as i16).to_le_bytes()).collect(),
        DType::U16 => values.iter().flat_map(|v| ((v * 1e5) as u16).to_le_bytes()).collect(),
        _ => values.iter().map(|value| (value * 1500.0) as i8 as u8).collect(),
    }
}

/// The error bounds that `Stats` documents, compared with exact sums.
#[test]
fn mean_and_deviation_stay_within_error() {
    let weights = weights_f32(100_000, 11);
    let map = |f: &dyn Fn(usize, f32) -> f32| -> Vec<f32> {
        weights.iter().enumerate().map(|(i, value)| f(i, *value)).collect()
    };
    let inputs = [
        ("weights", weights.clone()),
        ("near one", map(&|_, value| 1.0 + value)),
        ("digits at the end", map(&|_, value| 1.0 + (value * 100.0).round() * f32::EPSILON)),
        ("rising", map(&|i, _| i as f32 * 0.001)),
        ("steps", map(&|i, value| value + (i / 1024 % 7) as f32)),
        ("half of them zero", map(&|i, value| if i % 2 == 0 { 0.0 } else { value })),
        ("far ones", map(&|i, value| if i % 5000 == 77 { 300.0 } else { value })),
        ("a far one at the start", map(&|i, value| if i % 1024 == 0 { 900.0 } else { value })),
        ("squares of gradients", map(&|_, value| value * value * 1e-9)),
        ("small", map(&|_, value| value * 1e-20)),
        ("subnormal", map(&|_, value| value * 1e-37)),
        ("large", map(&|_, value| value * 1e25)),
        ("either sign", map(&|i, _| if i % 2 == 0 { 3e38 } else { -3e38 })),
    ];
    let types = [
        DType::F32,
        DType::BF16,
        DType::F16,
        DType::F64,
        DType::I64,
        DType::I32,
        DType::I16,
        DType::U16,
        DType::I8,
    ];
    for (name, values) in inputs {
        for dtype in types {
            let fits = values.iter().all(|value| value.abs() < 1.0);
            let wide = matches!(dtype, DType::F32 | DType::BF16 | DType::F64);
            let bytes = bytes_of(dtype, &values);
            if !wide && !fits {
                continue;
            }
            let (mean, deviation) = errors(dtype, &bytes);
            if !(mean + deviation).is_finite() {
                let equal = name == "digits at the end" && dtype == DType::BF16;
                // Values too small for the type become zero.
                assert!(equal || !wide, "{name} as {}: {mean}, {deviation}", dtype.name());
                continue;
            }
            let narrow = matches!(dtype, DType::F32 | DType::BF16 | DType::F16);
            let most = if narrow { (2.0_f64.powi(-18), 2.0_f64.powi(-17)) } else { (1e-12, 1e-12) };
            let name = format!("{name} as {}: {mean:e}, {deviation:e}", dtype.name());
            assert!(mean <= most.0 && deviation <= most.1, "{name}");
            assert!(mean <= 1e-8 && deviation <= 1e-7, "{name}");
        }
    }
}

/// NaN and infinities anywhere in blocks that are otherwise summed in one pass.
#[test]
fn special_values_in_blocks_are_counted() {
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        let values = weights_f32(5000, 2);
        for at in [0, 15, 1023, 1024, 3000, 4999] {
            for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut bytes = bytes_of(dtype, &values);
                let width = dtype.bits() as usize / 8;
                let code = match (dtype, special.is_nan()) {
                    (DType::F16, true) => vec![1, 0x7E],
                    (DType::F16, false) => vec![0, if special > 0.0 { 0x7C } else { 0xFC }],
                    _ => special.to_le_bytes()[4 - width..].to_vec(),
                };
                bytes[at * width..][..width].copy_from_slice(&code);
                let expected = naive(dtype, Endianness::Little, &bytes, 5000);
                let mut stats = Stats::new(dtype, Endianness::Little, 100, 5000).unwrap();
                stats.add(&bytes, None);
                let stats = stats.summary();
                let first = Some(100 + at as u64);
                let (nan, infinity) = if special.is_nan() { (first, None) } else { (None, first) };
                assert_eq!((stats.first_nan(), stats.first_infinity()), (nan, infinity));
                assert_eq!((stats.count(), stats.finite()), (5000, 4999));
                assert_eq!(
                    (stats.zeros(), stats.subnormals()),
                    (expected.zeros, expected.subnormals)
                );
                assert!((stats.deviation().unwrap() / expected.deviation - 1.0).abs() < 1e-7);
            }
        }
    }
}

/// The largest doubles have a finite mean, but possibly an infinite standard deviation.
#[test]
fn statistics_of_largest_doubles() {
    for values in [[f64::MAX, -f64::MAX], [f64::MAX, f64::MAX], [1e200, 3e200], [1e200, 1e200]] {
        let bytes: Vec<u8> = (0..1500).flat_map(|i| values[i % 2].to_le_bytes()).collect();
        let mut stats = Stats::new(DType::F64, Endianness::Little, 0, 1500).unwrap();
        stats.add(&bytes, None);
        let mean = values[0] / 2.0 + values[1] / 2.0;
        let stats = stats.summary();
        let off = (stats.mean().unwrap() - mean).abs();
        assert!(off <= 1e-12 * f64::max(values[0], 1.0), "{stats:?}");
        let deviation = if values[0] == values[1] { 0.0 } else { f64::INFINITY };
        assert_eq!(stats.deviation(), Some(deviation));
    }
}

/// The squares fit into single precision, but those of the deviations do not.
#[test]
fn statistics_survive_overflowing_deviation() {
    for far in [-1.5e19_f32, -1.8e19, -1.84e19] {
        for rows in [1, 3] {
            // Sums of 64 values each are just below the largest number.
            let near = |i: usize| if i < 256 && i.is_multiple_of(4) { 0.0 } else { 2.2e18 };
            let mut values: Vec<f32> = (0..1024 * rows).map(near).collect();
            values[128] = far;
            let (mean, deviation) = errors(DType::F32, &bytes_of(DType::F32, &values));
            assert!(
                mean < 2.0_f64.powi(-18) && deviation < 2.0_f64.powi(-17),
                "{far}: {deviation}"
            );
        }
    }
}
