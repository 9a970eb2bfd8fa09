//! Block elements match ggml's Python package bit for bit.

use weighbridge_core::{DType, Element, Endianness, Stats};
use weighbridge_tests::encode::gguf::{File, Tensor};
use weighbridge_tests::survey::survey_whole;

/// Written by `scripts/gguf_blocks.py`, which describes its contents.
const BLOCKS: &[u8] = include_bytes!("../../data/gguf-blocks.bin");

struct Case {
    ty: u32,
    blocks: Vec<u8>,
    values: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let all = miniz_oxide::inflate::decompress_to_vec_zlib(BLOCKS).unwrap();
    let mut rest = &all[..];
    while !rest.is_empty() {
        let mut number = || {
            let (head, after) = rest.split_first_chunk().unwrap();
            rest = after;
            u32::from_le_bytes(*head)
        };
        let (ty, count, size, len) = (number(), number(), number(), number());
        let (blocks, after) = rest.split_at((size * len) as usize);
        let (values, after) = after.split_at((4 * count * len) as usize);
        rest = after;
        let values = values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        cases.push(Case { ty, blocks: blocks.to_vec(), values });
    }
    cases
}

/// The element type with this number in a file.
fn dtype(ty: u32) -> DType {
    let tensors = vec![Tensor::new("t", ty, &[256])];
    survey_whole(&File { tensors, ..File::default() }.encode().bytes, None).tensors[0].tensor.dtype
}

#[test]
fn quant_components_match_reference() {
    let cases = cases();
    assert_eq!(cases.len(), 23);
    let mut nans = 0;
    for Case { ty, blocks, values } in cases {
        let dtype = dtype(ty);
        for (i, expected) in (0..).zip(&values) {
            let element = dtype.element(&blocks, i, Endianness::Little);
            let Some(Element::F32(value)) = element else { panic!("{element:?}") };
            // The bits of a NaN depend on the processor.
            let same = value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
            assert!(same, "{} element {i}: {value}, {expected}", dtype.name());
            nans += u32::from(value.is_nan());
        }
        let elements = values.len() as u64;
        assert_eq!(dtype.bytes(elements), Some(blocks.len() as u64));
        assert_eq!(dtype.element(&blocks, elements, Endianness::Little), None);
    }
    assert!(nans > 0, "scales of all kinds");
}

/// Blocks in pieces, split anywhere, give the same statistics.
#[test]
fn block_statistics_match_elements() {
    for Case { ty, blocks, values } in cases() {
        let stats = |size: usize| {
            let count = values.len() as u64;
            let mut stats = Stats::new(dtype(ty), Endianness::Little, 0, count).unwrap();
            blocks.chunks(size).for_each(|piece| stats.add(piece, None));
            stats.summary()
        };
        let counted = |is: fn(f32) -> bool| values.iter().filter(|it| is(**it)).count() as u64;
        let finite: Vec<_> =
            values.iter().copied().filter(|it| it.is_finite()).map(f64::from).collect();
        let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
        let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        for size in [blocks.len(), 1, 7, 33] {
            let stats = stats(size);
            assert_eq!(stats.count(), values.len() as u64);
            assert_eq!(stats.nans(), counted(f32::is_nan));
            assert_eq!(stats.infinities(), counted(f32::is_infinite));
            assert_eq!(stats.min().map(Element::to_f64), Some(least));
            assert_eq!(stats.max().map(Element::to_f64), Some(most));
            let square = |value: &f64| (value - mean).powi(2);
            let deviation = (finite.iter().map(square).sum::<f64>() / finite.len() as f64).sqrt();
            let off = (stats.mean().unwrap() - mean).abs() / deviation;
            assert!(off <= 2.0_f64.powi(-18), "{off} in {size}");
            let off = (stats.deviation().unwrap() / deviation - 1.0).abs();
            assert!(off <= 2.0_f64.powi(-17), "{off} in {size}");
        }
    }
}
