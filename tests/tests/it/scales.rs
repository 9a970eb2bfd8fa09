//! Statistics of blocks whose scales are NaN, infinite, zero, subnormal or as large as possible,
//! compared with counting the elements one by one.

use super::stats::Exact;
use std::collections::BTreeSet;
use weighbridge_core::{DType, Element, Endianness, Histogram, Stats, Summary};
use weighbridge_tests::codec::Random;

/// The kind and position of a block's scale.
#[derive(Clone, Copy)]
enum Scale {
    /// A binary16 at this byte offset.
    Half(usize),
    /// A power of two at this byte offset.
    Exponent(usize),
    /// An 8-bit float at this byte offset.
    Byte(usize),
    /// A binary16 in the upper four bits of four words, starting at this byte offset.
    Spread(usize),
}

/// NaN, infinities, zeros, subnormals, the largest, one and a third.
const HALVES: [u16; 14] = [
    0x7E00, 0x7C01, 0xFFFF, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF, 0x3C00,
    0xBC00, 0x3555,
];
/// From 2^-127 to exponents that make a 4-bit float exceed `f32`.
const EXPONENTS: [u16; 8] = [0, 1, 2, 127, 252, 253, 254, 255];
const BYTES: [u16; 10] = [0x00, 0x80, 0x01, 0x07, 0x08, 0x38, 0x7E, 0x7F, 0xFE, 0xFF];

impl Scale {
    fn words(self) -> &'static [u16] {
        match self {
            Scale::Half(_) | Scale::Spread(_) => &HALVES,
            Scale::Exponent(_) => &EXPONENTS,
            Scale::Byte(_) => &BYTES,
        }
    }

    /// An ordinary scale.
    fn usual(self, random: &mut Random) -> u16 {
        match self {
            Scale::Half(_) | Scale::Spread(_) => 0x2000 + random.below(0x1C00) as u16,
            Scale::Exponent(_) => 120 + random.below(8) as u16,
            Scale::Byte(_) => 1 + random.below(0x7E) as u16,
        }
    }

    fn put(self, block: &mut [u8], word: u16, endianness: Endianness) {
        let bytes = |word: u16| match endianness {
            Endianness::Little => word.to_le_bytes(),
            Endianness::Big => word.to_be_bytes(),
        };
        match self {
            Scale::Half(at) => block[at..][..2].copy_from_slice(&bytes(word)),
            Scale::Exponent(at) | Scale::Byte(at) => block[at] = word as u8,
            Scale::Spread(at) => {
                let upper = if endianness == Endianness::Little { 1 } else { 0 };
                for i in 0..4 {
                    let place = &mut block[at + 2 * i + upper];
                    *place = *place & 0xF | ((word >> (4 * i)) as u8) << 4;
                }
            }
        }
    }
}

/// The positions of the scales shared by all parts of a block.
fn scales(dtype: DType) -> Vec<Scale> {
    let halves = |places: &[usize]| places.iter().map(|at| Scale::Half(*at)).collect();
    match dtype {
        DType::Q4_0 | DType::Q5_0 | DType::Q8_0 | DType::Q1_0 | DType::Q2_0 => halves(&[0]),
        DType::Q4_1 | DType::Q5_1 | DType::Q4K | DType::Q5K => halves(&[0, 2]),
        DType::Q2K => halves(&[80, 82]),
        DType::Q3K => halves(&[108]),
        DType::Q6K => halves(&[208]),
        DType::TQ1_0 => halves(&[52]),
        DType::TQ2_0 => halves(&[64]),
        DType::Iq4Nl | DType::Iq4Xs | DType::Iq1S => halves(&[0]),
        DType::Iq2Xxs | DType::Iq2Xs | DType::Iq2S | DType::Iq3Xxs | DType::Iq3S => halves(&[0]),
        DType::Iq1M => vec![Scale::Spread(48)],
        DType::MxFp4 => vec![Scale::Exponent(0)],
        DType::NvFp4 => (0..4).map(Scale::Byte).collect(),
        _ => panic!("the scales of {}", dtype.name()),
    }
}

/// Blocks of random codes, in which block `at` has these scales.
struct Blocks {
    dtype: DType,
    endianness: Endianness,
    bytes: Vec<u8>,
    values: Vec<f32>,
}

fn blocks(
    dtype: DType,
    endianness: Endianness,
    count: usize,
    special: &[(usize, Vec<u16>)],
    random: &mut Random,
) -> Blocks {
    let (elements, len) = dtype.block().unwrap();
    let mut bytes = Vec::new();
    for i in 0..count {
        let mut block: Vec<u8> = (0..len).map(|_| random.number() as u8).collect();
        let words = special.iter().find(|(at, _)| *at == i).map(|(_, words)| words);
        for (j, scale) in scales(dtype).into_iter().enumerate() {
            let word = words.map_or_else(|| scale.usual(random), |words| words[j]);
            scale.put(&mut block, word, endianness);
        }
        bytes.extend(block);
    }
    let mut values = vec![0.0; count * elements as usize];
    assert_eq!(dtype.decode_f32(endianness, &bytes, &mut values), Some(values.len()));
    let one = |i| dtype.element(&bytes, i, endianness);
    for (i, value) in (0..).zip(&values).take(elements as usize) {
        let Some(Element::F32(one)) = one(i) else { panic!("{:?}", one(i)) };
        assert!(one.to_bits() == value.to_bits() || one.is_nan() && value.is_nan(), "{i}: {one}");
    }
    Blocks { dtype, endianness, bytes, values }
}

/// The index of the tensor's first element.
const FIRST: u64 = 1 << 20;

impl Blocks {
    fn stats(&self, size: usize, mut histogram: Option<&mut Histogram<'_>>) -> Summary {
        let count = self.values.len() as u64;
        let mut stats = Stats::new(self.dtype, self.endianness, FIRST, count).unwrap();
        for piece in self.bytes.chunks(size) {
            stats.add(piece, histogram.as_deref_mut());
        }
        stats.summary()
    }

    fn finite(&self) -> Vec<f64> {
        self.values.iter().filter(|value| value.is_finite()).map(|value| (*value).into()).collect()
    }

    fn check(&self, name: &str, stats: &Summary) {
        let counted = |is: &dyn Fn(f32) -> bool| {
            let mut places = (FIRST..).zip(&self.values).filter(|(_, value)| is(**value));
            let first = places.next().map(|(place, _)| place);
            (u64::from(first.is_some()) + places.count() as u64, first)
        };
        assert_eq!(stats.count(), self.values.len() as u64, "{name}");
        assert_eq!((stats.nans(), stats.first_nan()), counted(&f32::is_nan), "{name}");
        let infinities = (stats.infinities(), stats.first_infinity());
        assert_eq!(infinities, counted(&f32::is_infinite), "{name}");
        assert_eq!(stats.finite(), counted(&f32::is_finite).0, "{name}");
        assert_eq!(stats.zeros(), counted(&|value| value == 0.0).0, "{name}");
        // No block element has an exponent of its own.
        assert_eq!(stats.subnormals(), 0, "{name}");
        let finite = self.finite();
        let end = |one: fn(f64, f64) -> f64| finite.iter().copied().reduce(one);
        assert_eq!(stats.min().map(Element::to_f64), end(f64::min), "{name}");
        assert_eq!(stats.max().map(Element::to_f64), end(f64::max), "{name}");
        let (mean, deviation) = moments(&finite);
        match (stats.mean(), stats.deviation()) {
            (Some(ours), Some(off)) => {
                let most = deviation * 2.0_f64.powi(-18);
                assert!((ours - mean).abs() <= most, "{name}: {ours} and {mean}, ±{deviation}");
                let most = deviation * 2.0_f64.powi(-17);
                assert!((off - deviation).abs() <= most, "{name}: {off} and {deviation}");
            }
            none => assert!(none == (None, None) && finite.is_empty(), "{name}"),
        }
    }

    /// Checks a histogram of all elements, added in pieces of `size` bytes.
    fn check_histogram(&self, name: &str, size: usize) {
        let mut words = vec![0; Histogram::WORDS];
        let mut histogram = Histogram::new(self.dtype, &mut words).unwrap();
        let stats = self.stats(size, Some(&mut histogram));
        self.check(name, &stats);
        let mut finite = self.finite();
        finite.sort_by(f64::total_cmp);
        let mut magnitudes = vec![0; 2 * Histogram::MAGNITUDES];
        histogram.magnitudes(&mut magnitudes);
        for value in finite.iter().filter(|value| **value != 0.0) {
            // None of them is a subnormal double.
            let power = (value.to_bits() >> 52 & 0x7FF) as usize + 52;
            magnitudes[power + if *value < 0.0 { 0 } else { Histogram::MAGNITUDES }] -= 1;
        }
        assert!(magnitudes.iter().all(|left| *left == 0), "{name}");
        // Known to one part in 128, and exactly if no digits are cut off.
        let cut = finite.iter().any(|value| (*value as f32).to_bits() & 0xFFFF != 0);
        let part = if cut { 1.0 / 128.0 } else { 0.0 };
        assert_eq!(histogram.quantile(0.5).is_some(), !finite.is_empty(), "{name}");
        for share in [0.0, 0.5, 1.0] {
            let Some(found) = histogram.quantile(share) else { continue };
            let rank = ((share * finite.len() as f64) as usize).min(finite.len() - 1);
            let off = (found - finite[rank]).abs();
            assert!(off <= finite[rank].abs() * part, "{name}, {share}: {found}, {}", finite[rank]);
        }
        let (Some(low), Some(high)) = (finite.first(), finite.last()) else { return };
        let mut steps = vec![0; 9];
        histogram.steps(*low, *high, &mut steps);
        if low == high {
            return assert_eq!(steps, [0; 9], "{name}");
        }
        let below = |border: f64| finite.iter().filter(|value| **value < border).count() as u64;
        let (mut sum, scale) = (0, 9.0 / (high - low));
        for (i, count) in (1..).zip(&steps) {
            sum += count;
            let border = low + f64::from(i) / scale;
            // A value on the border may be on either side once the border is rounded.
            let near = border.abs() * part + (high - low) * 1e-12;
            let known = below(border - near)..=below(border + near).max(1);
            assert!(i == 9 || known.contains(&sum), "{name}, bin {i}: {sum}, {known:?}");
        }
        assert_eq!(sum, finite.len() as u64, "{name}");
    }
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let len = values.len() as f64;
    let mut sum = Exact::default();
    values.iter().for_each(|value| sum.add(*value));
    let mean = sum.value() / len;
    let (mut sum, mut squares) = (Exact::default(), Exact::default());
    for value in values {
        sum.add(value - mean);
        squares.add_square(value - mean);
    }
    let rest = sum.value() / len;
    (mean + rest, (squares.value() / len - rest * rest).max(0.0).sqrt())
}

/// Every type whose blocks can be decoded.
fn types() -> impl Iterator<Item = DType> {
    let decoded = |dtype: &DType| Stats::new(*dtype, Endianness::Little, 0, 0).is_some();
    DType::ALL.iter().copied().filter(|dtype| dtype.block().is_some()).filter(decoded)
}

/// Special scales for one block: each in turn, and all at once.
fn specials(dtype: DType, random: &mut Random) -> Vec<Vec<u16>> {
    let scales = scales(dtype);
    let mut all = Vec::new();
    for (i, scale) in scales.iter().enumerate() {
        for word in scale.words() {
            let mut words: Vec<_> = scales.iter().map(|scale| scale.usual(random)).collect();
            words[i] = *word;
            all.push(words);
            all.push(vec![*word; scales.len()]);
        }
    }
    // An infinity minus another, and a zero minus an infinity.
    if let [Scale::Half(_), Scale::Half(_)] = scales[..] {
        let ends = [0x7C00, 0xFC00, 0x0000, 0x7BFF];
        all.extend(ends.iter().flat_map(|one| ends.iter().map(|two| vec![*one, *two])));
    }
    all
}

#[test]
fn scales_of_every_kind() {
    let mut random = Random::new(31);
    let mut seen = BTreeSet::new();
    for dtype in types() {
        let (elements, len) = dtype.block().unwrap();
        // Two and a half times the number of elements summed at a time.
        let many = 2560 / elements as usize;
        for words in specials(dtype, &mut random) {
            for endianness in [Endianness::Little, Endianness::Big] {
                for (count, at) in [(1, 0), (many, 0), (many, many / 3), (many, many - 1)] {
                    let special = [(at, words.clone())];
                    let blocks = blocks(dtype, endianness, count, &special, &mut random);
                    let name = format!("{} {words:04x?}, {at} of {count}", dtype.name());
                    let whole = blocks.stats(blocks.bytes.len(), None);
                    blocks.check(&name, &whole);
                    for size in [1, len as usize - 1, 4097] {
                        assert_eq!(blocks.stats(size, None), whole, "{name} in {size}");
                    }
                    seen.extend(
                        blocks.values.iter().map(|value| (dtype.name(), value.classify() as u8)),
                    );
                }
            }
        }
    }
    // NaN, infinite, zero and normal values for all types; `nvfp4` has neither of the first two.
    let kinds = seen.iter().filter(|(_, kind)| *kind != std::num::FpCategory::Subnormal as u8);
    assert_eq!(kinds.count(), 4 * types().count() - 3, "{seen:?}");
}

#[test]
fn histograms_of_scales_of_every_kind() {
    let mut random = Random::new(32);
    for dtype in types() {
        let (elements, len) = dtype.block().unwrap();
        let many = 1536 / elements as usize;
        for words in specials(dtype, &mut random) {
            for (count, at) in [(1, 0), (many, many / 3)] {
                let special = [(at, words.clone())];
                let blocks = blocks(dtype, Endianness::Little, count, &special, &mut random);
                let name = format!("{} {words:04x?}, {at} of {count}", dtype.name());
                blocks.check_histogram(&name, len as usize * 3 - 1);
            }
        }
    }
}

/// Every block is special, so that few or no values are finite.
#[test]
fn special_scales_in_all_blocks() {
    let mut random = Random::new(33);
    for dtype in types() {
        let (elements, _) = dtype.block().unwrap();
        let count = 4096 / elements as usize;
        for words in specials(dtype, &mut random) {
            let special: Vec<_> = (0..count).map(|i| (i, words.clone())).collect();
            let blocks = blocks(dtype, Endianness::Little, count, &special, &mut random);
            let name = format!("{} {words:04x?} in all", dtype.name());
            blocks.check_histogram(&name, usize::MAX);
        }
    }
}
