//! Statistics in one pass against a naive computation in two.

use weighbridge_core::{DType, Element, Endianness, Histogram, Stats};
use weighbridge_tests::codec::{Random, weights_f32};

const NUMBERS: [DType; 23] = [
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

/// What two passes over all elements say.
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

fn compare(name: &str, stats: &Stats, naive: &Naive) {
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
    // Two zeros are equal; which of them comes first does not matter.
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

/// Bytes of every kind: random ones hold NaN and infinities in all floats but
/// `f64`, whose squares would overflow.
fn bytes(dtype: DType, count: usize, random: &mut Random) -> Vec<u8> {
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
fn every_type_in_pieces_and_parts() {
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
                compare(&name, &whole, &expected);

                let mut pieces = new(0, count as u64);
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (piece, left) = rest.split_at(random.below(20).min(rest.len()));
                    pieces.add(piece, None);
                    rest = left;
                }
                compare(&format!("{name}, pieces"), &pieces, &expected);

                // Two threads, the second of which finishes first.
                let cut = count / 2 / 8 * 8;
                let at = dtype.bytes(cut as u64).unwrap() as usize;
                let (mut one, mut two) =
                    (new(0, cut as u64), new(cut as u64, (count - cut) as u64));
                one.add(&bytes[..at], None);
                two.add(&bytes[at..], None);
                two.merge(&one);
                compare(&format!("{name}, parts"), &two, &expected);
            }
        }
    }
}

#[test]
fn big_endian_doubles() {
    let bytes: Vec<u8> = [1.0, -3.0, f64::NAN].iter().flat_map(|v: &f64| v.to_be_bytes()).collect();
    let mut stats = Stats::new(DType::F64, Endianness::Big, 0, 3).unwrap();
    stats.add(&bytes, None);
    assert_eq!((stats.mean(), stats.deviation(), stats.nans()), (Some(-1.0), Some(2.0), 1));
}

/// Values far from zero and close to one another: the sum of squares alone
/// would lose all digits.
#[test]
fn small_deviation_far_from_zero() {
    let bytes: Vec<u8> =
        (0..100_000).flat_map(|i| (1e9 + f64::from(i % 2)).to_le_bytes()).collect();
    let mut stats = Stats::new(DType::F64, Endianness::Little, 0, 100_000).unwrap();
    stats.add(&bytes, None);
    assert_eq!(stats.mean(), Some(1e9 + 0.5));
    close("deviation", stats.deviation().unwrap(), 0.5, 0.0);
}

#[test]
fn bytes_after_the_last_element_are_ignored() {
    let mut stats = Stats::new(DType::U2, Endianness::Little, 0, 5).unwrap();
    stats.add(&[0b11_10_01_00, 0b11_11_11_01, 0xFF], None);
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
    assert_eq!(stats.min(), Some(Element::Int(i64::MIN)));
    assert_eq!(stats.max(), Some(Element::Int(i64::MAX - 1)));
    let mut stats = Stats::new(DType::U64, Endianness::Little, 0, 2).unwrap();
    stats.add(&bytes[..16], None);
    assert_eq!(stats.max(), Some(Element::Uint((1 << 63) + 1)));
}

#[test]
fn histograms() {
    let values = weights_f32(10_000, 3);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (low, high) = (-0.03, 0.03);
    let mut expected = [0_u64; 10];
    let (mut below, mut above) = (0, 0);
    for value in values.iter().map(|value| f64::from(*value)) {
        if value < low {
            below += 1;
        } else if value > high {
            above += 1;
        } else {
            expected[(((value - low) * (10.0 / (high - low))) as usize).min(9)] += 1;
        }
    }
    assert!(below > 0 && above > 0 && expected.iter().all(|bin| *bin > 0));

    let (mut one, mut two) = ([0; 10], [0; 10]);
    let mut first = Histogram::new(low, high, &mut one);
    let mut second = Histogram::new(low, high, &mut two);
    let mut stats = Stats::new(DType::F32, Endianness::Little, 0, 10_000).unwrap();
    stats.add(&bytes[..10_001], Some(&mut first));
    stats.add(&bytes[10_001..], Some(&mut second));
    second.merge(&first);
    assert_eq!((second.bins(), second.below(), second.above()), (&expected[..], below, above));

    let mut bins = [0; 4];
    let mut histogram = Histogram::new(0.0, 4.0, &mut bins);
    let special = [0.0, 1.0, 4.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.999];
    let bytes: Vec<u8> = special.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut stats = Stats::new(DType::F64, Endianness::Little, 0, 7).unwrap();
    stats.add(&bytes, Some(&mut histogram));
    assert_eq!((histogram.below(), histogram.above()), (1, 1));
    assert_eq!(histogram.bins(), [1, 1, 0, 2]);

    for (low, high, bins) in [(1.0, 1.0, 3), (0.0, f64::INFINITY, 3), (0.0, 4.0, 0)] {
        let mut bins = vec![0; bins];
        let mut histogram = Histogram::new(low, high, &mut bins);
        stats = Stats::new(DType::F64, Endianness::Little, 0, 7).unwrap();
        stats.add(&bytes, Some(&mut histogram));
        assert!(histogram.bins().iter().all(|bin| *bin == 0));
    }
}
